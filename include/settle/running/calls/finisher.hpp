// SPDX-License-Identifier: BSL-1.0
// Finishes committed transactions whose callers have their answers, on one thread of the engine.
#pragma once

#include <settle/running/calls/windows.hpp>
#include <settle/running/driving/hand_over.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

/// Shape:   of one engine; threads share the object. The thread begins with the first transaction
template <typename Rules>
class finisher {
public:
    finisher();
    finisher(finisher const&) = delete;
    finisher& operator=(finisher const&) = delete;
    /// Waits a second for the transactions under way. What is not finished is in the log.
    ~finisher();

    [[nodiscard]] hand_over const& room() const noexcept;
    /// Shape:   committed - copied, with its parameters
    void take(seam_context<Rules> const& context, job const& committed);

private:
    struct state;
    std::unique_ptr<state> state_;
};

#ifdef SETTLE_COMPILED
extern template class finisher<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/finisher.ipp>
#endif
