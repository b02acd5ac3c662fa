// SPDX-License-Identifier: BSL-1.0
// Reads transfers from a table: a bank's payment orders, or plain source and destination.
#pragma once

#include "transfer.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/piece.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bank {

/// Returns the file's orders.
/// Shape:   columns id, source, destination, amount, or order_id, account, bank_to, account_to,
///          amount (others are ignored): the header decides
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<transfer>, samples::remark>;

    explicit order_reader(std::filesystem::path path) : file_(std::move(path), layouts()) {}

    /// False at the end of the file.
    bool next(piece& given) {
        if (!file_.next(row_)) return false;
        given = read();
        return true;
    }

    double share() const { return file_.share(); }

private:
    enum column : std::size_t { id, source, destination, amount, bank };
    static constexpr std::size_t bank_layout = 1; // its destination accounts are at another bank

    static std::vector<samples::table_layout> layouts() {
        return {{{"id", "order_id"}, {"source"}, {"destination"}, {"amount"}},
                {{"order_id", "id"}, {"account"}, {"account_to"}, {"amount"}, {"bank_to"}}};
    }

    std::string const& value(column which) const { return file_.value(row_, which); }

    std::string account_to() const {
        auto const& account = value(destination);
        if (file_.layout() != bank_layout || samples::is_blank(account)) return account;
        if (samples::is_blank(value(bank))) return {};
        return fmt::format("{}-{}", value(bank), account);
    }

    /// A line of sums has a label or nothing in place of its id and accounts. In a line with an id,
    /// such a label is the name of an account.
    bool is_total(std::string const& to) const {
        auto const& from = value(source);
        if (!samples::is_placeholder(from) && !samples::is_placeholder(to)) return false;
        if (samples::is_total_word(value(id))) return true;
        if (!samples::is_placeholder(value(id))) return false;
        bool const nothing =
            samples::is_placeholder(from) && samples::is_placeholder(value(destination));
        bool const at_bank = file_.layout() == bank_layout && samples::is_total_word(value(bank));
        return nothing || at_bank || samples::is_total_word(from) ||
               samples::is_total_word(value(destination));
    }

    piece read() const {
        auto const refuse = [this](std::string reason, std::string sentence) {
            return samples::refusal{row_.line, std::move(reason), std::move(sentence)};
        };
        constexpr auto total = "the line is passed over as a line of sums: it names no order";
        if (!row_.note.empty()) return samples::remark{row_.line, row_.note};
        if (!row_) return refuse("unreadable line", row_.problem);
        auto to = account_to();
        if (is_total(to)) return samples::remark{row_.line, total};
        auto const& number = value(id);
        auto const& from = value(source);
        if (samples::is_blank(number)) return refuse("no id", "the order has no id");
        if (samples::is_blank(from) || samples::is_blank(to)) {
            return refuse("no account",
                          fmt::format("order '{}' names no {} account", number,
                                      samples::is_blank(from) ? "source" : "destination"));
        }
        if (from == to) {
            return refuse("source is destination",
                          fmt::format("order '{}' goes from account '{}' to itself", number, from));
        }
        try {
            auto const& text = value(amount);
            auto const sum = samples::parse_money("amount", text);
            if (sum <= 0) {
                return refuse(
                    "amount not above zero",
                    fmt::format("order '{}': the amount {} is not above zero", number, text));
            }
            return samples::request<transfer>{row_.line, number, {from, std::move(to), sum}};
        } catch (samples::input_error const& error) {
            return refuse("unusable amount", fmt::format("order '{}': {}", number, error.what()));
        }
    }

    samples::csv_file file_;
    samples::csv_row row_;
};

} // namespace bank
