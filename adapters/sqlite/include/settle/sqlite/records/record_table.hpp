// SPDX-License-Identifier: BSL-1.0
// The records of one collection in their table: executes requests, reads, creates, scans.
#pragma once

#include <settle/adapter/unit_of_work.hpp>
#include <settle/sqlite/connection/writer.hpp>
#include <settle/sqlite/records/mark_table.hpp>
#include <settle/sqlite/records/record_state.hpp>
#include <settle/sqlite/records/record_update.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Statements of the writer's connection, and the records of the executed requests. In a native
/// transaction each record is read at most once and written at most once, for any number of
/// requests. The next native transaction uses the same records if no other program has written
/// meanwhile. The caller holds the writer's mutex and a native transaction.
class record_table : public settle::detail::records_of<record_table, record_state> {
    using base = settle::detail::records_of<record_table, record_state>;
    friend base;

public:
    /// Shape:   the table is there and has been checked
    record_table(collection_descriptor const& collection, writer& writer)
        : base(collection), on_(&writer.on()), rows_(&writer.rows()), sql_(need_of(collection)),
          select_(*on_, sql_.select(), "read a record"),
          wave_(*on_, sql_.select_wave(), "read records"),
          whole_(*on_, sql_.select_whole(), "read a whole row"),
          insert_(*on_, sql_.insert(), "create a record"),
          erase_(*on_, sql_.erase(), "erase a record"), marks_(collection, *on_),
          bounds_(collection, *on_), updates_(collection, *on_, *rows_, sql_) {}

    /// Begins a native transaction, or a part of it after another part was undone.
    /// Shape:   unchanged - the records that were read before are unchanged in the file
    void begin(bool unchanged) {
        marked_.reset();
        bounded_.reset();
        dirty_.clear();
        mark_writes_.clear();
        bound_writes_.clear();
        forget_announcements();
        unread_.clear();
        all_marks_.clear();
        own_marks_.clear();
        updates_.clear();
        if (unchanged && records_.size() < most_records) return;
        forget_records();
    }

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& request) {
        expect(request.key(), applies(request.action), *request.id, request.part);
    }

    /// Reads the records of the announced requests that were not read before.
    /// Errors:  throws errc::damaged
    void fetch() {
        read_records();
        if (all_marks_.empty() && own_marks_.empty()) return;
        if (!marked_) marked_ = marks_.any_at_all();
        if (*marked_) read_marks();
        else
            for (auto const& one : all_marks_) records_[one.index].knows_marks = true;
        all_marks_.clear();
        own_marks_.clear();
    }

    /// True if a part has a mark on its record. The other columns may be unreadable.
    [[nodiscard]] bool has_mark_of(part_request const& request) const {
        return marks_.has(*on_, request.key(), *request.id, request.part);
    }

    /// Writes the changes of the requests.
    void write_back() {
        write_marks();
        write_bounds();
        put_dirty_in_order();
        mark_writes_.clear();
        for (auto const& slot : dirty_) {
            record_state& at = records_[slot.index];
            if (at.changed == 0) continue;
            updates_.add(at.slot.record(), at.view(), std::exchange(at.changed, 0));
        }
        dirty_.clear();
        updates_.write_added();
    }

    /// Ends one mark if it still has this epoch.
    answer resolve(mark_locator const& where, bool confirmed) {
        if (std::holds_alternative<std::string>(where.key) != of().text_key) {
            return answer::nothing;
        }
        begin(false);
        expect(settle::detail::view_of(where.key), false, where.id, where.part);
        fetch();
        auto const ended = end_mark(where, confirmed);
        write_back();
        return ended;
    }

    /// False if a record or a mark has the record's key.
    bool create(void const* record) {
        part_key const key = of().key_of(record);
        run row{select_};
        if (bind_key(row, key).next() || marks_.any(key)) return false;
        insert(record);
        return true;
    }

