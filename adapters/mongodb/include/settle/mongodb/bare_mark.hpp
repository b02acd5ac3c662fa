// SPDX-License-Identifier: BSL-1.0
// The meaning of a bare mark, an id alone in pendingTransactions: the effect that a program of the
// tutorial applied while its transaction was pending.
//
// An added amount can be subtracted. An assigned field had the value that a guard of the type
// requires: the type says that the program checked it.
#pragma once

#include <settle/definition/review.hpp>
#include <settle/mongodb/error.hpp>
#include <settle/mongodb/mark_codec.hpp>
#include <settle/protocol/mark.hpp>
#include <settle/store/operation.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Sets a field to the value that a condition requires; false where it requires no single value.
template <auto Member, typename Condition, typename Scope, typename Record>
[[nodiscard]] bool take_required([[maybe_unused]] Condition const& condition,
                                 [[maybe_unused]] Scope const& at, Record& record) {
    using settle::detail::is_field;
    if constexpr (is_field<Record, Member, Condition>) {
        record.*Member = true;
        return true;
    } else if constexpr (requires { condition.operand; }) {
        constexpr bool no = Condition::operation == operation_kind::negation &&
                            is_field<Record, Member, typename Condition::operand_type>;
        if constexpr (no) record.*Member = false;
        return no;
    } else if constexpr (requires { condition.left; }) {
        using left = std::remove_cvref_t<decltype(condition.left)>;
        using right = std::remove_cvref_t<decltype(condition.right)>;
        [[maybe_unused]] auto const take = [&](auto const& value) {
            store_value(record.*Member, evaluate(value, at), *at.overflow);
            return true;
        };
        if constexpr (Condition::operation == operation_kind::both) {
            return take_required<Member>(condition.left, at, record) ||
                   take_required<Member>(condition.right, at, record);
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
[[nodiscard]] bool put_back(Participant const& of, Scope const& at, Record& record) {
    bool known = true;
    if constexpr (settle::detail::is_moment<typename Participant::apply_type>) {
        for_each_element(of.applying.effects, [&](auto const& one) {
            using effect = std::remove_cvref_t<decltype(one)>;
            bool required = false;
            for_each_element(of.guards, [&](auto const& guard) {
                if constexpr (requires { guard.condition; }) {
                    required = required ||
                               take_required<effect::member>(guard.condition, at, record);
                }
            });
            if (required) return;
            if constexpr (is_delta<effect>) {
                constexpr auto opposite = effect::kind == effect_kind::add
                                              ? operation_kind::subtract
                                              : operation_kind::add;
                auto& field = record.*effect::member;
                auto const before = settle::detail::checked<opposite>(
                    field, evaluate(one.operand, at), *at.overflow);
                store_value(field, before, *at.overflow);
            } else {
                known = false;
            }
        });
    }
    return known && !*at.overflow;
}

template <Described Record>
[[nodiscard]] bool same_fields(Record const& left, Record const& right, std::uint64_t fields) {
    bool same = true;
    for_each_member<Record>([&](auto m) {
        if ((fields >> m.index & 1U) == 0) return;
        same = same && settle::detail::same_value(left.*m.pointer, right.*m.pointer);
    });
    return same;
}

/// Reads the exclusive effect of a bare mark.
/// Shape:   now - the record under the mark; end - the step that follows: an apply keeps the mark,
///          a confirm only pulls it
/// Returns: why the mark cannot be ended so; empty when it can
template <typename Direction, std::size_t Index, Described Record>
[[nodiscard]] std::string read_bare_assignment(typename Direction::parameters const& given,
                                               std::size_t line, Record const& now, step end,
                                               exclusive_effect<Record>& into) {
    auto const wanted = Direction::template intent<Index>(given, line);
    using intent = std::remove_const_t<decltype(wanted)>;
    bool overflow = false;
    into.undone = into.confirmed = now;
    into.created = intent::creates;
    into.erases = intent::erases;
    into.confirm_fields = intent::confirm_fields;
    if (!wanted.confirm_to(into.confirmed, overflow) || overflow) {
        return "its values leave no room for the end of the transaction";
    }
    bool known = intent::creates;
    if constexpr (!intent::creates) {
        auto const& user = Direction::user(given);
        using parameters = std::remove_cvref_t<decltype(user)>;
        using element = typename Direction::template element_of<Index>;
        scope<Record, parameters, element> const at{
            nullptr, &user, Direction::template element<Index>(user, line), &overflow};
        known = put_back(Direction::template description<Index>(), at, into.undone);
    }
    into.undo_fields = known ? intent::apply_fields : 0;
    if (end == step::confirm) return {};
    if (!known) {
        return "it does not say what it replaced, and no guard of the type requires one value of "
               "what the type assigns";
    }
    Record applied = into.undone;
    bool const stands = wanted.apply_to(applied, overflow) && !overflow &&
                        same_fields(now, applied, intent::apply_fields);
    bool const was_undone = !settle::applies(end) &&
                            same_fields(now, into.undone, intent::apply_fields);
    if (intent::creates || stands || was_undone) return {};
    return "the record has other values than those that the type assigns and requires";
}

/// Reads the mark of a part, with epoch 0.
/// Shape:   now, end - as in read_bare_assignment
/// Returns: why the mark cannot be ended; empty when it can
template <typename Direction, std::size_t Index, Described Record>
[[nodiscard]] std::string read_bare_mark(typename Direction::parameters const& given,
                                         std::size_t line, [[maybe_unused]] Record const& now,
                                         [[maybe_unused]] step end, mark<Record>& into) {
    auto const wanted = Direction::template intent<Index>(given, line);
    if constexpr (std::remove_const_t<decltype(wanted)>::commutes) {
        bool overflow = false;
        wanted.deltas(into.undo_delta, into.confirm_delta, overflow);
        // The undo subtracts the amount that the apply added.
        for (auto& delta : into.undo_delta) delta = -delta;
        return {};
    } else if constexpr (Direction::is_reverse) {
        return "no program of the tutorial's kind reverses a transaction";
    } else {
        auto effect = std::make_shared<exclusive_effect<Record>>();
        auto problem = read_bare_assignment<Direction, Index>(given, line, now, end, *effect);
        into.exclusive = std::move(effect);
        return problem;
    }
}

/// The same for an operation.
template <typename Kind, typename Direction, std::size_t Index, Described Record>
[[nodiscard]] std::string read_bare_mark(operation<Kind, Direction, Index> const& one,
                                         Record const& now, mark<Record>& into) {
    into.id = one.id();
    into.part = one.part();
    return read_bare_mark<Direction, Index>(one.work().template parameters_of<Direction>(),
                                            one.part().line, now, one.at(), into);
}

/// The bare marks of a document, in their stored form.
/// Shape:   ids - of their transactions
[[nodiscard]] inline std::vector<value_view> bare_marks_of(document const& found,
                                                           std::vector<std::string> ids) {
    std::vector<value_view> all;
    auto const marks = found.find(marks_field);
    if (!marks || ids.empty()) return all;
    marks->for_each([&](value_view const& value) {
        auto const id = value.id();
        auto const one = id ? std::find(ids.begin(), ids.end(), *id) : ids.end();
        if (one == ids.end()) return true;
        all.push_back(value);
        // An id that is stored twice is two marks.
        ids.erase(one);
        return true;
    });
    return all;
}

} // namespace mongodb::detail
SETTLE_END
