// SPDX-License-Identifier: BSL-1.0
// Parts that are records: how a part request is executed on its record. The record rule decides; a
// store reads the record and its marks before, and writes their changes afterwards.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/protocol/conditional.hpp>
#include <settle/store/any_record.hpp>
#include <settle/store/request.hpp>

SETTLE_BEGIN

/// Gives a whole record as its store keeps it, as JSON.
using native_image_function = detail::function_view<std::string()>;

namespace detail {

/// Receives a bound: the number of its member, the member's value, and the limit.
using bound_function = function_view<void(std::size_t member, std::int64_t value, bound_side side,
                                          std::int64_t limit)>;

} // namespace detail

/// The intent of a record's part, without its types.
/// Shape:   pointers to void - at a record of the collection's record type; functions that a part
///          does not need are null
struct record_functions {
    detail::record_descriptor const* record;
    bool commutes;
    bool creates;
    bool erases;
    std::uint64_t apply_fields;
    std::uint64_t confirm_fields;
    std::uint64_t exact_fields;
    /// Adds to sums of the integer members; true if one overflows.
    bool (*deltas)(part_request const&, std::int64_t* apply, std::int64_t* confirm);
    /// Shape:   record - or null: then the values are 0
    void (*for_each_bound)(part_request const&, void const* record, detail::bound_function,
                           bool& overflow);
    /// Shape:   record - or null, for guards that read no member
    bool (*exact_guards_hold)(part_request const&, void const* record, bool& overflow);
    bool (*apply_to)(part_request const&, void* record, bool& overflow);
    bool (*confirm_to)(part_request const&, void* record, bool& overflow);
    /// Sets the key of a record that is created; false if the member cannot hold it.
    bool (*set_key)(part_request const&, void* record);
    /// The native image from which an applied part creates its record; empty: from its members.
    std::string_view (*native_image)(part_request const&);
};

namespace detail {

[[nodiscard]] inline record_functions const& record_part(part_request const& request) {
    return *static_cast<record_functions const*>(request.descriptor->functions);
}

/// The intent of a request's part, which knows its properties at run time.
class any_intent {
public:
    using erased = void;

    explicit any_intent(part_request const& request)
        : functions_(&record_part(request)), request_(&request), commutes(functions_->commutes),
          creates(functions_->creates), erases(functions_->erases),
          apply_fields(functions_->apply_fields), confirm_fields(functions_->confirm_fields),
          exact_fields(functions_->exact_fields) {}

private:
    record_functions const* functions_;
    part_request const* request_;

public:
    bool const commutes;
    bool const creates;
    bool const erases;
    std::uint64_t const apply_fields;
    std::uint64_t const confirm_fields;
    std::uint64_t const exact_fields;

