// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that any_slot.hpp declares.
#pragma once

#include <settle/adapter/any_slot.hpp>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] SETTLE_FUNCTION mark_view view_of(mark<any_record> const& from) {
    mark_view seen{&from.id, from.part, from.epoch_number, from.confirm_delta, from.undo_delta};
    if (!from.is_exclusive()) return seen;
    auto const& effect = *from.exclusive;
    seen.is_exclusive = true;
    seen.exclusive = {effect.undone.get(),   effect.confirmed.get(), effect.undo_fields,
                      effect.confirm_fields, effect.created,         effect.erases,
                      effect.image};
    return seen;
}

[[nodiscard]] SETTLE_FUNCTION record_changes changes_of(record_answer<any_record>&& answered) {
    return {answered.what,
            answered.on_mark,
            answered.on_record,
            answered.fields,
            kept_image(answered.exclusive),
            answered.marked};
}

SETTLE_FUNCTION void conditional(part_request const& request, conditional_function function) {
    auto const change = conditional_of<any_record>(request);
    if (change) function({change->least, change->most, change->added, view_of(change->own)});
}

SETTLE_FUNCTION exclusive_draft draft_exclusive(record_descriptor const& descriptor,
                                                void const* record) {
    auto effect = std::make_shared<exclusive_effect<any_record>>();
    for (auto* const side : {&effect->undone, &effect->confirmed}) {
        *side = record != nullptr ? any_record{descriptor, record} : any_record{descriptor};
        if (record == nullptr) side->emplace();
    }
    auto& draft = *effect;
    return {std::move(effect),     draft.undone.get(), draft.confirmed.get(), &draft.undo_fields,
            &draft.confirm_fields, &draft.created,     &draft.erases,         &draft.image};
}

SETTLE_FUNCTION std::optional<mark_view> any_slot::find(transaction_id const& id,
                                                        part_number part) const {
    auto const* const known = slot_.marks.find(id, part);
    if (known == nullptr) return std::nullopt;
    return view_of(*known);
}

SETTLE_FUNCTION bool any_slot::has_mark(transaction_id const& id, part_number part) const {
    return slot_.marks.find(id, part) != nullptr;
}

SETTLE_FUNCTION void any_slot::erase(transaction_id const& id, part_number part) {
    slot_.marks.erase(slot_.marks.find(id, part));
}

SETTLE_FUNCTION void any_slot::raise(transaction_id const& id, part_number part, epoch to) {
    slot_.marks.find(id, part)->epoch_number = to;
}

SETTLE_FUNCTION void any_slot::insert(mark_data&& added) {
    mark<any_record> inserted;
    inserted.id = std::move(added.id);
    inserted.part = added.part;
    inserted.epoch_number = added.epoch_number;
    inserted.confirm_delta = std::move(added.confirm);
    inserted.undo_delta = std::move(added.undo);
    inserted.confirm_delta.resize(of_->integers);
    inserted.undo_delta.resize(of_->integers);
    inserted.exclusive =
        std::static_pointer_cast<exclusive_effect<any_record>>(std::move(added.exclusive));
    slot_.marks.insert(std::move(inserted));
}

SETTLE_FUNCTION void any_slot::for_each_mark(function_view<void(mark_view const&)> function) const {
    for (auto const& each : slot_.marks) function(view_of(each));
}

SETTLE_FUNCTION record_changes any_slot::execute(part_request const& request,
                                                 native_image_function native_image) {
    return changes_of(settle::execute(request, slot_, native_image));
}

SETTLE_FUNCTION record_changes any_slot::end_one_phase(part_request const& request,
                                                       bool confirmed) {
    return changes_of(settle::end_one_phase(request, slot_, confirmed));
}

SETTLE_FUNCTION record_changes any_slot::resolve(transaction_id const& id, part_number part,
                                                 bool confirmed) {
    return changes_of(detail::resolve(slot_, slot_.marks.find(id, part), confirmed));
}

} // namespace detail
SETTLE_END
