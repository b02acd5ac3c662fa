// SPDX-License-Identifier: BSL-1.0
// Writes changed members into the rows of one record, or of many records in one statement.
#pragma once

#include <settle/sqlite/records/record_sql.hpp>

#include <algorithm>
#include <span>

SETTLE_BEGIN
namespace sqlite::detail {

/// Errors:  throws errc::unfit_store when a statement has changed another number of rows than
///          expected
inline void expect_changed(std::string_view table, std::int64_t count, std::size_t expected) {
    if (count == static_cast<std::int64_t>(expected)) return;
    std::string text{"settle: a write to the table '"};
    text.append(table).append("' changed " + std::to_string(count) + " rows instead of ");
    text.append(std::to_string(expected));
    raise(errc::unfit_store,
          text.append("; has a trigger been added to it since this program began? Remove it. "
                      "See sqlite#existing-tables"));
}

/// Cost:    a statement for one record costs twice what a record costs among many in one
class record_updates {
public:
    record_updates(collection_descriptor const& collection, connection const& connection,
                   wave_rows& rows, record_sql sql)
        : of_(&collection), on_(&connection), rows_(&rows), sql_(std::move(sql)),
          changeable_(sql_.changeable()) {}

    /// Writes some members of a record; the key is never among them.
    /// Errors:  throws settle::failure; the caller undoes the earlier writes
    void write(void const* record, part_key const& key, std::uint64_t fields) {
        fields &= changeable_;
        if (fields != 0) write_one(statements_of(fields), {record, key});
    }

    /// Adds such a write; write_added() performs it together with others.
    /// Shape:   record, key - outlive write_added(), and are added in the order of the keys
    void add(void const* record, part_key const& key, std::uint64_t fields) {
        fields &= changeable_;
        if (fields != 0) statements_of(fields).added.push_back({record, key});
    }
    void write_added() {
        for (auto& statement : statements_) {
            std::span<change const> rest{statement.added};
            while (rest.size() >= least_together) {
                auto const next = rest.first(std::min(rest.size(), most_together));
                write_many(statement, next);
                rest = rest.subspan(next.size());
            }
            for (auto const& alone : rest) write_one(statement, alone);
            statement.added.clear();
        }
    }
    /// Forgets the added records.
    void clear() noexcept {
        for (auto& one : statements_) one.added.clear();
    }

private:
    /// The number of keys in one statement. If there are fewer, the last key is repeated.
    static constexpr std::size_t most_together = 64;
    static constexpr std::size_t least_together = 16;

    struct change {
        void const* record;
        part_key key;
    };

    /// The statements for one set of members.
    struct statements {
        std::uint64_t fields;
        statement one;
        statement many;
        std::vector<change> added;
    };

    /// Gives the values of changes to a statement, row by row.
    class changes {
    public:
        changes(record_descriptor const& descriptor, std::span<change const> all)
            : of_(descriptor), all_(all) {}

        /// Shape:   row - the key; column - the number of a member
        void put(cell to, columns row, int column) {
            auto const number = static_cast<std::size_t>(column);
            void* const record = const_cast<void*>(change_of(row).record);
            give_member(to, *of_.members[number].access, of_.member(record, number));
        }

    private:
        /// Rows usually come in the order of their keys.
        [[nodiscard]] change const& change_of(columns row) {
            if (compare_key(row, all_[next_].key, 0) == 0) return all_[next_];
            next_ = next_ + 1 == all_.size() ? 0 : next_ + 1;
            if (compare_key(row, all_[next_].key, 0) == 0) return all_[next_];
            auto const found =
                std::partition_point(all_.begin(), all_.end() - 1, [&](change const& earlier) {
                    return compare_key(row, earlier.key, 0) < 0;
                });
            next_ = static_cast<std::size_t>(found - all_.begin());
            return all_[next_];
        }

        record_descriptor const& of_;
        std::span<change const> all_;
        std::size_t next_ = 0;
    };

    void write_one(statements const& prepared, change const& written) const {
        run row{prepared.one};
        for (std::size_t index = 0; index < of_->members().size(); ++index) {
            if ((prepared.fields >> index & 1U) == 0) continue;
            void* const record = const_cast<void*>(written.record);
            bind_member(row, *of_->members()[index].access, of_->record->member(record, index));
        }
        expect_changed(of_->name, bind_key(row, written.key).change(), 1);
    }

    void write_many(statements& prepared, std::span<change const> written) const {
        if (!prepared.many) {
            prepared.many = {*on_, sql_.update_many(prepared.fields, most_together),
                             "change records"};
        }
        changes wave{*of_->record, written};
        auto const shown = rows_->show_changes(wave);
        run rows{prepared.many};
        for (std::size_t at = 0; at < most_together; ++at) {
            bind_key(rows, written[std::min(at, written.size() - 1)].key);
        }
        expect_changed(of_->name, rows.change(), written.size());
    }

    /// The effects of a type change few different sets of members.
    statements& statements_of(std::uint64_t fields) {
        for (auto& known : statements_) {
            if (known.fields == fields) return known;
        }
        statements_.push_back({fields, {*on_, sql_.update(fields), "change a record"}, {}, {}});
        return statements_.back();
    }

    collection_descriptor const* of_;
    connection const* on_;
    wave_rows* rows_;
    record_sql sql_;
    std::uint64_t changeable_;
    std::vector<statements> statements_;
};

} // namespace sqlite::detail
SETTLE_END
