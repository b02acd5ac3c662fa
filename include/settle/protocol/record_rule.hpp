// SPDX-License-Identifier: BSL-1.0
// The record rule: how one operation (apply, finish, undo) changes a record and its marks.
//
// The rule does no I/O. The memory store, the exhaustive search and every adapter that reads,
// decides and writes inside a native transaction call it. Conditional updates in SQL or BSON are
// tested against it.
#pragma once

#include <settle/protocol/intent.hpp>
#include <settle/protocol/rules.hpp>

SETTLE_BEGIN

enum class mark_change : std::uint8_t { none, added, raised, pulled };
enum class record_change : std::uint8_t { none, fields, created, erased };

/// The answer of an operation, and its changes: an adapter writes only these changes.
template <typename Record>
struct record_answer {
    answer what = answer::nothing;
    mark_change on_mark = mark_change::none;
    record_change on_record = record_change::none;
    std::uint64_t fields = 0;
    /// The exclusive effect in the mark that an apply added or found, for the entry's images.
    std::shared_ptr<exclusive_effect<Record> const> exclusive;
    epoch marked = 0; ///< of `other_call`: the epoch of the mark that is there

    // Not defaulted: the compiler would then clear the whole object before it sets the members.
    record_answer() {}
};

namespace detail {

template <Described Record>
[[SETTLE_INLINED]] inline std::uint64_t add_to(Record& record, integers<Record> const& delta) {
    std::uint64_t fields = 0;
    for_each_integer<Record>([&](auto m, auto position) __attribute__((always_inline)) {
        if (delta[position] == 0) return;
        using type = typename decltype(m)::type;
        // Escrow has checked at apply that every sum of pending changes fits the member.
        m.in(record) = static_cast<type>(m.in(record) + delta[position]);
        fields |= std::uint64_t{1} << m.index;
    });
    return fields;
}

/// Calls `function(member, position, value, least, most)` for every integer member of a record.
template <Described Record, typename Function>
[[gnu::always_inline]] inline void for_each_number(Record const& record, Function&& function) {
    for_each_integer<Record>([&](auto m, auto position) __attribute__((always_inline)) {
        using limits = std::numeric_limits<typename decltype(m)::type>;
        function(m.index, position.value, std::int64_t{m.in(record)}, std::int64_t{limits::min()},
                 std::int64_t{limits::max()});
    });
}

/// Calls `function(position, value, side, limit)` for every bound of an intent.
template <Described Record, typename Intent, typename Function>
[[gnu::always_inline]] inline void for_each_bound(Record const& record, Intent const& intent,
                                                  Function&& function, bool& overflow) {
    intent.for_each_bound(
        [&](auto index, bound_side side, std::int64_t limit) __attribute__((always_inline)) {
            constexpr std::size_t position = integer_position<Record, index.value>;
            std::int64_t const value = member<Record, index.value>::in(record);
            function(position, value, side, limit);
        },
        overflow);
}

/// The deltas that undo these sums. The least integer has no opposite, so it is an overflow.
template <typename Record>
[[SETTLE_INLINED]] inline integers<Record> negated(integers<Record> const& sums, bool& overflow) {
    integers<Record> integers = sums;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        integers[i] = checked<operation_kind::subtract>(std::int64_t{0}, sums[i], overflow);
    }
    return integers;
}

template <Described Record>
void copy_fields(Record& to, Record const& from, std::uint64_t fields) {
    for_each_member<Record>([&](auto m) {
        if ((fields >> m.index & 1U) != 0) m.in(to) = m.in(from);
    });
}

/// True if a bound holds for every value from `least` to `most`.
template <typename Value>
[[SETTLE_INLINED]] inline bool keeps(bound_side side, Value least, Value most, std::int64_t limit) {
    return side == bound_side::lower ? least >= limit : most <= limit;
}

/// True if the bounds of a commuting intent hold for every outcome of the other marks.
template <typename Rules, typename Record, typename Intent>
[[gnu::always_inline]] inline bool bounds_hold(record_slot<Record> const& slot,
                                               Intent const& intent, bool& overflow) {
    bool hold = true;
    bool const alone = !Rules::escrow || slot.marks.empty();
    for_each_bound(
        *slot.record, intent,
        [&](std::size_t position, std::int64_t value, bound_side side, std::int64_t limit) {
            hold = hold && (alone ? keeps(side, value, value, limit)
                                  : keeps(side, value + slot.marks.low(position),
                                          value + slot.marks.high(position), limit));
        },
        overflow);
    return hold;
}

