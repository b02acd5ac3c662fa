// SPDX-License-Identifier: BSL-1.0
// The effect of a bare mark, which a program of the tutorial applied while its transaction was
// pending. Only the transaction type knows the effect.
//
// An added amount can be subtracted. An assigned field had the value that a guard of the type
// requires, because the program checked that guard.
#pragma once

#include <settle/definition/review.hpp>
#include <settle/mongodb/tutorial/bare_mark.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Sets a field to the value that a condition requires; false where it requires no single value.
template <auto Member, typename Condition, typename Scope, typename Record>
[[nodiscard]] bool take_required([[maybe_unused]] Condition const& condition,
                                 [[maybe_unused]] Scope const& scope_of_values, Record& record) {
    using settle::detail::is_field;
    if constexpr (is_field<Record, Member, Condition>) {
        settle::detail::member_in<Member>(record) = true;
        return true;
    } else if constexpr (requires { condition.operand; }) {
        constexpr bool no = Condition::operation == operation_kind::negation &&
                            is_field<Record, Member, typename Condition::operand_type>;
        if constexpr (no) settle::detail::member_in<Member>(record) = false;
        return no;
    } else if constexpr (requires { condition.left; }) {
        using left = std::remove_cvref_t<decltype(condition.left)>;
        using right = std::remove_cvref_t<decltype(condition.right)>;
        [[maybe_unused]] auto const take = [&](auto const& value) {
            store_value(settle::detail::member_in<Member>(record), evaluate(value, scope_of_values),
                        *scope_of_values.overflow);
            return true;
        };
        if constexpr (Condition::operation == operation_kind::both) {
            return take_required<Member>(condition.left, scope_of_values, record) ||
                   take_required<Member>(condition.right, scope_of_values, record);
        } else if constexpr (Condition::operation != operation_kind::equal) {
            return false;
        } else if constexpr (is_field<Record, Member, left> &&
                             settle::detail::without_fields<right>) {
            return take(condition.right);
        } else if constexpr (is_field<Record, Member, right> &&
                             settle::detail::without_fields<left>) {
            return take(condition.left);
        } else {
            return false;
        }
    } else {
        return false;
    }
}

/// Restores a record to its state before a participant's apply. False where neither a guard nor the
/// effect gives the old value of a field.
template <typename Participant, typename Scope, typename Record>
[[nodiscard]] bool put_back(Participant const& participant, Scope const& scope_of_values,
                            Record& record) {
    bool known = true;
    if constexpr (settle::detail::is_moment<typename Participant::apply_type>) {
        for_each_element(participant.applying.effects, [&](auto const& change) {
            using effect = std::remove_cvref_t<decltype(change)>;
            bool required = false;
            for_each_element(participant.guards, [&](auto const& guard) {
                if constexpr (requires { guard.condition; }) {
                    required = required || take_required<effect::member>(guard.condition,
                                                                         scope_of_values, record);
                }
            });
            if (required) return;
            if constexpr (is_delta<effect>) {
                constexpr auto opposite = effect::kind == effect_kind::add
                                              ? operation_kind::subtract
                                              : operation_kind::add;
                auto& field = settle::detail::member_in<effect::member>(record);
                auto const before = settle::detail::checked<opposite>(
                    field, evaluate(change.operand, scope_of_values), *scope_of_values.overflow);
                store_value(field, before, *scope_of_values.overflow);
            } else {
                known = false;
            }
        });
    }
    return known && !*scope_of_values.overflow;
}

template <Described Record>
[[nodiscard]] bool same_fields(Record const& left, Record const& right, std::uint64_t fields) {
    bool same = true;
    for_each_member<Record>([&](auto m) {
        if ((fields >> m.index & 1U) == 0) return;
        same = same && settle::detail::same_value(m.in(left), m.in(right));
    });
    return same;
}

inline constexpr char const* no_room_for_end =
    "its values leave no room for the end of the transaction";

