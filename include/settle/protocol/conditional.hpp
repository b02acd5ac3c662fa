// SPDX-License-Identifier: BSL-1.0
// What an operation does to a record that nobody has read: for stores that can say "if it is so,
// change it so" in one update, and read only where that did not take place.
//
// It says less than the record rule and never more: whenever its conditions hold, the rule answers
// `applied` and changes the same.
#pragma once

#include <settle/protocol/record_rule.hpp>

#include <optional>

SETTLE_BEGIN

template <Described Record>
struct conditional_change {
    integers<Record> least{}; ///< each integer member must be this at least, before
    integers<Record> most{};  ///< and this at most
    integers<Record> added{}; ///< to each of them
    mark<Record> own{};       ///< the mark that it leaves, takes away, or neither
};

namespace detail {

/// Sums that change a record whatever stands in its members that are no bound's.
template <typename Intent>
inline constexpr bool has_conditions_alone = Intent::commutes && Intent::exact_fields == 0;

/// The members' own ranges.
template <Described Record>
[[nodiscard]] conditional_change<Record> within_ranges() {
    conditional_change<Record> made;
    for_each_integer<Record>([&](auto m, auto position) {
        using limits = std::numeric_limits<typename decltype(m)::type>;
        made.least[position] = std::int64_t{limits::min()};
        made.most[position] = std::int64_t{limits::max()};
    });
    return made;
}

/// A member must be such that it stays within its type when a change from `low` to `high` comes.
/// Shape:   low, high - what is added, at least and at most
[[nodiscard]] inline bool leave_room(std::int64_t& least, std::int64_t& most, wide low, wide high) {
    wide const from = std::max<wide>(least, wide{least} - low);
    wide const to = std::min<wide>(most, wide{most} - high);
    if (from > to) return false;
    least = static_cast<std::int64_t>(from);
    most = static_cast<std::int64_t>(to);
    return true;
}

} // namespace detail

/// An apply to a record without marks. Nothing when the rule might say anything but `applied`.
template <Described Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>> conditional_apply(
    transaction_id const& id, part_number part, epoch under, Intent const& intent) {
    if constexpr (detail::has_conditions_alone<Intent>) {
        auto made = detail::within_ranges<Record>();
        auto& own = made.own;
        bool overflow = false;
        bool possible = intent.exact_guards_hold(Record{}, overflow);
        intent.deltas(made.added, own.confirm_delta, overflow);
        own.undo_delta = detail::negated<Record>(made.added, overflow);
        for (std::size_t i = 0; i < integer_count<Record> && !overflow; ++i) {
            auto const added = detail::wide{made.added[i]};
            possible = possible && detail::leave_room(made.least[i], made.most[i],
                                                      added + own.low(i), added + own.high(i));
        }
        intent.for_each_bound(
            [&](auto index, bound_side side, std::int64_t limit) {
                constexpr std::size_t position = integer_position<Record, index.value>;
                auto& least = made.least[position];
                auto& most = made.most[position];
                if (side == bound_side::lower) least = std::max(least, limit);
                else most = std::min(most, limit);
                possible = possible && least <= most;
            },
            overflow);
        if (overflow || !possible) return std::nullopt;
        own.id = id;
        own.part = part;
        own.epoch_number = under;
        return made;
    } else {
        return std::nullopt;
    }
}

/// The same when it ends where it begins, so that its mark is never seen.
template <Described Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>> conditional_apply_one_phase(
    transaction_id const& id, part_number part, epoch under, Intent const& intent) {
    auto made = conditional_apply<Record>(id, part, under, intent);
    if (!made) return made;
    bool overflow = false;
    for (std::size_t i = 0; i < integer_count<Record>; ++i) {
        made->added[i] = detail::checked<operation_kind::add>(
            made->added[i], made->own.confirm_delta[i], overflow);
    }
    if (overflow) made.reset();
    return made;
}

/// The finish of a part whose mark stands as its own apply has left it.
template <Described Record, typename Intent>
[[nodiscard]] std::optional<conditional_change<Record>> conditional_finish(
    transaction_id const& id, part_number part, epoch committed, Intent const& intent) {
    auto made = conditional_apply<Record>(id, part, committed, intent);
    if (!made || committed == 0) return std::nullopt;
    auto anything = detail::within_ranges<Record>();
    anything.own = std::move(made->own);
    for (std::size_t i = 0; i < integer_count<Record>; ++i) {
        auto const later = anything.own.confirm_delta[i];
        if (!detail::leave_room(anything.least[i], anything.most[i], later, later)) {
            return std::nullopt;
        }
        anything.added[i] = later;
    }
    return anything;
}

SETTLE_END
