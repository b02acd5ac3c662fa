# SPDX-License-Identifier: BSL-1.0
# Defines settle::libmongoc if MongoDB's C driver is here. Its package and its targets have other
# names in 2.x than in 1.x, and each may be static or shared.
if(NOT TARGET settle::libmongoc)
    set(settle_libmongoc "")
    find_package(mongoc-1.0 1.23 QUIET CONFIG GLOBAL)
    if(NOT mongoc-1.0_FOUND)
        find_package(mongoc 1.30...<3 QUIET CONFIG GLOBAL)
    endif()
    foreach(target mongo::mongoc_shared mongo::mongoc_static mongoc::mongoc mongoc::shared
            mongoc::static)
        if(TARGET ${target} AND NOT settle_libmongoc)
            set(settle_libmongoc ${target})
        endif()
    endforeach()
    if(settle_libmongoc)
        add_library(settle::libmongoc INTERFACE IMPORTED GLOBAL)
        target_link_libraries(settle::libmongoc INTERFACE ${settle_libmongoc})
    endif()
endif()
