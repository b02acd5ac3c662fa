// SPDX-License-Identifier: BSL-1.0
// The marks of one collection's records, in the table settle_mark.
#pragma once

#include <settle/adapter/mark_row.hpp>
#include <settle/sqlite/connection/row.hpp>
#include <settle/sqlite/connection/wave_rows.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// Cost:    marks of a record, and one mark of a part, are one seek each; a wave is one statement
class mark_table {
public:
    mark_table(collection_descriptor const& collection, connection const& connection)
        : of_(&collection), any_(connection, "SELECT 1 FROM settle_mark LIMIT 1", "look for marks"),
          of_record_(connection, "SELECT 1 FROM settle_mark WHERE collection = ?1 AND key = ?2",
                     "look for marks"),
          all_(connection, std::string{read_sql}, "read marks"),
          own_(connection, std::string{read_sql} + " AND m.id = w.c2", "read marks"),
          insert_(connection,
                  "INSERT OR FAIL INTO settle_mark(collection, key, id, participant, line, epoch, "
                  "effect, confirm, undo, image) "
                  "SELECT ?1, c0, c2, c3, c4, c5, c6, c7, c8, c9 FROM settle_wave",
                  "add marks"),
          raise_(connection,
                 "UPDATE settle_mark SET epoch = ?6 WHERE "
                 "(key, collection, id, participant, line) = (?1, ?2, ?3, ?4, ?5)",
                 "raise marks"),
          between_(connection,
                   "SELECT count(*) FROM (SELECT 1 FROM settle_mark WHERE key BETWEEN ?1 AND ?2 "
                   "LIMIT ?3)",
                   "look for marks"),
          walk_(connection,
                "DELETE FROM settle_mark WHERE key BETWEEN ?2 AND ?3 AND collection = ?1 "
                "AND settle_expects(key, id, participant, line)",
                "pull marks"),
          erase_(connection,
                 "DELETE FROM settle_mark WHERE "
                 "(key, collection, id, participant, line) = (?1, ?2, ?3, ?4, ?5)",
                 "pull marks") {}

    /// True if any record of the file has a mark; otherwise no search is needed.
    [[nodiscard]] bool any_at_all() const { return run{any_}.next(); }

    /// Reads the marks of some records into their slots.
    /// Shape:   wave - its rows are key, index, and, if each needs the marks of one transaction
    ///          only, its id; state_of(index) - the state of that record
    /// Errors:  throws errc::damaged, naming the mark
    template <typename Wave, typename StateOf>
    void load(wave_rows& with, Wave& wave, bool own, StateOf&& state_of) const {
        auto const shown = with.show_rows(wave);
        run rows{own ? own_ : all_, of_->name};
        while (rows.next()) {
            auto& at = state_of(static_cast<std::size_t>(rows.integer(8)));
            at.see(of_->name, settle::detail::read_mark(*of_, rows, at.slot));
        }
    }

    /// Shape:   wave - its rows are key, index, id, participant, line, epoch, effect, confirm,
    ///          undo, image
    template <typename Wave>
    void insert(wave_rows& rows, Wave& wave) const {
        auto const shown = rows.show_rows(wave);
        run{insert_, of_->name}.change();
    }
    void raise(part_key const& key, transaction_id const& id, part_number part, epoch to) const {
        run row{raise_};
        bind_key(row, key).bind(of_->name).bind(id);
        row.bind(part.participant).bind(part.line).bind(static_cast<std::int64_t>(to)).change();
    }
    /// Pulls the marks of a wave.
    /// Shape:   wave - in the order of the keys: size(), execute(columns), and for_each(function),
    ///          which is given key, id and part; first, last - keys of it
    template <typename Wave>
    void erase(wave_rows& rows, Wave& wave, part_key const& first, part_key const& last) const {
        // If few other marks are between these marks, one scan finds all; otherwise each mark has
        // its own search.
        auto const count = static_cast<std::int64_t>(wave.size());
        std::int64_t const few = 2 * count + 8;
        std::int64_t gone = 0;
        if (count_between(first, last, few) < few) {
            auto const shown = rows.show_changes(wave);
            run walk{walk_, of_->name};
            gone = bind_key(bind_key(walk, first), last).change();
        } else {
            wave.for_each([&](part_key const& key, transaction_id const& id, part_number part) {
                run row{erase_};
                bind_key(row, key).bind(of_->name).bind(id);
                gone += row.bind(part.participant).bind(part.line).change();
            });
        }
        // The effect of the end must not be written if the mark stays.
        if (gone != count) {
            sqlite::detail::raise(errc::damaged,
                                  "settle: marks in the table settle_mark vanished between their "
                                  "read and their erasure. Run PRAGMA integrity_check on the file. "
                                  "See errors#damaged");
        }
    }

