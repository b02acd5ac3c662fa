// SPDX-License-Identifier: BSL-1.0
// Decides whether a call may begin: not in a forked child, and not beyond its deadline or stop.
#pragma once

#include <settle/base/process.hpp>
#include <settle/base/trace_context.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/construction/options.hpp>

SETTLE_BEGIN
namespace detail {

/// Remembers the process that built the engine.
class gate {
public:
    [[nodiscard]] bool is_here() const noexcept { return made_in_.is_here(); }

    template <typename Limits>
    [[nodiscard]] bool is_open(Limits const& call) const {
        return is_here() && !has_passed(call);
    }

    /// Why a call may not begin.
    [[nodiscard, gnu::cold]] error why() const {
        return is_here() ? nothing_begun() : made_before_fork("engine");
    }
    [[nodiscard, gnu::cold]] outcome refusal(transaction_id const& id) const {
        return is_here() ? unreadable(id, why()) : refuse(id, why());
    }
    template <typename Report>
    [[nodiscard, gnu::cold]] Report report() const {
        Report made;
        made.problem = why();
        return made;
    }

private:
    process_stamp made_in_;
};

} // namespace detail
SETTLE_END
