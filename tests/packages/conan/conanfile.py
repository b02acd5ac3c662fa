# SPDX-License-Identifier: BSL-1.0
"""A Conan 2 recipe: settle and the stores that are asked for, on the system's own libraries."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

CLIENTS = {
    "sqlite": ["libsqlite3-dev"],
    "postgresql": ["libpq-dev"],
    "mariadb": ["libmariadb-dev", "pkg-config"],
    "mongodb": ["libmongoc-dev"],
    "http": ["libcurl4-openssl-dev"],
    "console": ["nlohmann-json3-dev"],
}


class Settle(ConanFile):
    name = "settle"
    description = "Transactions over several records, stores and services"
    license = "BSL-1.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("shared", "fPIC", *CLIENTS)}
    default_options = {name: name in ("fPIC", "sqlite") for name in options}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include/settle/version.hpp"))
        number = int(re.search(r"#define SETTLE_VERSION (\d+)", header).group(1))
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "adapters/*"):
            copy(self, pattern, src=self._root, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def system_requirements(self):
        packages = ["libboost-dev", "librange-v3-dev"]
        for store, clients in CLIENTS.items():
            packages += clients if self.options.get_safe(store) else []
        Apt(self).install(packages)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "SAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"SETTLE_BUILD_{part}"] = False
        for store in CLIENTS:
            offered = bool(self.options.get_safe(store))
            toolchain.cache_variables[f"SETTLE_WITH_{store.upper()}"] = offered
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # settle's own files for CMake know its components, and those of the system's libraries.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "settle")]