/// True if every member stays within its type for every outcome of this part and the other marks.
/// Shape:   undo - the negation of `apply`
template <typename Rules, typename Record>
[[SETTLE_INLINED]] inline bool fits(record_slot<Record> const& slot, integers<Record> const& apply,
                                    integers<Record> const& confirm, integers<Record> const& undo) {
    bool all_hold = true;
    bool const alone = !Rules::escrow || slot.marks.empty();
    for_each_number(*slot.record, [&](std::size_t, std::size_t position, std::int64_t value,
                                      std::int64_t lowest_value,
                                      std::int64_t highest_value) __attribute__((always_inline)) {
        auto const added = apply[position];
        auto const later = confirm[position];
        if (added == 0 && later == 0) return;
        std::int64_t const least = std::min(std::min(std::int64_t{0}, later), undo[position]);
        std::int64_t const most = std::max(std::max(std::int64_t{0}, later), undo[position]);
        if (alone) {
            std::int64_t after = 0;
            std::int64_t lowest = 0;
            std::int64_t highest = 0;
            all_hold = all_hold && !__builtin_add_overflow(value, added, &after) &&
                       !__builtin_add_overflow(after, least, &lowest) &&
                       !__builtin_add_overflow(after, most, &highest) && lowest >= lowest_value &&
                       highest <= highest_value;
        } else {
            wide const after = wide{value} + added;
            all_hold = all_hold && after + slot.marks.low(position) + least >= lowest_value &&
                       after + slot.marks.high(position) + most <= highest_value;
        }
    });
    return all_hold;
}

/// True if the marks can still change one of these members.
/// Shape:   Marks - all marks of a record, or one mark
template <typename Record, typename Marks>
bool in_motion(Record const& record, Marks const& marks, std::uint64_t fields) {
    bool moving = false;
    for_each_number(record, [&](std::size_t index, std::size_t position, std::int64_t, std::int64_t,
                                std::int64_t) {
        moving = moving || ((fields >> index & 1U) != 0 &&
                            (marks.low(position) != 0 || marks.high(position) != 0));
    });
    return moving;
}

template <typename Record>
record_answer<Record> refused(answer what) {
    record_answer<Record> result;
    result.what = what;
    return result;
}

/// Adds the apply deltas to a record and adds the mark, if every member stays within its type.
template <typename Rules, typename Record>
[[SETTLE_INLINED]] inline record_answer<Record>
take_sums(record_slot<Record>& slot, transaction_id const& id, part_number part, epoch under,
          integers<Record> const& apply, integers<Record> const& confirm, bool overflow) {
    integers<Record> const undo = negated<Record>(apply, overflow);
    if (overflow || !fits<Rules>(slot, apply, confirm, undo)) {
        return refused<Record>(answer::overflow);
    }
    record_answer<Record> result;
    result.what = answer::applied;
    result.on_mark = mark_change::added;
    // The mark comes first: its allocation is the only step that can fail.
    slot.marks.add(id, part, [&](mark<Record>& mark) {
        mark.epoch_number = under;
        mark.confirm_delta = confirm;
        mark.undo_delta = undo;
    });
    result.fields = add_to(*slot.record, apply);
    if (result.fields != 0) result.on_record = record_change::fields;
    return result;
}

/// Calls an inlined function out of line, so that its callers share one copy.
template <auto Function>
struct shared_by_all;
template <typename Result, typename... Arguments, Result (*Function)(Arguments...)>
struct shared_by_all<Function> {
    [[gnu::noinline]] static Result call(Arguments... arguments) {
        return Function(static_cast<Arguments>(arguments)...);
    }
};

