// SPDX-License-Identifier: BSL-1.0
// An engine for whoever would rather look than catch.
#pragma once

#include <settle/running/engine.hpp>

#include <memory>

SETTLE_BEGIN

/// Builds an engine, and gives the error where the constructor would throw.
template <typename... Given>
result<std::unique_ptr<engine<std::remove_cvref_t<Given>...>>> open_engine(Given&&... arguments) {
    try {
        return std::make_unique<engine<std::remove_cvref_t<Given>...>>(
            std::forward<Given>(arguments)...);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_END
