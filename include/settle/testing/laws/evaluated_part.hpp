// SPDX-License-Identifier: BSL-1.0
// Plain evaluation of one part: its guards and its effects on a record.
#pragma once

#include <settle/protocol/direction.hpp>
#include <settle/testing/laws/plain_value.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

/// A 128-bit number for each integer member of Record.
template <Described Record>
using wides = std::array<wide, integer_count<Record>>;

struct plain_bound {
    std::size_t position = 0; ///< the member's position among the integer members
    bound_side side = bound_side::lower;
    wide limit = 0;
};

/// The guards and effects of a part, evaluated for one record and one set of parameters.
template <Described Record>
struct evaluated_part {
    bool exclusive = false;
    bool creates = false;
    std::vector<plain_bound> bounds{};
    std::uint64_t exact_fields = 0; ///< fields whose exact value a guard needs
    bool hold = true;               ///< true if all guards hold, apart from bounds
    bool guard_overflow = false;
    bool effect_overflow = false;
    bool amounts_hold = true; ///< true if no amount is negative that must not be negative
    wides<Record> apply{};
    wides<Record> confirm{};
    // For an exclusive part: the record while the part is pending, and after its confirm.
    std::optional<Record> pending{};
    std::optional<Record> confirmed{};
    bool compensates = true; ///< true if the definition's compensation restores the record
};

template <typename Moment, typename S>
bool is_exclusive(Moment const& moment, S state) {
    bool exclusive = false;
    if constexpr (settle::detail::is_moment<Moment>) {
        exclusive = Moment::creates || Moment::erases;
        for_each_element(moment.effects, [&](auto const& effect) {
            state.read = 0;
            static_cast<void>(plain_value(effect.operand, state));
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            exclusive = exclusive || state.read != 0 || effect_type::kind == effect_kind::assign;
        });
    }
    return exclusive;
}

template <typename Guards, typename S, typename Record>
void evaluate_guards(Guards const& guards, S state, evaluated_part<Record>& into) {
    for_each_element(guards, [&](auto const& guard) {
        using guard_type = std::remove_cvref_t<decltype(guard)>;
        state.read = 0;
        if constexpr (requires { guard_type::side; }) {
            constexpr auto index = member_index<Record, guard_type::member>;
            into.bounds.push_back({integer_position<Record, index>, guard_type::side,
                                   plain_value(guard.limit, state)});
        } else {
            into.hold = plain_value(guard.condition, state) && into.hold;
            into.exact_fields |= state.read;
        }
    });
    into.guard_overflow = state.overflow;
}

template <typename Participant, typename S, typename Record>
void evaluate_exclusive(Participant const& participant, S state, Record start,
                        evaluated_part<Record>& into) {
    auto const before = start;
    into.amounts_hold = change_record(participant.applying, state, into.effect_overflow, start);
    into.pending = start;
    into.amounts_hold = change_record(participant.confirming, state, into.effect_overflow, start) &&
                        into.amounts_hold;
    into.confirmed = start;
    if constexpr (settle::detail::is_moment<typename Participant::confirm_type>) {
        if (Participant::confirm_type::erases) into.confirmed.reset();
    }
    if constexpr (settle::detail::is_moment<typename Participant::compensate_type>) {
        if (!Participant::compensate_type::erases && into.hold && !into.effect_overflow) {
            Record undone = *into.pending;
            bool ignored = false;
            change_record(participant.compensating, state, ignored, undone);
            into.compensates = equal_members(undone, before);
        }
    }
}

template <typename Participant, typename S, typename Record>
void evaluate_commuting(Participant const& participant, S state, evaluated_part<Record>& into) {
    sum_deltas(participant.applying, state, into.apply);
    sum_deltas(participant.confirming, state, into.confirm);
    into.effect_overflow = state.overflow;
    if constexpr (settle::detail::is_moment<typename Participant::compensate_type>) {
        wides<Record> back{};
        sum_deltas(participant.compensating, state, back);
        for (std::size_t i = 0; i < back.size(); ++i) {
            into.compensates = into.compensates && (state.overflow || back[i] == -into.apply[i]);
        }
    }
}

