// SPDX-License-Identifier: BSL-1.0
// The tables of the four services, for the services themselves and for `check`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agency {

/// One of the services.
struct service_kind {
    std::string_view name;
    std::string_view purpose;
    /// The table of the capacities: id, capacity, free.
    std::string_view stock;
    /// The table of the bookings: key, trip, item, units, price, confirmed.
    std::string_view taken;
    int port;                  ///< the default port
    std::string_view capacity; ///< the default capacity of an item, as on the command line
};

inline constexpr std::array<service_kind, 4> service_kinds{
    service_kind{"flight", "seats of flights", "flights", "seats", 7301, "70"},
    service_kind{"hotel", "rooms of hotels", "hotels", "rooms", 7302, "20"},
    service_kind{"car", "cars", "garages", "rentals", 7303, "14"},
    service_kind{"card", "charges of cards", "cards", "charges", 7304, "15000.00"}};

/// The index of the card's service, the only one that confirms nothing.
inline constexpr std::size_t card_kind = 3;

/// A row of a service's table of bookings.
struct taken_row {
    std::string trip;
    std::string number; ///< in the service's answer
    std::int64_t price = 0;
    bool confirmed = false;
};

/// A service's file as it is between two calls.
struct service_books {
    std::vector<taken_row> taken;
    std::vector<std::string> faults; ///< sentences: rows that contradict each other
};

/// Reads the file of a service.
/// Errors:  std::runtime_error when it is no file of this service
service_books read_books(service_kind const& kind, std::string const& path);

} // namespace agency
