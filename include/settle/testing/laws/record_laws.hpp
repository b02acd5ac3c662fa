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

/// Replaces an adapter's check of how its store keeps a mark, where there is no store.
struct no_stored_form {
    template <Described Record>
    std::string mark(settle::mark<Record> const&, std::optional<Record> const&) const {
        return {};
    }
};

namespace laws {

/// Runs a case with the record rule and with a history, and compares them after every operation.
template <auto const& Type, typename Collection, typename StoredForm>
class record_trial {
public:
    using case_type = record_case<Type, Collection>;
    using direction = forward<Type>;
    using record_type = typename Collection::record_type;

    record_trial(case_type const& story, StoredForm const& stored)
        : story_(story), stored_(stored) {
        rule_.record = story.record;
        plain_.record = story.record;
    }

    broken_law run() {
        for (happening const& one : story_.happenings) {
            auto const& by = story_.wishes[one.wish];
            if (direction::check(by.given).why != reason::none) continue;
            broken_law found = happen(one, by);
            if (!found) found = compare(one);
            if (found) return found;
        }
        return {};
    }

    [[nodiscard]] std::size_t applied() const noexcept { return applied_; }

private:
    broken_law happen(happening const& one, wish<typename case_type::parameters> const& by) {
        broken_law found;
        bool const ours = case_type::visit(by.participant, [&](auto index) {
            if (by.line >= direction::template lines<index>(by.given)) return;
            if (one.what != verb::apply) {
                found = end(one, by.id);
                return;
            }
            record_type created{};
            set_key<Type, index>(created, by);
            found = begin(one, by.id, created,
                          direction::template intent<index>(by.given, by.line),
                          read_part<Type, index>(plain_.record, by.given, by.line));
        });
        if (ours) return found;
        if (one.what != verb::apply) return end(one, by.id);
        stranger_intent<record_type> const intent{by.stranger};
        return begin(one, by.id, record_type{}, intent, intent.read());
    }

    template <typename Intent>
    broken_law begin(happening const& one, transaction_id const& id, record_type const& created,
                     Intent const& intent, reading<record_type> evaluated) {
        part_number const part{one.wish, 0};
        epoch const number = one.under();
        auto const before = rule_;
        auto const image = [&] { return encode_json(*rule_.record); };
        auto const result = settle::apply(rule_, id, part, number, created, intent, image);
        if (auto* const mine = plain_.find(id, part)) {
            bool const late = mine->number > number;
            if (result.what != (late ? answer::fenced : answer::applied)) {
                return {late ? "an old epoch is fenced" : "adopting is idempotent",
                        words(result.what)};
            }
            mine->number = std::max(mine->number, number);
            if (!late && mine->reply.exclusive != (result.exclusive != nullptr)) {
                return {"adopting is idempotent", "it answers without the old image"};
            }
            return {};
        }
        auto const expected = plain_.expect(id, evaluated);
        if (!expected.allows(result.what)) {
            bool const overflow =
                expected.what == answer::overflow || result.what == answer::overflow;
            return {overflow ? "an overflow is an answer and never a wrap"
                             : "an apply answers what the guards say, whichever way others end",
                    words(result.what) + ", expected " + std::string{name_of(expected.what)}};
        }
        if (result.what != answer::applied) {
            if (rule_ == before) return {};
            return {"a refused apply leaves record and marks as they were", words(result.what)};
        }
        ++applied_;
        if (!evaluated.compensates) {
            return {"the compensation that is spelled undoes the apply", "it does not"};
        }
        std::string const old = before.record ? encode_json(*before.record) : std::string{};
        if (evaluated.exclusive != (result.exclusive != nullptr) ||
            (result.exclusive && result.exclusive->image != old)) {
            return {"an exclusive apply answers with the old image",
                    result.exclusive ? result.exclusive->image : "none"};
        }
        plain_.take(id, part, number, std::move(evaluated));
        return check_changes(result, before.record);
    }

    broken_law end(happening const& one, transaction_id const& id) {
        part_number const part{one.wish, 0};
        auto const before = rule_.record;
        auto const result =
            one.what == verb::finish ? settle::finish(rule_, id, part, one.under())
            : one.what == verb::undo ? settle::undo(rule_, id, part, one.under())
                                     : settle::undo_exactly(rule_, id, part, one.under());
        auto* const mine = plain_.find(id, part);
        bool const same = mine != nullptr && mine->number == one.under();
        // A mark with a higher epoch belongs to a later claim, or to a later use of the id.
        bool const earlier = mine != nullptr && mine->number < one.under();
        bool const there = same || (earlier && one.what != verb::undo_exactly);
        if (result.what != (there ? answer::applied : answer::nothing)) {
            return {"an end acts on its own mark and no other", words(result.what)};
        }
        if (there) plain_.end(mine, one.what == verb::finish && same);
        return check_changes(result, before);
    }