    template <typename Numbers>
    void deltas(Numbers& apply, Numbers& confirm, bool& overflow) const {
        overflow = functions_->deltas(*request_, apply.data(), confirm.data()) || overflow;
    }
    void for_each_bound(void const* record, bound_function function, bool& overflow) const {
        functions_->for_each_bound(*request_, record, function, overflow);
    }
    template <typename Record>
    [[nodiscard]] bool exact_guards_hold(Record const& record, bool& overflow) const {
        return functions_->exact_guards_hold(*request_, address_of(record), overflow);
    }
    template <typename Record>
    [[nodiscard]] bool apply_to(Record& record, bool& overflow) const {
        return functions_->apply_to(*request_, address_of(record), overflow);
    }
    template <typename Record>
    [[nodiscard]] bool confirm_to(Record& record, bool& overflow) const {
        return functions_->confirm_to(*request_, address_of(record), overflow);
    }
    /// The record that is created, with its key; no record if the intent creates none. Empty if the
    /// member cannot hold the key.
    template <typename Record>
    [[nodiscard]] std::optional<Record> created() const {
        Record record = none<Record>();
        if (!creates) return record;
        if constexpr (std::is_same_v<Record, any_record>) record.emplace();
        if (!functions_->set_key(*request_, address_of(record))) return std::nullopt;
        return record;
    }
    /// A record of the type, for functions that read no member.
    template <typename Record>
    [[nodiscard]] Record none() const {
        if constexpr (std::is_same_v<Record, any_record>) return any_record{*functions_->record};
        else return Record{};
    }
};

template <typename Record, typename Function>
void for_each_bound(Record const& record, any_intent const& intent, Function&& function,
                    bool& overflow) {
    intent.for_each_bound(address_of(record), function, overflow);
}

/// Kept out of line: most parts are finished, not undone.
template <typename Record>
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
template <typename Record>
[[nodiscard]] record_answer<Record> execute(part_request const& request, record_slot<Record>& slot,
                                            native_image_function native_image) {
    auto const& [id, part, under] = std::tie(*request.id, request.part, request.epoch_number);
    if (request.action == step::confirm) return finish(slot, id, part, request.committed);
    if (!applies(request.action)) return detail::undo_part(request, slot);
    detail::any_intent const intent{request};
    auto const created = intent.template created<Record>();
    if (!created) return detail::refused<Record>(answer::overflow);
    if (request.action == step::one_phase) {
        return apply_one_phase(slot, id, part, under, *created, intent, native_image);
    }
    return settle::apply(slot, id, part, under, *created, intent, native_image);
}

/// Ends an applied part of one phase: its mark never leaves the native transaction.
template <typename Record>
[[nodiscard]] record_answer<Record> end_one_phase(part_request const& request,
                                                  record_slot<Record>& slot, bool confirmed) {
    auto const& [id, part, under] = std::tie(*request.id, request.part, request.epoch_number);
    return confirmed ? finish(slot, id, part, under) : undo_exactly(slot, id, part, under);
}

/// Confirms or undoes a mark with exactly this epoch, as resolve() of a store does.
template <typename Record>
[[nodiscard]] answer resolve_mark(record_slot<Record>& slot, transaction_id const& id,
                                  part_number part, epoch exact, bool confirmed) {
    auto const* const found = slot.marks.find(id, part);
    if (found == nullptr || found->epoch_number != exact) return answer::nothing;
    return (confirmed ? finish(slot, id, part, exact) : undo_exactly(slot, id, part, exact)).what;
}

/// The conditional update of an unread record; empty if the record rule must see the record.
template <typename Record>
[[nodiscard]] std::optional<conditional_change<Record>>
conditional_of(part_request const& request) {
    auto const& [id, part, under] = std::tie(*request.id, request.part, request.epoch_number);
    if (!applies(request.action) && request.action != step::confirm) return std::nullopt;
    detail::any_intent const intent{request};
    auto const record = intent.template none<Record>();
    if (request.action == step::confirm) {
        return conditional_finish(id, part, request.committed, intent, record);
    }
    if (request.action == step::one_phase) {
        return conditional_apply_one_phase(id, part, under, intent, record);
    }
    return conditional_apply(id, part, under, intent, record);
}

namespace detail {

/// The image that an entry keeps of an exclusive effect.
template <typename Record>
[[nodiscard]] image image_of(part_number part, exclusive_effect<Record> const& effect) {
    return {part.participant, part.line, effect.image,
            effect.erases ? std::string{} : json_of(effect.confirmed)};
}

/// The image that a part's result keeps, for its entry.
template <typename Record>
[[nodiscard]] std::shared_ptr<image const>
kept_image(std::shared_ptr<exclusive_effect<Record> const> const& effect) {
    return effect ? std::make_shared<image const>(image_of({}, *effect)) : nullptr;
}

/// The same with the number of its part.
[[nodiscard]] inline image numbered_image(part_number part, void const* kept) {
    image numbered = *static_cast<image const*>(kept);
    numbered.participant = part.participant;
    numbered.line = part.line;
    return numbered;
}

} // namespace detail

/// The result of a part that was executed on its record.
template <typename Record>
[[nodiscard]] part_result result_of(record_answer<Record>&& answer) {
    return {
        .what = answer.what, .kept = detail::kept_image(answer.exclusive), .marked = answer.marked};
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

    using parameters = typename Direction::parameters;
    using intent = std::remove_cvref_t<decltype(Direction::template intent<Index>(
        std::declval<parameters const&>(), std::size_t{}))>;

    static intent intent_of(part_request const& request) {
        return Direction::template intent<Index>(
            *static_cast<parameters const*>(request.parameters), request.part.line);
    }
    static bool deltas(part_request const& request, std::int64_t* apply, std::int64_t* confirm) {
        bool overflow = false;
        integers<record> applied{};
        integers<record> confirmed{};
        intent_of(request).deltas(applied, confirmed, overflow);
        std::copy(applied.begin(), applied.end(), apply);
        std::copy(confirmed.begin(), confirmed.end(), confirm);
        return overflow;
    }
    static void for_each_bound(part_request const& request, void const* record_at,
                               bound_function function, bool& overflow) {
        auto const* const read = static_cast<record const*>(record_at);
        intent_of(request).for_each_bound(
            [&](auto index, bound_side side, std::int64_t limit) {
                function(integer_position<record, index.value>,
                         read == nullptr ? 0 : std::int64_t{member<record, index.value>::in(*read)},
                         side, limit);
            },
            overflow);
    }
    static bool exact_guards_hold(part_request const& request, void const* record_at,
                                  bool& overflow) {
        auto const intended = intent_of(request);
        if (record_at == nullptr) return intended.exact_guards_hold(record{}, overflow);
        return intended.exact_guards_hold(*static_cast<record const*>(record_at), overflow);
    }
    static bool apply_to(part_request const& request, void* record_at, bool& overflow) {
        return intent_of(request).apply_to(*static_cast<record*>(record_at), overflow);
    }
    static bool confirm_to(part_request const& request, void* record_at, bool& overflow) {
        return intent_of(request).confirm_to(*static_cast<record*>(record_at), overflow);
    }
    static bool set_key(part_request const& request, void* record_at) {
        bool overflow = false;
        auto& created = *static_cast<record*>(record_at);
        std::visit([&](auto key) { store_key(created, key, overflow); }, request.key());
        return !overflow;
    }
    static std::string_view native_image(part_request const& request) {
        return intent_of(request).native_image();
    }
    static consteval record_functions make() {
        record_functions functions{&descriptor_of_record<record>,
                                   intent::commutes,
                                   intent::creates,
                                   intent::erases,
                                   intent::apply_fields,
                                   intent::confirm_fields,
                                   intent::exact_fields,
                                   nullptr,
                                   &for_each_bound,
                                   &exact_guards_hold,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
        if constexpr (intent::commutes) {
            functions.deltas = &deltas;
        } else {
            functions.apply_to = &apply_to;
            functions.confirm_to = &confirm_to;
        }
        if constexpr (intent::creates) {
            functions.set_key = &set_key;
            functions.native_image = &native_image;
        }
        return functions;
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

} // namespace detail

template <Described Record, fixed_string Name, auto Key>
struct kind_of_target<collection<Record, Name, Key>> {
    static constexpr part_kind const& kind = record_kind;
    static constexpr auto make_image = &detail::numbered_image;
    static constexpr std::nullptr_t make_result = nullptr;
    template <typename Direction, std::size_t Index>
    static constexpr record_functions functions =
        detail::record_part_functions<Direction, Index>::make();
};

SETTLE_END
