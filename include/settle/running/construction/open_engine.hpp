// SPDX-License-Identifier: BSL-1.0
// Builds an engine without exceptions.
#pragma once

#include <settle/running/engine.hpp>

#include <memory>

SETTLE_BEGIN

/// Builds an engine, and returns the error that the constructor would throw.
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
