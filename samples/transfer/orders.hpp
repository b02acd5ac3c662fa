// SPDX-License-Identifier: BSL-1.0
// Reads transfers from a table: a bank's payment orders, or plain source and destination.
#pragma once

#include "transfer.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/report.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>

namespace bank {

/// Returns the file's orders.
/// Shape:   columns id, source, destination, amount, or order_id, account, account_to, amount,
///          bank_to (others are ignored): the header decides
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<transfer>>;

    explicit order_reader(std::filesystem::path const& path)
        : file_(path, {{"id", "source", "destination", "amount"},
                       {"order_id", "account", "account_to", "amount", "bank_to"}}) {}

    /// False at the end of the file.
    bool next(piece& next_piece) {
        if (!file_.next()) return false;
        next_piece = read();
        return true;
    }

private:
    enum column : std::size_t { id, source, destination, amount, bank };

    piece read() const {
        auto const refuse = [this](std::string reason, std::string sentence) {
            return samples::refusal{file_.line(), std::move(reason), std::move(sentence)};
        };
        if (!file_.problem().empty()) return refuse("unreadable line", file_.problem());
        // The bank's destination accounts are at another bank.
        bool const has_bank = file_.layout() == 1;
        auto const& number = file_[id];
        auto const& from = file_[source];
        auto to = file_[destination];
        if (number.empty()) return refuse("no id", "the order has no id");
        if (from.empty() || to.empty() || (has_bank && file_[bank].empty())) {
            return refuse("no account", fmt::format("order '{}' names no {} account", number,
                                                    from.empty() ? "source" : "destination"));
        }
        if (has_bank) to = fmt::format("{}-{}", file_[bank], to);
        if (from == to) {
            return refuse("source is destination",
                          fmt::format("order '{}' goes from account '{}' to itself", number, from));
        }
        try {
            auto const sum = samples::parse_money("amount", file_[amount]);
            if (sum > 0) {
                return samples::request<transfer>{file_.line(), number, {from, std::move(to), sum}};
            }
            return refuse(
                "amount not above zero",
                fmt::format("order '{}': the amount {} is not above zero", number, file_[amount]));
        } catch (samples::input_error const& error) {
            return refuse("unusable amount", fmt::format("order '{}': {}", number, error.what()));
        }
    }

    samples::csv_file file_;
};

} // namespace bank
