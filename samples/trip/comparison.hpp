// SPDX-License-Identifier: BSL-1.0
// Compares the log with the books of the four services: each trip is whole, or it never was.
#pragma once

#include "books.hpp"
#include "trip.hpp"

#include <shared/money.hpp>

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agency {

/// The books of the services, trip by trip.
/// Shape:   books - outlive this object, which points at their rows
/// Memory:  a row for each trip in the books
class comparison {
public:
    explicit comparison(std::array<service_books, 4> const& books) {
        for (std::size_t kind = 0; kind < books.size(); ++kind) {
            for (auto const& fault : books[kind].faults) wrong(fault);
            for (auto const& row : books[kind].taken) {
                auto& place = trips_[row.trip][kind];
                if (place != nullptr) {
                    wrong(fmt::format("{} is twice in the {}: {} and {}", row.trip,
                                      service_kinds[kind].taken, place->number, row.number));
                }
                place = &row;
                (kind == card_kind ? charged_ : booked_) += row.price;
            }
        }
    }

    /// Compares one entry with the books. An unfinished trip may be in any of them.
    void compare(settle::entry const& entry) {
        auto const trip = trips_.extract(entry.id);
        auto const rows = trip ? trip.mapped() : rows_of_trip{};
        if (entry.state == settle::state::done) {
            ++whole;
            for (std::size_t kind = 0; kind < rows.size(); ++kind) {
                compare_done(entry, kind, rows[kind]);
            }
            compare_charge(entry, rows);
        } else if (entry.state == settle::state::canceled) {
            ++never;
            for (std::size_t kind = 0; kind < rows.size(); ++kind) {
                if (rows[kind] == nullptr) continue;
                wrong(fmt::format("{} is canceled, and the {} have {}", entry.id,
                                  service_kinds[kind].taken, rows[kind]->number));
            }
        }
    }

    /// After the last entry: trips that only the books have are wrong.
    void finish() {
        for (auto const& each : trips_) {
            wrong(fmt::format("{} is in the books of the services, and the log has no such "
                              "trip",
                              each.first));
        }
    }

    [[nodiscard]] std::int64_t booked() const { return booked_; }
    [[nodiscard]] std::int64_t charged() const { return charged_; }

    std::uint64_t whole = 0;
    std::uint64_t never = 0;
    std::uint64_t faults = 0;
    std::vector<std::string> sentences; ///< on the first faults

private:
    using rows_of_trip = std::array<taken_row const*, 4>;

    void wrong(std::string sentence) {
        constexpr std::size_t most = 5;
        ++faults;
        if (sentences.size() < most) sentences.push_back(std::move(sentence));
    }

    void compare_done(settle::entry const& entry, std::size_t kind, taken_row const* row) {
        auto const name = service_kinds[kind].name;
        if (row == nullptr) {
            wrong(fmt::format("{} is done, and the {} have nothing of it", entry.id,
                              service_kinds[kind].taken));
            return;
        }
        if (!row->confirmed && kind != card_kind) {
            wrong(fmt::format("{} is done, and {} is not confirmed", entry.id, row->number));
        }
        // The services follow the two participants that are records.
        auto const participant = static_cast<std::uint32_t>(kind + 2);
        for (settle::kept_result const& each : entry.results) {
            if (each.participant != participant) continue;
            auto const logged = kind == card_kind
                                    ? number_and_amount<receipt>(each, &receipt::amount)
                                    : number_and_amount<booking>(each, &booking::price);
            if (logged == std::pair{row->number, row->price}) return;
            wrong(fmt::format("{}: the result of {} in the log is {}, and the service has {} for "
                              "{}",
                              entry.id, name, each.value, row->number,
                              samples::format_money(row->price)));
            return;
        }
        wrong(fmt::format("{} is done, and the log has no result of {}", entry.id, name));
    }

    void compare_charge(settle::entry const& entry, rows_of_trip const& rows) {
        std::int64_t booked = 0;
        for (std::size_t kind = 0; kind < rows.size(); ++kind) {
            if (rows[kind] == nullptr) return;
            if (kind != card_kind) booked += rows[kind]->price;
        }
        if (rows[card_kind]->price == booked) return;
        wrong(fmt::format("{} costs {}, and its card was charged {}", entry.id,
                          samples::format_money(booked),
                          samples::format_money(rows[card_kind]->price)));
    }

    template <typename Result>
    static std::pair<std::string, std::int64_t> number_and_amount(settle::kept_result const& kept,
                                                                  std::int64_t Result::* amount) {
        auto const read = settle::decode_json<Result>(kept.value);
        if (!read.has_value()) return {};
        return {read.value().number, read.value().*amount};
    }

    std::unordered_map<std::string, rows_of_trip> trips_;
    std::int64_t booked_ = 0;
    std::int64_t charged_ = 0;
};

} // namespace agency
