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

SETTLE_FUNCTION result<std::unique_ptr<log_hold>> log_session::hold_entries() {
    try {
        using held_log = settle::detail::sql::held_log<detail::parts>;
        auto reads = from().take();
        auto locks = from().connect();
        auto& session = *locks;
        session.begin();
        auto const table = detail::dialect::table_name(from(), "settle_entry");
        auto const set = [&](std::string const& name, std::chrono::milliseconds limit) {
            session.send_sql("SET LOCAL " + name + " = " + std::to_string(limit.count()),
                             "keep decisions waiting");
        };
        set("lock_timeout", held_log::longest_wait);
        set("idle_in_transaction_session_timeout", held_log::longest_idle);
        session.send_sql("LOCK TABLE " + table + " IN SHARE MODE", "keep decisions waiting");
        session.sync();
        return std::unique_ptr<log_hold>{
            std::make_unique<held_log>("COMMIT", std::move(locks), std::move(reads), entries())};
    } catch (failure const& caught) {
        if (caught.problem().code.value() != lock_not_available) return caught.problem();
        return settle::detail::sql::writes_took_too_long();
    }
}

} // namespace postgresql
SETTLE_END
