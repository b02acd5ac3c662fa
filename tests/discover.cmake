# SPDX-License-Identifier: BSL-1.0
# Asks a doctest program for its cases and writes one test of ctest for each.
# A case that begins with "long:", or stands in a suite that does, also gets the label "long". A case
# that begins with "exhaustive:" has only the label "exhaustive", and runs on request. A case whose
# name matches ${first} also gets the label "first". The long cases start first, so that no processor
# waits for them in the end; of the short cases, the slowest start first. A case in the suite "three servers" starts three servers, so these cases run one after another. So do the cases of the
# suite "many callers", since each keeps a server busy. The property PROCESSORS would be worse: ctest
# reserves no processors, so all these cases would run last.
function(list_cases result)
    execute_process(COMMAND ${program} ${ARGN} --list-test-cases --no-version
        OUTPUT_VARIABLE output RESULT_VARIABLE status WORKING_DIRECTORY ${folder})
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${program} cannot list its cases (${status}):\n${output}")
    endif()
    set(${result} "${output}" PARENT_SCOPE)
endfunction()

# A name may contain a separator of CMake lists, so the lines are cut off one by one.
function(write_cases output names properties)
    while(output MATCHES "^([^\n]*)\n(.*)$")
        set(name "${CMAKE_MATCH_1}")
        set(output "${CMAKE_MATCH_2}")
        if(name STREQUAL "" OR name MATCHES "^====+$" OR name MATCHES "^\\[doctest\\] ")
            continue()
        endif()
        string(REPLACE "\\" "\\\\" filter "${name}")
        string(REPLACE "," "\\," filter "${filter}")
        set(test "[==[${label}: ${name}]==]")
        string(FIND "${script}" "add_test(${test}" found)
        if(NOT found EQUAL -1)
            message(FATAL_ERROR "${program} has two cases named \"${name}\"")
        endif()
        set(own_cost ${cost})
        if(name MATCHES "${slow_cases}")
            math(EXPR own_cost "${cost} * 2")
        endif()
        set(labels "${names}")
        if(first AND name MATCHES "${first}")
            list(APPEND labels first)
        endif()
        # doctest calls it a success when no case has the name that it was given.
        string(APPEND script "add_test(${test} [==[${program}]==] [==[--test-case=${filter}]==])\n"
            "set_tests_properties(${test} PROPERTIES LABELS \"${labels}\" TIMEOUT ${timeout}"
            " WORKING_DIRECTORY [==[${folder}]==] COST ${own_cost}"
            " ${properties}"
            " FAIL_REGULAR_EXPRESSION \"test cases: +0 \" SKIP_RETURN_CODE ${skip_code}"
            " FIXTURES_REQUIRED \"${fixture}\")\n")
    endwhile()
    set(script "${script}" PARENT_SCOPE)
endfunction()

set(script "")
set(slow_cases "^(kills|lost messages|every run|simulation|shared commits: any)")
set(cost 100)
list_cases(short_cases --test-case-exclude=long:*,exhaustive:* --test-suite-exclude=long:*)
write_cases("${short_cases}" "${label}" "")
math(EXPR timeout "${timeout} * 5")
set(cost 1000)
foreach(suite "three servers" "many callers")
    list_cases(alone --test-case=long:* "--test-suite=${suite}")
    write_cases("${alone}" "${label};long" "RESOURCE_LOCK [==[${suite}]==]")
endforeach()
list_cases(long_cases --test-case=long:* "--test-suite-exclude=three servers,many callers")
write_cases("${long_cases}" "${label};long" "")
list_cases(long_suites --test-suite=long:* --test-case-exclude=long:*)
write_cases("${long_suites}" "${label};long" "")
math(EXPR timeout "${timeout} * 5")
list_cases(exhaustive_cases --test-case=exhaustive:*)
write_cases("${exhaustive_cases}" "exhaustive" "")
file(WRITE ${cases} "${script}")
