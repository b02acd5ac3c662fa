// SPDX-License-Identifier: BSL-1.0
// The observer: sees every step of every transaction, and never a value that is marked secret.
#pragma once

#include <settle/protocol/coordinator.hpp>
#include <settle/store/codec.hpp>

SETTLE_BEGIN

/// One step that was taken.
struct event {
    transaction_id const& id;
    std::string_view type;      ///< the name of the transaction type; empty for an annulled id
    step taken = step::end;
    settle::state state = settle::state::initial; ///< of the entry, after the step
    std::uint32_t attempts = 0;
    answer met = answer::none;  ///< of a store's step: the first answer that is no success
    reason why = reason::none;
    std::string_view problem;   ///< the store's own words, when it had a problem
    void (*show)(std::string&, void const*, secrets) = nullptr;
    void const* shown = nullptr;

    /// The parameters as JSON; members that are marked settle::secret stand as "***".
    [[nodiscard]] std::string parameters() const {
        std::string text;
        if (show != nullptr) show(text, shown, secrets::hidden);
        return text;
    }
};

/// Sees nothing and costs nothing.
struct no_observer {
    void operator()(event const&) const noexcept {}
};

SETTLE_END
