// SPDX-License-Identifier: BSL-1.0
// Operations as conditional updates: a store can send "if the integer members are in these ranges,
// add these numbers" without reading the record, and reads it only if the update did not match.
//
// A conditional update is narrower than the record rule: whenever its conditions hold, the rule
// answers `applied` and makes the same change.
#pragma once

#include <settle/protocol/record_rule.hpp>

#include <optional>

SETTLE_BEGIN

/// A conditional update of one record.
template <typename Record>
struct conditional_change {
    integers<Record> least{}; ///< condition: the lowest value of each integer member
    integers<Record> most{};  ///< condition: the highest value of each integer member
    integers<Record> added{}; ///< effect: the number added to each integer member
    mark<Record> own{};       ///< an apply adds this mark, a finish pulls it, one phase ignores it
};

namespace detail {

/// True for a commuting intent whose guards are all bounds or read no field.
template <typename Intent>
[[nodiscard]] constexpr bool has_conditions_alone(Intent const& intent) {
    return intent.commutes && intent.exact_fields == 0;
}

/// A conditional update without an effect. Its condition is the range of each member's type.
/// Shape:   record - any record of the type
template <typename Record>
[[nodiscard]] conditional_change<Record> within_ranges(Record const& record) {
    conditional_change<Record> change;
    for (auto* const list : {&change.least, &change.most, &change.added, &change.own.confirm_delta,
                             &change.own.undo_delta}) {
        *list = zeros_of(record);
    }
    for_each_number(record, [&](std::size_t, std::size_t position, std::int64_t, std::int64_t least,
                                std::int64_t most) {
        change.least[position] = least;
        change.most[position] = most;
    });
    return change;
}

/// Narrows the range of a member so that a later change of `low` to `high` stays within it.
/// Returns: false if no value is left
[[nodiscard]] inline bool leave_room(std::int64_t& least, std::int64_t& most, wide low, wide high) {
    wide const from = std::max<wide>(least, wide{least} - low);
    wide const to = std::min<wide>(most, wide{most} - high);
    if (from > to) return false;
    least = static_cast<std::int64_t>(from);
    most = static_cast<std::int64_t>(to);
    return true;
}

} // namespace detail

/// The apply to a record without marks; empty if a conditional update cannot express it.
/// Shape:   record - any record of the type: nothing depends on its values
template <typename Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>>
conditional_apply(transaction_id const& id, part_number part, epoch under, Intent const& intent,
                  Record const& record = {}) {
    if (!detail::has_conditions_alone(intent)) return std::nullopt;
    auto result = detail::within_ranges(record);
    auto& own = result.own;
    bool overflow = false;
    bool possible = intent.exact_guards_hold(record, overflow);
    intent.deltas(result.added, own.confirm_delta, overflow);
    own.undo_delta = detail::negated<Record>(result.added, overflow);
    for (std::size_t i = 0; i < result.added.size() && !overflow; ++i) {
        auto const added = detail::wide{result.added[i]};
        possible = possible && detail::leave_room(result.least[i], result.most[i],
                                                  added + own.low(i), added + own.high(i));
    }
    using detail::for_each_bound;
    for_each_bound(
        record, intent,
        [&](std::size_t position, std::int64_t, bound_side side, std::int64_t limit) {
            auto& least = result.least[position];
            auto& most = result.most[position];
            if (side == bound_side::lower) least = std::max(least, limit);
            else most = std::min(most, limit);
            possible = possible && least <= most;
        },
        overflow);
    if (overflow || !possible) return std::nullopt;
    own.id = id;
    own.part = part;
    own.epoch_number = under;
    return result;
}

/// The apply together with the confirm, in one native transaction: the mark is never written.
template <typename Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>>
conditional_apply_one_phase(transaction_id const& id, part_number part, epoch under,
                            Intent const& intent, Record const& record = {}) {
    auto result = conditional_apply<Record>(id, part, under, intent, record);
    if (!result) return result;
    bool overflow = false;
    for (std::size_t i = 0; i < result->added.size(); ++i) {
        result->added[i] = detail::checked<operation_kind::add>(
            result->added[i], result->own.confirm_delta[i], overflow);
    }
    if (overflow) result.reset();
    return result;
}

/// The finish of a part whose mark is unchanged since its apply.
template <typename Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>>
conditional_finish(transaction_id const& id, part_number part, epoch committed,
                   Intent const& intent, Record const& record = {}) {
    auto result = conditional_apply<Record>(id, part, committed, intent, record);
    if (!result || committed == 0) return std::nullopt;
    auto change = detail::within_ranges(record);
    change.own = std::move(result->own);
    for (std::size_t i = 0; i < change.added.size(); ++i) {
        auto const later = change.own.confirm_delta[i];
        if (!detail::leave_room(change.least[i], change.most[i], later, later)) {
            return std::nullopt;
        }
        change.added[i] = later;
    }
    return change;
}

SETTLE_END
