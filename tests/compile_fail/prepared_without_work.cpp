// SPDX-License-Identifier: BSL-1.0
// A prepared target is bound with its database and its work.
// expect: settle: settle::bind takes a settle::prepared, its database, and the work
#include "prepares.hpp"

#include <settle/memory.hpp>

namespace bank {

inline auto make(settle::memory::database& log, books& prepares) {
    static_cast<void>(prepares);
#ifdef FIXED
    return settle::engine{log, settle::bind(seats, prepares, book), settle::type<trip_type>};
#else
    return settle::engine{log, settle::bind(seats, prepares), settle::type<trip_type>};
#endif
}

} // namespace bank
