// SPDX-License-Identifier: BSL-1.0
// Parts that are records: how a part request is executed on its record. The record rule decides; a
// store reads the record and its marks before, and writes their changes afterwards.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/protocol/conditional.hpp>
#include <settle/store/request.hpp>

SETTLE_BEGIN

/// Gives a whole record as its store keeps it, as JSON.
using native_image_function = detail::function_view<std::string()>;

/// The functions of a record's part. The pointers to void are a record_slot, a record_answer, a
/// std::optional<conditional_change> and an exclusive_effect of the collection's record type.
struct record_functions {
    /// Applies the part, in two phases or in one.
    void (*apply)(part_request const&, void* slot, void* answer, native_image_function);
    /// The conditional update that has the same effect; empty if the rule must see the record.
    void (*conditional)(part_request const&, void* change);
    /// The native image from which an applied part creates its record; empty: from its members.
    std::string_view (*native_image)(part_request const&);
};

namespace detail {

[[nodiscard]] inline record_functions const& record_part(part_request const& request) {
    return *static_cast<record_functions const*>(request.descriptor->functions);
}

/// Kept out of line: most parts are finished, not undone.
template <Described Record>
[[gnu::noinline]] record_answer<Record> undo_part(part_request const& request,
                                                  record_slot<Record>& slot) {
    if (request.action == step::compensate) {
        return undo(slot, *request.id, request.part, request.epoch_number);
    }
    return undo_exactly(slot, *request.id, request.part, request.epoch_number);
}

} // namespace detail

/// True if a request's part is a record of this collection.
template <typename Collection>
[[nodiscard]] bool is_part_of(part_request const& request) {
    return request.descriptor->target == &detail::target_tag<Collection>;
}
/// The key of such a part's record.
template <typename Collection>
[[nodiscard]] typename Collection::key_type key_of(part_request const& request) {
    using key = typename Collection::key_type;
    using given =
        std::conditional_t<std::is_same_v<key, std::string>, std::string_view, std::int64_t>;
    return static_cast<key>(std::get<given>(request.key()));
}

/// Executes a part on its record, by the action of the request. The store writes the slot's changes
/// afterwards: a changed, created or erased record, and changed marks.
/// Shape:   Record - of the descriptor's collection
///          slot - the record, if there is one, and all its marks; to end a part, its own marks
///                 are enough
///          native_image - returns the whole record as JSON, as the store keeps it; called at most
///                 once, before the slot changes, for an exclusive effect on an existing record
template <Described Record>
[[nodiscard]] record_answer<Record> execute(part_request const& request, record_slot<Record>& slot,
                                            native_image_function native_image) {
    if (request.action == step::confirm) {
        return finish(slot, *request.id, request.part, request.committed);
    }
    if (!applies(request.action)) return detail::undo_part(request, slot);
    record_answer<Record> result;
    detail::record_part(request).apply(request, &slot, &result, native_image);
    return result;
}

/// Ends an applied part of one phase: its mark never leaves the native transaction.
template <Described Record>
[[nodiscard]] record_answer<Record> end_one_phase(part_request const& request,
                                                  record_slot<Record>& slot, bool confirmed) {
    auto const& [id, part, under] = std::tie(*request.id, request.part, request.epoch_number);
    return confirmed ? finish(slot, id, part, under) : undo_exactly(slot, id, part, under);
}

/// Confirms or undoes a mark with exactly this epoch, as resolve() of a store does.
template <Described Record>
[[nodiscard]] answer resolve_mark(record_slot<Record>& slot, transaction_id const& id,
                                  part_number part, epoch exact, bool confirmed) {
    auto const* const found = slot.marks.find(id, part);
    if (found == nullptr || found->epoch_number != exact) return answer::nothing;
    return (confirmed ? finish(slot, id, part, exact) : undo_exactly(slot, id, part, exact)).what;
}

/// The conditional update of an unread record; empty if the record rule must see the record.
template <Described Record>
[[nodiscard]] std::optional<conditional_change<Record>>
conditional_of(part_request const& request) {
    std::optional<conditional_change<Record>> change;
    bool const possible = applies(request.action) || request.action == step::confirm;
    if (possible) detail::record_part(request).conditional(request, &change);
    return change;
}

