// SPDX-License-Identifier: BSL-1.0
// The receiver rule: how a call of a service changes the row of its key.
//
// The rule does no I/O. A receiver keeps one row for each key, and changes it in the same native
// transaction as its own work. So a call that is repeated, delayed or overtaken takes effect at
// most once, and an apply never takes effect after its compensation.
#pragma once

#include <settle/protocol/call.hpp>
#include <settle/protocol/entry.hpp>

SETTLE_BEGIN

/// The state of a key.
enum class receiver_status : std::uint8_t {
    applied,     ///< the apply took effect
    confirmed,   ///< the confirm took effect
    compensated, ///< the apply took effect and was undone
    refused,     ///< the apply was refused
    closed       ///< no apply took effect, and none will
};

[[nodiscard]] constexpr std::string_view name_of(receiver_status value) {
    constexpr std::string_view names[]{"applied", "confirmed", "compensated", "refused", "closed"};
    return names[static_cast<std::size_t>(value)];
}

/// The fields of a row that the rule reads.
struct receiver_standing {
    receiver_status status = receiver_status::closed;
    bool has_apply = true;   ///< of the call that made the row
    timestamp last_moment{}; ///< of the call that made the row

    friend bool operator==(receiver_standing const&, receiver_standing const&) = default;
};

/// The fields of a call that the rule reads.
struct receiver_request {
    call_operation operation = call_operation::apply;
    bool has_apply = true;
    timestamp last_moment{};
};

/// The next step of a receiver.
enum class receiver_step : std::uint8_t {
    answer, ///< answer; the row stays as it is
    note,   ///< store the row, without work, and answer
    work    ///< do the work of the operation; see status_after
};

/// The decision of the rule about one call.
struct receiver_decision {
    receiver_step step = receiver_step::answer;
    /// The status of the row that a note stores.
    receiver_status status = receiver_status::closed;
    call_status reply = call_status::ok; ///< the answer, unless there is work
    /// The text of the answer, unless there is work. If it is empty, the answer to an apply has the
    /// text of the row, and any other answer has none.
    std::string_view text{};

    friend bool operator==(receiver_decision const&, receiver_decision const&) = default;
};

namespace detail {

inline constexpr std::string_view apply_is_late =
    "settle: the last moment of this call had passed before its first apply. Begin a new "
    "transaction, with a longer lifetime if this happens often. See receivers#last-moment";
inline constexpr std::string_view apply_after_compensation =
    "settle: the key was compensated, so its apply takes no effect any more. "
    "See receivers#what-a-call-does";
inline constexpr std::string_view apply_after_closing =
    "settle: the key was closed before an apply, so no apply takes effect. "
    "See receivers#what-a-call-does";
inline constexpr std::string_view confirm_without_row =
    "settle: repair by hand: the key was applied and has no row, as after a restore from a backup. "
    "Do its work again, and close the call. See receivers#a-row-that-was-lost";
inline constexpr std::string_view confirm_without_effect =
    "settle: the key has no effect to confirm: it was compensated, refused or closed. Compare the "
    "row with its transaction. See receivers#what-a-call-does";
inline constexpr std::string_view compensate_after_confirm =
    "settle: the key was confirmed, so it cannot be compensated. Compare the row with its "
    "transaction. See receivers#what-a-call-does";

[[nodiscard]] constexpr receiver_decision to_work() { return {receiver_step::work}; }
[[nodiscard]] constexpr receiver_decision to_refuse(std::string_view text) {
    return {receiver_step::answer, receiver_status::closed, call_status::refused, text};
}
[[nodiscard]] constexpr receiver_decision to_be_repaired(std::string_view text) {
    return {receiver_step::answer, receiver_status::closed, call_status::unavailable, text};
}

[[nodiscard]] constexpr receiver_decision decide_first(receiver_request const& request,
                                                       timestamp now) {
    switch (request.operation) {
    case call_operation::apply:
        if (now <= request.last_moment) return to_work();
        return {receiver_step::note, receiver_status::refused, call_status::refused, apply_is_late};
    case call_operation::confirm:
        if (!request.has_apply) return to_work();
        // The commit shows that the apply took effect. After the last moment the row may have been
        // purged; before it the row was lost.
        return now > request.last_moment ? receiver_decision{}
                                         : to_be_repaired(confirm_without_row);
    case call_operation::query: return to_work();
    case call_operation::compensate: break;
    }
    // The note refuses an apply that arrives after its compensation.
    return {receiver_step::note, receiver_status::closed};
}

} // namespace detail

/// Decides one call.
/// Shape:   row - null if the key has none; now - the receiver's clock, inside the native
///          transaction
[[nodiscard]] constexpr receiver_decision decide(receiver_standing const* row,
                                                 receiver_request const& request, timestamp now) {
    using enum receiver_status;
    if (row == nullptr) return detail::decide_first(request, now);
    bool const took_effect = row->status == applied || row->status == confirmed;
    switch (request.operation) {
    case call_operation::apply:
        if (row->status == compensated) return detail::to_refuse(detail::apply_after_compensation);
        if (row->status == closed) return detail::to_refuse(detail::apply_after_closing);
        return {receiver_step::answer, row->status,
                took_effect ? call_status::ok : call_status::refused};
    case call_operation::confirm:
        if (row->status == applied) return detail::to_work();
        if (took_effect) return {};
        // The row of an effect was purged, and a late copy of its apply made this refusal.
        if (row->status == refused && request.has_apply && now > request.last_moment) return {};
        return detail::to_be_repaired(detail::confirm_without_effect);
    case call_operation::query: return detail::to_work();
    case call_operation::compensate: break;
    }
    if (row->status == applied) return detail::to_work();
    if (took_effect) return detail::to_be_repaired(detail::compensate_after_confirm);
    return {};
}

/// Decides to close a key: if it has no row, no apply takes effect any more.
[[nodiscard]] constexpr receiver_step decide_close(receiver_standing const* row) {
    return row == nullptr ? receiver_step::note : receiver_step::answer;
}

/// The status of the row after its work gave an answer. Without a status the row and the work are
/// rolled back, and so is the work of a refused apply. A query has no row.
[[nodiscard]] constexpr std::optional<receiver_status> status_after(call_operation operation,
                                                                    call_status worked) {
    bool const ok = worked == call_status::ok;
    switch (operation) {
    case call_operation::apply:
        if (ok) return receiver_status::applied;
        if (worked == call_status::refused) return receiver_status::refused;
        break;
    case call_operation::confirm:
        if (ok) return receiver_status::confirmed;
        break;
    case call_operation::compensate:
        if (ok) return receiver_status::compensated;
        break;
    case call_operation::query: break;
    }
    return std::nullopt;
}

/// The time after which a row may be purged, once the clocks' difference has passed, too. A row
/// without an end has no such time. A row of a confirm without an apply has none either, since
/// only the row keeps a late confirm from another effect.
[[nodiscard]] constexpr std::optional<timestamp> end_of(receiver_standing const& row) {
    if (row.status == receiver_status::applied) return std::nullopt;
    if (row.status == receiver_status::confirmed && !row.has_apply) return std::nullopt;
    return row.last_moment;
}

SETTLE_END
