// SPDX-License-Identifier: BSL-1.0
// The entries of a log, in the table settle_entry: inserted and changed by compare-and-set.
#pragma once

#include <settle/sqlite/image_codec.hpp>
#include <settle/sqlite/row.hpp>
#include <settle/sqlite/writer.hpp>
#include <settle/store/wave.hpp>

#include <charconv>
#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// A fingerprint as entries show it: 16 hexadecimal digits.
[[nodiscard]] inline std::string hex_of(std::uint64_t number) {
    std::string digits(16, '0');
    for (std::size_t at = 16; at-- > 0; number >>= 4U) {
        digits[at] = settle::detail::hex_digit(static_cast<unsigned>(number & 0xfU));
    }
    return digits;
}

/// Words that entries name by a number. What was undone may have had a number that is no more.
class numbered_words {
public:
    /// Shape:   find, insert - statements with the same parameters
    numbered_words(writer const& on, std::string_view find, std::string_view insert)
        : writer_(&on), find_(on.on(), find, "read a type or an owner of entries"),
          insert_(on.on(), insert, "write a type or an owner of entries") {}

    /// Shape:   word - what it is known by in this process; columns - what its row holds
    template <typename... Columns>
    std::int64_t number_of(std::string_view word, Columns const&... columns) {
        if (std::exchange(as_of_, writer_->undone()) != writer_->undone()) known_.clear();
        for (auto const& [known, number] : known_) {
            if (known == word) return number;
        }
        std::int64_t const number = look_up(columns...);
        known_.emplace_back(word, number);
        return number;
    }

private:
    template <typename... Columns>
    std::int64_t look_up(Columns const&... columns) const {
        run{insert_, columns...}.change();
        run row{find_, columns...};
        row.next();
        return row.integer(0);
    }

    struct known_kind {
        transaction_kind const* kind;
        std::string definition;
        std::string word;
    };

    writer const* writer_;
    std::vector<known_kind> kinds_;
    statement find_;
    statement insert_;
    std::vector<std::pair<std::string, std::int64_t>> known_;
    std::uint64_t as_of_ = 0;
};

/// Statements of the writer's connection. The caller holds its mutex and a native transaction.
class entry_table {
public:
    explicit entry_table(writer const& on)
        : writer_(&on),
          types_(on, "SELECT number FROM settle_type WHERE name = ?1 AND definition = ?2",
                 "INSERT OR IGNORE INTO settle_type(name, definition) VALUES(?1, ?2)"),
          owners_(on, "SELECT number FROM settle_owner WHERE name = ?1",
                  "INSERT OR IGNORE INTO settle_owner(name) VALUES(?1)"),
          insert_(on.on(),
                  "INSERT INTO settle_entry(id, type, state, epoch, committed, attempts, reason, "
                  "owner, created, modified, parameters, participant, line, images, open) "
                  "VALUES(?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
                  "iif(?3 IN (3, 5), NULL, 1)) ON CONFLICT(id) DO NOTHING",
                  "insert an entry"),
          // Right of an assignment stands what was there before: the first reason is kept.
          change_(on.on(),
                  "UPDATE settle_entry SET state = ?4, epoch = ?5, committed = ?6, attempts = ?7, "
                  "modified = ?8, owner = coalesce(?9, owner), "
                  "reason = iif(reason = 0, ?10, reason), "
                  "participant = iif(reason = 0, ?11, participant), "
                  "line = iif(reason = 0, ?12, line), images = coalesce(?13, images), "
                  "open = iif(?4 IN (3, 5), NULL, 1) WHERE id = ?1 AND state = ?2 AND epoch = ?3",
                  "change an entry"),
          // An entry that this process has inserted is found by its number, and commits and closes
          // change little. The + keeps SQLite from looking for the id first.
          commit_(on.on(),
                  "UPDATE settle_entry SET state = ?1, committed = ?2, modified = ?3, "
                  "images = coalesce(?4, images) "
                  "WHERE number = ?5 AND +id = ?6 AND state = ?7 AND epoch = ?8",
                  "change an entry"),
          close_(on.on(),
                 "UPDATE settle_entry SET state = ?1, modified = ?2, open = NULL "
                 "WHERE number = ?3 AND +id = ?4 AND state = ?5 AND epoch = ?6",
                 "change an entry"),
          oldest_(on.on(),
                  "SELECT number, state IN (3, 5), created FROM settle_entry WHERE number > ?1 "
                  "ORDER BY number LIMIT ?2",
                  "look for old entries"),
          erase_(on.on(), "DELETE FROM settle_entry WHERE number = ?1", "erase an entry") {}