/// Reads the exclusive effect of a bare mark.
/// Shape:   now - the record under the mark; end - the step that follows: an apply keeps the mark,
///          a confirm only pulls it
/// Returns: why the mark cannot be ended in this step; empty when it can
template <typename Direction, std::size_t Index, Described Record>
[[nodiscard]] std::string read_bare_assignment(typename Direction::parameters const& values,
                                               std::size_t line, Record const& now, step end,
                                               exclusive_effect<Record>& into) {
    auto const intended = Direction::template intent<Index>(values, line);
    using intent = std::remove_const_t<decltype(intended)>;
    bool overflow = false;
    into.undone = into.confirmed = now;
    into.created = intent::creates;
    into.erases = intent::erases;
    into.confirm_fields = intent::confirm_fields;
    if (!intended.confirm_to(into.confirmed, overflow) || overflow) {
        return no_room_for_end;
    }
    bool known = intent::creates;
    if constexpr (!intent::creates) {
        auto const& user = Direction::user(values);
        using parameters = std::remove_cvref_t<decltype(user)>;
        using element = typename Direction::template element_of<Index>;
        scope<Record, parameters, element> const at{
            nullptr, &user, Direction::template element<Index>(user, line), &overflow};
        known = put_back(Direction::template description<Index>(), at, into.undone);
    }
    into.undo_fields = known ? intent::apply_fields : 0;
    if (end == step::confirm) return {};
    if (!known) {
        return "it does not hold the value that it replaced, and no guard of the type requires a "
               "single value of the assigned field";
    }
    Record applied = into.undone;
    bool const is_applied = intended.apply_to(applied, overflow) && !overflow &&
                            same_fields(now, applied, intent::apply_fields);
    bool const was_undone =
        !settle::applies(end) && same_fields(now, into.undone, intent::apply_fields);
    if (intent::creates || is_applied || was_undone) return {};
    return "the record has other values than those that the type assigns and requires";
}

/// Reads the effect of a part.
/// Shape:   now, end - as in read_bare_assignment
/// Returns: why the mark cannot be ended; empty when it can
template <typename Direction, std::size_t Index, Described Record>
[[nodiscard]] std::string read_bare_part(typename Direction::parameters const& parameters,
                                         std::size_t line, [[maybe_unused]] Record const& now,
                                         [[maybe_unused]] step end, mark<Record>& into) {
    auto const intended = Direction::template intent<Index>(parameters, line);
    if constexpr (std::remove_const_t<decltype(intended)>::commutes) {
        bool overflow = false;
        intended.deltas(into.undo_delta, into.confirm_delta, overflow);
        // The undo subtracts the amount that the apply added.
        into.undo_delta = settle::detail::negated<Record>(into.undo_delta, overflow);
        return overflow ? no_room_for_end : "";
    } else {
        auto effect = std::make_shared<exclusive_effect<Record>>();
        auto problem = read_bare_assignment<Direction, Index>(parameters, line, now, end, *effect);
        into.exclusive = std::move(effect);
        return problem;
    }
}

/// Reads the effect of a bare mark: a bare_reader.
/// Shape:   Direction - of the type of the other programs' transactions
template <typename Direction>
[[nodiscard]] std::string read_bare_effect(part_request const& request, void const* now,
                                           mark_data& into) {
    if (request.type != &descriptor_of<Direction>) {
        return "no program of the tutorial's kind runs a transaction of this type";
    }
    auto const& parameters =
        *static_cast<typename Direction::parameters const*>(request.parameters);
    std::string problem;
    Direction::for_each_participant([&](auto index) {
        using record_type = typename Direction::template target_of<index>::record_type;
        if (request.part.participant != index) return;
        mark<record_type> read;
        problem = read_bare_part<Direction, index>(parameters, request.part.line,
                                                   *static_cast<record_type const*>(now),
                                                   request.action, read);
        into.confirm.assign(read.confirm_delta.begin(), read.confirm_delta.end());
        into.undo.assign(read.undo_delta.begin(), read.undo_delta.end());
        if (!read.exclusive) return;
        auto const& effect = *read.exclusive;
        auto draft = settle::detail::draft_exclusive(
            settle::detail::descriptor_of_record<record_type>, &effect.undone);
        *static_cast<record_type*>(draft.confirmed) = effect.confirmed;
        *draft.undo_fields = effect.undo_fields;
        *draft.confirm_fields = effect.confirm_fields;
        *draft.created = effect.created;
        *draft.erases = effect.erases;
        *draft.image = effect.image;
        into.exclusive = std::move(draft.effect);
    });
    return problem;
}

/// Shape:   Direction - as in read_bare_effect
template <typename Direction>
inline bare_marks const bare_rule{&read_bare_effect<Direction>};

/// A request to end a part that another program applied.
[[nodiscard]] inline part_request leftover_request(part_descriptor const& part,
                                                   transaction_descriptor const& type,
                                                   void const* parameters, transaction_id const& id,
                                                   std::size_t line, step action) {
    part_number const number{part.participant, static_cast<std::uint32_t>(line)};
    return {&part, &type, parameters, &id, number, action, 0};
}

} // namespace mongodb::detail
SETTLE_END
