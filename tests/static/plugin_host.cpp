// SPDX-License-Identifier: BSL-1.0
// A program compares and catches the errors of a shared object that has a copy of the library.
// Usage: settle_plugin_host PLUGIN
#include "plugin.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace {

int failures = 0;

void check(bool holds, char const* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "not true: %s\n", what);
}

void use(settle::error const& own, settle::error const& adapters) {
    using settle::condition;
    using settle::errc;
    check(own.code.category() != settle::settle_category(), "the plug-in has a copy");
    check(own.code == errc::store_unreachable, "own == store_unreachable");
    check(errc::store_unreachable == own.code, "store_unreachable == own");
    check(own.code != errc::unknown_id, "own != unknown_id");
    check(own.code == condition::retryable, "own == retryable");
    check(own.code != condition::permanent, "own != permanent");
    check(adapters.code == condition::retryable, "the adapter's == retryable");
    check(adapters.code != condition::unknown, "the adapter's != unknown");
    check(adapters.code != errc::damaged, "the adapter's != damaged");
    std::error_code const others{1, std::generic_category()};
    check(others != errc::id_in_use && others != condition::retryable, "another library's differs");
}

} // namespace

int main(int count, char** arguments) {
    void* const loaded = count == 2 ? ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (loaded == nullptr) {
        std::fprintf(stderr, "usage: settle_plugin_host PLUGIN\n");
        return 2;
    }
    auto const ask = reinterpret_cast<plugin::function>(::dlsym(loaded, "ask_plugin"));
    bool caught = false;
    try {
        ask(&use);
    } catch (settle::failure const& problem) {
        caught = problem.problem().code == settle::errc::store_unreachable;
    }
    check(caught, "the exception is caught");
    return failures == 0 ? 0 : 1;
}