/// Applies a commuting part that has no mark yet.
/// Shape:   Inlined - see apply_as()
template <typename Rules, bool Inlined, typename Record, typename Intent>
[[gnu::always_inline]] inline record_answer<Record>
apply_commuting(record_slot<Record>& slot, transaction_id const& id, part_number part, epoch under,
                Intent const& intent) {
    bool const looks_at_fields = Rules::escrow && intent.exact_fields != 0;
    if (looks_at_fields && in_motion(*slot.record, slot.marks, intent.exact_fields)) {
        // A wait for a part of the same transaction would never end.
        bool const own = slot.marks.any_of(
            id, [&](auto const& one) { return in_motion(*slot.record, one, intent.exact_fields); });
        return refused<Record>(own ? answer::two_parts : answer::busy);
    }
    bool overflow = false;
    bool const exact = intent.exact_guards_hold(*slot.record, overflow);
    bool const bounds = bounds_hold<Rules>(slot, intent, overflow);
    if (overflow) return refused<Record>(answer::overflow);
    if (!exact || !bounds) return refused<Record>(answer::guard_failed);
    integers<Record> apply = zeros_of(*slot.record);
    integers<Record> confirm = zeros_of(*slot.record);
    intent.deltas(apply, confirm, overflow);
    constexpr auto take =
        Inlined ? &take_sums<Rules, Record> : &shared_by_all<&take_sums<Rules, Record>>::call;
    return take(slot, id, part, under, apply, confirm, overflow);
}

/// Checks the guards of an exclusive intent. The record has no marks, so its values are exact.
template <typename Record, typename Intent>
answer check_alone(Record const& record, Intent const& intent) {
    bool overflow = false;
    bool hold = intent.exact_guards_hold(record, overflow);
    for_each_bound(
        record, intent,
        [&](std::size_t, std::int64_t value, bound_side side, std::int64_t limit) {
            hold = hold && keeps(side, value, value, limit);
        },
        overflow);
    if (overflow) return answer::overflow;
    return hold ? answer::applied : answer::guard_failed;
}

template <typename Record, typename Intent, typename NativeImage>
record_answer<Record> apply_exclusive(record_slot<Record>& slot, transaction_id const& id,
                                      part_number part, epoch under, Record const& created,
                                      Intent const& intent, NativeImage&& native_image) {
    auto effect = std::make_shared<exclusive_effect<Record>>();
    if (!intent.creates) {
        answer const alone = check_alone(*slot.record, intent);
        if (alone != answer::applied) return refused<Record>(alone);
        effect->image = native_image();
    }
    Record applied = intent.creates ? created : *slot.record;
    effect->undone = applied;
    bool overflow = false;
    bool hold = intent.apply_to(applied, overflow);
    effect->confirmed = applied;
    hold = intent.confirm_to(effect->confirmed, overflow) && hold;
    if (overflow) return refused<Record>(answer::overflow);
    if (!hold) return refused<Record>(answer::guard_failed);
    effect->undo_fields = intent.apply_fields;
    effect->confirm_fields = intent.confirm_fields;
    effect->created = intent.creates;
    effect->erases = intent.erases;
    record_answer<Record> result;
    result.what = answer::applied;
    result.on_mark = mark_change::added;
    result.fields = intent.apply_fields;
    result.on_record = intent.creates             ? record_change::created
                       : intent.apply_fields != 0 ? record_change::fields
                                                  : record_change::none;
    result.exclusive = effect;
    slot.marks.add(id, part, [&](mark<Record>& mark) {
        mark.epoch_number = under;
        mark.confirm_delta = zeros_of(applied);
        mark.undo_delta = zeros_of(applied);
        mark.exclusive = std::move(effect);
    });
    slot.record = std::move(applied);
    return result;
}

/// Answers an apply whose part already has a mark: adopts a lower epoch, is fenced by a higher.
template <typename Rules, typename Record>
record_answer<Record> adopt_mark(mark<Record>& mark, epoch under) {
    bool const looks = Rules::marks_carry_epochs;
    if (looks && Rules::births_stand_alone && !are_comparable(mark.epoch_number, under)) {
        auto other = refused<Record>(answer::other_call);
        other.marked = mark.epoch_number;
        return other;
    }
    if (looks && Rules::applying_fences && mark.epoch_number > under) {
        return refused<Record>(answer::fenced);
    }
    record_answer<Record> result;
    result.what = answer::applied;
    result.exclusive = mark.exclusive;
    if (looks && Rules::adopting_raises && mark.epoch_number < under) {
        mark.epoch_number = under;
        result.on_mark = mark_change::raised;
    }
    return result;
}

/// The part number that the mark of a part carries.
template <typename Rules>
constexpr part_number number_of(part_number part) {
    return Rules::parts_in_marks ? part : part_number{};
}

