// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_table.hpp declares.
#pragma once

#include <settle/postgresql/record_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION void record_table::send_locks(connection& on) {
    rows_ = none;
    // All programs lock the rows in the order of their keys.
    std::sort(unread_.begin(), unread_.end(), [&](std::size_t left, std::size_t right) {
        return records_[left].key < records_[right].key;
    });
    auto keys = table_->keys();
    // No row can have the other keys.
    std::erase_if(unread_,
                  [&](auto number) { return !table_->give_key(keys, records_[number].view()); });
    if (!unread_.empty()) rows_ = table_->send_locks(on, keys, with_others_);
}

SETTLE_FUNCTION void record_table::send_marks(connection& on) {
    all_ = own_ = none;
    if (!all_marks_.empty()) {
        array_value keys{value_type::text};
        for (auto const number : all_marks_) keys.add(mark_key{records_[number].view()}.text());
        all_ = table_->send_all_marks(on, keys);
    }
    sent_own_.clear();
    array_value keys{value_type::text};
    array_value ids{value_type::text};
    for (auto const& one : own_marks_) {
        if (records_[one.index].knows_marks) continue;
        keys.add(mark_key{records_[one.index].view()}.text());
        ids.add(std::string_view{*one.id});
        sent_own_.push_back(one.index);
    }
    own_marks_.clear();
    if (!sent_own_.empty()) own_ = table_->send_own_marks(on, keys, ids);
}

SETTLE_FUNCTION void record_table::receive(connection const& on) {
    if (rows_ != none) {
        auto const number_at = static_cast<int>(of().members().size());
        for_each_row(on.result(rows_), [&](row const& one) {
            auto& at = records_[unread_[static_cast<std::size_t>(one.integer(number_at) - 1)]];
            at.existed = true;
            if (with_others_) at.others = one.text(number_at + 1);
            try {
                table_->read(one, at.slot.emplace());
            } catch (failure const& caught) {
                at.fault = caught.problem();
            }
        });
        unread_.clear();
    }
    if (all_ != none) receive_marks(on.result(all_), all_marks_);
    all_marks_.clear();
    if (own_ != none) receive_marks(on.result(own_), sent_own_);
}

SETTLE_FUNCTION void record_table::receive_marks(rows const& found,
                                                 std::vector<std::size_t> const& sent) {
    constexpr int number_at = 8;
    for_each_row(found, [&](row const& one) {
        auto& at = records_[sent[static_cast<std::size_t>(one.integer(number_at) - 1)]];
        try {
            auto mark = settle::detail::read_mark(of(), one, at.slot);
            // A part may be named twice.
            if (!at.slot.has_mark(mark.id, mark.part)) at.slot.insert(std::move(mark));
        } catch (failure const& caught) {
            if (at.fault.empty()) at.fault = caught.problem();
        }
    });
}

SETTLE_FUNCTION std::optional<part_result>
record_table::refusal_of(record_state& at, part_request const& one,
                         record_changes const& changes) const {
    if (changes.on_mark != mark_change::added) return std::nullopt;
    auto const mark = *at.slot.find(*one.id, one.part);
    if (mark.exclusive.erases && table_->is_referenced()) {
        return result_of_unusable(one.action,
                                  {make_error_code(errc::unfit_store),
                                   "settle: a foreign key to the table '" + std::string{name()} +
                                       "' could refuse that its rows are erased. Drop it. "
                                       "See postgresql#limits"});
    }
    for (std::size_t member = 0; member < of().members().size(); ++member) {
        if ((table_->limited() >> member & 1U) == 0) continue;
        auto const& described = of().members()[member];
        auto const& column = table_->column(member);
        auto const holds = [&](void const* record) {
            return column.holds(*described.access,
                                of().record->member(const_cast<void*>(record), member));
        };
        bool fits = !at.slot.has_record() || holds(at.slot.record());
        if (mark.is_exclusive) {
            auto const& effect = mark.exclusive;
            bool const confirms = !effect.erases && (effect.confirm_fields >> member & 1U) != 0;
            bool const undoes = !effect.created && (effect.undo_fields >> member & 1U) != 0;
            fits = fits && (!confirms || holds(effect.confirmed)) &&
                   (!undoes || holds(effect.undone));
        } else if (fits && described.integer != member_descriptor::no_integer) {
            settle::detail::wide low = 0;
            settle::detail::wide high = 0;
            at.slot.reach(described.integer, low, high);
            auto const value =
                described.access->integer(of().record->member(at.slot.record(), member));
            fits = value + low >= column.least && value + high <= column.most;
        }
        if (fits) continue;
        if (described.integer != member_descriptor::no_integer) {
            return part_result{answer::overflow, nullptr, {}};
        }
        return result_of_unusable(one.action, table_->value_out_of(described.name));
    }
    return std::nullopt;
}

SETTLE_FUNCTION void record_table::note_record(record_changes const& changes, record_state& at,
                                               std::string_view image) {
    switch (changes.on_record) {
    case record_change::none: break;
    case record_change::fields: at.changed |= changes.fields; break;
    case record_change::created:
        at.created = true;
        at.image = image;
        break;
    case record_change::erased:
        at.erased = at.existed;
        at.created = false;
        at.changed = 0;
        break;
    }
}

SETTLE_FUNCTION void record_table::send_changes(connection& on) {
    send_mark_changes(on);
    using change = std::pair<part_key, void const*>;
    std::vector<std::pair<std::uint64_t, std::vector<change>>> updates;
    std::vector<void const*> created;
    auto erased = table_->keys();
    for (auto& at : records_) {
        if (at.erased) static_cast<void>(table_->give_key(erased, at.view()));
        if (at.created) {
            if (at.image.empty()) created.push_back(at.slot.record());
        } else if (at.changed != 0) {
            auto const known = std::find_if(updates.begin(), updates.end(), [&](auto const& one) {
                return one.first == at.changed;
            });
            auto& of_fields = known != updates.end()
                                  ? known->second
                                  : updates.emplace_back(at.changed, std::vector<change>{}).second;
            of_fields.emplace_back(at.view(), at.slot.record());
        }
    }
    if (erased.size() > 0) table_->send_erase(on, erased);
    if (!created.empty()) table_->send_new(on, created);
    for (auto const& at : records_) {
        if (at.created && !at.image.empty()) {
            table_->send_restored(on, at.held_slot->record(), at.image);
        }
    }
    for (auto const& [fields, all] : updates) table_->send_update(on, fields, all);
}

SETTLE_FUNCTION void record_table::send_mark_changes(connection& on) const {
    if (!pulled_.empty()) {
        mark_arrays all;
        for (auto const& one : pulled_) all.add(records_[one.index].view(), *one.id, one.part);
        marks_->send_pulled(on, name(), all);
    }
    if (!raised_.empty()) {
        mark_arrays all;
        array_value epochs{value_type::int8};
        for (auto const& one : raised_) {
            auto const& at = records_[one.index];
            all.add(at.view(), *one.id, one.part);
            epochs.add(static_cast<std::int64_t>(at.slot.find(*one.id, one.part)->epoch_number));
        }
        marks_->send_raised(on, name(), all, epochs);
    }
    if (!added_.empty()) {
        added_marks all;
        for (auto const& one : added_) {
            auto const& at = records_[one.index];
            all.add(at.view(), *of().record, *at.slot.find(*one.id, one.part));
        }
        marks_->send_new(on, name(), all);
    }
}

} // namespace postgresql::detail
SETTLE_END
