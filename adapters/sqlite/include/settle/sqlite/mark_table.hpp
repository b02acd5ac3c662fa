// SPDX-License-Identifier: BSL-1.0
// The marks of one collection's records, in the table settle_mark.
#pragma once

#include <settle/sqlite/mark_codec.hpp>
#include <settle/sqlite/row.hpp>
#include <settle/sqlite/wave_rows.hpp>
#include <settle/store/wave.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// Shape:   Collection - its marks are typed by its record
/// Cost:    marks of a record, and one mark of a part, are one seek each
template <typename Collection>
class mark_table {
public:
    using record_type = typename Collection::record_type;
    using key_type = key_view<Collection>;
    using mark_type = mark<record_type>;

    explicit mark_table(connection const& on)
        : any_(on, "SELECT 1 FROM settle_mark LIMIT 1", "look for marks"),
          all_(on, std::string{columns} + " WHERE collection = ?1 AND key = ?2", "read marks"),
          one_(on, std::string{columns} + " WHERE" + place, "read a mark"),
          insert_(on,
                  "INSERT OR FAIL INTO settle_mark(collection, id, participant, line, key, epoch, "
                  "effect, confirm, undo, image) "
                  "SELECT ?1, c0, c1, c2, c3, c4, c5, c6, c7, c8 FROM settle_wave",
                  "add marks"),
          raise_(on,
                 "UPDATE OR FAIL settle_mark SET epoch = c4 FROM settle_wave WHERE "
                 "(key, collection, settle_mark.id, participant, line) = (c3, ?1, c0, c1, c2)",
                 "raise marks"),
          erase_(on,
                 "DELETE FROM settle_mark WHERE (key, collection, id, participant, line) IN "
                 "(SELECT c3, ?1, c0, c1, c2 FROM settle_wave)",
                 "pull marks") {}

    /// Whether any record of the file has a mark: where none has, none need be looked for.
    [[nodiscard]] bool any_at_all() const { return run{any_}.next(); }

    /// Reads every mark of a record, which stands in the slot already.
    /// Errors:  throws errc::damaged, naming the mark
    void load_all(key_type const& key, record_slot<record_type>& slot) const {
        run rows{all_, Collection::name, key};
        while (rows.next()) slot.marks.insert(read(rows, slot));
    }

    /// Reads the mark of one part; `load_record(slot)` is called when there is one.
    template <typename LoadRecord>
    void load_one(key_type const& key, transaction_id const& id, part_number part,
                  record_slot<record_type>& slot, LoadRecord&& load_record) const {
        run rows{one_, id, part.participant, part.line, Collection::name, key};
        if (!rows.next()) return;
        load_record(slot);
        slot.marks.insert(read(rows, slot));
    }

    /// Shape:   wave - its rows are id, participant, line, key, and to insert: epoch, effect,
    ///          confirm, undo, image
    template <typename Wave>
    void insert(wave_rows& with, Wave& wave) const {
        run statement{insert_, Collection::name};
        with.insert_from(statement, wave);
    }
    template <typename Wave>
    void raise(wave_rows& with, Wave& wave) const {
        run statement{raise_, Collection::name};
        with.insert_from(statement, wave);
    }
    template <typename Wave>
    void erase(wave_rows& with, Wave& wave) const {
        run statement{erase_, Collection::name};
        with.insert_from(statement, wave);
    }
    /// Whether a record has a mark.
    [[nodiscard]] bool any(key_type const& key) const {
        return run{all_, Collection::name, key}.next();
    }

private:
    static constexpr char const* columns =
        "SELECT id, participant, line, epoch, effect, confirm, undo, image FROM settle_mark";
    static constexpr char const* place =
        " collection = ?4 AND key = ?5 AND id = ?1 AND participant = ?2 AND line = ?3";

    static mark_type read(run const& row, record_slot<record_type> const& slot) {
        mark_type found;
        std::string_view problem = read_field(row, 0, found.id);
        if (problem.empty()) problem = read_field(row, 1, found.part.participant);
        if (problem.empty()) problem = read_field(row, 2, found.part.line);
        std::int64_t number = 0;
        if (problem.empty()) problem = read_field(row, 3, number);
        if (problem.empty() && number < 0) problem = "has a negative epoch";
        found.epoch_number = static_cast<epoch>(number);
        if (!problem.empty()) damaged(row, problem);
        error const wrong = decode_mark<record_type>(row.text(4), row.text(5), row.text(6),
                                                     row.text(7), slot.record, found);
        if (!wrong.empty()) damaged(row, wrong.text);
        return found;
    }

    [[noreturn]] static void damaged(run const& row, std::string_view problem) {
        std::string text{"settle: a mark of the transaction '"};
        text.append(row.text(0)).append("' on '").append(Collection::name);
        text.append("' is damaged in the table settle_mark: ").append(problem);
        sqlite::detail::raise(errc::damaged, text.append(". README#damaged"));
    }

    statement any_;
    statement all_;
    statement one_;
    statement insert_;
    statement raise_;
    statement erase_;
};

/// Marks of some collections, behind a place, in the order of their records.
/// Shape:   names - the collections as an SQL list; plain names, so nothing in them is quoted
[[nodiscard]] inline std::string marks_sql(std::string const& names) {
    return "SELECT id, participant, line, collection, key, epoch FROM settle_mark WHERE "
           "collection IN (" +
           names +
           ") AND (collection, key, id, participant, line) > (?4, ?5, ?1, ?2, ?3) "
           "ORDER BY collection, key, id, participant, line LIMIT ?6";
}

[[nodiscard]] inline mark_place read_place(run const& row) {
    mark_place place;
    std::int64_t number = 0;
    std::string_view problem = read_field(row, 0, place.id);
    if (problem.empty()) problem = read_field(row, 1, place.part.participant);
    if (problem.empty()) problem = read_field(row, 2, place.part.line);
    if (problem.empty()) problem = read_field(row, 3, place.collection);
    if (problem.empty() && row.type(4) == SQLITE_INTEGER) place.key = row.integer(4);
    else if (problem.empty()) problem = read_field(row, 4, place.key.emplace<std::string>());
    if (problem.empty()) problem = read_field(row, 5, number);
    if (problem.empty() && number < 0) problem = "has a negative epoch";
    place.epoch_number = static_cast<epoch>(number);
    if (problem.empty()) return place;
    std::string text{"settle: a mark of the transaction '"};
    text.append(row.text(0)).append("' is damaged in the table settle_mark: a column ");
    raise(errc::damaged, text.append(problem).append(". README#damaged"));
}

[[nodiscard]] inline std::vector<mark_place> read_marks(statement const& from,
                                                        std::optional<mark_place> const& after,
                                                        std::size_t limit) {
    run rows{from};
    // Before every mark comes the empty collection, which no store has.
    mark_place const behind = after.value_or(mark_place{});
    rows.bind(behind.id).bind(behind.part.participant).bind(behind.part.line);
    rows.bind(behind.collection);
    std::visit([&](auto const& key) { rows.bind(key); }, behind.key);
    rows.bind(static_cast<std::int64_t>(std::min<std::size_t>(
        limit, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))));
    std::vector<mark_place> found;
    while (rows.next()) found.push_back(read_place(rows));
    return found;
}

} // namespace sqlite::detail
SETTLE_END
