#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles and runs the code of every page (all *.md files), and compares its output.
# Usage: readme_code.sh ROOT FOLDER LIBRARY:... COMPILER [FLAG...]
#   LIBRARY   the libraries of the compiled part, in their order for the linker; if there are none,
#             everything is compiled header-only. README.md's program and the fragments always are.
# The use of a ```cpp block:
#   it has `int main()`                 a program; of README.md the output follows `$ ./bank`
#   it begins with #include             a source of its own
#   after <!-- statements -->           the body of a function, after all fragments
#   after <!-- statements of the block above -->
#                                       the body of main, and makes the last source a program
#   after <!-- file NAME -->            a header that later blocks include by this name
#   after <!-- members of TYPE -->      each declaration is compared with the member of that name, and
#                                       no public member of TYPE may be missing on all pages
#   after <!-- excerpt -->              not compiled
#   after <!-- excerpt of FILE -->      consecutive lines of FILE, which is beside the page: a program,
#                                       or a header that later blocks include by this name
#   after <!-- refused excerpt of FILE -->
#                                       the same, of a program that the compiler refuses: the block after
#                                       <!-- prints --> is in the first error
#   any other                           a fragment: it follows README.md's program and all fragments
#                                       before it, in the order of the pages
# The block after <!-- prints --> is the output of the statements or the program before it.
#
# The headers take the compiler longer than the blocks, so the compiler runs three times, one run after
# the other: for the sources, for the programs, and for README.md's program with the fragments. Sources
# and programs are joined, each in a namespace of its own. If a joined file does not compile, its blocks
# are compiled alone. Everywhere #line names the page.
set -u
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
libraries=$3
shift 3
compiled=
[ -z "$libraries" ] || compiled=-DSETTLE_COMPILED
rm -rf "$folder"
mkdir -p "$folder" || exit 1

fail() {
    echo "$1"
    exit 1
}

