// SPDX-License-Identifier: BSL-1.0
// Pauses between tries, and the ends of limits of time.
#include <settle/adapter/retry_pauses.hpp>

#include <doctest/doctest.h>

#include <thread>

namespace {

using settle::detail::deadline_after;
using settle::detail::retry_pauses;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_CASE("retry pauses: tries go on until the limit, also if it is for ever") {
    retry_pauses for_ever{settle::time_limit{std::chrono::hours::max()}};
    CHECK(for_ever.next());
    CHECK(for_ever.next());
    retry_pauses brief{milliseconds{1}};
    std::this_thread::sleep_for(milliseconds{5});
    CHECK_FALSE(brief.next());
}

TEST_CASE("retry pauses: a limit that is for ever ends in the far future") {
    auto const day = std::chrono::hours{24};
    CHECK(deadline_after(milliseconds::max()) > steady_clock::now() + 300 * day);
    auto const before = steady_clock::now();
    auto const tomorrow = deadline_after(day);
    CHECK(tomorrow >= before + day);
    CHECK(tomorrow <= steady_clock::now() + day);
}

} // namespace
