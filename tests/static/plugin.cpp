// SPDX-License-Identifier: BSL-1.0
// A shared object that has its own copy of the library.
#include "plugin.hpp"

namespace {

/// As the category of an adapter.
struct category final : std::error_category {
    char const* name() const noexcept override { return "plug-in"; }
    std::string message(int) const override { return "away"; }
    std::error_condition default_error_condition(int) const noexcept override {
        return make_error_condition(settle::condition::retryable);
    }
};

} // namespace

extern "C" [[gnu::visibility("default")]] void
ask_plugin(void (*use)(settle::error const& own, settle::error const& adapters)) {
    static category const instance;
    settle::error const own{make_error_code(settle::errc::store_unreachable), "settle: away"};
    use(own, {std::error_code{7, instance}, "away"});
    throw settle::failure(own);
}
