// SPDX-License-Identifier: BSL-1.0
// The laws of one record: every answer and every state in a case agrees with plain evaluation.
#pragma once

#include <settle/testing/laws/record_case.hpp>

SETTLE_BEGIN
namespace testing {

/// A broken law and how it is broken; empty when every law holds.
struct broken_law {
    std::string law;
    std::string how;

    [[nodiscard]] explicit operator bool() const noexcept { return !law.empty(); }
};

/// The check of stored marks for tests without a store: it finds no problem.
struct no_stored_form {
    template <Described Record>
    std::string mark(settle::mark<Record> const&, std::optional<Record> const&) const {
        return {};
    }
};

namespace laws {

/// Runs a case with the record rule and with a model, and compares them after every operation.
template <auto const& Type, typename Collection, typename StoredForm>
class record_trial {
public:
    using case_type = record_case<Type, Collection>;
    using direction = forward<Type>;
    using record_type = typename Collection::record_type;

    record_trial(case_type const& tested, StoredForm const& stored)
        : case_(tested), stored_(stored) {
        rule_.record = tested.record;
        model_.record = tested.record;
    }

    broken_law run() {
        for (case_operation const& operation : case_.operations) {
            auto const& part = case_.parts[operation.part];
            if (direction::check(part.parameters).why != reason::none) continue;
            broken_law found = perform(operation, part);
            if (!found) found = compare(operation);
            if (found) return found;
        }
        return {};
    }

    [[nodiscard]] std::size_t applied() const noexcept { return applied_; }

private:
    broken_law perform(case_operation const& operation,
                       case_part<typename case_type::parameters> const& part) {
        broken_law law;
        bool const is_tested = case_type::visit(part.participant, [&](auto index) {
            if (part.line >= direction::template lines<index>(part.parameters)) return;
            if (operation.action != part_action::apply) {
                law = check_end(operation, part.id);
                return;
            }
            record_type created{};
            set_key<Type, index>(created, part);
            law =
                check_apply(operation, part.id, created,
                            direction::template intent<index>(part.parameters, part.line),
                            evaluate_part<Type, index>(model_.record, part.parameters, part.line));
        });
        if (is_tested) return law;
        if (operation.action != part_action::apply) return check_end(operation, part.id);
        foreign_intent<record_type> const intent{part.foreign_deltas};
        return check_apply(operation, part.id, record_type{}, intent, intent.evaluate());
    }

    template <typename Intent>
    broken_law check_apply(case_operation const& operation, transaction_id const& id,
                           record_type const& created, Intent const& intent,
                           evaluated_part<record_type> evaluated) {
        part_number const part{operation.part, 0};
        epoch const number = operation.epoch_number();
        auto const before = rule_;
        auto const image = [&] { return encode_json(*rule_.record); };
        auto const result = settle::apply(rule_, id, part, number, created, intent, image);
        if (auto* const pending = model_.find(id, part)) {
            bool const late = pending->number > number;
            if (result.what != (late ? answer::fenced : answer::applied)) {
                return {late ? "an old epoch is fenced" : "adopting is idempotent",
                        describe(result.what)};
            }
            pending->number = std::max(pending->number, number);
            if (!late && pending->evaluated.exclusive != (result.exclusive != nullptr)) {
                return {"adopting is idempotent", "the answer has another kind of effect"};
            }
            return {};
        }
        auto const expected = model_.expect(id, evaluated);
        if (!expected.allows(result.what)) {
            bool const overflow =
                expected.first == answer::overflow || result.what == answer::overflow;
            return {overflow ? "an overflow is an answer, never a value that wraps around"
                             : "an apply answers by its guards, however other transactions end",
                    describe(result.what) + ", expected " + std::string{name_of(expected.first)}};
        }
        if (result.what != answer::applied) {
            if (rule_ == before) return {};
            return {"a refused apply leaves record and marks as they were", describe(result.what)};
        }
        ++applied_;
        if (!evaluated.compensates) {
            return {"the compensation of the definition undoes the apply", "the record differs"};
        }
        std::string const old = before.record ? encode_json(*before.record) : std::string{};
        if (evaluated.exclusive != (result.exclusive != nullptr) ||
            (result.exclusive && result.exclusive->image != old)) {
            return {"an exclusive apply answers with the old image",
                    result.exclusive ? result.exclusive->image : "none"};
        }
        model_.apply(id, part, number, std::move(evaluated));
        return check_changes(result, before.record);
    }

