// SPDX-License-Identifier: BSL-1.0
// The work takes a connection and the request.
// expect: settle: the work of a settle::prepared is a function (connection&, request const&)
#include "prepares.hpp"

#include <settle/memory.hpp>

namespace bank {

inline auto make(settle::memory::database& log, books& prepares) {
    static_cast<void>(prepares);
#ifdef FIXED
    return settle::engine{log, settle::bind(seats, prepares, book), settle::type<trip_type>};
#else
    return settle::engine{log, settle::bind(seats, prepares, book_trip), settle::type<trip_type>};
#endif
}

} // namespace bank
