# SPDX-License-Identifier: BSL-1.0
# An overlay port of the clone that it lies in. No test runs it: vcpkg could not be had where settle
# is tested.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS stores FEATURES
    sqlite SETTLE_WITH_SQLITE
    postgresql SETTLE_WITH_POSTGRESQL
    mariadb SETTLE_WITH_MARIADB
    mongodb SETTLE_WITH_MONGODB
    http SETTLE_WITH_HTTP
    console SETTLE_WITH_CONSOLE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${stores}
    -DSETTLE_BUILD_TESTS=OFF -DSETTLE_BUILD_SAMPLES=OFF -DSETTLE_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/settle)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