    log_answer insert(job& work, occasion const& at) {
        auto const& c = work.coordinator;
        std::optional<std::int64_t> type;
        std::optional<std::string_view> parameters;
        if (work.kind->described) {
            type = number_of(*work.kind);
            parameters_.clear();
            work.kind->append_json(parameters_, work.parameters, secrets::written);
            parameters = parameters_;
        }
        part_name const where = failed_part_of(work, c.why());
        run row{insert_, work.id, type, number(c.insert_state()), number(c.insert_epoch()),
                number(c.why()), owner_number(at), number(work.created), number(at.now),
                parameters, named(where), where.line, images_of(work)};
        if (row.change() != 1) return log_answer::conflict;
        work.place = sqlite3_last_insert_rowid(writer_->on().get());
        return log_answer::taken;
    }

    log_answer change(job const& work, occasion const& at) {
        transition const wanted = work.coordinator.change();
        if (work.place != 0 && work.coordinator.next() == step::commit) {
            run row{commit_, number(wanted.to), number(wanted.committed), number(at.now),
                    images_of(work), work.place, work.id, number(wanted.from),
                    number(wanted.from_epoch)};
            return row.change() == 1 ? log_answer::taken : log_answer::conflict;
        }
        if (work.place != 0 && work.coordinator.next() == step::close) {
            run row{close_, number(wanted.to), number(at.now), work.place, work.id,
                    number(wanted.from), number(wanted.from_epoch)};
            return row.change() == 1 ? log_answer::taken : log_answer::conflict;
        }
        std::optional<std::int64_t> owner;
        if (wanted.takes_owner) owner = owner_number(at);
        part_name const where = failed_part_of(work, wanted.why);
        run row{change_, work.id, number(wanted.from), number(wanted.from_epoch),
                number(wanted.to), number(wanted.to_epoch), number(wanted.committed),
                wanted.attempts, number(at.now), owner, number(wanted.why), named(where),
                where.line, images_of(work)};
        return row.change() == 1 ? log_answer::taken : log_answer::conflict;
    }

    /// Writes an entry that ends in this very native transaction.
    log_answer settle_at_once(job& work, occasion const& at) {
        return work.coordinator.inserts() ? insert(work, at) : change(work, at);
    }

    /// Entries are numbered as they come, so the first that is too young ends the search.
    purged purge(timestamp created_before, std::size_t limit) {
        purged gone;
        std::vector<std::int64_t> old;
        {
            gone.more = true;
            std::size_t looked = 0;
            run rows{oldest_, purged_up_to_, static_cast<std::int64_t>(limit)};
            while (gone.more && rows.next()) {
                ++looked;
                bool const finished = rows.integer(1) != 0;
                gone.more = !finished || rows.integer(2) < number(created_before);
                if (gone.more) purged_up_to_ = rows.integer(0);
                if (gone.more && finished) old.push_back(rows.integer(0));
            }
            gone.more = gone.more && looked == limit;
        }
        for (auto const one : old) gone.erased += run{erase_, one}.change() == 1 ? 1U : 0U;
        // What was unfinished may be finished when somebody asks again.
        if (!gone.more) purged_up_to_ = 0;
        return gone;
    }

private:
    template <typename Number>
    static std::int64_t number(Number value) {
        if constexpr (std::is_same_v<Number, timestamp>) return value.time_since_epoch().count();
        else return static_cast<std::int64_t>(value);
    }

    static part_name failed_part_of(job const& work, reason why) {
        auto const part = work.coordinator.failed_part();
        if (why == reason::none || part == coordinator::no_part) return {};
        return work.name_part(part);
    }
    static std::optional<std::string_view> named(part_name const& where) {
        if (where.participant.empty()) return std::nullopt;
        return where.participant;
    }

    /// The old images of what is being committed, when it has any.
    std::optional<std::string_view> images_of(job const& work) {
        auto const& c = work.coordinator;
        bool const commits = c.next() == step::commit ||
                             (c.next() == step::at_once && c.insert_state() == state::done);
        if (!commits || work.images.empty()) return std::nullopt;
        images_.clear();
        append_images(images_, work.images);
        return images_;
    }

    std::int64_t number_of(transaction_kind const& kind) {
        for (auto const& one : kinds_) {
            if (one.kind == &kind) return types_.number_of(one.word, kind.name(), one.definition);
        }
        // Two definitions of one name have two numbers, so both are the word.
        std::string const definition = hex_of(kind.definition());
        kinds_.push_back({&kind, definition, definition + kind.name()});
        return number_of(kind);
    }

    std::int64_t owner_number(occasion const& at) {
        return owners_.number_of(at.owner, at.owner);
    }

    struct known_kind {
        transaction_kind const* kind;
        std::string definition;
        std::string word;
    };

    writer const* writer_;
    std::vector<known_kind> kinds_;
    numbered_words types_;
    numbered_words owners_;
    statement insert_;
    statement change_;
    statement commit_;
    statement close_;
    statement oldest_;
    statement erase_;
    std::int64_t purged_up_to_ = 0; ///< what the last step of a purge has looked at
    // JSON on its way into a statement; kept for its room.
    std::string parameters_;
    std::string images_;
};

} // namespace sqlite::detail
SETTLE_END