    broken_law check_end(case_operation const& operation, transaction_id const& id) {
        part_number const part{operation.part, 0};
        auto const before = rule_.record;
        auto const result = operation.action == part_action::finish
                                ? settle::finish(rule_, id, part, operation.epoch_number())
                            : operation.action == part_action::undo
                                ? settle::undo(rule_, id, part, operation.epoch_number())
                                : settle::undo_exactly(rule_, id, part, operation.epoch_number());
        auto* const pending = model_.find(id, part);
        bool const same = pending != nullptr && pending->number == operation.epoch_number();
        // A mark with a higher epoch belongs to a later claim, or to a later use of the id.
        bool const earlier = pending != nullptr && pending->number < operation.epoch_number();
        bool const acts = same || (earlier && operation.action != part_action::undo_exactly);
        if (result.what != (acts ? answer::applied : answer::nothing)) {
            return {"a finish or an undo acts on its own mark only", describe(result.what)};
        }
        if (acts) model_.end(pending, operation.action == part_action::finish && same);
        return check_changes(result, before);
    }

    /// Checks that an answer names every change, because adapters write only the named changes.
    broken_law check_changes(record_answer<record_type> const& result,
                             std::optional<record_type> const& before) const {
        std::string how;
        if (before.has_value() != rule_.record.has_value()) {
            auto const expected = before ? record_change::erased : record_change::created;
            if (result.on_record != expected) how = "the record was created or erased";
        } else if (before) {
            bool const fields = result.on_record == record_change::fields;
            for_each_member<record_type>([&](auto m) {
                bool const named = fields && (result.fields >> m.index & 1U) != 0;
                if (!named && m.in(*before) != m.in(*rule_.record)) how = m.name;
            });
        }
        if (how.empty()) return {};
        return {"an answer names everything that changed", how};
    }

    broken_law compare(case_operation const& operation) const {
        if (model_.wrapped()) {
            return {"pending parts keep every member in its range", "a member left it"};
        }
        if (!equal_members(rule_.record, model_.record)) {
            return {law_of(operation), "the record is " + show_record(rule_.record) +
                                           ", expected " + show_record(model_.record)};
        }
        std::size_t matched = 0;
        for (auto const& mark : rule_.marks) {
            auto const found =
                std::any_of(model_.pending.begin(), model_.pending.end(), [&](auto const& other) {
                    return other.id == mark.id && other.part == mark.part &&
                           other.number == mark.epoch_number;
                });
            matched += found ? 1U : 0U;
            std::string const problem = stored_.mark(mark, rule_.record);
            if (!problem.empty()) {
                return {"a mark is read back from its stored form as it was", problem};
            }
        }
        if (matched == model_.pending.size() && rule_.marks.size() == matched) return {};
        return {"a record carries one mark for each pending part, under its last epoch",
                std::to_string(rule_.marks.size()) +
                    " marks, of them as expected: " + std::to_string(matched) + ", expected " +
                    std::to_string(model_.pending.size())};
    }

    static std::string law_of(case_operation const& operation) {
        switch (operation.action) {
        case part_action::apply: return "an apply does what plain evaluation of its moment does";
        case part_action::finish:
            return "a finish gives what plain evaluation of both moments gives, in any order";
        default: return "an undo takes back exactly what its apply did, in any order";
        }
    }
    static std::string describe(answer reply) { return "answered " + std::string{name_of(reply)}; }

    case_type const& case_;
    StoredForm const& stored_;
    record_slot<record_type> rule_;
    record_model<record_type> model_;
    std::size_t applied_ = 0;
};

/// Checks that JSON, the form in logs and images, keeps record and parameters exactly.
template <auto const& Type, typename Collection>
broken_law read_back(record_case<Type, Collection> const& tested) {
    auto const differs = [](auto const& value) {
        using type = std::remove_cvref_t<decltype(value)>;
        auto const text = encode_json(value);
        auto const read = decode_json<type>(text);
        return !read.has_value() || encode_json(read.value()) != text ||
               !check_texts(value).has_value();
    };
    std::string const law = "a value is read back from its JSON as it was";
    if (tested.record && differs(*tested.record)) return {law, encode_json(*tested.record)};
    for (auto const& one : tested.parts) {
        if (differs(one.parameters)) return {law, encode_json(one.parameters)};
    }
    return {};
}

/// Checks the answer for the guards that read the parameters alone.
template <auto const& Type, typename Collection>
broken_law refuse(record_case<Type, Collection> const& tested) {
    for (auto const& part : tested.parts) {
        reason const refusal = forward<Type>::check(part.parameters).why;
        parameter_check const plain = check_parameters<Type>(part.parameters);
        bool const right = plain.hold && !plain.overflow ? refusal == reason::none
                           : plain.hold                  ? refusal == reason::overflow
                           : plain.overflow              ? refusal != reason::none
                                                         : refusal == reason::guard_failed;
        if (!right) {
            return {"parameters that break one of their guards are refused",
                    std::string{name_of(refusal)} + " for " + encode_json(part.parameters)};
        }
    }
    return {};
}

} // namespace laws
} // namespace testing
SETTLE_END