    /// Checks that an answer names every change, because adapters write only the named changes.
    broken_law check_changes(record_answer<record_type> const& result,
                             std::optional<record_type> const& before) const {
        std::string how;
        if (before.has_value() != rule_.record.has_value()) {
            auto const expected = before ? record_change::erased : record_change::created;
            if (result.on_record != expected) how = "the record came or went";
        } else if (before) {
            bool const fields = result.on_record == record_change::fields;
            for_each_member<record_type>([&](auto m) {
                bool const named = fields && (result.fields >> m.index & 1U) != 0;
                if (!named && (*before).*m.pointer != (*rule_.record).*m.pointer) how = m.name;
            });
        }
        if (how.empty()) return {};
        return {"an answer names everything that changed", how};
    }

    broken_law compare(happening const& one) const {
        if (plain_.wrapped()) {
            return {"pending parts never leave a member's range", "one does"};
        }
        if (!equal_members(rule_.record, plain_.record)) {
            return {law_of(one), "the record is " + show_record(rule_.record) + ", expected " +
                                     show_record(plain_.record)};
        }
        std::size_t matched = 0;
        for (auto const& left : rule_.marks) {
            auto const found = std::any_of(
                plain_.pending.begin(), plain_.pending.end(), [&](auto const& other) {
                    return other.id == left.id && other.part == left.part &&
                           other.number == left.epoch_number;
                });
            matched += found ? 1U : 0U;
            std::string const problem = stored_.mark(left, rule_.record);
            if (!problem.empty()) {
                return {"a mark is read back from its stored form as it was", problem};
            }
        }
        if (matched == plain_.pending.size() && rule_.marks.size() == matched) return {};
        return {"a record carries one mark for each pending part, under its last epoch",
                std::to_string(rule_.marks.size()) + " marks, of which right: " +
                    std::to_string(matched) + ", expected " +
                    std::to_string(plain_.pending.size())};
    }

    static std::string law_of(happening const& one) {
        switch (one.what) {
        case verb::apply: return "an apply does what plain evaluation of its moment does";
        case verb::finish:
            return "a finish gives what plain evaluation of both moments gives, in any order";
        default: return "an undo takes back exactly what its apply did, in any order";
        }
    }
    static std::string words(answer given) { return "answered " + std::string{name_of(given)}; }

    case_type const& story_;
    StoredForm const& stored_;
    record_slot<record_type> rule_;
    history<record_type> plain_;
    std::size_t applied_ = 0;
};

/// Checks that JSON, the form in logs and images, keeps record and parameters exactly.
template <auto const& Type, typename Collection>
broken_law read_back(record_case<Type, Collection> const& story) {
    auto const differs = [](auto const& value) {
        using type = std::remove_cvref_t<decltype(value)>;
        auto const text = encode_json(value);
        auto const read = decode_json<type>(text);
        return !read.has_value() || encode_json(read.value()) != text ||
               !check_texts(value).has_value();
    };
    std::string const law = "a value is read back from its JSON as it was";
    if (story.record && differs(*story.record)) return {law, encode_json(*story.record)};
    for (auto const& one : story.wishes) {
        if (differs(one.given)) return {law, encode_json(one.given)};
    }
    return {};
}

/// Checks the verdict on the guards that use the parameters alone.
template <auto const& Type, typename Collection>
broken_law refuse(record_case<Type, Collection> const& story) {
    for (auto const& one : story.wishes) {
        reason const refusal = forward<Type>::check(one.given).why;
        premise const plain = read_premises<Type>(one.given);
        bool const right = plain.hold && !plain.overflow ? refusal == reason::none
                           : plain.hold                  ? refusal == reason::overflow
                           : plain.overflow              ? refusal != reason::none
                                                         : refusal == reason::guard_failed;
        if (!right) {
            return {"parameters that break a guard of theirs are refused",
                    std::string{name_of(refusal)} + " for " + encode_json(one.given)};
        }
    }
    return {};
}

} // namespace laws
} // namespace testing
SETTLE_END
