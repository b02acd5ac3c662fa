// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_table.hpp declares.
#pragma once

#include <settle/sqlite/record_table.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void record_table::begin(bool unchanged) {
    marked_.reset();
    bounded_.reset();
    dirty_.clear();
    mark_writes_.clear();
    bound_writes_.clear();
    expected_.clear();
    executed_ = 0;
    unread_.clear();
    unmarked_.clear();
    unmet_.clear();
    updates_.clear();
    if (unchanged && records_.size() < most_records) return;
    records_.clear();
    index_.clear();
}

SETTLE_FUNCTION void record_table::fetch() {
    read_records();
    if (unmarked_.empty() && unmet_.empty()) return;
    if (!marked_) marked_ = marks_.any_at_all();
    if (*marked_) read_marks();
    else
        for (auto const& one : unmarked_) records_[one.index].knows_marks = true;
    unmarked_.clear();
    unmet_.clear();
}

SETTLE_FUNCTION part_result record_table::execute(part_request const& one) {
    record_state& at = records_[expected_[executed_++]];
    auto changes = at.slot.execute(one, whole_row{*this, at});
    bool const creates = changes.on_record == settle::record_change::created;
    // A reversal brings a record back with all its columns.
    note(changes, at,
         creates && applies(one.action) ? settle::detail::record_part(one).native_image(one)
                                        : std::string_view{});
    // In one phase the mark never leaves the native transaction.
    if (one.action != step::one_phase) note_mark(changes.on_mark, at, *one.id, one.part);
    return std::move(changes).result();
}

SETTLE_FUNCTION void record_table::write_back() {
    write_marks();
    write_bounds();
    put_dirty_in_order();
    mark_writes_.clear();
    for (auto const& one : dirty_) {
        record_state& at = records_[one.index];
        if (at.changed == 0) continue;
        updates_.add(at.slot.record(), at.view(), std::exchange(at.changed, 0));
    }
    dirty_.clear();
    updates_.write_added();
}

SETTLE_FUNCTION answer record_table::resolve(mark_locator const& where, bool confirmed) {
    if (std::holds_alternative<std::string>(where.key) != of_->text_key) {
        return answer::nothing;
    }
    begin(false);
    expect(settle::detail::view_of(where.key), false, where.id, where.part);
    fetch();
    record_state& at = records_[expected_[executed_++]];
    auto const found = at.slot.find(where.id, where.part);
    if (!found || found->epoch_number != where.epoch_number) return answer::nothing;
    auto const changes = at.slot.resolve(where.id, where.part, confirmed);
    note(changes, at);
    note_mark(changes.on_mark, at, where.id, where.part);
    write_back();
    return changes.what;
}

SETTLE_FUNCTION bool record_table::create(void const* record) {
    part_key const key = of_->key_of(record);
    run row{select_};
    if (bind_key(row, key).next() || marks_.any(key)) return false;
    insert(record);
    return true;
}

SETTLE_FUNCTION void record_table::expect(part_key const& key, bool applying,
                                          transaction_id const& id, part_number part) {
    std::size_t const number = find_index(key);
    expected_.push_back(number);
    record_state const& at = records_[number];
    want_record(number);
    if (at.knows_marks && at.unseen == 0) return;
    // To finish or undo a part, its own mark is enough, however many others there are.
    if (applying && !at.knows_marks) unmarked_.push_back({number, &id, part});
    else if (!at.slot.has_mark(id, part)) unmet_.push_back({number, &id, part});
}

SETTLE_FUNCTION void record_table::sort(std::vector<in_order>& all) {
    auto const sort_as = [&]<typename Key>(std::type_identity<Key>) {
        sorter_.sort(all,
                     [&](std::size_t number) { return std::get<Key>(records_[number].view()); });
    };
    if (of_->text_key) sort_as(std::type_identity<std::string_view>{});
    else sort_as(std::type_identity<std::int64_t>{});
}

SETTLE_FUNCTION void record_table::put_dirty_in_order() {
    changed_.clear();
    for (auto const& one : mark_writes_) {
        bool const known = !changed_.empty() && changed_.back().index == one.index;
        if (!known && records_[one.index].changed != 0) changed_.push_back({one.index});
    }
    if (changed_.size() == dirty_.size()) std::swap(changed_, dirty_);
    else sort(dirty_);
}

SETTLE_FUNCTION record_state& record_table::state_of(part_key const& key) {
    // A transaction that settles at once comes twice to each of its few records.
    for (std::size_t at = executed_, first = executed_ < 4 ? 0 : executed_ - 4; at-- > first;) {
        if (same_key(records_[expected_[at]], key)) return records_[expected_[at]];
    }
    return records_[find_index(key)];
}

SETTLE_FUNCTION std::size_t record_table::find_index(part_key const& key) {
    auto const hash = settle::detail::hash_of(key);
    auto const* const known =
        index_.find(hash, [&](std::size_t number) { return same_key(records_[number], key); });
    if (known != nullptr) return *known;
    index_.insert(hash, records_.size());
    records_.emplace_back(*of_->record, key);
    return records_.size() - 1;
}

SETTLE_FUNCTION void record_table::want_record(std::size_t number) {
    record_state& at = records_[number];
    if (std::exchange(at.loaded, true)) return;
    unread_.push_back({number});
}

SETTLE_FUNCTION void record_table::read_records() {
    if (unread_.empty()) return;
    sort(unread_);
    mark_rows wave{records_, unread_};
    auto const shown = rows_->show_rows(wave);
    run rows{wave_};
    while (rows.next()) {
        auto& slot = records_[static_cast<std::size_t>(rows.integer(0))].slot;
        read_record(*of_, rows, 1, slot.emplace());
    }
    unread_.clear();
}

