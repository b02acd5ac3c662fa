// SPDX-License-Identifier: BSL-1.0
// A transaction that its owner drives step by step: in an event loop of its own, or in a test that
// stops between two steps. engine::begin() makes it.
#pragma once

#include <settle/running/engine.hpp>

SETTLE_BEGIN

/// Shape:   the engine outlives the object. One thread at a time uses it. A transaction that is
///          destroyed before its end is left as by a process that was killed: recover() ends its
///          entry, and sweep() undoes marks without an entry
/// Cost:    no thread, and no wait but for stores that answer at once; run() has the same steps
template <typename Rules>
class basic_operation {
public:
    /// For engine::begin().
    basic_operation(detail::seam_context<Rules> const& context, detail::gate const& gate,
                    std::optional<transaction_id>&& id, transaction_descriptor const& direction,
                    held_parameters&& parameters, call_options const& call);
    basic_operation(basic_operation&&) noexcept;
    basic_operation& operator=(basic_operation&&) noexcept;
    ~basic_operation();

    [[nodiscard]] transaction_id const& id() const;
    /// The step that advance() takes next; step::end if there is none.
    [[nodiscard]] step next() const;
    [[nodiscard]] bool is_over() const;
    /// Takes the next step: sends its wave to the log or to stores, and takes the answers. A step
    /// that services or slow stores answer later takes several calls. Does nothing while the
    /// transaction rests.
    /// Errors:  rethrows the observer's exception when the transaction is over
    void advance();
    /// How long the transaction rests: until a pause is over, or at most until the call's deadline
    /// while services have not answered.
    /// Returns: zero if advance() can go on; nothing if only an answer ends the rest
    [[nodiscard]] std::optional<std::chrono::nanoseconds> rest() const;
    /// Waits until advance() can go on, or the call's stop request.
    void wait();
    /// What run() would have returned.
    /// Shape:   only if is_over()
    [[nodiscard]] settle::outcome const& outcome() const;

private:
    struct held_operation;
    std::unique_ptr<held_operation> held_;
};

using engine_operation = basic_operation<detail::order_rules>;

#ifdef SETTLE_COMPILED
extern template class basic_operation<detail::order_rules>;
#endif

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/operation.ipp>
#endif
