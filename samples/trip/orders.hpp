// SPDX-License-Identifier: BSL-1.0
// Reads orders of trips from a table.
#pragma once

#include "trip.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/report.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace agency {

/// Returns the file's orders.
/// Shape:   columns id, traveller, price, card, flight, people, hotel, rooms, nights, car, days
///          (others are ignored)
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<trip>>;

    explicit order_reader(std::filesystem::path const& path)
        : file_(path, {{"id", "traveller", "price", "card", "flight", "people", "hotel", "rooms",
                        "nights", "car", "days"}}) {}

    /// False at the end of the file.
    bool next(piece& next_piece) {
        if (!file_.next()) return false;
        next_piece = read();
        return true;
    }

private:
    enum column : std::size_t {
        id,
        traveller,
        price,
        card,
        flight,
        people,
        hotel,
        rooms,
        nights,
        car,
        days
    };

    samples::refusal refuse(std::string reason, std::string_view sentence) const {
        return {file_.line(), std::move(reason),
                fmt::format("order '{}': {}", file_[id], sentence)};
    }

    piece read() const {
        constexpr std::pair<column, std::string_view> names[]{{traveller, "traveller"},
                                                              {card, "card"},
                                                              {flight, "flight"},
                                                              {hotel, "hotel"},
                                                              {car, "car"}};
        if (!file_.problem().empty()) {
            return samples::refusal{file_.line(), "unreadable line", file_.problem()};
        }
        if (file_[id].empty()) {
            return samples::refusal{file_.line(), "no id", "the order has no id"};
        }
        for (auto const& [which, name] : names) {
            if (file_[which].empty()) {
                return refuse(fmt::format("no {}", name), fmt::format("it names no {}", name));
            }
        }
        if (file_[traveller] == "agency") {
            return refuse("the agency travels", "the agency sells trips and buys none");
        }
        try {
            auto const paid = samples::parse_money("price", file_[price]);
            if (paid <= 0) {
                return refuse("price not above zero",
                              fmt::format("the price {} is not above zero", file_[price]));
            }
            return samples::request<trip>{file_.line(), file_[id],
                                          trip{file_[traveller], paid, file_[card], file_[flight],
                                               count("number of people", people), file_[hotel],
                                               count("number of rooms", rooms),
                                               count("number of nights", nights), file_[car],
                                               count("number of days", days)}};
        } catch (samples::input_error const& error) {
            return refuse("unusable number", error.what());
        }
    }

    std::int64_t count(std::string_view name, column which) const {
        constexpr std::int64_t most = 1'000;
        auto const number = samples::parse_whole(name, file_[which]);
        if (number < 1 || number > most) {
            throw samples::input_error(
                fmt::format("the {} {} is not from 1 to {}", name, file_[which], most));
        }
        return number;
    }

    samples::csv_file file_;
};

} // namespace agency
