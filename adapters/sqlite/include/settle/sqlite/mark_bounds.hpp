// SPDX-License-Identifier: BSL-1.0
// The bounds of a record with many marks, in the table settle_bound: the number of its marks, and
// how far all marks together could still move each member. Adding a mark needs no other mark.
#pragma once

#include <settle/sqlite/mark_codec.hpp>
#include <settle/sqlite/wave_rows.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// Shape:   least is never above 0 and most never below, since nothing may happen any more
template <Described Record>
struct mark_bounds {
    std::int64_t marks = 0;
    integers<Record> least{};
    integers<Record> most{};

    /// Subtracts one mark from the bounds. False if the mark cannot be part of them.
    [[nodiscard]] bool take_out(mark<Record> const& one) {
        bool fits = --marks >= 0;
        for (std::size_t i = 0; i < integer_count<Record>; ++i) {
            bool const past = __builtin_sub_overflow(least[i], one.low(i), &least[i]) ||
                              __builtin_sub_overflow(most[i], one.high(i), &most[i]);
            fits = fits && !past && least[i] <= 0 && most[i] >= 0;
        }
        // Without marks the bounds must be zero.
        return fits && (marks > 0 || *this == mark_bounds{});
    }

    friend bool operator==(mark_bounds const&, mark_bounds const&) = default;
};

/// The bounds of one collection's records.
/// Shape:   Collection - its marks are typed by its record
/// Cost:    a seek for each record, in one statement for a wave
template <typename Collection>
class bounds_table {
public:
    using bounds = mark_bounds<typename Collection::record_type>;

    explicit bounds_table(connection const& on)
        : any_(on, "SELECT 1 FROM settle_bound LIMIT 1", "look for bounds of marks"),
          read_(on,
                "SELECT b.key, w.c1, marks, least, most FROM settle_wave AS w CROSS JOIN "
                "settle_bound AS b ON b.key = w.c0 AND collection = ?1",
                "read bounds of marks"),
          write_(on,
                 "INSERT INTO settle_bound(collection, key, marks, least, most) "
                 "SELECT ?1, c0, c2, c3, c4 FROM settle_wave WHERE c2 > 0 ON CONFLICT DO UPDATE "
                 "SET (marks, least, most) = (excluded.marks, excluded.least, excluded.most)",
                 "write bounds of marks"),
          erase_(on,
                 "DELETE FROM settle_bound WHERE (key, collection) IN "
                 "(SELECT c0, ?1 FROM settle_wave WHERE c2 = 0)",
                 "erase bounds of marks") {}

    /// True if any record of the file has bounds.
    [[nodiscard]] bool any_at_all() const { return run{any_}.next(); }

    /// Calls `found(place, bounds)` for every record of a wave that has them.
    /// Shape:   wave - its rows are key and place
    /// Errors:  throws errc::damaged, naming the record
    template <typename Wave, typename Found>
    void load(wave_rows& with, Wave& wave, Found&& found) const {
        auto const shown = with.show_rows(wave);
        run rows{read_, Collection::name};
        while (rows.next()) found(static_cast<std::size_t>(rows.integer(1)), read(rows));
    }

    /// Writes the bounds of a wave's records, and erases bounds that are no longer needed.
    /// Shape:   wave - its rows are key, place, marks or 0, least, most
    template <typename Wave>
    void write(wave_rows& with, Wave& wave) const {
        auto const shown = with.show_rows(wave);
        run{erase_, Collection::name}.change();
        run{write_, Collection::name}.change();
    }

    /// Errors:  throws errc::damaged; without that row the marks themselves are read again
    [[noreturn]] static void damaged(std::string_view key, std::string_view problem) {
        std::string text{"settle: the row of '"};
        text.append(key).append("' in '").append(Collection::name);
        text.append("' is damaged in the table settle_bound: ").append(problem);
        raise(errc::damaged, text.append(". Delete that row. See errors#damaged"));
    }

private:
    static bounds read(run const& row) {
        using record = typename Collection::record_type;
        bounds found;
        found.marks = row.integer(2);
        error wrong = decode_deltas<record>(row.text(3), found.least);
        if (wrong.empty()) wrong = decode_deltas<record>(row.text(4), found.most);
        if (!wrong.empty()) damaged(row.text(0), wrong.text);
        bool possible = found.marks > 0;
        for (std::size_t i = 0; i < integer_count<record>; ++i) {
            possible = possible && found.least[i] <= 0 && found.most[i] >= 0;
        }
        if (!possible) damaged(row.text(0), "it holds what no marks give");
        return found;
    }

    statement any_;
    statement read_;
    statement write_;
    statement erase_;
};

} // namespace sqlite::detail
SETTLE_END
