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

/// Words that entries name by a number. What a rolled-back transaction inserted is forgotten.
class numbered_words {
public:
    /// Shape:   find, insert - statements with the same parameters
    numbered_words(connection const& on, std::string_view find, std::string_view insert)
        : find_(on, find, "read a type or an owner of entries"),
          insert_(on, insert, "write a type or an owner of entries") {}

    /// Shape:   word - what it is known by in this process; columns - what its row holds
    template <typename... Columns>
    std::int64_t number_of(std::string_view word, Columns const&... columns) {
        for (auto const& [known, number] : known_) {
            if (known == word) return number;
        }
        std::int64_t const number = look_up(columns...);
        known_.emplace_back(word, number);
        return number;
    }
    void committed() noexcept { settled_ = known_.size(); }
    void rolled_back() { known_.resize(settled_); }

private:
    template <typename... Columns>
    std::int64_t look_up(Columns const&... columns) const {
        run{insert_, columns...}.change();
        run row{find_, columns...};
        row.next();
        return row.integer(0);
    }

    statement find_;
    statement insert_;
    std::vector<std::pair<std::string, std::int64_t>> known_;
    std::size_t settled_ = 0;
};

/// Statements of the writer's connection. The caller holds its mutex and a native transaction.
class entry_table {
public:
    explicit entry_table(connection const& on)
        : types_(on, "SELECT number FROM settle_type WHERE name = ?1 AND definition = ?2",
                 "INSERT OR IGNORE INTO settle_type(name, definition) VALUES(?1, ?2)"),
          owners_(on, "SELECT number FROM settle_owner WHERE name = ?1",
                  "INSERT OR IGNORE INTO settle_owner(name) VALUES(?1)"),
          insert_(on,
                  "INSERT INTO settle_entry(id, type, state, epoch, committed, attempts, reason, "
                  "owner, created, modified, parameters) VALUES(?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, "
                  "?8, ?9) ON CONFLICT(id) DO NOTHING",
                  "insert an entry"),
          // Right of an assignment stands what was there before: the first reason is kept.
          change_(on,
                  "UPDATE settle_entry SET state = ?4, epoch = ?5, committed = ?6, attempts = ?7, "
                  "modified = ?8, owner = coalesce(?9, owner), "
                  "reason = iif(reason = 0, ?10, reason), "
                  "participant = iif(reason = 0, ?11, participant), "
                  "line = iif(reason = 0, ?12, line), images = coalesce(?13, images) "
                  "WHERE id = ?1 AND state = ?2 AND epoch = ?3",
                  "change an entry") {}

    template <typename Direction>
    log_answer insert(job<Direction> const& work, occasion const& at) {
        auto const& c = work.coordinator;
        std::optional<std::int64_t> type;
        std::optional<std::string_view> parameters;
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            type = number_of<Direction>();
            text_.clear();
            append_json(text_, *work.parameters);
            parameters = text_;
        }
        run row{insert_, work.id, type, number(c.insert_state()), number(c.insert_epoch()),
                number(c.why()), owner_number(at), number(work.created),
                number(at.now), parameters};
        return row.change() == 1 ? log_answer::taken : log_answer::conflict;
    }

    template <typename Direction>
    log_answer change(job<Direction> const& work, occasion const& at) {
        transition const wanted = work.coordinator.change();
        std::optional<std::int64_t> owner;
        if (wanted.takes_owner) owner = owner_number(at);
        part_name where;
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            if (auto const part = work.coordinator.failed_part();
                wanted.why != reason::none && part != coordinator::no_part) {
                where = Direction::name_part(Direction::user(*work.parameters), part);
            }
        }
        std::optional<std::string_view> participant;
        if (!where.participant.empty()) participant = where.participant;
        std::optional<std::string_view> images;
        if (work.coordinator.next() == step::commit && !work.images.empty()) {
            text_.clear();
            append_images(text_, work.images);
            images = text_;
        }
        run row{change_, work.id, number(wanted.from), number(wanted.from_epoch),
                number(wanted.to), number(wanted.to_epoch), number(wanted.committed),
                wanted.attempts, number(at.now), owner, number(wanted.why), participant,
                where.line, images};
        return row.change() == 1 ? log_answer::taken : log_answer::conflict;
    }

    void committed() noexcept {
        types_.committed();
        owners_.committed();
    }
    void rolled_back() {
        types_.rolled_back();
        owners_.rolled_back();
    }

private:
    template <typename Number>
    static std::int64_t number(Number value) {
        if constexpr (std::is_same_v<Number, timestamp>) return value.time_since_epoch().count();
        else return static_cast<std::int64_t>(value);
    }

    template <typename Direction>
    std::int64_t number_of() {
        // Two definitions of one name have two numbers, so both are the word.
        static std::string const definition = hex_of(Direction::definition());
        static std::string const word = definition + Direction::name();
        return types_.number_of(word, Direction::name(), definition);
    }

    std::int64_t owner_number(occasion const& at) {
        return owners_.number_of(at.owner, at.owner);
    }

    numbered_words types_;
    numbered_words owners_;
    statement insert_;
    statement change_;
    std::string text_; ///< JSON on its way into a statement; kept for its room
};

} // namespace sqlite::detail
SETTLE_END