private:
    /// Announces a part.
    /// Shape:   key, id - stay until fetch(); applying - otherwise the request ends its part
    void expect(part_key const& key, bool applying, transaction_id const& id, part_number part) {
        std::size_t const number = announce(key);
        record_state const& state = records_[number];
        announce_read(number);
        if (state.knows_marks && state.unseen == 0) return;
        // To finish or undo a part, its own mark is enough, however many others there are.
        if (applying && !state.knows_marks) all_marks_.push_back({number, &id, part});
        else if (!state.slot.has_mark(id, part)) own_marks_.push_back({number, &id, part});
    }

    static std::optional<part_result> answer_unruled(record_state const&, part_request const&) {
        return std::nullopt;
    }
    static void check(record_state const&) {}
    /// The whole row as JSON, with the columns that are no members.
    [[nodiscard]] std::string image_of(record_state& state) {
        updates_.write(state.slot.record(), state.view(), std::exchange(state.changed, 0));
        run row{whole_};
        std::string out;
        if (!bind_key(row, state.view()).next()) return out;
        for (int column = 0; column < row.columns(); ++column) {
            out += column == 0 ? '{' : ',';
            append_json_text(out, row.name(column));
            out += ':';
            append_native(out, read_native_column(row, column));
        }
        return out += '}';
    }
    /// Changes of members are written together, later; a record is created or erased immediately.
    /// Shape:   image - of a record that is created; empty if the record has only its members
    void note_record(record_changes const& changes, record_state& state, std::string_view image) {
        switch (changes.on_record) {
        case record_change::none: break;
        case record_change::fields:
            if (state.changed == 0) dirty_.push_back({number_of(state)});
            state.changed |= changes.fields;
            break;
        case record_change::created:
            state.changed = 0;
            create_from(image, state.slot.record());
            break;
        case record_change::erased:
            state.changed = 0;
            erase(state.view());
            break;
        }
    }
    /// Changes of marks are written together, later, as long as they are of one kind. A step adds
    /// marks or pulls them, never both, so an added mark is in its slot when it is written.
    /// Shape:   id - outlives write_back()
    void note_mark(mark_change change, record_state& state, transaction_id const& id,
                   part_number part) {
        if (change == mark_change::none) return;
        if (change != mark_change_) {
            write_marks();
            mark_writes_.clear();
        }
        mark_change_ = change;
        mark_writes_.push_back({number_of(state), &id, part});
    }

    void sort(std::vector<in_order>& writes) {
        auto const sort_as = [&]<typename Key>(std::type_identity<Key>) {
            sorter_.sort(
                writes, [&](std::size_t number) { return std::get<Key>(records_[number].view()); });
        };
        if (of().text_key) sort_as(std::type_identity<std::string_view>{});
        else sort_as(std::type_identity<std::int64_t>{});
    }

    /// Most changed records also have a changed mark, and the changes of marks are in order
    /// already.
    void put_dirty_in_order() {
        changed_.clear();
        for (auto const& one : mark_writes_) {
            bool const known = !changed_.empty() && changed_.back().index == one.index;
            if (!known && records_[one.index].changed != 0) changed_.push_back({one.index});
        }
        if (changed_.size() == dirty_.size()) std::swap(changed_, dirty_);
        else sort(dirty_);
    }

    void announce_read(std::size_t number) {
        record_state& at = records_[number];
        if (std::exchange(at.loaded, true)) return;
        unread_.push_back({number});
    }

    void read_records() {
        if (unread_.empty()) return;
        sort(unread_);
        mark_rows wave{records_, unread_};
        auto const shown = rows_->show_rows(wave);
        run rows{wave_};
        while (rows.next()) {
            auto& slot = records_[static_cast<std::size_t>(rows.integer(0))].slot;
            read_record(of(), rows, 1, slot.emplace());
        }
        unread_.clear();
    }

    void read_marks() {
        read_bounds();
        // Where a record has many marks, an apply needs its own transaction's marks and an
        // aggregate of the other marks.
        std::erase_if(all_marks_, [&](in_order const& order) {
            record_state& at = records_[order.index];
            if (at.unseen > 0) own_marks_.push_back(order);
            return std::exchange(at.knows_marks, true);
        });
        load_marks(all_marks_, false);
        load_marks(own_marks_, true);
    }
    void load_marks(std::vector<in_order>& parts, bool own) {
        if (parts.empty()) return;
        sort(parts);
        mark_rows wave{records_, parts};
        marks_.load(*rows_, wave, own,
                    [&](std::size_t number) -> auto& { return records_[number]; });
    }

    /// Adding a mark to many marks, or pulling one of many, changes their bounds.
    void read_bounds() {
        if (!bounded_) bounded_ = bounds_.any_at_all();
        bound_reads_.clear();
        for (auto const* const parts : {&all_marks_, &own_marks_}) {
            for (auto const& one : *parts) {
                bool const known = std::exchange(records_[one.index].looked_for_bounds, true);
                if (!known && *bounded_) bound_reads_.push_back({one.index});
            }
        }
        if (bound_reads_.empty()) return;
        sort(bound_reads_);
        mark_rows wave{records_, bound_reads_};
        bounds_.load(*rows_, wave, [&](std::size_t number, mark_bounds bounds) {
            records_[number].know(of().name, std::move(bounds));
        });
    }

    /// Shape:   the records are in order, since write_marks() noted them in order
    void write_bounds() {
        if (bound_writes_.empty()) return;
        bound_rows wave{records_, bound_writes_};
        bounds_.write(*rows_, wave);
        for (auto const& one : bound_writes_) {
            records_[one.index].wrote(records_[one.index].to_keep());
        }
        bound_writes_.clear();
    }

    [[nodiscard]] std::size_t number_of(record_state const& state) const {
        return static_cast<std::size_t>(&state - records_.data());
    }

    /// Writes the changes of marks, and leaves them in order.
    void write_marks() {
        if (mark_writes_.empty()) return;
        sort(mark_writes_);
        mark_rows wave{records_, mark_writes_};
        switch (mark_change_) {
        case mark_change::none: break;
        case mark_change::added: marks_.insert(*rows_, wave); break;
        case mark_change::raised:
            for (auto const& mark_write : mark_writes_) {
                record_state const& at = records_[mark_write.index];
                auto const raised = *at.slot.find(*mark_write.id, mark_write.part);
                marks_.raise(at.view(), *mark_write.id, mark_write.part, raised.epoch_number);
            }
            break;
        case mark_change::pulled:
            marks_.erase(*rows_, wave, records_[mark_writes_.front().index].view(),
                         records_[mark_writes_.back().index].view());
            break;
        }
        if (mark_change_ == mark_change::raised) return;
        for (auto const& write : mark_writes_) {
            record_state& at = records_[write.index];
            if (!at.needs_bounds() || std::exchange(at.writes_bounds, true)) continue;
            bound_writes_.push_back({write.index});
        }
    }

    void erase(part_key const& key) const {
        run row{erase_};
        changed_one(bind_key(row, key).change());
    }

    void insert(void const* record) const {
        run row{insert_};
        bind_members(row, record);
        changed_one(row.change());
    }

    void bind_members(run& row, void const* record) const {
        for (std::size_t at = 0; at < of().members().size(); ++at) {
            bind_member(row, *of().members()[at].access,
                        of().record->member(const_cast<void*>(record), at));
        }
    }

    void create_from(std::string_view image, void const* record) const {
        if (image.empty()) return insert(record);
        auto columns = read_image(*on_, sql_.need(), image);
        for (auto const& one : of().members()) {
            std::erase_if(columns, [&](auto const& column) { return column.first == one.name; });
        }
        statement const insert_whole{*on_, sql_.insert_with(columns), "create a record"};
        run row{insert_whole};
        bind_members(row, record);
        for (auto const& [name, value] : columns) bind_native(row, value);
        changed_one(row.change());
    }

    void changed_one(std::int64_t count) const { expect_changed(of().name, count, 1); }

    connection const* on_;
    wave_rows* rows_;
    record_sql sql_;
    statement select_;
    statement wave_;
    statement whole_;
    statement insert_;
    statement erase_;
    mark_table marks_;
    bounds_table bounds_;
    record_updates updates_;
    static constexpr std::size_t most_records = 32768; ///< records, so that memory stays bounded

    std::vector<in_order> unread_;       ///< records that are yet to be read
    std::vector<in_order> all_marks_;    ///< parts for which all marks are yet to be read
    std::vector<in_order> own_marks_;    ///< parts whose own marks are yet to be read
    std::vector<in_order> bound_reads_;  ///< kept for its capacity
    std::vector<in_order> dirty_;        ///< records that are yet to be written
    std::vector<in_order> changed_;      ///< kept for its capacity
    std::vector<in_order> mark_writes_;  ///< marks that are yet to be written
    std::vector<in_order> bound_writes_; ///< records whose bounds are yet to be written
    key_sorter sorter_;
    mark_change mark_change_ = mark_change::none; ///< of all `mark_writes_`
    std::optional<bool> marked_;  ///< true if the file had marks at the begin of this transaction
    std::optional<bool> bounded_; ///< true if the file had bounds at that time
};

