// SPDX-License-Identifier: BSL-1.0
// The clauses of a search: starting records, transactions and conditions.
#pragma once

#include <settle/testing/explore/bounds.hpp>
#include <settle/testing/explore/reader.hpp>
#include <settle/testing/explore/replay.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Collection>
struct starting_records {
    std::vector<typename Collection::record_type> records;
};

/// The starting records of a collection.
template <typename Record, fixed_string Name, auto Key, typename... Records>
[[nodiscard]] starting_records<collection<Record, Name, Key>>
starts(collection<Record, Name, Key> const&, Records const&... records) {
    return {{records...}};
}

template <typename Parameters>
struct run_clause {
    transaction_id id;
    Parameters parameters;
};
template <auto const& Type>
struct typed_run_clause {
    transaction_id id;
    typename forward<Type>::parameters parameters;
};

/// A transaction that any worker may begin at any moment.
template <typename Parameters>
[[nodiscard]] run_clause<Parameters> runs(transaction_id id, Parameters const& parameters) {
    return {std::move(id), parameters};
}
/// The same, for parameters that two types share.
template <auto const& Type>
[[nodiscard]] typed_run_clause<Type> runs(transaction_id id,
                                          typename forward<Type>::parameters const& parameters) {
    return {std::move(id), parameters};
}

template <typename Collection>
struct read_clause {
    read_of reads;
    std::vector<typename Collection::key_type> keys;
};

/// A reader of some records as the decided transactions alone make them, which reads once, at any
/// moment. The records are in one store, which is not the log's.
template <typename Record, fixed_string Name, auto Key, typename... Keys>
[[nodiscard]] read_clause<collection<Record, Name, Key>>
reads_far(collection<Record, Name, Key> const&, Keys const&... keys) {
    return {read_of::far_store, {keys...}};
}
/// The same, in the log's own store.
template <typename Record, fixed_string Name, auto Key, typename... Keys>
[[nodiscard]] read_clause<collection<Record, Name, Key>>
reads_near(collection<Record, Name, Key> const&, Keys const&... keys) {
    return {read_of::near_store, {keys...}};
}
/// The same, of records that are each in a store of its own. The reader keeps the entries as they
/// are, and looks at one record after the other, in the order of the keys.
template <typename Record, fixed_string Name, auto Key, typename... Keys>
[[nodiscard]] read_clause<collection<Record, Name, Key>>
reads_under_hold(collection<Record, Name, Key> const&, Keys const&... keys) {
    return {read_of::held_log, {keys...}};
}
/// The same, of a record in the log's own store, and of others that are each in a store of its own.
/// The reader makes nobody wait; it answers only if the others did not change meanwhile.
template <typename Record, fixed_string Name, auto Key, typename Near, typename... Far>
[[nodiscard]] read_clause<collection<Record, Name, Key>>
reads_together(collection<Record, Name, Key> const&, Near const& near, Far const&... far) {
    return {read_of::three_looks, {far..., near}};
}

struct reversal_clause {
    transaction_id id;
};

/// The reversal of another clause's transaction; it begins once the original is done. A second such
/// clause is the next try, which begins once the first is canceled.
[[nodiscard]] inline reversal_clause reverses(transaction_id id) { return {std::move(id)}; }

namespace detail {

/// True when this moment has an effect of `Kind` on `Member`.
template <effect_kind Kind, auto Member, typename Moment>
inline constexpr bool moment_changes = false;
template <effect_kind Kind, auto Member, bool C, bool E, typename... Effects>
inline constexpr bool moment_changes<Kind, Member, moment<C, E, Effects...>> =
    ((Effects::kind == Kind &&
      settle::detail::same_field<class_of<Member>, Member, Effects::member>) ||
     ...);

/// True when a participant shows money too early: a credit at apply, or a debit at confirm.
template <typename Collection, auto Member, typename Participant>
struct showing {
    // The effects on another collection name fields of another struct.
    template <typename Given>
    using changes =
        std::conditional_t<std::is_same_v<Collection, typename Participant::target_type>,
                           settle::detail::moment_or_none<Given>, void>;
    using moments = settle::detail::moments_of<Participant>;
    static constexpr bool early =
        moment_changes<effect_kind::add, Member, changes<typename moments::apply>> ||
        moment_changes<effect_kind::subtract, Member, changes<typename moments::confirm>>;
};

template <typename Collection, auto Member, typename Definition>
inline constexpr bool type_shows_early = false;
template <typename Collection, auto Member, typename P, fixed_string Name, typename Guards,
          typename... Participants>
inline constexpr bool
    type_shows_early<Collection, Member, transaction_definition<P, Name, Guards, Participants...>> =
        (showing<Collection, Member, Participants>::early || ...);

template <typename Collection, auto Member, typename Types>
inline constexpr bool types_show_early = false;
template <typename Collection, auto Member, auto const&... Types>
inline constexpr bool
    types_show_early<Collection, Member, settle::detail::type_list<type_tag<Types>...>> =
        (type_shows_early<Collection, Member, typename type_tag<Types>::definition> || ...);

} // namespace detail

