// SPDX-License-Identifier: BSL-1.0
// Writes changed members into the rows of one record, or of many records in one statement.
#pragma once

#include <settle/sqlite/record_sql.hpp>

#include <algorithm>
#include <span>

SETTLE_BEGIN
namespace sqlite::detail {

/// Errors:  throws errc::unfit_store when another number of rows than those that were meant changed
inline void expect_changed(std::string_view table, std::int64_t count, std::size_t wanted) {
    if (count == static_cast<std::int64_t>(wanted)) return;
    std::string text{"settle: a write to the table '"};
    text.append(table).append("' changed " + std::to_string(count) + " rows instead of ");
    text.append(std::to_string(wanted));
    raise(errc::unfit_store,
          text.append("; has a trigger been added to it since this program began? Remove it. "
                      "See sqlite#existing-tables"));
}

/// Shape:   Collection - of the records
/// Cost:    a statement for one record costs twice what a record costs among many in one
template <typename Collection>
class record_updates {
public:
    using record_type = typename Collection::record_type;
    using key_type = key_view<Collection>;

    record_updates(connection const& on, wave_rows& rows, record_sql sql)
        : on_(&on), rows_(&rows), sql_(std::move(sql)), changeable_(sql_.changeable()) {}

    /// Writes some members of a record; the key is never among them.
    /// Errors:  throws settle::failure; the caller undoes what was written
    void write(record_type const& record, key_type const& key, std::uint64_t fields) {
        fields &= changeable_;
        if (fields != 0) write_one(statements_of(fields), {&record, key});
    }

    /// The same when write_added() says so, together with others.
    /// Shape:   record, key - stay until then, and are added in the order of the keys
    void add(record_type const& record, key_type const& key, std::uint64_t fields) {
        fields &= changeable_;
        if (fields != 0) statements_of(fields).added.push_back({&record, key});
    }
    void write_added() {
        for (auto& one : statements_) {
            std::span<change const> rest{one.added};
            while (rest.size() >= least_together) {
                auto const next = rest.first(std::min(rest.size(), most_together));
                write_many(one, next);
                rest = rest.subspan(next.size());
            }
            for (auto const& alone : rest) write_one(one, alone);
            one.added.clear();
        }
    }
    /// Forgets the added records.
    void clear() noexcept {
        for (auto& one : statements_) one.added.clear();
    }

private:
    /// Keys of one statement. It names that many, so fewer are filled up.
    static constexpr std::size_t most_together = 64;
    static constexpr std::size_t least_together = 16;

    struct change {
        record_type const* record;
        key_type key;
    };

    /// For one set of members.
    struct statements {
        std::uint64_t fields;
        statement one;
        statement many;
        std::vector<change> added;
    };

    /// Changes as a statement comes by their rows.
    class changes {
    public:
        explicit changes(std::span<change const> all) : all_(all) {}

        /// Shape:   row - the key; column - the number of a member
        void put(cell to, columns row, int column) {
            record_type const& record = *change_of(row).record;
            for_each_member<record_type>([&](auto m) {
                if (static_cast<int>(m.index) == column) {
                    give_field(to, record.*decltype(m)::pointer);
                }
            });
        }

    private:
        /// Rows come in the order of their keys, as far as it is known.
        [[nodiscard]] change const& change_of(columns row) {
            if (row.compare(all_[next_].key, 0) == 0) return all_[next_];
            next_ = next_ + 1 == all_.size() ? 0 : next_ + 1;
            if (row.compare(all_[next_].key, 0) == 0) return all_[next_];
            auto const found = std::partition_point(
                all_.begin(), all_.end() - 1,
                [&](change const& one) { return row.compare(one.key, 0) < 0; });
            next_ = static_cast<std::size_t>(found - all_.begin());
            return all_[next_];
        }

        std::span<change const> all_;
        std::size_t next_ = 0;
    };

    void write_one(statements const& with, change const& one) const {
        run row{with.one};
        for_each_member<record_type>([&](auto m) {
            if ((with.fields >> m.index & 1U) == 0) return;
            bind_field(row, one.record->*decltype(m)::pointer);
        });
        expect_changed(Collection::name, row.bind(one.key).change(), 1);
    }

    void write_many(statements& with, std::span<change const> all) const {
        if (!with.many) {
            with.many = {*on_, sql_.update_many(with.fields, most_together), "change records"};
        }
        changes wave{all};
        auto const shown = rows_->show_changes(wave);
        run rows{with.many};
        for (std::size_t at = 0; at < most_together; ++at) {
            rows.bind(all[std::min(at, all.size() - 1)].key);
        }
        expect_changed(Collection::name, rows.change(), all.size());
    }

    /// A type's effects name a few sets of members, each met again and again.
    statements& statements_of(std::uint64_t fields) {
        for (auto& known : statements_) {
            if (known.fields == fields) return known;
        }
        statements_.push_back({fields, {*on_, sql_.update(fields), "change a record"}, {}, {}});
        return statements_.back();
    }

    connection const* on_;
    wave_rows* rows_;
    record_sql sql_;
    std::uint64_t changeable_;
    std::vector<statements> statements_;
};

} // namespace sqlite::detail
SETTLE_END