/// Reads the records of one collection, on the reader's connection.
class record_reader {
public:
    record_reader(collection_descriptor const& collection, connection const& connection)
        : of_(&collection), sql_(need_of(collection)),
          select_(connection, sql_.select(), "read a record"),
          look_(connection, sql_.look(), "read a record and its marks"),
          look_at_marks_(connection, record_sql::look_at_marks(), "read marks"),
          first_(connection, sql_.scan(false), "read records"),
          next_(connection, sql_.scan(true), "read records") {}

    /// Reads one record. `made()` gives the object to fill; it is called only if there is a record.
    void read(part_key const& key, settle::detail::function_view<void*()> made) const {
        run row{select_};
        if (bind_key(row, key).next()) read_record(*of_, row, 0, made());
    }

    [[nodiscard]] collection_descriptor const& of() const noexcept { return *of_; }

    /// Reads a record and its marks, and the entries of the marks if the look asks for them: one
    /// statement, so it reads one state of the file.
    void look(part_key const& key, store_look& seen) const {
        settle::detail::any_slot slot{*of_->record};
        run rows{look_};
        bind_key(rows, key).bind(of_->name);
        while (rows.next()) {
            settle::detail::read_look(*of_, rows, slot, seen, [&](run const& row, void* record) {
                read_record(*of_, row, settle::detail::look_members, record);
            });
        }
        seen.slots.push_back(std::move(slot).take());
    }

