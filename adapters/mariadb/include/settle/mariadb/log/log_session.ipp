// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that log_session.hpp declares.
#pragma once

#include <settle/mariadb/log/log_session.hpp>

SETTLE_BEGIN
namespace mariadb {

SETTLE_FUNCTION result<purged> log_session::purge(timestamp before, std::size_t limit,
                                                  std::int64_t passed) {
    constexpr std::int64_t entries_of_a_step = 10'000;
    purged gone;
    gone.passed = passed;
    if (limit == 0) return gone;
    std::lock_guard const guard{steps_->mutex};
    auto& ends = steps_->ends;
    auto const known = static_cast<std::int64_t>(ends.size());
    auto const step = std::clamp<std::int64_t>(passed, 0, known);
    ends.resize(static_cast<std::size_t>(step));
    std::string const after = ends.empty() ? "" : ends.back();
    std::optional<std::string> last;
    detail::native_transaction native{from()};
    std::size_t number = 0;
    auto const ended = native.perform(
        [&](detail::connection& session) {
            auto const end = entries().send_end(session, after, entries_of_a_step - 1);
            session.sync();
            auto const& id = session.result(end);
            last.reset();
            if (!id.empty()) last = id.text(0, 0);
            number = entries().send_purge(session, after, last, before, limit);
        },
        detail::longest_repetition);
    if (ended.status != detail::commit_status::committed) return ended.problem;
    gone.erased = static_cast<std::uint64_t>(native.result(number).changed());
    // After a limited step, more may be left before its end.
    bool const limited = gone.erased == limit;
    if (!limited && last) ends.push_back(*last);
    gone.passed = static_cast<std::int64_t>(ends.size());
    gone.more = limited || last.has_value();
    return gone;
}

SETTLE_FUNCTION result<std::unique_ptr<log_hold>> log_session::hold_entries() {
    try {
        using held_log = settle::detail::sql::held_log<detail::parts>;
        auto reads = from().take();
        auto locks = from().connect();
        auto const run = [&](std::string const& sql) {
            static_cast<void>(locks->run_work(sql, {}, "keep decisions waiting"));
        };
        run("SET SESSION max_statement_time = 0.0" +
            std::to_string(held_log::longest_wait.count()) +
            ", wait_timeout = " + std::to_string(held_log::longest_idle.count()));
        run("LOCK TABLES " + detail::dialect::table_name(from(), "settle_entry") + " READ");
        return std::unique_ptr<log_hold>{std::make_unique<held_log>(
            "UNLOCK TABLES", std::move(locks), std::move(reads), entries())};
    } catch (failure const& caught) {
        if (caught.problem().code.value() != statement_timeout) return caught.problem();
        return settle::detail::sql::writes_took_too_long();
    }
}

} // namespace mariadb
SETTLE_END
