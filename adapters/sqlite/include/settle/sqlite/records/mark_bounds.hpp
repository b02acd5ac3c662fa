// SPDX-License-Identifier: BSL-1.0
// The bounds of a record with many marks, in the table settle_bound: the number of its marks, and
// the range in which all marks together can still move each member. With them, adding a mark reads
// no other mark.
#pragma once

#include <settle/adapter/mark_columns.hpp>
#include <settle/sqlite/connection/row.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::decode_deltas;
using settle::detail::encode_deltas;
using settle::detail::mark_view;

/// Shape:   least, most - one number for each integer member; least is never above 0 and most never
///          below, since every mark may still be confirmed or undone
struct mark_bounds {
    std::int64_t marks = 0;
    std::vector<std::int64_t> least{};
    std::vector<std::int64_t> most{};

    /// Subtracts one mark from the bounds. False if the mark cannot be part of them.
    [[nodiscard]] bool take_out(mark_view const& removed) {
        bool fits = --marks >= 0;
        for (std::size_t i = 0; i < least.size(); ++i) {
            bool const past = __builtin_sub_overflow(least[i], removed.low(i), &least[i]) ||
                              __builtin_sub_overflow(most[i], removed.high(i), &most[i]);
            fits = fits && !past && least[i] <= 0 && most[i] >= 0;
            // Without marks the bounds must be zero.
            fits = fits && (marks > 0 || (least[i] == 0 && most[i] == 0));
        }
        return fits;
    }
};

/// The bounds of one collection's records.
/// Cost:    a seek for each record, in one statement for a wave
class bounds_table {
public:
    bounds_table(collection_descriptor const& collection, connection const& connection)
        : of_(&collection),
          any_(connection, "SELECT 1 FROM settle_bound LIMIT 1", "look for bounds of marks"),
          read_(connection,
                "SELECT b.key, w.c1, marks, least, most FROM settle_wave AS w CROSS JOIN "
                "settle_bound AS b ON b.key = w.c0 AND collection = ?1",
                "read bounds of marks"),
          write_(connection,
                 "INSERT INTO settle_bound(collection, key, marks, least, most) "
                 "SELECT ?1, c0, c2, c3, c4 FROM settle_wave WHERE c2 > 0 ON CONFLICT DO UPDATE "
                 "SET (marks, least, most) = (excluded.marks, excluded.least, excluded.most)",
                 "write bounds of marks"),
          erase_(connection,
                 "DELETE FROM settle_bound WHERE (key, collection) IN "
                 "(SELECT c0, ?1 FROM settle_wave WHERE c2 = 0)",
                 "erase bounds of marks") {}

    /// True if any record of the file has bounds.
    [[nodiscard]] bool any_at_all() const { return run{any_}.next(); }

    /// Calls `on_found(index, bounds)` for every record of a wave that has them.
    /// Shape:   wave - its rows are key and index
    /// Errors:  throws errc::damaged, naming the record
    template <typename Wave, typename Found>
    void load(wave_rows& with, Wave& wave, Found&& on_found) const {
        auto const shown = with.show_rows(wave);
        run rows{read_, of_->name};
        while (rows.next()) on_found(static_cast<std::size_t>(rows.integer(1)), read(rows));
    }

    /// Writes the bounds of a wave's records, and erases bounds that are no longer needed.
    /// Shape:   wave - its rows are key, index, marks or 0, least, most
    template <typename Wave>
    void write(wave_rows& rows, Wave& wave) const {
        auto const shown = rows.show_rows(wave);
        run{erase_, of_->name}.change();
        run{write_, of_->name}.change();
    }

    /// Errors:  throws errc::damaged; without that row the marks themselves are read again
    [[noreturn]] static void damaged(std::string_view name, std::string_view key,
                                     std::string_view problem) {
        std::string text{"settle: the row of '"};
        text.append(key).append("' in '").append(name);
        text.append("' is damaged in the table settle_bound: ").append(problem);
        raise(errc::damaged, text.append(". Delete that row. See errors#damaged"));
    }

private:
    [[nodiscard]] mark_bounds read(run const& row) const {
        mark_bounds bounds;
        bounds.marks = row.integer(2);
        record_descriptor const& record = *of_->record;
        error wrong = decode_deltas(record, row.text(3), bounds.least);
        if (wrong.empty()) wrong = decode_deltas(record, row.text(4), bounds.most);
        if (!wrong.empty()) damaged(of_->name, row.text(0), wrong.text);
        bool possible = bounds.marks > 0;
        for (std::size_t i = 0; i < record.integers; ++i) {
            possible = possible && bounds.least[i] <= 0 && bounds.most[i] >= 0;
        }
        if (!possible) damaged(of_->name, row.text(0), "no marks have such bounds");
        return bounds;
    }

    collection_descriptor const* of_;
    statement any_;
    statement read_;
    statement write_;
    statement erase_;
};

} // namespace sqlite::detail
SETTLE_END
