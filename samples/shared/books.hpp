// SPDX-License-Identifier: BSL-1.0
// Compares the amount of each account with the moves in the log.
#pragma once

#include "money.hpp"
#include "open_records.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace samples {

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
    std::optional<std::int64_t> opened{}; ///< if the amount is recorded
};

template <typename Application, typename Engine>
money_sums sums_of(Engine& engine) {
    money_sums sums;
    sums.opened = 0;
    Application::each_account(engine, [&](std::string_view, std::string const&,
                                          std::int64_t opened_with, std::int64_t now) {
        sums.now = add(sums.now, now);
        sums.opened = add(*sums.opened, opened_with);
    });
    return sums;
}

/// The result of a comparison.
struct book_findings {
    std::uint64_t accounts = 0;
    std::uint64_t wrong = 0;
    std::vector<std::string> sentences; // on the first wrong accounts
    std::string impossible;             // why no comparison was possible, else empty
};

/// Sums the moves of the done entries.
/// Memory:  a name and a sum for each account in the entries
template <typename Application>
class books {
public:
    /// Errors:  settle::failure when the log cannot be read
    template <typename Engine>
    explicit books(Engine& engine) {
        settle::entry_filter done;
        done.state = settle::state::done;
        for (settle::entry const& entry : engine.list(done)) {
            ++entries_;
            std::vector<money_move> moves;
            if (!Application::read_moves(entry, moves)) {
                unread_ = entry.id;
                return;
            }
            for (money_move const& move : moves) {
                // Unsigned sums wrap, so the total is right in any order.
                moved_[record_name(move.collection, move.account)] +=
                    static_cast<std::uint64_t>(move.amount);
            }
        }
    }

    [[nodiscard]] std::uint64_t entries() const { return entries_; }

    /// Shape:   each_account(visit) calls visit(collection, account, opened_with, now)
    template <typename EachAccount>
    book_findings compare(EachAccount&& each_account) {
        book_findings found;
        if (!unread_.empty()) {
            found.impossible =
                fmt::format("the entry {} is of no type that this program knows", unread_);
            return found;
        }
        each_account([&](std::string_view collection, std::string const& account,
                         std::int64_t opened_with, std::int64_t now) {
            ++found.accounts;
            auto const moved = moved_.extract(record_name(collection, account));
            compare_one(found, account, opened_with, moved ? moved.mapped() : 0, now);
        });
        // The remaining moves concern missing accounts.
        for (auto const& [name, moved] : moved_) {
            if (moved == 0) continue;
            compare_one(found, name.substr(name.find('/') + 1), 0, moved, 0);
        }
        return found;
    }

private:
    static void compare_one(book_findings& found, std::string const& account,
                            std::int64_t opened_with, std::uint64_t moved, std::int64_t now) {
        constexpr std::size_t most = 5;
        auto const expected =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(opened_with) + moved);
        if (expected == now) return;
        ++found.wrong;
        if (found.sentences.size() >= most) return;
        found.sentences.push_back(fmt::format("{} holds {}, by the log {}", account,
                                              format_money(now), format_money(expected)));
    }

    std::unordered_map<std::string, std::uint64_t> moved_;
    std::uint64_t entries_ = 0;
    std::string unread_;
};

} // namespace samples
