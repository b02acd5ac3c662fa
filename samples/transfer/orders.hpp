// SPDX-License-Identifier: BSL-1.0
// Reads transfers from a table: the bank's payment orders, or plain source and destination.
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

namespace bank {

/// Gives the file's orders one by one.
/// Shape:   columns order_id, account, bank_to, account_to, amount (others are left alone);
///          or id, source, destination, amount: the header decides
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<transfer>>;

    explicit order_reader(std::filesystem::path path) : file_(std::move(path)) {
        bool const plain = file_.has_columns({"source"}) || file_.has_columns({"destination"});
        id_ = file_.column(plain ? "id" : "order_id");
        source_ = file_.column(plain ? "source" : "account");
        // The bank's own column pair names an account at another bank.
        bank_ = plain ? none : file_.column("bank_to");
        destination_ = file_.column(plain ? "destination" : "account_to");
        amount_ = file_.column("amount");
    }

    /// False at the end of the file.
    bool next(piece& given) {
        if (!file_.next(row_)) return false;
        given = read();
        return true;
    }

    /// The accounts of the line that was read last, where they can be read.
    struct pair {
        std::string source;
        std::string destination;
    };
    pair accounts() const {
        if (!row_) return {};
        auto const& fields = row_.fields;
        bool const banked = bank_ == none || !fields[bank_].empty();
        if (!banked || fields[destination_].empty()) return {fields[source_], {}};
        if (bank_ == none) return {fields[source_], fields[destination_]};
        return {fields[source_], fmt::format("{}-{}", fields[bank_], fields[destination_])};
    }

    std::uint64_t line() const { return row_.line; }
    double share() const { return file_.share(); }

private:
    static constexpr auto none = static_cast<std::size_t>(-1);

    piece read() const {
        auto const refuse = [this](std::string reason, std::string sentence) {
            return samples::refusal{row_.line, std::move(reason), std::move(sentence)};
        };
        if (!row_) return refuse("unreadable line", row_.problem);
        auto const& id = row_.fields[id_];
        if (id.empty()) return refuse("no id", "the order has no id");
        auto [source, destination] = accounts();
        if (source.empty() || destination.empty()) {
            return refuse("no account", fmt::format("order {} names no {} account", id,
                                                    source.empty() ? "source" : "destination"));
        }
        if (source == destination) {
            return refuse("source is destination",
                          fmt::format("order {} goes from account {} to itself", id, source));
        }
        try {
            auto const& text = row_.fields[amount_];
            auto const amount = samples::parse_money("amount", text);
            if (amount <= 0) {
                return refuse("amount not above zero",
                              fmt::format("order {}: the amount {} is not above zero", id, text));
            }
            return samples::request<transfer>{
                row_.line, id, {std::move(source), std::move(destination), amount}};
        } catch (samples::input_error const& error) {
            return refuse("unusable amount", fmt::format("order {}: {}", id, error.what()));
        }
    }

    samples::csv_file file_;
    samples::csv_row row_;
    std::size_t id_ = none;
    std::size_t source_ = none;
    std::size_t bank_ = none;
    std::size_t destination_ = none;
    std::size_t amount_ = none;
};

} // namespace bank