/// The result of a part that was executed on its record.
template <Described Record>
[[nodiscard]] part_result result_of(record_answer<Record>&& given) {
    return {given.what, std::move(given.exclusive), {}};
}

/// The answer of a part whose record cannot be used: it cancels a part that has not begun, and a
/// part that has begun must wait for the record's repair.
[[nodiscard]] inline part_result result_of_unusable(step action, error const& why) {
    return {applies(action) ? answer::record_unusable : answer::unavailable, nullptr, why};
}

namespace detail {

/// The functions of one participant whose target is a collection.
template <typename Direction, std::size_t Index>
struct record_part_functions {
    using collection = typename Direction::template target_of<Index>;
    using record = typename collection::record_type;

    static auto intent_of(part_request const& request) {
        auto const& parameters =
            *static_cast<typename Direction::parameters const*>(request.parameters);
        return Direction::template intent<Index>(parameters, request.part.line);
    }
    static void apply(part_request const& request, void* slot, void* answer_to,
                      native_image_function native_image) {
        auto& into = *static_cast<record_answer<record>*>(answer_to);
        auto& slot_of_record = *static_cast<record_slot<record>*>(slot);
        record created{};
        auto const intent = intent_of(request);
        if constexpr (std::remove_const_t<decltype(intent)>::creates) {
            bool overflow = false;
            std::visit([&](auto key) { store_key(created, key, overflow); }, request.key());
            if (overflow) {
                into = refused<record>(answer::overflow);
                return;
            }
        }
        if (request.action == step::one_phase) {
            into = apply_one_phase(slot_of_record, *request.id, request.part, request.epoch_number,
                                   created, intent, native_image);
        } else {
            into = settle::apply(slot_of_record, *request.id, request.part, request.epoch_number,
                                 created, intent, native_image);
        }
    }
    static void conditional(part_request const& request, void* change) {
        auto& into = *static_cast<std::optional<conditional_change<record>>*>(change);
        auto const intent = intent_of(request);
        switch (request.action) {
        case step::confirm:
            into = conditional_finish<record>(*request.id, request.part, request.committed, intent);
            break;
        case step::one_phase:
            into = conditional_apply_one_phase<record>(*request.id, request.part,
                                                       request.epoch_number, intent);
            break;
        default:
            into =
                conditional_apply<record>(*request.id, request.part, request.epoch_number, intent);
        }
    }
    static std::string_view native_image(part_request const& request) {
        return intent_of(request).native_image();
    }

private:
    template <typename Key>
    static void store_key([[maybe_unused]] record& created, [[maybe_unused]] Key key,
                          [[maybe_unused]] bool& overflow) {
        constexpr bool text = std::is_same_v<typename collection::key_type, std::string>;
        if constexpr (text == std::is_same_v<Key, std::string_view>) {
            store_value(created.*collection::key_member, key, overflow);
        }
    }
};

/// The image that an entry keeps of an exclusive effect.
template <Described Record>
[[nodiscard]] image image_of(part_number part, exclusive_effect<Record> const& effect) {
    return {part.participant, part.line, effect.image,
            effect.erases ? std::string{} : encode_json(effect.confirmed)};
}

} // namespace detail

template <Described Record, fixed_string Name, auto Key>
struct kind_of_target<collection<Record, Name, Key>> {
    static constexpr part_kind const& kind = record_kind;
    static constexpr auto make_image = [](part_number part, void const* kept) {
        return detail::image_of(part, *static_cast<exclusive_effect<Record> const*>(kept));
    };
    static constexpr std::nullptr_t make_result = nullptr;
    template <typename Direction, std::size_t Index>
    static constexpr record_functions functions{
        &detail::record_part_functions<Direction, Index>::apply,
        &detail::record_part_functions<Direction, Index>::conditional,
        &detail::record_part_functions<Direction, Index>::native_image};
};

SETTLE_END