    /// True if a part has a mark.
    [[nodiscard]] bool has(connection const& connection, part_key const& key,
                           transaction_id const& id, part_number part) const {
        statement const look{connection,
                             "SELECT 1 FROM settle_mark WHERE "
                             "(collection, key, id, participant, line) = (?1, ?2, ?3, ?4, ?5)",
                             "look for a mark"};
        run row{look, of_->name};
        bind_key(row, key).bind(id).bind(part.participant).bind(part.line);
        return row.next();
    }
    /// True if a record has a mark.
    [[nodiscard]] bool any(part_key const& key) const {
        run row{of_record_, of_->name};
        return bind_key(row, key).next();
    }

private:
    static constexpr char const* read_sql =
        "SELECT id, participant, line, epoch, effect, confirm, undo, image, w.c1 "
        "FROM settle_wave AS w CROSS JOIN settle_mark AS m ON m.key = w.c0 AND collection = ?1";

    [[nodiscard]] std::int64_t count_between(part_key const& first, part_key const& last,
                                             std::int64_t limit) const {
        run row{between_};
        bind_key(bind_key(row, first), last).bind(limit).next();
        return row.integer(0);
    }

    collection_descriptor const* of_;
    statement any_;
    statement of_record_;
    statement all_;
    statement own_;
    statement insert_;
    statement raise_;
    statement between_;
    statement walk_;
    statement erase_;
};

/// Looks at the marks of some collections, in the order of their records.
class mark_reader {
public:
    /// Shape:   names - the collections as an SQL list; plain names, so nothing in them is quoted
    mark_reader(connection const& connection, std::string const& names)
        : placed_(connection,
                  select(names) + "AND " + has_locator +
                      " AND (key, collection, id, participant, line) > (?5, ?4, ?1, ?2, ?3) "
                      "ORDER BY key, collection, id, participant, line LIMIT ?6",
                  "read marks"),
          damaged_(connection, select(names) + "AND NOT (" + has_locator + ") LIMIT ?1",
                   "read marks") {}

    /// The marks after a locator. The first page begins with damaged marks without a locator.
    [[nodiscard]] std::vector<mark_locator> read(std::optional<mark_locator> const& after,
                                                 std::size_t limit) const {
        std::vector<mark_locator> locators;
        if (limit == 0) return locators;
        if (!after) {
            // No page can begin after a damaged mark, so the last mark of a page has a locator.
            run rows{damaged_, limit_of(limit - 1)};
            while (rows.next()) locators.push_back(settle::detail::read_locator(rows));
        }
        // The empty collection with the least key precedes every mark.
        mark_locator const start =
            after.value_or(mark_locator{{}, std::numeric_limits<std::int64_t>::min(), {}, {}, 0});
        run rows{placed_, start.id, start.part.participant, start.part.line};
        rows.bind(start.collection);
        std::visit([&](auto const& key) { rows.bind(key); }, start.key);
        rows.bind(limit_of(limit - locators.size()));
        while (rows.next()) locators.push_back(settle::detail::read_locator(rows));
        return locators;
    }

private:
    static constexpr char const* has_locator =
        "(typeof(id) = 'text' AND typeof(participant) = 'integer' AND typeof(line) = 'integer' "
        "AND participant BETWEEN 0 AND 4294967295 AND line BETWEEN 0 AND 4294967295 "
        "AND typeof(key) IN ('integer', 'text'))";

    static std::string select(std::string const& names) {
        return "SELECT id, participant, line, collection, key, epoch FROM settle_mark WHERE "
               "collection IN (" +
               names + ") ";
    }
    statement placed_;
    statement damaged_;
};

} // namespace sqlite::detail
SETTLE_END