    /// Reads all records and all marks of the collection.
    /// Shape:   both statements read one state of the file
    void look_at_all(store_look& seen) const {
        settle::detail::collection_look look{*of_};
        run records{first_};
        records.bind(limit_of(std::numeric_limits<std::size_t>::max()));
        while (records.next()) {
            look.add_record([&](void* record) { read_record(*of_, records, 0, record); });
        }
        run marks{look_at_marks_};
        marks.bind(of_->name);
        while (marks.next()) {
            constexpr int column = settle::detail::look_exists + 1;
            bool const is_number = marks.kind(column) == settle::detail::value_kind::integer;
            look.add_mark(marks,
                          is_number ? key_value{marks.integer(column)}
                                    : key_value{std::string{marks.text(column)}},
                          seen);
        }
        std::move(look).end(seen);
    }

    /// Reads records in the order of their keys, after a key. `made()` gives the object to fill.
    void scan(part_key const* after, std::size_t limit,
              settle::detail::function_view<void*()> made) const {
        run rows{after != nullptr ? next_ : first_};
        rows.bind(limit_of(limit));
        if (after != nullptr) bind_key(rows, *after);
        while (rows.next()) read_record(*of_, rows, 0, made());
    }

private:
    collection_descriptor const* of_;
    record_sql sql_;
    statement select_;
    statement look_;
    statement look_at_marks_;
    statement first_;
    statement next_;
};

} // namespace sqlite::detail
SETTLE_END