/// Applies to the record the confirm or the undo that a mark holds.
template <typename Record>
[[SETTLE_INLINED]] inline void end_mark(std::optional<Record>& record, mark<Record> const& ended,
                                        bool confirmed, record_answer<Record>& result) {
    // Another program may have erased the record under the mark. Then only the mark is pulled.
    if (!record) return;
    if (!ended.is_exclusive()) {
        result.fields = add_to(*record, confirmed ? ended.confirm_delta : ended.undo_delta);
    } else if (confirmed ? ended.exclusive->erases : ended.exclusive->created) {
        record.reset();
        result.on_record = record_change::erased;
        return;
    } else {
        auto const& effect = *ended.exclusive;
        result.fields = confirmed ? effect.confirm_fields : effect.undo_fields;
        copy_fields(*record, confirmed ? effect.confirmed : effect.undone, result.fields);
    }
    if (result.fields != 0) result.on_record = record_change::fields;
}

/// Confirms or undoes a mark and pulls it.
template <typename Record>
[[SETTLE_INLINED]] inline record_answer<Record> resolve(record_slot<Record>& slot,
                                                        mark<Record>* record_slot, bool confirmed) {
    record_answer<Record> result;
    result.what = answer::applied;
    result.on_mark = mark_change::pulled;
    end_mark(slot.record, *record_slot, confirmed, result);
    slot.marks.erase(record_slot);
    return result;
}

/// Looks at the marks and at the record's existence, before an apply checks its guards.
/// Shape:   commutes, creates - properties of the intent; into - the answer
/// Returns: true if the apply is answered, false if it may check its guards
template <typename Rules, typename Record>
[[SETTLE_INLINED]] inline bool decided_by_marks(record_slot<Record>& slot, transaction_id const& id,
                                                part_number part, epoch under, bool commutes,
                                                bool creates, record_answer<Record>& into) {
    auto const refuse = [&](answer what) {
        into.what = what;
        return true;
    };
    if (mark<Record>* const own = slot.marks.find(id, part)) {
        into = adopt_mark<Rules>(*own, under);
        return true;
    }
    if (Rules::exclusive_marks && !slot.marks.empty()) {
        if (slot.marks.holds_other_part(id, commutes)) return refuse(answer::two_parts);
        if (slot.marks.any_exclusive()) return refuse(answer::busy);
    }
    if (creates && slot.record) return refuse(answer::record_exists);
    if (!creates && !slot.record) return refuse(answer::record_missing);
    if (Rules::exclusive_marks && !commutes && !slot.marks.empty()) return refuse(answer::busy);
    return false;
}

/// True for an intent that knows its properties at run time alone; see store/record.hpp.
template <typename Intent>
inline constexpr bool is_erased = requires { typename Intent::erased; };

/// Shape:   Inlined - true: the caller inlines all code; false: all intents share one copy of the
///          code that does not depend on the intent
template <typename Rules, bool Inlined, typename Record, typename Intent, typename NativeImage>
[[gnu::always_inline]] inline record_answer<Record>
apply_as(record_slot<Record>& slot, transaction_id const& id, part_number part, epoch under,
         Record const& created, Intent const& intent, NativeImage&& native_image) {
    constexpr auto look = Inlined ? &decided_by_marks<Rules, Record>
                                  : &shared_by_all<&decided_by_marks<Rules, Record>>::call;
    part = number_of<Rules>(part);
    record_answer<Record> result;
    if (look(slot, id, part, under, intent.commutes, intent.creates, result)) return result;
    if constexpr (is_erased<Intent>) {
        if (intent.commutes) return apply_commuting<Rules, Inlined>(slot, id, part, under, intent);
        return apply_exclusive(slot, id, part, under, created, intent,
                               std::forward<NativeImage>(native_image));
    } else if constexpr (Intent::commutes) {
        return apply_commuting<Rules, Inlined>(slot, id, part, under, intent);
    } else {
        return apply_exclusive(slot, id, part, under, created, intent,
                               std::forward<NativeImage>(native_image));
    }
}

} // namespace detail

/// apply(), inlined into a caller whose loop is so short that a call would be noticeable.
template <typename Rules = detail::protocol_rules, typename Record, typename Intent,
          typename NativeImage>
[[gnu::always_inline]] inline record_answer<Record>
apply_inlined(record_slot<Record>& slot, transaction_id const& id, part_number part, epoch under,
              Record const& created, Intent const& intent, NativeImage&& native_image) {
    return detail::apply_as<Rules, true>(slot, id, part, under, created, intent,
                                         std::forward<NativeImage>(native_image));
}

