// SPDX-License-Identifier: BSL-1.0
// Reads orders of trips from a table.
#pragma once

#include "trip.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/piece.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace agency {

/// Returns the file's orders.
/// Shape:   columns id, traveller, price, card, flight, people, hotel, rooms, nights, car, days
///          (others are ignored)
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<trip>, samples::remark>;

    explicit order_reader(std::filesystem::path path)
        : file_(std::move(path), {{{"id"},
                                   {"traveller"},
                                   {"price"},
                                   {"card"},
                                   {"flight"},
                                   {"people"},
                                   {"hotel"},
                                   {"rooms"},
                                   {"nights"},
                                   {"car"},
                                   {"days"}}}) {}

    /// False at the end of the file.
    bool next(piece& given) {
        if (!file_.next(row_)) return false;
        given = read();
        return true;
    }

    double share() const { return file_.share(); }

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

    std::string const& value(column which) const { return file_.value(row_, which); }

    samples::refusal refuse(std::string reason, std::string_view sentence) const {
        return {row_.line, std::move(reason), fmt::format("order '{}': {}", value(id), sentence)};
    }

    piece read() const {
        constexpr std::pair<column, std::string_view> names[]{{traveller, "traveller"},
                                                              {card, "card"},
                                                              {flight, "flight"},
                                                              {hotel, "hotel"},
                                                              {car, "car"}};
        if (!row_.note.empty()) return samples::remark{row_.line, row_.note};
        if (!row_) return samples::refusal{row_.line, "unreadable line", row_.problem};
        if (samples::is_blank(value(id))) {
            return samples::refusal{row_.line, "no id", "the order has no id"};
        }
        for (auto const& [which, name] : names) {
            if (samples::is_blank(value(which))) {
                return refuse(fmt::format("no {}", name), fmt::format("it names no {}", name));
            }
        }
        if (value(traveller) == "agency") {
            return refuse("the agency travels", "the agency sells trips and buys none");
        }
        try {
            auto const paid = samples::parse_money("price", value(price));
            if (paid <= 0) {
                return refuse("price not above zero",
                              fmt::format("the price {} is not above zero", value(price)));
            }
            return samples::request<trip>{row_.line, value(id),
                                          trip{value(traveller), paid, value(card), value(flight),
                                               count("number of people", people), value(hotel),
                                               count("number of rooms", rooms),
                                               count("number of nights", nights), value(car),
                                               count("number of days", days)}};
        } catch (samples::input_error const& error) {
            return refuse("unusable number", error.what());
        }
    }

    std::int64_t count(std::string_view name, column which) const {
        constexpr std::int64_t most = 1'000;
        auto const found = samples::parse_whole(name, value(which));
        if (found < 1 || found > most) {
            throw samples::input_error(
                fmt::format("the {} {} is not from 1 to {}", name, value(which), most));
        }
        return found;
    }

    samples::csv_file file_;
    samples::csv_row row_;
};

} // namespace agency
