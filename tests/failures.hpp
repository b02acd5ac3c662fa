// SPDX-License-Identifier: BSL-1.0
// The errors of calls that must fail.
#pragma once

#include <settle/base/error.hpp>

#include <doctest/doctest.h>

#include <string>

namespace settle_test {

/// The error of a call; the test fails if there is none.
template <typename Function>
settle::error failure_of(Function&& function) {
    try {
        function();
    } catch (settle::failure const& caught) {
        INFO(caught.what());
        CHECK(caught.problem().text.starts_with("settle: "));
        CHECK(caught.problem().text.find('\n') == std::string::npos);
        return caught.problem();
    }
    FAIL("it did not fail");
    return {};
}

inline bool says(settle::error const& problem, std::string const& text) {
    return problem.text.find(text) != std::string::npos;
}

} // namespace settle_test
