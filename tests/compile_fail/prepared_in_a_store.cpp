// SPDX-License-Identifier: BSL-1.0
// A database without names in doubt cannot prepare.
// expect: settle: settle::bind takes a settle::prepared first, then a database that can prepare
#include "prepares.hpp"

#include <settle/memory.hpp>

namespace bank {

inline auto make(settle::memory::database& log, books& prepares) {
    static_cast<void>(prepares);
#ifdef FIXED
    return settle::engine{log, settle::bind(seats, prepares, book), settle::type<trip_type>};
#else
    return settle::engine{log, settle::bind(seats, log, book), settle::type<trip_type>};
#endif
}

} // namespace bank
