// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that resource.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/mariadb/prepared/resource.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>

SETTLE_BEGIN
namespace mariadb::detail {

/// The connection of the work, on the session of its native transaction.
class session_connection final : public sql_connection {
public:
    explicit session_connection(session& session) noexcept : with_(&session) {}

private:
    sql_rows run(std::string const& sql, std::span<sql_value const> values) override {
        return with_->run_work(sql, values, "do the work of a prepared part");
    }

    session* with_;
};

/// True for errors of an XA PREPARE that rolled the native transaction back.
[[nodiscard]] constexpr bool is_rolled_back(int code) noexcept {
    return code == branch_rolled_back || code == branch_timed_out || code == branch_deadlocked;
}

/// True for errors of an XA COMMIT or XA ROLLBACK that had no effect.
[[nodiscard]] constexpr bool has_no_effect(int code) noexcept {
    switch (code) {
    case lock_wait_timeout: // of FLUSH TABLES WITH READ LOCK, or a backup
    case option_prevents:
    case read_only_mode:
    case wrong_xa_state:
    case command_denied: return true;
    default: return false;
    }
}

[[nodiscard]] SETTLE_FUNCTION bool is_busy(std::error_code const& code) {
    return code == condition::conflict;
}

/// The user lock that the session of a prepared transaction holds until it ends. The name is the
/// parameter.
inline constexpr char const* session_lock = "CONCAT('settle/', MD5(?))";

/// A session ends in this order: others find the names that it prepared; its user locks are free;
/// InnoDB lets go of its native transaction. An XA COMMIT before the last step is answered, has no
/// effect, and takes the name off the list until the server restarts. The last step is not visible,
/// and follows the step before it at once.
inline constexpr std::chrono::milliseconds detach_pause{1000};

[[nodiscard]] SETTLE_FUNCTION bool take_session_lock(session& session, std::string const& name,
                                                     options const& limits) {
    auto const rows = session.run(
        std::string{"SELECT GET_LOCK("} + session_lock + ", ?)",
        std::array<sql_value, 2>{name, std::int64_t{whole_seconds(limits.lock_timeout)}},
        "take the lock of a session");
    return rows.text(0, 0) == "1";
}

/// The names whose sessions are gone, of names that are prepared.
[[nodiscard]] SETTLE_FUNCTION std::vector<std::string>
without_session(session& session, std::vector<std::string> const& names) {
    constexpr std::size_t most = 100;
    std::vector<std::string> gone;
    for (std::size_t from = 0; from < names.size(); from += most) {
        std::size_t const to = std::min(from + most, names.size());
        std::string sql;
        std::vector<sql_value> values;
        for (std::size_t index = from; index < to; ++index) {
            sql.append(index == from ? "SELECT IS_FREE_LOCK(" : ", IS_FREE_LOCK(");
            sql.append(session_lock).append(")");
            values.emplace_back(names[index]);
        }
        auto const found =
            session.run(sql, values, "look for the sessions of prepared transactions");
        for (std::size_t at = from; at < to; ++at) {
            if (found.text(0, at - from) == "1") gone.push_back(names[at]);
        }
    }
    return gone;
}

SETTLE_FUNCTION void check_server(session& session) {
    auto const refuse = [](std::string const& why) {
        raise(errc::unfit_store,
              "settle: this server cannot prepare: " + why + ". See mariadb#servers");
    };
    auto const facts = session.run("SELECT VERSION(), @@innodb_flush_log_at_trx_commit",
                                   "read the settings of the server");
    auto const version = facts.text(0, 0);
    unsigned major = 0;
    unsigned minor = 0;
    bool const read = std::sscanf(version.c_str(), "%u.%u", &major, &minor) == 2;
    bool const too_old = major < 10 || (major == 10 && minor < 5);
    if (!read || too_old || version.find("MariaDB") == version.npos) {
        refuse("it is '" + version +
               "', and only MariaDB from 10.5 on keeps a prepared native "
               "transaction when its session ends");
    }
    if (facts.integer(0, 1) != 1) {
        refuse("a power failure could take what it has prepared. SET GLOBAL "
               "innodb_flush_log_at_trx_commit = 1");
    }
    auto const cluster =
        session.run("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", "read the settings of the server");
    if (!cluster.empty() && cluster.text(0, 1) != "OFF") refuse("a Galera cluster has no XA");
}

} // namespace mariadb::detail
namespace mariadb {

SETTLE_FUNCTION resource::resource(std::string const& address, options const& limits)
    : sessions_(address, limits), format_(detail::format_of(sessions_.to().database)),
      receipts_(detail::receipts_of(sessions_.to().database)) {}

SETTLE_FUNCTION void resource::bind(std::string const&) {
    auto const session = sessions_.take();
    detail::check_server(*session);
    detail::make_receipts(*session, receipts_);
}

SETTLE_FUNCTION prepare_result resource::prepare(prepared_name const& name,
                                                 work_function<connection> work) {
    try {
        auto session = sessions_.take();
        try {
            return prepare_on(session, name, work);
        } catch (...) {
            session.close();
            throw;
        }
    } catch (failure const& caught) {
        return {prepare_answer::unavailable, caught.problem()};
    }
}

SETTLE_FUNCTION prepare_result resource::prepare_on(detail::session_pool::loan& loan,
                                                    prepared_name const& name,
                                                    work_function<connection> work) {
    auto const xid = xid_of(name);
    try {
        if (!detail::take_session_lock(*loan, name.text(), sessions_.limits())) {
            return {prepare_answer::busy,
                    detail::describe(no_such_xid, "", "another session holds the name",
                                     "prepare a native transaction")};
        }
        loan->run("XA START " + xid, "begin a native transaction");
    } catch (failure const& caught) {
        loan.close();
        bool const is_there = caught.problem().code == duplicate_xid;
        return {is_there ? prepare_answer::unknown : prepare_answer::unavailable, caught.problem()};
    }
    try {
        if (!detail::write_receipt(*loan, receipts_, name, name.epoch_number)) {
            abandon(loan, xid);
            return {prepare_answer::denied,
                    {make_error_code(errc::work_refused),
                     "settle: the part '" + name.of.text() + "' has a receipt already"}};
        }
        detail::session_connection inside{*loan};
        auto const done = work(inside);
        auto const ended =
            settle::detail::answer_without_prepare(done, inside.problem(), &detail::is_busy);
        if (ended) {
            abandon(loan, xid);
            return *ended;
        }
        loan->run("XA END " + xid, "end a native transaction");
    } catch (failure const& caught) {
        abandon(loan, xid);
        bool const busy = detail::is_busy(caught.problem().code);
        return {busy ? prepare_answer::busy : prepare_answer::unavailable, caught.problem()};
    }
    try {
        loan->run("XA PREPARE " + xid, "prepare a native transaction");
        keep(name.text(), std::move(loan));
        return {prepare_answer::prepared, {}};
    } catch (failure const& caught) {
        loan.close();
        bool const none = detail::is_rolled_back(caught.problem().code.value());
        bool const busy = none && detail::is_busy(caught.problem().code);
        return {busy   ? prepare_answer::busy
                : none ? prepare_answer::unavailable
                       : prepare_answer::unknown,
                caught.problem()};
    }
}

SETTLE_FUNCTION void resource::abandon(detail::session_pool::loan& loan,
                                       std::string const& xid) noexcept {
    try {
        try {
            loan->run("XA END " + xid, "end a native transaction");
        } catch (failure const&) {
            // A deadlock has ended it.
        }
        loan->run("XA ROLLBACK " + xid, "roll back a native transaction");
        loan->renew(sessions_.to(), sessions_.limits());
    } catch (std::exception const&) {
        // The end of the session rolls it back.
        loan.close();
    }
}

SETTLE_FUNCTION end_result resource::commit(prepared_name const& name) {
    return end(name, "XA COMMIT ", "commit a prepared transaction");
}

SETTLE_FUNCTION end_result resource::roll_back(prepared_name const& name) {
    return end(name, "XA ROLLBACK ", "roll back a prepared transaction");
}

SETTLE_FUNCTION void resource::keep(std::string const& name, detail::session_pool::loan loan) {
    auto const most = sessions_.limits().kept_sessions;
    if (most == 0) return loan.close();
    loan.free_place();
    std::lock_guard const guard{mutex_};
    // The server has ended an earlier session of this name.
    kept_.erase(name);
    if (kept_.size() >= most) std::erase_if(kept_, [](auto& one) { return !one.second->alive(); });
    if (kept_.size() >= most) {
        kept_.begin()->second.close();
        kept_.erase(kept_.begin());
    }
    kept_.emplace(name, std::move(loan));
}

SETTLE_FUNCTION std::optional<detail::session_pool::loan>
resource::take_kept(std::string const& name) {
    std::lock_guard const guard{mutex_};
    auto node = kept_.extract(name);
    if (node.empty() || !node.mapped()->alive()) return std::nullopt;
    return std::move(node.mapped());
}

SETTLE_FUNCTION end_result resource::end(prepared_name const& name, std::string const& verb,
                                         char const* phase) {
    if (auto session = take_kept(name.text())) {
        try {
            (*session)->run(verb + xid_of(name), phase);
        } catch (failure const& caught) {
            session->close();
            bool const none = detail::has_no_effect(caught.problem().code.value());
            return {none ? end_answer::unavailable : end_answer::unknown, caught.problem()};
        }
        try {
            (*session)->renew(sessions_.to(), sessions_.limits());
        } catch (failure const&) {
            session->close();
        }
        return {end_answer::ended, {}};
    }
    return end_left(name, verb, phase);
}

SETTLE_FUNCTION auto resource::gone_since(detail::session& session, std::string const& name,
                                          std::vector<std::string> const& listed)
    -> std::optional<std::chrono::steady_clock::time_point> {
    auto const end_seen = [&]() -> std::optional<std::chrono::steady_clock::time_point> {
        auto const found = gone_.find(name);
        if (found == gone_.end()) return std::nullopt;
        return found->second;
    };
    {
        std::lock_guard const guard{mutex_};
        if (auto const since = end_seen()) return since;
    }
    // Checks all names, so that the ends of many names wait at the same time.
    auto const gone = detail::without_session(session, listed);
    std::lock_guard const guard{mutex_};
    std::erase_if(gone_, [&](auto const& one) {
        return std::find(listed.begin(), listed.end(), one.first) == listed.end();
    });
    for (auto const& one : gone) gone_.try_emplace(one, std::chrono::steady_clock::now());
    return end_seen();
}

SETTLE_FUNCTION end_result resource::end_left(prepared_name const& name, std::string const& verb,
                                              char const* phase) {
    auto const text = name.text();
    settle::detail::retry_pauses between{sessions_.limits().lock_timeout};
    auto reply = end_answer::absent;
    try {
        auto const session = sessions_.take();
        for (;;) {
            error held = detail::describe(no_such_xid, "", "another session holds it", phase);
            auto const listed = detail::prepared_names(*session, format_, "");
            if (std::find(listed.begin(), listed.end(), text) == listed.end()) {
                if (!detail::without_session(*session, {text}).empty()) {
                    if (!detail::is_left(*session, receipts_, name)) return {reply, {}};
                    // Another end is under way, or an end was answered without effect.
                    held = detail::describe(
                        name_lost, "", "'" + text + "' stands, and XA RECOVER does not list it",
                        phase);
                }
            } else if (auto const since = gone_since(*session, text, listed)) {
                std::this_thread::sleep_until(*since + detail::detach_pause);
                try {
                    session->run(verb + xid_of(name), phase);
                    reply = end_answer::ended;
                    continue;
                } catch (failure const& caught) {
                    int const code = caught.problem().code.value();
                    if (code == branch_rolled_back) return {end_answer::absent, {}};
                    if (code != no_such_xid) {
                        bool const none = detail::has_no_effect(code);
                        return {none ? end_answer::unavailable : end_answer::unknown,
                                caught.problem()};
                    }
                    held = caught.problem();
                }
            }
            if (!between.next()) return {end_answer::unavailable, held};
        }
    } catch (failure const& caught) {
        // An end that was answered but not checked may have taken effect.
        bool const none = reply == end_answer::absent;
        return {none ? end_answer::unavailable : end_answer::unknown, caught.problem()};
    }
}

SETTLE_FUNCTION result<std::vector<in_doubt_name>>
resource::in_doubt(std::string_view prefix, std::string_view after, std::size_t limit) {
    try {
        auto const session = sessions_.take();
        auto names = detail::prepared_names(*session, format_, prefix);
        std::erase_if(names, [&](std::string const& one) { return one <= after; });
        std::sort(names.begin(), names.end());
        if (names.size() > limit) names.resize(limit);
        std::vector<in_doubt_name> in_doubt_names;
        in_doubt_names.reserve(names.size());
        for (auto& one : names) in_doubt_names.push_back({std::move(one), {}});
        if (!in_doubt_names.empty()) detail::read_times(*session, receipts_, in_doubt_names);
        return in_doubt_names;
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<std::optional<epoch>> resource::receipt_of(prepared_part const& part) {
    try {
        auto const session = sessions_.take();
        auto const key = part.text();
        auto const rows = session->run("SELECT epoch FROM " + receipts_ + " WHERE part = ?",
                                       std::array<sql_value, 1>{key}, "read a receipt");
        if (rows.empty()) return std::optional<epoch>{};
        return std::optional<epoch>{static_cast<epoch>(rows.integer(0, 0))};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION end_result resource::deny(prepared_name const& name) {
    try {
        auto const session = sessions_.take();
        try {
            static_cast<void>(detail::write_receipt(*session, receipts_, name, 0));
            return {end_answer::ended, {}};
        } catch (failure const& caught) {
            return {session->good() ? end_answer::unavailable : end_answer::unknown,
                    caught.problem()};
        }
    } catch (failure const& caught) {
        return {end_answer::unavailable, caught.problem()};
    }
}

SETTLE_FUNCTION result<std::uint64_t> resource::forget(std::string_view prefix, timestamp before,
                                                       std::size_t limit) {
    try {
        auto const session = sessions_.take();
        std::array<sql_value, 4> const values{
            static_cast<std::int64_t>(before.time_since_epoch().count()),
            static_cast<std::int64_t>(prefix.size()), prefix, static_cast<std::int64_t>(limit)};
        // This read does not see the receipts of prepared transactions, so the erasure does not
        // wait for them.
        auto const old = session->run("SELECT part FROM " + receipts_ +
                                          " WHERE made < ? AND LEFT(part, ?) = ? "
                                          "ORDER BY made LIMIT ?",
                                      values, "find old receipts");
        std::uint64_t erased = 0;
        for (std::size_t row = 0; row < old.size(); ++row) {
            auto const part = old.text(row, 0);
            erased += session
                          ->run("DELETE FROM " + receipts_ + " WHERE part = ?",
                                std::array<sql_value, 1>{part}, "erase a receipt")
                          .changed();
        }
        return erased;
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<timestamp> resource::time() {
    try {
        auto const session = sessions_.take();
        auto const found = session->run("SELECT " + std::string{detail::now_sql}, "read the clock");
        return detail::time_of(found.integer(0, 0));
    } catch (failure const& caught) {
        return caught.problem();
    }
}

} // namespace mariadb
SETTLE_END
