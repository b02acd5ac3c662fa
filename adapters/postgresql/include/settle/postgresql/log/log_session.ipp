// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that log_session.hpp declares.
#pragma once

#include <settle/postgresql/log/log_session.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace postgresql {

SETTLE_FUNCTION result<purged> log_session::purge(timestamp before, std::size_t limit,
                                                  std::int64_t passed) {
    constexpr std::int64_t pages_of_a_step = 256;
    purged gone;
    gone.passed = passed;
    if (limit == 0) return gone;
    auto const first = std::max<std::int64_t>(passed, 0);
    auto const end = first + pages_of_a_step;
    std::size_t number = 0;
    detail::native_transaction native{from()};
    auto const ended = native.perform(
        [&](detail::connection& session) {
            number = entries().send_purge(session, first, end, before, limit);
        },
        detail::longest_repetition);
    if (ended.status != detail::commit_status::committed) return ended.problem;
    gone.passed = end;
    auto const& erased = native.result(number);
    gone.erased = static_cast<std::uint64_t>(erased.size());
    bool const limited = gone.erased == limit;
    if (limited) {
        // More may be left in the last page.
        detail::for_each_row(erased, [&](detail::row const& read_row) {
            gone.passed = std::min(gone.passed, read_row.integer(0));
        });
    }
    gone.more = limited || end < native.result(number + 1).integer(0, 0);
    return gone;
}

} // namespace postgresql
SETTLE_END
