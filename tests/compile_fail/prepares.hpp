// SPDX-License-Identifier: BSL-1.0
// A database that prepares, and a type that uses it.
#pragma once

#include "trip.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

struct books {
    struct connection {};
    static constexpr std::size_t most_name = 128;
    void bind(std::string const&) {}
    settle::prepare_result prepare(settle::prepared_name const&,
                                   settle::work_function<connection>) {
        return {};
    }
    settle::end_result commit(settle::prepared_name const&) { return {}; }
    settle::end_result roll_back(settle::prepared_name const&) { return {}; }
    settle::result<std::vector<settle::in_doubt_name>> in_doubt(std::string_view, std::string_view,
                                                                std::size_t) {
        return std::vector<settle::in_doubt_name>{};
    }
    settle::result<std::optional<settle::epoch>> receipt_of(settle::prepared_part const&) {
        return std::optional<settle::epoch>{};
    }
    settle::end_result deny(settle::prepared_name const&) { return {}; }
    settle::result<std::uint64_t> forget(std::string_view, settle::timestamp, std::size_t) {
        return std::uint64_t{0};
    }
};

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"seats">(seats).apply(call(param<&trip::flight>, param<&trip::people>)));

inline settle::work_result book(books::connection&, seat const&) { return {}; }
inline settle::work_result book_trip(books::connection&, trip const&) { return {}; }

} // namespace bank