SETTLE_FUNCTION void record_table::read_marks() {
    read_bounds();
    // Of many marks an apply meets those of its own transaction, and the others as one.
    std::erase_if(unmarked_, [&](in_order const& one) {
        record_state& at = records_[one.index];
        if (at.unseen > 0) unmet_.push_back(one);
        return std::exchange(at.knows_marks, true);
    });
    load_marks(unmarked_, false);
    load_marks(unmet_, true);
}

SETTLE_FUNCTION void record_table::load_marks(std::vector<in_order>& wanted, bool own) {
    if (wanted.empty()) return;
    sort(wanted);
    mark_rows wave{records_, wanted};
    marks_.load(
        *rows_, wave, own, [&](std::size_t number) -> auto& { return records_[number]; });
}

SETTLE_FUNCTION void record_table::read_bounds() {
    if (!bounded_) bounded_ = bounds_.any_at_all();
    asked_.clear();
    for (auto const* const wanted : {&unmarked_, &unmet_}) {
        for (auto const& one : *wanted) {
            bool const known = std::exchange(records_[one.index].asked_bounds, true);
            if (!known && *bounded_) asked_.push_back({one.index});
        }
    }
    if (asked_.empty()) return;
    sort(asked_);
    mark_rows wave{records_, asked_};
    bounds_.load(*rows_, wave, [&](std::size_t number, mark_bounds found) {
        records_[number].know(of_->name, std::move(found));
    });
}

SETTLE_FUNCTION void record_table::write_bounds() {
    if (bound_writes_.empty()) return;
    bound_rows wave{records_, bound_writes_};
    bounds_.write(*rows_, wave);
    for (auto const& one : bound_writes_) {
        records_[one.index].wrote(records_[one.index].to_keep());
    }
    bound_writes_.clear();
}

SETTLE_FUNCTION std::string record_table::image_of(part_key const& key) const {
    run row{whole_};
    std::string out;
    if (!bind_key(row, key).next()) return out;
    for (int column = 0; column < row.columns(); ++column) {
        out += column == 0 ? '{' : ',';
        append_json_text(out, row.name(column));
        out += ':';
        append_native(out, read_native_column(row, column));
    }
    return out += '}';
}

SETTLE_FUNCTION void record_table::note(record_changes const& result, record_state& at,
                                        std::string_view native_image) {
    switch (result.on_record) {
    case record_change::none: break;
    case record_change::fields:
        if (at.changed == 0) dirty_.push_back({number_of(at)});
        at.changed |= result.fields;
        break;
    case record_change::created:
        at.changed = 0;
        create_from(native_image, at.slot.record());
        break;
    case record_change::erased:
        at.changed = 0;
        erase(at.view());
        break;
    }
}

SETTLE_FUNCTION void record_table::note_mark(mark_change change, record_state& at,
                                             transaction_id const& id, part_number part) {
    if (change == mark_change::none) return;
    if (change != mark_change_) {
        write_marks();
        mark_writes_.clear();
    }
    mark_change_ = change;
    mark_writes_.push_back({number_of(at), &id, part});
}

SETTLE_FUNCTION void record_table::write_marks() {
    if (mark_writes_.empty()) return;
    sort(mark_writes_);
    mark_rows wave{records_, mark_writes_};
    switch (mark_change_) {
    case mark_change::none: break;
    case mark_change::added: marks_.insert(*rows_, wave); break;
    case mark_change::raised:
        for (auto const& one : mark_writes_) {
            record_state const& at = records_[one.index];
            auto const raised = *at.slot.find(*one.id, one.part);
            marks_.raise(at.view(), *one.id, one.part, raised.epoch_number);
        }
        break;
    case mark_change::pulled:
        marks_.erase(*rows_, wave, records_[mark_writes_.front().index].view(),
                     records_[mark_writes_.back().index].view());
        break;
    }
    if (mark_change_ == mark_change::raised) return;
    for (auto const& one : mark_writes_) {
        record_state& at = records_[one.index];
        if (!at.needs_bounds() || std::exchange(at.writes_bounds, true)) continue;
        bound_writes_.push_back({one.index});
    }
}

SETTLE_FUNCTION void record_table::insert(void const* record) const {
    run row{insert_};
    bind_members(row, record);
    changed_one(row.change());
}

SETTLE_FUNCTION void record_table::bind_members(run& row, void const* record) const {
    for (std::size_t at = 0; at < of_->members().size(); ++at) {
        bind_member(row, *of_->members()[at].access,
                    of_->record->member(const_cast<void*>(record), at));
    }
}

SETTLE_FUNCTION void record_table::create_from(std::string_view image, void const* record) const {
    if (image.empty()) return insert(record);
    auto columns = read_image(*on_, sql_.need(), image);
    for (auto const& one : of_->members()) {
        std::erase_if(columns, [&](auto const& column) { return column.first == one.name; });
    }
    statement const insert_whole{*on_, sql_.insert_with(columns), "create a record"};
    run row{insert_whole};
    bind_members(row, record);
    for (auto const& [name, value] : columns) bind_native(row, value);
    changed_one(row.change());
}

SETTLE_FUNCTION void record_reader::scan(part_key const* after, std::size_t limit,
                                         settle::detail::function_view<void*()> made) const {
    run rows{after != nullptr ? next_ : first_};
    rows.bind(limit_of(limit));
    if (after != nullptr) bind_key(rows, *after);
    while (rows.next()) read_record(*of_, rows, 0, made());
}

} // namespace sqlite::detail
SETTLE_END
