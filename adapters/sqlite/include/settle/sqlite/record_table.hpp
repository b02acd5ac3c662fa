// SPDX-License-Identifier: BSL-1.0
// The records of one collection in their table: meets operations, reads, creates, scans.
#pragma once

#include <settle/sqlite/mark_table.hpp>
#include <settle/sqlite/record_state.hpp>
#include <settle/sqlite/record_update.hpp>
#include <settle/sqlite/writer.hpp>
#include <settle/store/hash_index.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Statements of the writer's connection, and the records that operations have met: in a native
/// transaction each is read at most once and written at most once, however many operations meet it,
/// and it need not be read again in the next one when nobody else has written meanwhile. The caller
/// holds the writer's mutex and a native transaction.
template <typename Collection>
class record_table {
public:
    using record_type = typename Collection::record_type;
    using key_type = key_view<Collection>;
    using state_type = record_state<Collection>;
    using stored_key = typename state_type::stored_key;

    /// Shape:   need - the table is there and has been checked
    record_table(writer& with, table_need need)
        : on_(&with.on()), rows_(&with.rows()), sql_(std::move(need)),
          select_(*on_, sql_.select(), "read a record"),
          wave_(*on_, sql_.select_wave(), "read records"),
          whole_(*on_, sql_.select_whole(), "read a whole row"),
          insert_(*on_, sql_.insert(), "create a record"),
          erase_(*on_, sql_.erase(), "erase a record"), marks_(*on_), bounds_(*on_),
          updates_(*on_, *rows_, sql_) {}

