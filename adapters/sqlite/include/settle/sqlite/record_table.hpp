// SPDX-License-Identifier: BSL-1.0
// The records of one collection in their table: meets operations, reads, creates, scans.
#pragma once

#include <settle/sqlite/mark_table.hpp>
#include <settle/sqlite/record_state.hpp>
#include <settle/sqlite/record_update.hpp>
#include <settle/sqlite/writer.hpp>
#include <settle/store/hash_index.hpp>
#include <settle/store/record.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Statements of the writer's connection, and the records that requests have met: in a native
/// transaction each is read at most once and written at most once, however many requests name it,
/// and it need not be read again in the next one when nobody else has written meanwhile. The caller
/// holds the writer's mutex and a native transaction.
class record_table {
public:
    /// Shape:   the table is there and has been checked
    record_table(collection_descriptor const& of, writer& with)
        : of_(&of), on_(&with.on()), rows_(&with.rows()), sql_(need_of(of)),
          select_(*on_, sql_.select(), "read a record"),
          wave_(*on_, sql_.select_wave(), "read records"),
          whole_(*on_, sql_.select_whole(), "read a whole row"),
          insert_(*on_, sql_.insert(), "create a record"),
          erase_(*on_, sql_.erase(), "erase a record"), marks_(of, *on_), bounds_(of, *on_),
          updates_(of, *on_, *rows_, sql_) {}

    /// Begins a native transaction, or a part of it after another part was undone.
    /// Shape:   unchanged - the records that were read before still stand as they were
    void begin(bool unchanged);

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& one) {
        expect(one.key(), applies(one.action), *one.id, one.part);
    }

    /// Reads the records of the announced requests, as far as they are not known.
    /// Errors:  throws errc::damaged
    void fetch();

    /// Executes the request that was announced next. write_back() writes its changes, at the
    /// latest.
    /// Errors:  throws settle::failure; the caller undoes the writes
    [[nodiscard]] part_result execute(part_request const& one);

    /// True if a part has left its mark on a record, of which only the mark need be readable.
    [[nodiscard]] bool has_mark_of(part_request const& one) const {
        return marks_.has(*on_, one.key(), *one.id, one.part);
    }

    /// Ends a part at once that was applied in this native transaction.
    void end_one_phase(part_request const& one, bool confirmed) {
        record_state& at = state_of(one.key());
        note(at.slot.end_one_phase(one, confirmed), at);
    }

    /// Writes the changes of the requests.
    void write_back();

    /// Ends one mark if it still has this epoch.
    answer resolve(mark_locator const& where, bool confirmed);

    /// False if a record or a mark has the record's key.
    bool create(void const* record);

private:
    /// Announces a part that is to meet its record.
    /// Shape:   key, id - stay until fetch(); applying - otherwise it ends its part
    void expect(part_key const& key, bool applying, transaction_id const& id, part_number part);

    /// Gives a whole row as JSON. A named type, so that all operations share it.
    struct whole_row {
        record_table& table;
        record_state& at;

        std::string operator()() const {
            table.updates_.write(at.slot.record(), at.view(), std::exchange(at.changed, 0));
            return table.image_of(at.view());
        }
    };

    void sort(std::vector<in_order>& all);

    /// Records that have changed mostly stand among those whose marks have, which are in order.
    void put_dirty_in_order();

    record_state& state_of(part_key const& key);

    std::size_t find_index(part_key const& key);
    static bool same_key(record_state const& at, part_key const& key) {
        return at.view() == key;
    }

    void want_record(std::size_t number);

    void read_records();

    void read_marks();
    void load_marks(std::vector<in_order>& wanted, bool own);

    /// Adding a mark to many marks, or pulling one of many, changes their bounds.
    void read_bounds();

    /// Shape:   they are in order, since the marks were
    void write_bounds();

    /// The whole row as JSON, as any program may have written it.
    [[nodiscard]] std::string image_of(part_key const& key) const;

    /// Changes of members wait for each other; a record that comes or goes does so at once.
    /// Shape:   native_image - of a record that is created; empty: it has its members alone
    void note(record_changes const& result, record_state& at,
                                std::string_view native_image = {});
    [[nodiscard]] std::size_t number_of(record_state const& at) const {
        return static_cast<std::size_t>(&at - records_.data());
    }

    /// Marks wait, too, as long as the same is to be done with them. A step adds marks or pulls
    /// them, never both: what is added is in its slot when it is written.
    /// Shape:   id - stays where it is until write_back()
    void note_mark(mark_change change, record_state& at, transaction_id const& id,
                                     part_number part);

    /// Shape:   they are in order then
    void write_marks();

    void erase(part_key const& key) const {
        run row{erase_};
        changed_one(bind_key(row, key).change());
    }

    void insert(void const* record) const;

    void bind_members(run& row, void const* record) const;

    void create_from(std::string_view image, void const* record) const;

    void changed_one(std::int64_t count) const { expect_changed(of_->name, count, 1); }

    collection_descriptor const* of_;
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

    std::vector<record_state> records_;
    std::vector<std::size_t> expected_; ///< indices of the announced records, in order
    std::size_t executed_ = 0;               ///< how many requests were executed
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
class record_reader {
public:
    record_reader(collection_descriptor const& of, connection const& on)
        : of_(&of), sql_(need_of(of)), select_(on, sql_.select(), "read a record"),
          first_(on, sql_.scan(false), "read records"), next_(on, sql_.scan(true), "read records") {
    }

    /// Reads one record. `made()` gives the record that is filled, if there is one.
    void read(part_key const& key, settle::detail::function_view<void*()> made) const {
        run row{select_};
        if (bind_key(row, key).next()) read_record(*of_, row, 0, made());
    }

    /// Reads records in the order of their keys, behind a key. `made()` gives each to be filled.
    void scan(part_key const* after, std::size_t limit,
              settle::detail::function_view<void*()> made) const;

private:
    collection_descriptor const* of_;
    record_sql sql_;
    statement select_;
    statement first_;
    statement next_;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/record_table.ipp>
#endif