/// Applies one part under an epoch.
/// Shape:   created - the record with its key set, used only by an intent that creates
///          native_image - called at most once, by an exclusive effect on an existing record, to
///          store the whole native record in the mark
/// Errors:  every answer but `applied` leaves the slot as it was
/// Source:  protocol#the-record-rule
template <typename Rules = detail::protocol_rules, typename Record, typename Intent,
          typename NativeImage>
record_answer<Record> apply(record_slot<Record>& slot, transaction_id const& id, part_number part,
                            epoch under, Record const& created, Intent const& intent,
                            NativeImage&& native_image) {
    return detail::apply_as<Rules, false>(slot, id, part, under, created, intent,
                                          std::forward<NativeImage>(native_image));
}

/// Applies one part inside a native transaction that also ends it. If the part already has a mark,
/// a run in two phases has left it: the answer is `busy`.
template <typename Rules = detail::protocol_rules, typename Record, typename Intent,
          typename NativeImage>
record_answer<Record> apply_one_phase(record_slot<Record>& slot, transaction_id const& id,
                                      part_number part, epoch under, Record const& created,
                                      Intent const& intent, NativeImage&& native_image) {
    auto const apply_to = [&](record_slot<Record>& to) {
        return apply<Rules>(to, id, part, under, created, intent,
                            std::forward<NativeImage>(native_image));
    };
    if (!Rules::one_phase_respects_marks) {
        record_slot<Record> unmarked{slot.record, {}};
        auto applied = apply_to(unmarked);
        if (applied.what != answer::applied) return applied;
        slot.record = unmarked.record;
        slot.marks.insert(*unmarked.marks.begin());
        return applied;
    }
    if (slot.marks.find(id, detail::number_of<Rules>(part)) != nullptr) {
        return detail::refused<Record>(answer::busy);
    }
    return apply_to(slot);
}

/// Finishes one part of a committed transaction: confirms a mark with the committed epoch, undoes
/// a stray mark with a lower epoch, and pulls either. A mark with a higher epoch stays: its
/// transaction has the same id and was submitted after a purge.
/// Shape:   committed - the entry's committed epoch, 0 without one: then every mark is stray, also
///          a mark of another program, which has epoch 0
template <typename Rules = detail::protocol_rules, typename Record>
[[SETTLE_INLINED]] inline record_answer<Record>
finish(record_slot<Record>& slot, transaction_id const& id, part_number part, epoch committed) {
    bool const looks = Rules::marks_carry_epochs && Rules::finish_looks;
    mark<Record>* const own = slot.marks.find(id, detail::number_of<Rules>(part));
    if (own == nullptr) return {};
    if (looks && Rules::births_stand_alone && !are_comparable(own->epoch_number, committed)) {
        return {};
    }
    if (looks && committed != 0 && own->epoch_number > committed) return {};
    bool const same = committed != 0 && own->epoch_number == committed;
    return detail::resolve(slot, own, !looks || same);
}

/// Undoes one part of a canceled transaction. A mark with an epoch above `latest` stays: its
/// transaction has the same id and was submitted after a purge.
template <typename Rules = detail::protocol_rules, typename Record>
record_answer<Record> undo(record_slot<Record>& slot, transaction_id const& id, part_number part,
                           epoch latest = epoch_limit) {
    mark<Record>* const own = slot.marks.find(id, detail::number_of<Rules>(part));
    if (own == nullptr || own->epoch_number > latest) return {};
    if (Rules::births_stand_alone && !are_comparable(own->epoch_number, latest)) return {};
    return detail::resolve(slot, own, false);
}

/// Undoes one part only if its mark has exactly this epoch: for backing off and for sweeping.
template <typename Rules = detail::protocol_rules, typename Record>
record_answer<Record> undo_exactly(record_slot<Record>& slot, transaction_id const& id,
                                   part_number part, epoch exact) {
    bool const looks = Rules::marks_carry_epochs && Rules::undo_is_exact;
    mark<Record>* const own = slot.marks.find(id, detail::number_of<Rules>(part));
    if (own == nullptr || (looks && own->epoch_number != exact)) return {};
    return detail::resolve(slot, own, false);
}

SETTLE_END