template <typename Collection, auto Member>
struct conserved_sum {
    /// Shape:   Committed - true: the sum by the committed transactions alone; false: the sum that
    ///          a reader sees
    template <bool Committed, typename Records>
    static std::int64_t of(Records const& all) {
        std::int64_t sum = 0;
        for (auto const& cell : std::get<model_table<Collection>>(all.tables).cells) {
            auto const& record = Committed ? cell->truth : cell->slot.record;
            if (record) sum += (*record).*Member;
        }
        return sum;
    }
    /// True when no type shows a credit before its commit, so that no reader sees a sum too high.
    template <typename Types>
    static constexpr bool late_credits() {
        return !detail::types_show_early<Collection, Member, Types>;
    }
    template <typename Records>
    static std::string lost(std::int64_t start, Records const& now) {
        return "the committed transactions changed the sum from " + std::to_string(start) + " to " +
               std::to_string(of<true>(now));
    }
    template <typename Records>
    static std::string shown(std::int64_t start, Records const& now) {
        return "a reader adds up " + std::to_string(of<false>(now)) +
               ", and there never was more than " + std::to_string(start);
    }
};

/// The sum of a field over a collection. The committed transactions conserve it; if no type credits
/// before its commit, no reader ever sees a higher sum.
template <typename Record, fixed_string Name, auto Key, auto Member>
[[nodiscard]] conserved_sum<collection<Record, Name, Key>, Member>
conserves(collection<Record, Name, Key> const&, field_expression<Member> const&) {
    return {};
}

template <typename Collection, typename Condition>
struct condition_clause {
    Condition condition;

    template <typename Records>
    [[nodiscard]] std::string broken(Records const& all) const {
        for (auto const& cell : std::get<model_table<Collection>>(all.tables).cells) {
            if (!cell->slot.record || (holds(cell->slot, false) && holds(cell->slot, true))) {
                continue;
            }
            return "for some outcome of the pending transactions, this record breaks the "
                   "condition: " +
                   encode_json(*cell->slot.record);
        }
        return {};
    }

private:
    using record = typename Collection::record_type;

    /// Evaluates the condition on the least, or the greatest, values that the marks allow.
    [[nodiscard]] bool holds(record_slot<record> const& slot, bool most) const {
        record current = *slot.record;
        for_each_integer<record>([&](auto m, auto position) {
            using number = typename decltype(m)::type;
            auto const moved = most ? slot.marks.high(position) : slot.marks.low(position);
            m.in(current) = static_cast<number>(m.in(current) + static_cast<number>(moved));
        });
        bool overflow = false;
        nothing const none;
        scope<record, nothing, nothing> const seen{&current, &none, nullptr, &overflow};
        return evaluate(condition, seen) && !overflow;
    }
};

/// A condition on every record of a collection: `stays(accounts, field<&account::balance> >= 0)`.
/// It must hold with the least values that the marks allow in all fields at once, and with the
/// greatest. A condition that compares two fields that pending sums change is not fully checked.
template <typename Record, fixed_string Name, auto Key, typename Condition>
[[nodiscard]] condition_clause<collection<Record, Name, Key>, Condition>
stays(collection<Record, Name, Key> const&, Condition const& condition) {
    return {condition};
}

} // namespace testing
SETTLE_END