    /// Begins a native transaction, or a part of it after another part was undone.
    /// Shape:   unchanged - what was met before still stands as it was met
    void begin(bool unchanged) {
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

    /// Tells of an operation that is to meet its record, in the order in which they will.
    /// Shape:   key, id - stay until fetch(); applies - otherwise it ends its part
    void expect(key_type const& key, bool applies, transaction_id const& id, part_number part) {
        std::size_t const number = find_index(key);
        expected_.push_back(number);
        state_type const& at = records_[number];
        want_record(number);
        if (at.knows_marks && at.unseen == 0) return;
        // To finish or undo a part, its own mark is enough, however many others there are.
        if (applies && !at.knows_marks) unmarked_.push_back({number, &id, part});
        else if (at.slot.marks.find(id, part) == nullptr) unmet_.push_back({number, &id, part});
    }

    /// Reads what the operations to come will meet, as far as it is not known.
    /// Errors:  throws errc::damaged
    void fetch() {
        read_records();
        if (unmarked_.empty() && unmet_.empty()) return;
        if (!marked_) marked_ = marks_.any_at_all();
        if (*marked_) read_marks();
        else for (auto const& one : unmarked_) records_[one.index].knows_marks = true;
        unmarked_.clear();
        unmet_.clear();
    }

    /// Lets the operation that is expected next meet its record. What it changes is written by
    /// write_back(), at the latest.
    /// Errors:  throws settle::failure; the caller undoes what was written
    template <typename Operation>
    record_answer<record_type> execute(Operation const& one) {
        state_type& at = records_[expected_[executed_++]];
        auto result = one.execute(at.slot, whole_row{*this, at});
        bool const creates = result.on_record == record_change::created;
        // A reversal brings a record back with all its columns.
        note(result, at, creates ? one.intent().native_image() : std::string_view{});
        if (one.at() == step::apply) note_mark(result.on_mark, at, one.id(), one.part());
        return result;
    }
    /// The same for what ends a part.
    record_answer<record_type> execute(part_end<Collection> const& one) {
        state_type& at = records_[expected_[executed_++]];
        auto result = one.execute(at.slot);
        note(result, at);
        note_mark(result.on_mark, at, one.id(), one.part());
        return result;
    }

    /// True if an operation has left its mark on a record, of which only the mark need be readable.
    [[nodiscard]] bool has_mark_of(key_type const& key, part_end<Collection> const& one) const {
        return marks_.has(*on_, key, one.id(), one.part());
    }

    /// Ends an operation that was met in this native transaction, at once.
    void end_one_phase(key_type const& key, part_end<Collection> const& one, bool confirmed) {
        state_type& at = place_of(key);
        note(one.end_one_phase(at.slot, confirmed), at);
    }

    /// Writes the changes of the operations.
    void write_back() {
        write_marks();
        write_bounds();
        put_dirty_in_order();
        mark_writes_.clear();
        for (auto const& one : dirty_) {
            state_type& at = records_[one.index];
            if (at.changed == 0) continue;
            updates_.add(*at.slot.record, at.key, std::exchange(at.changed, 0));
        }
        dirty_.clear();
        updates_.write_added();
    }

    /// Ends one mark if it still has this epoch.
    answer resolve(mark_locator const& where, bool confirmed) {
        auto const* const stored = std::get_if<stored_key>(&where.key);
        if (stored == nullptr) return answer::nothing;
        begin(false);
        expect(key_type{*stored}, false, where.id, where.part);
        fetch();
        state_type& at = records_[expected_[executed_++]];
        auto* const found = at.slot.marks.find(where.id, where.part);
        if (found == nullptr || found->epoch_number != where.epoch_number) return answer::nothing;
        auto const result = settle::detail::resolve(at.slot, found, confirmed);
        note(result, at);
        note_mark(result.on_mark, at, where.id, where.part);
        write_back();
        return result.what;
    }

    /// False if a record or a mark has this key.
    bool create(record_type const& record) {
        key_type const key{record.*Collection::key_member};
        if (run{select_, key}.next() || marks_.any(key)) return false;
        insert(record);
        return true;
    }

private:
    /// Gives a whole row as JSON. A named type, so that all operations share it.
    struct whole_row {
        record_table& table;
        state_type& at;

        std::string operator()() const {
            table.updates_.write(*at.slot.record, at.key, std::exchange(at.changed, 0));
            return table.image_of(at.key);
        }
    };

    void sort(std::vector<in_order>& all) {
        sorter_.sort(all, [&](std::size_t number) { return key_type(records_[number].key); });
    }

    /// Records that have changed mostly stand among those whose marks have, which are in order.
    void put_dirty_in_order() {
        changed_.clear();
        for (auto const& one : mark_writes_) {
            bool const known = !changed_.empty() && changed_.back().index == one.index;
            if (!known && records_[one.index].changed != 0) changed_.push_back({one.index});
        }
        if (changed_.size() == dirty_.size()) std::swap(changed_, dirty_);
        else sort(dirty_);
    }

    state_type& place_of(key_type const& key) {
        // A transaction that settles at once comes twice to each of its few records.
        for (std::size_t at = executed_, first = executed_ < 4 ? 0 : executed_ - 4; at-- > first;) {
            if (same_key(records_[expected_[at]], key)) return records_[expected_[at]];
        }
        return records_[find_index(key)];
    }

    std::size_t find_index(key_type const& key) {
        auto const hash = settle::hash_mix(0, std::hash<key_type>{}(key));
        auto const* const known =
            index_.find(hash, [&](std::size_t number) { return same_key(records_[number], key); });
        if (known != nullptr) return *known;
        index_.insert(hash, records_.size());
        records_.emplace_back().key = stored_key(key);
        return records_.size() - 1;
    }
    static bool same_key(state_type const& at, key_type const& key) {
        return key_type(at.key) == key;
    }

    void want_record(std::size_t number) {
        state_type& at = records_[number];
        if (std::exchange(at.loaded, true)) return;
        unread_.push_back({number});
    }

    void read_records() {
        if (unread_.empty()) return;
        sort(unread_);
        mark_rows<Collection> wave{records_, unread_};
        auto const shown = rows_->show_rows(wave);
        run rows{wave_};
        while (rows.next()) {
            auto& slot = records_[static_cast<std::size_t>(rows.integer(0))].slot;
            read_record<Collection>(rows, 1, slot.record.emplace());
        }
        unread_.clear();
    }

    void read_marks() {
        read_bounds();
        // Of many marks an apply meets those of its own transaction, and the others as one.
        std::erase_if(unmarked_, [&](in_order const& one) {
            state_type& at = records_[one.index];
            if (at.unseen > 0) unmet_.push_back(one);
            return std::exchange(at.knows_marks, true);
        });
        load_marks(unmarked_, false);
        load_marks(unmet_, true);
    }
    void load_marks(std::vector<in_order>& wanted, bool own) {
        if (wanted.empty()) return;
        sort(wanted);
        mark_rows<Collection> wave{records_, wanted};
        marks_.load(
            *rows_, wave, own, [&](std::size_t number) -> auto& { return records_[number]; });
    }

    /// Adding a mark to many marks, or pulling one of many, changes their bounds.
    void read_bounds() {
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
        mark_rows<Collection> wave{records_, asked_};
        bounds_.load(*rows_, wave,
                     [&](std::size_t number, typename state_type::bounds const& found) {
                         records_[number].know(found);
                     });
    }

    /// Shape:   they are in order, since the marks were
    void write_bounds() {
        if (bound_writes_.empty()) return;
        bound_rows<Collection> wave{records_, bound_writes_};
        bounds_.write(*rows_, wave);
        for (auto const& one : bound_writes_) {
            records_[one.index].wrote(records_[one.index].to_keep());
        }
        bound_writes_.clear();
    }

    /// The whole row as JSON, as any program may have written it.
    [[nodiscard]] std::string image_of(key_type const& key) const {
        run row{whole_, key};
        std::string out;
        if (!row.next()) return out;
        for (int column = 0; column < row.columns(); ++column) {
            out += column == 0 ? '{' : ',';
            append_json_text(out, row.name(column));
            out += ':';
            append_native(out, read_native_column(row, column));
        }
        return out += '}';
    }

    /// Changes of members wait for each other; a record that comes or goes does so at once.
    /// Shape:   native_image - of a record that is created; empty: it has its members alone
    [[gnu::noinline]] void note(record_answer<record_type> const& result, state_type& at,
                                std::string_view native_image = {}) {
        switch (result.on_record) {
        case record_change::none: break;
        case record_change::fields:
            if (at.changed == 0) dirty_.push_back({number_of(at)});
            at.changed |= result.fields;
            break;
        case record_change::created:
            at.changed = 0;
            create_from(native_image, *at.slot.record);
            break;
        case record_change::erased:
            at.changed = 0;
            erase(at.key);
            break;
        }
    }
    [[nodiscard]] std::size_t number_of(state_type const& at) const {
        return static_cast<std::size_t>(&at - records_.data());
    }

    /// Marks wait, too, as long as the same is to be done with them. A step adds marks or pulls
    /// them, never both: what is added is in its slot when it is written.
    /// Shape:   id - stays where it is until write_back()
    [[gnu::noinline]] void note_mark(mark_change change, state_type& at, transaction_id const& id,
                                     part_number part) {
        if (change == mark_change::none) return;
        if (change != mark_change_) {
            write_marks();
            mark_writes_.clear();
        }
        mark_change_ = change;
        mark_writes_.push_back({number_of(at), &id, part});
    }

    /// Shape:   they are in order then
    void write_marks() {
        if (mark_writes_.empty()) return;
        sort(mark_writes_);
        mark_rows<Collection> wave{records_, mark_writes_};
        switch (mark_change_) {
        case mark_change::none: break;
        case mark_change::added: marks_.insert(*rows_, wave); break;
        case mark_change::raised:
            for (auto const& one : mark_writes_) {
                state_type const& at = records_[one.index];
                auto const& raised = *at.slot.marks.find(*one.id, one.part);
                marks_.raise(key_type(at.key), *one.id, one.part, raised.epoch_number);
            }
            break;
        case mark_change::pulled:
            marks_.erase(*rows_, wave, records_[mark_writes_.front().index].key,
                         records_[mark_writes_.back().index].key);
            break;
        }
        if (mark_change_ == mark_change::raised) return;
        for (auto const& one : mark_writes_) {
            state_type& at = records_[one.index];
            if (!at.needs_bounds() || std::exchange(at.writes_bounds, true)) continue;
            bound_writes_.push_back({one.index});
        }
    }

    void erase(key_type const& key) const { changed_one(run{erase_, key}.change()); }

    void insert(record_type const& record) const {
        run row{insert_};
        for_each_member<record_type>(
            [&](auto m) { bind_field(row, record.*decltype(m)::pointer); });
        changed_one(row.change());
    }

    void create_from(std::string_view image, record_type const& record) const {
        if (image.empty()) return insert(record);
        auto columns = read_image(*on_, sql_.need(), image);
        for_each_member<record_type>([&](auto m) {
            std::erase_if(columns, [&](auto const& one) { return one.first == m.name; });
        });
        statement const insert_whole{*on_, sql_.insert_with(columns), "create a record"};
        run row{insert_whole};
        for_each_member<record_type>(
            [&](auto m) { bind_field(row, record.*decltype(m)::pointer); });
        for (auto const& [name, value] : columns) bind_native(row, value);
        changed_one(row.change());
    }

    static void changed_one(std::int64_t count) {
        expect_changed(Collection::name, count, 1);
    }

    connection const* on_;
    wave_rows* rows_;
    record_sql sql_;
    statement select_;
    statement wave_;
    statement whole_;
    statement insert_;
    statement erase_;
    mark_table<Collection> marks_;
    bounds_table<Collection> bounds_;
    record_updates<Collection> updates_;
    static constexpr std::size_t most_records = 32768; ///< records, so that memory stays bounded

    std::vector<state_type> records_;
    std::vector<std::size_t> expected_; ///< places of the operations, in their order
    std::size_t executed_ = 0;               ///< how many of them have met their record
    std::vector<in_order> unread_;      ///< records that are yet to be read
    std::vector<in_order> unmarked_;    ///< parts for which all marks are yet to be read
    std::vector<in_order> unmet_;       ///< parts whose own marks are yet to be read
    std::vector<in_order> asked_;       ///< kept for its capacity
    std::vector<in_order> dirty_;       ///< records that are yet to be written
    std::vector<in_order> changed_;     ///< kept for its capacity
    std::vector<in_order> mark_writes_; ///< marks that are yet to be written
    std::vector<in_order> bound_writes_; ///< records whose bounds are yet to be written
    key_sorter sorter_;
    mark_change mark_change_ = mark_change::none; ///< of all of them
    settle::detail::hash_index index_;
    std::optional<bool> marked_;  ///< whether the file held any mark when this one began
    std::optional<bool> bounded_; ///< whether it held bounds of any
};

/// Reads the records of one collection, on the reader's connection.
template <typename Collection>
class record_reader {
public:
    using record_type = typename Collection::record_type;
    using key_type = typename Collection::key_type;

    record_reader(connection const& on, table_need need) : sql_(std::move(need)) {
        select_ = {on, sql_.select(), "read a record"};
        first_ = {on, sql_.scan(false), "read records"};
        next_ = {on, sql_.scan(true), "read records"};
    }

    [[nodiscard]] std::optional<record_type> read(key_type const& key) const {
        run row{select_, key_view<Collection>{key}};
        std::optional<record_type> found;
        if (row.next()) read_record<Collection>(row, 0, found.emplace());
        return found;
    }

    [[nodiscard]] std::vector<record_type> scan(std::optional<key_type> const& after,
                                                std::size_t limit) const {
        run rows{after ? next_ : first_};
        rows.bind(limit_of(limit));
        if (after) rows.bind(key_view<Collection>{*after});
        std::vector<record_type> found;
        while (rows.next()) read_record<Collection>(rows, 0, found.emplace_back());
        return found;
    }

private:
    record_sql sql_;
    statement select_;
    statement first_;
    statement next_;
};

} // namespace sqlite::detail
SETTLE_END