# Writes source_N_PAGE.cpp, program_N_PAGE.cpp, tickets.cpp, fragments.cpp, members.cpp, calls.cpp and
# the expected output.
cd "$root" || exit 1
pages=$(find . -name '*.md' -not -path './build/*' -not -path ./README.md | sort)
# shellcheck disable=SC2086 # the list is meant to be split, and holds no spaces
awk -v folder="$folder" '
    function to(name, text) { printf "%s", text >> (folder "/" name) }
    # Without the namespace and the arguments of a template.
    function document(type, name) {
        sub(/.*settle::/, "", type)
        sub(/<.*/, "", type)
        sub(/<.*/, "", name)
        to("documented.txt", type " " name "\n")
    }
    # One declaration of a synopsis: a member function, or a data member with its default value.
    function member(type, declaration,    name, before, arguments, value, plain) {
        gsub(/[ \n]+/, " ", declaration)
        gsub(/^ | $/, "", declaration)
        if (declaration == "") return
        plain = declaration
        while (gsub(/<[^<>]*>/, "", plain)) continue
        if (plain ~ /\(/ && match(declaration, /[a-z_]+(<[A-Za-z]+>)?\(/)) {
            name = substr(declaration, RSTART, RLENGTH - 1)
            before = substr(declaration, 1, RSTART - 1)
            arguments = substr(declaration, RSTART + RLENGTH - 1)
            gsub(/ = ({}|[a-z_]+)|\.\.\./, "", arguments)
            sub(/\.\.\./, "", before)
            sub(/ noexcept$/, "", arguments)
            to("members.cpp", sprintf("static_assert(sizeof(static_cast<%s (%s::*)%s>(&%s::%s)) > 0);\n", \
                before, type, arguments, type, (name ~ /</ ? "template " : "") name))
            document(type, name)
            return
        }
        value = ""
        if (match(declaration, / = /)) {
            value = substr(declaration, RSTART + 3)
            declaration = substr(declaration, 1, RSTART - 1)
        }
        match(declaration, /[a-z_]+$/)
        name = substr(declaration, RSTART)
        before = substr(declaration, 1, RSTART - 1)
        to("members.cpp", sprintf("static_assert(std::is_same_v<decltype(%s::%s), %s>);\n", \
            type, name, before))
        document(type, name)
        if (value != "")
            to("defaults.cpp", sprintf("    default_is<%s>(\"%s::%s\", [](auto const& of) " \
                "{ return of.%s; }, %s(%s));\n", type, type, name, name, before, value))
    }
    function program(block,    name) {
        name = sprintf("program_%02d_%s.cpp", ++programs, page)
        text[name] = block
        prints_to = "prints_programs.txt"
        to(prints_to, "-- " name "\n")
    }
    # An excerpt of a file is compared with it, and the whole file is compiled.
    function excerpt_of(path, lines,    whole, line, name) {
        while ((getline line < path) > 0) whole = whole line "\n"
        close(path)
        if (!index(whole, lines)) {
            print FILENAME ": a block has other lines than " path
            exit 1
        }
        name = path
        sub(/.*\//, "", name)
        if (seen[page, name]++ || (name ~ /\.hpp$/ && headers[name]++)) return
        whole = "#line 1 \"" path "\"\n" whole
        if (name ~ /\.hpp$/) {
            to(name, whole)
        } else if (is_refused) {
            to("refused_" name, whole)
            prints_to = "refused_" name ".txt"
        } else {
            program(whole)
        }
    }
    FNR == 1 {
        if (inside) { print FILENAME ": a block has no end"; exit 1 }
        page = FILENAME
        gsub(/^\.\/|\.md$/, "", page)
        gsub(/\//, "_", page)
        statements = above = prints = excerpt = is_refused = 0
        type = file = whole_file = ""
    }
    /^<!-- file .* -->$/ { file = $3; next }
    /^<!-- statements -->$/ { statements = 1; next }
    /^<!-- statements of the block above -->$/ { above = 1; next }
    /^<!-- excerpt -->$/ { excerpt = 1; next }
    /^<!-- (refused )?excerpt of .* -->$/ {
        is_refused = $2 == "refused"
        whole_file = FILENAME
        sub(/[^\/]*$/, $(NF - 1), whole_file)
        sub(/^\.\//, "", whole_file)
        next
    }
    /^<!-- members of .* -->$/ { type = $4; next }
    /^<!-- prints -->$/ { prints = 1; next }
    /^```(text|mermaid)$/ && prints { printed = 1; prints = 0; next }
    /^```$/ && printed { printed = 0; next }
    printed { to(prints_to, $0 "\n"); next }
    /^```cpp$/ { inside = 1; first = lines = ""
        block = sprintf("#line %d \"%s\"\n", FNR + 1, substr(FILENAME, 1 + 2 * (FILENAME ~ /^\.\//)))
        next
    }
    /^```$/ && inside {
        inside = 0
        if (excerpt) {
            ;
        } else if (whole_file != "") {
            excerpt_of(whole_file, lines)
        } else if (file != "") {
            to(file, block)
        } else if (type != "") {
            gsub(/\/\/[^\n]*|#line[^\n]*/, "", block)
            count = split(block, declarations, ";")
            for (i = 1; i <= count; ++i) member(type, declarations[i])
        } else if (block ~ /int main\(\)/) {
            program(block)
        } else if (first ~ /^#include/) {
            source = sprintf("source_%02d_%s.cpp", ++sources, page)
            text[source] = block
        } else if (above) {
            program("#include <iostream>\n" text[source] "int main() {\n" block "}\n")
            delete text[source]
        } else if (statements) {
            prints_to = "prints.txt"
            to("fragments.cpp", "void statements_" ++bodies "() {\n" block "}\n")
            to(prints_to, "-- statements " bodies " (" page ")\n")
            to("calls.cpp", "std::cout << \"-- statements " bodies " (" page \
                ")\\n\"; statements_" bodies "();\n")
        } else {
            to("fragments.cpp", block "\n")
        }
        statements = above = excerpt = is_refused = 0
        type = file = whole_file = ""
        next
    }
    inside { if (first == "") first = $0; block = block $0 "\n"; lines = lines $0 "\n"; next }
    /^\$ \.\/bank$/ && page == "README" { printed = 1; next }
    /^\$ \.\/tickets$/ && page == "README" { output = 1; next }
    /^```$/ { output = 0 }
    output { to("output.txt", $0 "\n") }
    END { for (name in text) to(name, text[name]) }
' README.md $pages || exit 1
for file in refused_step_2.cpp tickets.cpp fragments.cpp calls.cpp output.txt prints.txt; do
    [ -s "$folder/$file" ] || fail "this test did not find what it calls $file"
done

# The public members of every struct and class at namespace scope, by name.
find include adapters/console/include -name '*.hpp' -exec awk '
    /^(struct|class) / {
        is_public = /^struct/
        type = $0
        sub(/ *\/\/.*/, "", type)
        while (type !~ /[{;]$/ && (getline line) > 0) type = type " " line
        sub(/^(struct|class) (\[\[.*\]\] )?/, "", type)
        sub(/.*;$|[^a-z_].*/, "", type)
        next
    }
    /^};/ { type = "" }
    /^ *public:/ { is_public = 1 }
    /^ *(private|protected):/ { is_public = 0 }
    type == "" || !is_public || !/^    [a-z[]/ || /^    (friend|using|static|explicit) |operator/ { next }
    {
        while (gsub(/<[^<>]*>/, "")) continue
        has_end = /;|=$/
        sub(/ *(\/\/|=|{|;).*/, "")
        if (match($0, /[a-z_]+\(/)) name = substr($0, RSTART, RLENGTH - 1)
        else if (has_end && match($0, /[a-z_]+$/)) name = substr($0, RSTART)
        else next
        if (name != type) print (type ~ /^engine(_access)?$/ ? "an_engine" : type), name
    }
' {} + >"$folder/public.txt"
awk '
    NR == FNR { types[$1]; names[$0]; next }
    $1 in types { found[$1] }
    $1 in types && !($0 in names) { print "no page has the member " $2 " of " $1; bad = 1; names[$0] }
    END {
        for (type in types) if (!(type in found)) { print "no header has " type; bad = 1 }
        exit bad
    }
' "$folder/documented.txt" "$folder/public.txt" || exit 1

cd "$folder" || exit 1
touch members.cpp defaults.cpp
{
    sed 's/^int main()/void tickets()/' tickets.cpp
    printf '#include <settle/%s.hpp>\n' console/options memory metrics/thread \
        running/calls/operation runner
    cat fragments.cpp
    printf '#line 1 "the members and statements of the pages"\nnamespace members {\nusing namespace settle;\n'
    cat - members.cpp <<'END'
// The words of the calls of an engine.
constexpr auto const& type = booking_type;
using P = booking;
using R = account;
using C = std::remove_const_t<decltype(accounts)>;
using K = std::string;
using Range = std::vector<P>;
using Records = std::vector<R>;
struct Ended {
    void operator()(std::size_t, auto const&) const;
};
using Target = prepared<P, "target">;
using Asked = decltype(all_of(accounts));
using Answers = std::vector<R>;
using an_engine = decltype(engine{std::declval<sqlite::database&>(), settle::type<booking_type>});
using entry_listing = settle::entry_listing<an_engine>;
using record_listing = settle::record_listing<an_engine, C>;
template <typename T, typename Read, typename Value>
void default_is(char const* name, Read const& read, Value const& value) {
    if constexpr (std::is_default_constructible_v<T>) {
        if (!(read(T{}) == value)) std::cout << "another default: " << name << '\n';
    }
}
END
    printf 'void defaults() {\n'
    cat defaults.cpp
    printf '}\n} // namespace members\nint main(int arguments, char**) {\n'
    printf 'if (arguments > 1) { tickets(); return 0; }\nmembers::defaults();\n'
    cat calls.cpp
    printf '}\n'
} >all.cpp

# What a file takes from a part of the library, another file must not include for it.
for file in source_*.cpp program_*.cpp; do
    for part in memory sqlite mongodb postgresql mariadb http testing; do
        grep -q "settle::$part::" "$file" || continue
        grep -q "^#include <settle/$part[./]" "$file" ||
            fail "$file uses settle::$part and does not include it"
    done
done

# Usage: join FILE...; writes one file of all, with a main that runs the programs.
# The includes come first. A page's header has a namespace too, and its users are inside: its names may
# be those of a sample's header. A source or a header that opens a namespace stays at global scope, as
# SETTLE_STRUCT of a qualified name must; a macro renames the namespace of a source. A source that
# specializes a template of settle stays there as well.
# shellcheck disable=SC2086 # the list is meant to be split
join() {
    headers=$(sed -n 's/^#include "\(.*\)"/\1/p' "$@" | sort -u)
    cat -- $headers "$@" | grep '^#include <' | sort -u
    printf '#include <iostream>\n' # for main
    calls=
    for file in $headers "$@"; do
        name=$(echo "$file" | tr . _)
        name=$(sed -n 's/^#include "\(.*\)\.hpp"/\1_hpp::/p' "$file")$name
        own=$(sed -n 's/^namespace \([a-z]*\) {.*/\1/p; s/^template <>.*/<>/p' "$file" | sort -u)
        before="namespace $name {"
        after='}'
        case $file:$own in
        program_*) calls="$calls std::cout << \"-- $file\" << std::endl; $name::run();" ;;
        *:) ;;
        source_*:[a-z]*)
            before="#define $own ${own}_of_$name"
            after="#undef $own"
            ;;
        *)
            before=
            after=
            ;;
        esac
        echo "$before"
        sed 's/^#include.*//; s/^#pragma once//; s/^int main()/void run()/' "$file"
        echo "$after"
    done
    echo "int main() {$calls }"
}

for argument; do
    shift
    [ "$argument" = -fsyntax-only ] || set -- "$@" "$argument"
done
# Clang 19 finds deprecated functions in the std::inplace_merge of an older standard library.
set -- "$@" -Wall -Wextra -Werror -Wno-error=deprecated-declarations -I "$root/samples"
failed=0

# Usage: compile KIND OPTION:... COMPILER [FLAG...]; compiles the files KIND_*.cpp.
# shellcheck disable=SC2086 # the options are a list, and $compiled may be empty
compile() {
    kind=$1
    options=$2
    shift 2
    join "$kind"_*.cpp >"$kind.cpp"
    (
        IFS=:
        "$@" $compiled "$kind.cpp" $options
    ) >output_of_joined.txt 2>&1 && return
    failed=1
    named=
    for file in "$kind"_*.cpp; do
        "$@" $compiled -fsyntax-only "$file" && continue
        echo "$file does not compile"
        named=1
    done
    [ -n "$named" ] || {
        cat output_of_joined.txt
        echo "each $kind compiles, but not all of them together"
    }
    return 1
}

# Usage: check EXPECTED SAID PROGRAM [ARGUMENT]
check() {
    expected=$1
    said=$2
    shift 2
    "$@" >"$said" || {
        echo "$1 ended with an error after: $(grep '^-- ' "$said" | tail -n 1)"
        failed=1
    }
    diff -u -F '^-- ' "$expected" "$said" && return
    echo "$* prints something else"
    failed=1
}

# Usage: refuse COMPILER [FLAG...]
refuse() {
    for file in refused_*.cpp; do
        # shellcheck disable=SC2086 # $compiled may be empty
        "$@" $compiled -fsyntax-only "$file" >"$file.said" 2>&1 || {
            grep -m 1 'error: ' "$file.said" | grep -qF -- "$(cat "$file.txt")" && continue
            cat "$file.said"
        }
        echo "$file is not refused with the sentence of its page: $(cat "$file.txt")"
        failed=1
    done
}

compile source -fsyntax-only "$@"
refuse "$@"
compile program "${libraries:+$libraries:}-lsqlite3:-pthread:-o:program" "$@" &&
    check prints_programs.txt said_programs.txt ./program
if "$@" all.cpp -lsqlite3 -o all; then
    check prints.txt said.txt ./all
    # The second time its database is there.
    check output.txt said_first.txt ./all tickets
    check output.txt said_second.txt ./all tickets
else
    echo "README.md's program and the fragments do not compile"
    failed=1
fi
exit "$failed"
