// SPDX-License-Identifier: BSL-1.0
// Derives from the guards of the searched types which fields never fall below zero.
#pragma once

#include <settle/testing/explore/model.hpp>

#include <set>

SETTLE_BEGIN
namespace testing::detail {

/// How a moment changes a member. `guarded`: subtracts under a guard. `loose`: changes it without a
/// guard that prevents a negative value.
template <typename Record, auto Member, typename Moment>
struct changes_of {
    static constexpr bool guarded = false;
    static constexpr bool loose = false;
};
template <typename Record, auto Member, bool Creates, bool Erases, typename... Effects>
struct changes_of<Record, Member, moment<Creates, Erases, Effects...>> {
    template <typename Effect>
    static constexpr bool changes_member =
        settle::detail::same_field<Record, Member, Effect::member>;
    static constexpr bool guarded =
        ((changes_member<Effects> && Effects::kind == effect_kind::subtract &&
          !Effects::may_pass_zero) ||
         ...);
    static constexpr bool loose =
        Creates || ((changes_member<Effects> &&
                     (Effects::may_pass_zero || Effects::kind == effect_kind::assign)) ||
                    ...);
};

template <typename Collection, auto Member, typename Participant>
struct changes_by {
    static constexpr bool is_same_collection =
        std::is_same_v<Collection, typename Participant::target_type>;
    // The effects on another collection name fields of another struct.
    template <typename Given>
    using changes = changes_of<
        typename Collection::record_type, Member,
        std::conditional_t<is_same_collection, settle::detail::moment_or_none<Given>, void>>;
    using moments = settle::detail::moments_of<Participant>;
    using applied = changes<typename moments::apply>;
    using confirmed = changes<typename moments::confirm>;
    static constexpr bool guarded = applied::guarded || confirmed::guarded;
    static constexpr bool loose = applied::loose || confirmed::loose;
};

template <typename Collection, auto Member, typename Definition>
struct changes_in;
template <typename Collection, auto Member, typename P, fixed_string Name, typename Guards,
          typename... Participants>
struct changes_in<Collection, Member, transaction_definition<P, Name, Guards, Participants...>> {
    static constexpr bool guarded = (changes_by<Collection, Member, Participants>::guarded || ...);
    static constexpr bool loose = (changes_by<Collection, Member, Participants>::loose || ...);
};

/// True when some type subtracts from the member, and no type may make it negative.
template <typename Collection, auto Member, typename Types>
inline constexpr bool guards_keep_above_zero = false;
template <typename Collection, auto Member, auto const&... Types>
inline constexpr bool
    guards_keep_above_zero<Collection, Member, settle::detail::type_list<type_tag<Types>...>> =
        (changes_in<Collection, Member, typename type_tag<Types>::definition>::guarded || ...) &&
        !(changes_in<Collection, Member, typename type_tag<Types>::definition>::loose || ...);

/// The members of a collection, by position, that are below zero in a record.
template <typename Collection>
std::set<std::size_t> negative_members(model_table<Collection> const& table) {
    std::set<std::size_t> negative;
    for_each_integer<typename Collection::record_type>([&](auto m, auto position) {
        for (auto const& cell : table.cells) {
            auto const& record = cell->slot.record;
            if (record && m.in(*record) < 0) negative.insert(position);
        }
    });
    return negative;
}

/// The problem of a collection, or an empty string: a member whose guards forbid a negative value,
/// but which can become negative, depending on how the pending transactions end.
/// Shape:   except - members that are not looked at, by position
template <typename Types, typename Collection>
std::string below_zero(model_table<Collection> const& table, std::set<std::size_t> const& except) {
    std::string wrong;
    for_each_integer<typename Collection::record_type>([&](auto m, auto position) {
        using member_type = decltype(m);
        if constexpr (guards_keep_above_zero<Collection, member_type::pointer, Types>) {
            if (except.contains(position)) return;
            for (auto const& cell : table.cells) {
                auto const& slot = cell->slot;
                if (!slot.record || !wrong.empty()) continue;
                settle::detail::wide const value = member_type::in(*slot.record);
                if (value + slot.marks.low(position) >= 0) continue;
                wrong = "for some outcome of the pending transactions, '" + std::string{m.name} +
                        "' passes below zero: " + encode_json(*slot.record);
            }
        }
    });
    return wrong;
}

} // namespace testing::detail
SETTLE_END
