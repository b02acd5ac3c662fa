// SPDX-License-Identifier: BSL-1.0
// Compares the amount of each account with the moves in the log.
#pragma once

#include "money.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace samples {

/// A note in the store that entries were purged: from then on the log is incomplete.
struct note {
    std::string id;
    std::string text;
};

struct note_change {
    std::string id;
    std::string text;
};

inline constexpr settle::collection<note, "notes", &note::id> notes;

/// Binds the notes to the engine.
inline constexpr auto note_type = settle::transaction<note_change, "note">(
    settle::participant<"note">(notes, settle::param<&note_change::id>)
        .confirm(settle::field<&note::text> = settle::param<&note_change::text>));

inline std::string const purge_note = "purged";

/// A record's name, unique among all collections: a collection's name holds no slash.
inline std::string record_name(std::string_view collection, std::string_view key) {
    return std::string{collection}.append(1, '/').append(key);
}

/// A part of an effect on money: the amount added to an account.
struct money_move {
    std::string_view collection;
    std::string account;
    std::int64_t amount = 0;
};

/// Calls move(parameters, 1) for an entry of this type, and move(parameters, -1) for the reverse of
/// such an entry. False for any other entry, and for an unreadable entry.
template <typename Parameters, typename Move>
bool read_parameters(settle::entry const& done, std::string_view type, Move&& move) {
    if (done.type == type) {
        auto const found = settle::decode_json<Parameters>(done.parameters);
        if (found.has_value()) move(found.value(), 1);
        return found.has_value();
    }
    if (done.type != std::string{type} + "/reverse") return false;
    using reversal = settle::reversal_parameters<Parameters>;
    auto const found = settle::decode_json<reversal>(done.parameters);
    if (found.has_value()) move(found.value().parameters, -1);
    return found.has_value();
}

/// The total of the money now, and when everything was opened.
struct money_sums {
    std::int64_t now = 0;
    std::int64_t opened = 0;
};

/// Reads collections as they are stored.
template <typename Engine>
auto stored_in(Engine& engine) {
    return [&engine](auto const&... asked) { return std::make_tuple(engine.scan(asked)...); };
}

template <typename Application, typename Engine>
money_sums sums_of(Application& application, Engine& engine) {
    money_sums sums;
    application.each_account(stored_in(engine), [&](std::string_view, std::string const&,
                                                    std::int64_t opened_with, std::int64_t now) {
        sums.now = add(sums.now, now);
        sums.opened = add(sums.opened, opened_with);
    });
    return sums;
}

/// The sums of the moves of the done entries, account by account.
/// Memory:  a name and a sum for each account in the entries
class books {
public:
    /// Shape:   read_moves(entry, moves) - a done entry's money moves; false when unreadable
    /// Errors:  settle::failure when the log cannot be read
    template <typename Engine, typename ReadMoves>
    books(Engine& engine, ReadMoves&& read_moves) {
        settle::entry_filter done;
        done.state = settle::state::done;
        for (settle::entry const& entry : engine.list(done)) {
            ++entries;
            std::vector<money_move> moves;
            if (!read_moves(entry, moves) && unread.empty()) unread = entry.id;
            for (money_move const& move : moves) {
                // Unsigned sums wrap, so the total is right in any order.
                moved_[record_name(move.collection, move.account)] +=
                    static_cast<std::uint64_t>(move.amount);
            }
        }
    }

    /// Compares one account. After the last one, finish() compares the accounts that are missing.
    void compare(std::string_view collection, std::string const& account, std::int64_t opened_with,
                 std::int64_t now) {
        ++accounts;
        auto const moved = moved_.extract(record_name(collection, account));
        compare_sum(account, opened_with, moved ? moved.mapped() : 0, now);
    }
    void finish() {
        for (auto const& [name, moved] : moved_) {
            compare_sum(name.substr(name.find('/') + 1), 0, moved, 0);
        }
    }

    std::uint64_t entries = 0;
    std::string unread; ///< the id of an entry that is of another program's type
    std::uint64_t accounts = 0;
    std::uint64_t wrong = 0;
    std::vector<std::string> sentences; ///< on the first wrong accounts

private:
    void compare_sum(std::string const& account, std::int64_t opened_with, std::uint64_t moved,
                     std::int64_t now) {
        constexpr std::size_t most = 5;
        auto const expected =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(opened_with) + moved);
        if (expected == now || ++wrong > most) return;
        sentences.push_back(fmt::format("{} holds {}, by the log {}", account, format_money(now),
                                        format_money(expected)));
    }

    std::unordered_map<std::string, std::uint64_t> moved_;
};

} // namespace samples
