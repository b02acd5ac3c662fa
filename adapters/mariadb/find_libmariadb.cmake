# SPDX-License-Identifier: BSL-1.0
# Defines settle::libmariadb if libmariadb is here.
if(NOT TARGET settle::libmariadb)
    find_path(settle_mariadb_include NAMES mysql.h PATH_SUFFIXES mariadb)
    find_library(settle_mariadb_library NAMES mariadb PATH_SUFFIXES mariadb)
    if(settle_mariadb_include AND settle_mariadb_library)
        add_library(settle::libmariadb INTERFACE IMPORTED GLOBAL)
        set_target_properties(settle::libmariadb PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${settle_mariadb_include}"
            INTERFACE_LINK_LIBRARIES "${settle_mariadb_library}")
    endif()
    mark_as_advanced(settle_mariadb_include settle_mariadb_library)
endif()