/// Shape:   record - the current record; a default record stands for a record that does not exist
template <auto const& Type, std::size_t Index, typename Record>
evaluated_part<Record> evaluate_part(std::optional<Record> const& record,
                                     typename forward<Type>::parameters const& parameters,
                                     std::size_t line) {
    using participant = typename forward<Type>::template participant<Index>;
    auto const& part = forward<Type>::template description<Index>();
    evaluated_part<Record> evaluated_part;
    Record start{};
    if (record) start = *record;
    plain_scope<Record, typename forward<Type>::parameters,
                typename forward<Type>::template element_of<Index>>
        scope{&start, &parameters, forward<Type>::template element<Index>(parameters, line)};
    evaluate_guards(part.guards, scope, evaluated_part);
    if constexpr (settle::detail::is_moment<typename participant::apply_type>) {
        evaluated_part.creates = participant::apply_type::creates;
    }
    evaluated_part.exclusive =
        is_exclusive(part.applying, scope) || is_exclusive(part.confirming, scope);
    if (evaluated_part.exclusive) {
        if (evaluated_part.creates) {
            start = Record{};
            assign(start.*participant::target_type::key_member, plain_value(part.key, scope),
                   evaluated_part.effect_overflow);
        }
        evaluate_exclusive(part, scope, start, evaluated_part);
    } else {
        evaluate_commuting(part, scope, evaluated_part);
    }
    return evaluated_part;
}

/// The result of the guards on the parameters, and of the amounts that must not be negative.
struct parameter_check {
    bool hold = true;      ///< true if all of them hold
    bool overflow = false; ///< true if the evaluation of at least one guard or amount overflows
};

template <typename Moment, typename S>
void check_amounts(Moment const& moment, S& state, parameter_check& into) {
    if constexpr (settle::detail::is_moment<Moment>) {
        using record = std::remove_cvref_t<decltype(*state.record)>;
        for_each_element(moment.effects, [&](auto const& effect) {
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            if constexpr (is_delta<effect_type> && !effect_type::is_signed) {
                into.hold = plain_value(effect.operand, state) >= 0 && into.hold;
            }
        });
        // Operands that read a field are not checked with the parameters.
        if constexpr (Moment::commutes) {
            wides<record> sums{};
            sum_deltas(moment, state, sums);
        }
    }
}

template <auto const& Type>
parameter_check check_parameters(typename forward<Type>::parameters const& parameters) {
    parameter_check check;
    plain_scope<nothing, typename forward<Type>::parameters, nothing> whole{nullptr, &parameters,
                                                                            nullptr};
    for_each_element(Type.guards, [&](auto const& guard) {
        check.hold = plain_value(guard.condition, whole) && check.hold;
    });
    check.overflow = whole.overflow;
    forward<Type>::for_each_participant([&](auto index) {
        using participant = typename forward<Type>::template participant<index>;
        using record_type = typename participant::record_type;
        auto const& part = forward<Type>::template description<index>();
        record_type const none{};
        for (std::size_t line = 0; line < forward<Type>::template lines<index>(parameters);
             ++line) {
            plain_scope<record_type, typename forward<Type>::parameters,
                        typename forward<Type>::template element_of<index>>
                scope{&none, &parameters, forward<Type>::template element<index>(parameters, line)};
            for_each_element(part.guards, [&](auto const& guard) {
                auto own = scope;
                own.read = 0;
                if constexpr (requires { guard.limit; }) {
                    static_cast<void>(plain_value(guard.limit, own));
                } else {
                    bool const holds = plain_value(guard.condition, own);
                    if (own.read != 0) return;
                    check.hold = check.hold && holds;
                }
                check.overflow = check.overflow || own.overflow;
            });
            check_amounts(part.applying, scope, check);
            check_amounts(part.confirming, scope, check);
            check.overflow = check.overflow || scope.overflow;
        }
    });
    return check;
}

} // namespace laws
} // namespace testing
SETTLE_END
