// SPDX-License-Identifier: BSL-1.0
// The conformance suite of a resource of prepared transactions, on real servers. Backend gives
//
//   resource, server, database        The types: the resource, a server that may be killed, and a
//       database of the shared server.
//   limits()                          Options with short limits.
//   address_of(server)                The address of a database of that server.
//   ends_apart                        True if a resource of another database of the server cannot
//       roll back or commit a name of this database.
//   add_sql                           Adds a number to a row of the table `sums`.
//   prepare_sql, commit_sql           Text of the statements that prepare and commit.
//   session(address).ask(sql)         A session of another program; ask_one(sql).
//   own_id_sql                        Text of a query for the id of the session that asks.
//   waiting(session)                  The ids of this database's sessions that wait for a lock.
//   kill(session, id)                 Ends another session.
//   may_hold_locks(session, id)       False once a session that ended has no locks any more.
//   prepare_foreign(address, name, sql), roll_back_foreign(session, name)
//       Native transactions that another program prepares.
//   prepared_names(session)           The names of all prepared transactions of the server.
#pragma once

#include "server_process.hpp"
#include "text_proxy.hpp"

#include <settle/adapter/sql_connection.hpp>
#include <settle/base/environment.hpp>
#include <settle/protocol/fresh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace settle_test {

using settle::end_answer;
using settle::prepare_answer;
using settle::prepared_name;
using settle::sql_connection;
using settle::work_result;
using namespace std::chrono_literals;

/// The log of this process: two databases of one MariaDB server cannot prepare one name.
inline std::string const log_name = fresh_name();
inline std::string const log_prefix = settle::prepared_prefix(log_name);

/// The name of a part of the log.
inline prepared_name name_of(std::string id, settle::epoch number = 1) {
    return {{log_name, std::move(id), {0, 0}}, number};
}

/// The first epoch of an entry that is inserted at a time.
inline settle::epoch epoch_of(std::chrono::system_clock::time_point time) {
    return settle::detail::milliseconds_since_2025(
               std::chrono::time_point_cast<std::chrono::milliseconds>(time)) *
           settle::epochs_per_millisecond;
}

/// The work that adds to a row of `sums`.
template <typename Backend>
auto add(std::string id, int much = 1) {
    return [id = std::move(id), much](sql_connection& connection) {
        try {
            bool const there = connection.execute(Backend::add_sql, much, id) == 1;
            return there ? work_result::ok() : work_result::refused("no row " + id);
        } catch (settle::failure const& caught) {
            return work_result::failed(caught.problem());
        }
    };
}

/// The same, which first notes the id of its session.
template <typename Backend>
auto note_and_add(std::string& session, std::string id) {
    return [&session, then = add<Backend>(std::move(id))](sql_connection& connection) {
        session = connection.query(Backend::own_id_sql).text(0, 0);
        return then(connection);
    };
}

/// The table `sums` with the rows a, b and c, and a resource with its table.
template <typename Backend>
struct prepared_scene {
    explicit prepared_scene(std::string address)
        : at(std::move(address)), beside(at), books(at, Backend::limits()) {
        beside.ask("CREATE TABLE sums (id varchar(20) PRIMARY KEY, n bigint NOT NULL)");
        beside.ask("INSERT INTO sums VALUES ('a', 0), ('b', 0), ('c', 0)");
        books.bind(log_name);
    }

    std::string sum(std::string const& id) {
        return beside.ask_one("SELECT n FROM sums WHERE id = '" + id + "'");
    }
    std::vector<std::string> listed(typename Backend::resource& by) {
        std::vector<std::string> names;
        for (auto const& one : by.in_doubt(log_prefix, "", 100).value()) {
            names.push_back(one.name);
        }
        return names;
    }
    std::vector<std::string> listed() { return listed(books); }
    /// True if the name has no native transaction and no receipt.
    bool nothing_of(prepared_name const& name) {
        return listed().empty() && !books.receipt_of(name.of).value();
    }

    /// Waits for the server's end of a session whose client has gone: it comes later, and until
    /// then the session holds its locks. No limit of a resource may run meanwhile.
    void wait_for_end_of(std::string const& session) {
        REQUIRE_FALSE(session.empty());
        REQUIRE(wait_until(60s, [&] { return !Backend::may_hold_locks(beside, session); }));
    }

    std::string at;
    typename Backend::session beside;
    typename Backend::resource books;
};

template <typename Backend>
void check_ends() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    auto const name = name_of("t/1 'ä", epoch_of(std::chrono::system_clock::now()));
    CHECK(s.books.prepare(name, add<Backend>("a")).what == prepare_answer::prepared);
    CHECK(s.sum("a") == "0");
    CHECK_FALSE(s.books.receipt_of(name.of).value());
    auto const doubt = s.books.in_doubt(log_prefix, "", 10).value();
    REQUIRE(doubt.size() == 1);
    CHECK(doubt[0].name == name.text());
    auto const now = std::chrono::system_clock::now();
    CHECK(std::chrono::abs(now - doubt[0].prepared) < 60s);
    // Another name of the part is not prepared.
    CHECK(s.books.commit(name_of("t/1 'ä", name.epoch_number - 1)).what == end_answer::absent);
    CHECK(s.books.commit(name).what == end_answer::ended);
    CHECK(s.sum("a") == "1");
    CHECK(s.books.receipt_of(name.of).value() == name.epoch_number);
    CHECK(s.listed().empty());
    CHECK(s.books.commit(name).what == end_answer::absent);
    CHECK(s.books.roll_back(name).what == end_answer::absent);
    // A late prepare.
    CHECK(s.books.prepare(name_of("t/1 'ä", name.epoch_number + 1), add<Backend>("a")).what ==
          prepare_answer::denied);
    CHECK(s.books.deny(name).what == end_answer::ended);
    CHECK(s.books.receipt_of(name.of).value() == name.epoch_number);
    CHECK(s.sum("a") == "1");

    auto const two = name_of("t2");
    CHECK(s.books.prepare(two, add<Backend>("b")).what == prepare_answer::prepared);
    CHECK(s.books.roll_back(two).what == end_answer::ended);
    CHECK(s.nothing_of(two));
    CHECK(s.sum("b") == "0");
    CHECK(s.books.commit(two).what == end_answer::absent);
    CHECK(s.books.prepare(name_of("t2", 2), add<Backend>("b")).what == prepare_answer::prepared);
    CHECK(s.books.commit(name_of("t2", 2)).what == end_answer::ended);
    CHECK(s.sum("b") == "1");

    // Work that changes nothing is prepared all the same.
    auto const empty = name_of("t3");
    auto const idle = [](sql_connection&) { return work_result::ok(); };
    CHECK(s.books.prepare(empty, idle).what == prepare_answer::prepared);
    CHECK(s.listed().size() == 1);
    CHECK(s.books.commit(empty).what == end_answer::ended);
    CHECK(s.books.receipt_of(empty.of).value() == 1U);

    // The longest name.
    auto longest = name_of("");
    longest.of.id.assign(Backend::resource::most_name - longest.text().size(), 'x');
    CHECK(s.books.prepare(longest, add<Backend>("c")).what == prepare_answer::prepared);
    CHECK(s.listed() == std::vector{longest.text()});
    CHECK(s.books.commit(longest).what == end_answer::ended);
    CHECK(s.sum("c") == "1");
}

template <typename Backend>
void check_refusals() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    auto const name = name_of("t1");
    auto const refused = s.books.prepare(name, [](sql_connection& connection) {
        connection.execute(Backend::add_sql, 1, "a");
        return work_result::refused("the account is closed");
    });
    CHECK(refused.what == prepare_answer::refused);
    CHECK(refused.problem.text == "the account is closed");
    CHECK(s.nothing_of(name));
    // A statement that failed cannot be swallowed.
    auto const failed = s.books.prepare(name, [](sql_connection& connection) {
        connection.execute(Backend::add_sql, 1, "a");
        CHECK_THROWS_AS(connection.execute("UPDATE nowhere SET n = 1"), settle::failure);
        CHECK_THROWS_AS(connection.execute(Backend::add_sql, 1, "b"), settle::failure);
        return work_result::ok();
    });
    CHECK(failed.what == prepare_answer::refused);
    CHECK(failed.problem.code == settle::condition::permanent);
    CHECK_MESSAGE(failed.problem.text.find("SQLSTATE 42") != failed.problem.text.npos,
                  failed.problem);
    CHECK(s.nothing_of(name));
    // A work that would end its own native transaction.
    auto const refused_end = s.books.prepare(name, [](sql_connection& connection) {
        connection.execute(Backend::add_sql, 1, "a");
        CHECK_THROWS_AS(connection.execute("/* done */ Commit"), settle::failure);
        return work_result::ok();
    });
    CHECK(refused_end.what == prepare_answer::refused);
    CHECK(refused_end.problem.code == settle::errc::bad_option);
    CHECK(s.nothing_of(name));
    CHECK(s.sum("a") == "0");
    // The rows that a statement reads.
    auto const reads = s.books.prepare(name, [](sql_connection& connection) {
        connection.execute(Backend::add_sql, std::int64_t{9007199254740993}, "c");
        auto const rows = connection.query("SELECT id, n, NULL, 'x' FROM sums ORDER BY id");
        CHECK(rows.size() == 3);
        CHECK(rows.text(0, 0) == "a");
        CHECK(rows.integer(2, 1) == 9007199254740993);
        CHECK(rows.is_null(1, 2));
        CHECK_THROWS_AS(static_cast<void>(rows.integer(1, 2)), settle::failure);
        CHECK_THROWS_AS(static_cast<void>(rows.integer(0, 3)), settle::failure);
        return work_result::ok();
    });
    CHECK(reads.what == prepare_answer::prepared);
    CHECK(s.books.roll_back(name).what == end_answer::ended);
    // A work that throws leaves nothing behind either.
    std::string session;
    auto const throws = [&](sql_connection& connection) -> work_result {
        session = connection.query(Backend::own_id_sql).text(0, 0);
        connection.execute(Backend::add_sql, 1, "a");
        throw 5;
    };
    CHECK_THROWS_AS(static_cast<void>(s.books.prepare(name, throws)), int);
    s.wait_for_end_of(session);
    CHECK(s.books.prepare(name, add<Backend>("a")).what == prepare_answer::prepared);
    auto const committed = s.books.commit(name);
    CHECK_MESSAGE(committed.what == end_answer::ended, committed.problem);
    CHECK(s.sum("a") == "1");
}

template <typename Backend>
void check_locks() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    auto const name = name_of("t1", 3);
    {
        typename Backend::session holder{s.at};
        holder.ask("BEGIN");
        holder.ask("UPDATE sums SET n = n + 100 WHERE id = 'a'");
        auto const busy = s.books.prepare(name, add<Backend>("a"));
        CHECK(busy.what == prepare_answer::busy);
        INFO(busy.problem);
        CHECK(busy.problem.text.find("SQLSTATE") != busy.problem.text.npos);
        CHECK(s.nothing_of(name));
        holder.ask("ROLLBACK");
    }
    CHECK(s.books.prepare(name, add<Backend>("a")).what == prepare_answer::prepared);
    // The prepared transaction of a lower epoch holds its part, and the same name is there already.
    CHECK(s.books.prepare(name_of("t1", 4), add<Backend>("b")).what == prepare_answer::busy);
    auto const again = s.books.prepare(name, add<Backend>("b")).what;
    CHECK((again == prepare_answer::unknown || again == prepare_answer::busy));
    CHECK(s.books.deny(name).what == end_answer::unavailable);
    CHECK_FALSE(s.books.receipt_of(name.of).value());
    CHECK(s.listed() == std::vector{name.text()});
    CHECK(s.books.roll_back(name).what == end_answer::ended);
    // A cancel keeps later prepares out.
    CHECK(s.books.deny(name).what == end_answer::ended);
    CHECK(s.books.deny(name).what == end_answer::ended);
    CHECK(s.books.receipt_of(name.of).value() == 0U);
    CHECK(s.books.prepare(name_of("t1", 5), add<Backend>("a")).what == prepare_answer::denied);
    CHECK(s.sum("a") == "0");
    CHECK(s.listed().empty());
}

template <typename Backend>
void check_lists() {
    typename Backend::database const own;
    typename Backend::database const other;
    prepared_scene<Backend> s{own.address()};
    prepared_scene<Backend> elsewhere{other.address()};
    Backend::prepare_foreign(s.at, "mine: " + own.name(), "UPDATE sums SET n = 7 WHERE id = 'c'");
    for (auto const& id : {"z", "m", "a"}) {
        auto const row = std::string{id} == "z" ? "a" : std::string{id} == "m" ? "b" : "";
        auto const idle = [](sql_connection&) { return work_result::ok(); };
        auto const made = *row == '\0' ? s.books.prepare(name_of(id), idle)
                                       : s.books.prepare(name_of(id), add<Backend>(row));
        CHECK(made.what == prepare_answer::prepared);
    }
    CHECK(s.listed() == std::vector{name_of("a").text(), name_of("m").text(), name_of("z").text()});
    auto const first = s.books.in_doubt(log_prefix, "", 2).value();
    REQUIRE(first.size() == 2);
    auto const rest = s.books.in_doubt(log_prefix, first[1].name, 2).value();
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].name == name_of("z").text());
    CHECK(s.books.in_doubt(settle::prepared_prefix(log_name + "2"), "", 10).value().empty());
    CHECK(s.books.in_doubt(settle::prepared_prefix(log_name.substr(1)), "", 10).value().empty());
    CHECK(elsewhere.listed().empty());
    if (Backend::ends_apart) {
        CHECK(elsewhere.books.roll_back(name_of("z")).what == end_answer::absent);
    }
    for (auto const& id : {"z", "m", "a"}) {
        CHECK(s.books.commit(name_of(id)).what == end_answer::ended);
    }
    // The other program's native transaction is unchanged.
    auto const left = Backend::prepared_names(s.beside);
    CHECK(std::count(left.begin(), left.end(), "mine: " + own.name()) == 1);
    Backend::roll_back_foreign(s.beside, "mine: " + own.name());
    CHECK(s.sum("c") == "0");
}

template <typename Backend>
void commit_at(prepared_scene<Backend>& s, prepared_name const& name) {
    CHECK(s.books.prepare(name, add<Backend>("b")).what == prepare_answer::prepared);
    CHECK(s.books.commit(name).what == end_answer::ended);
}

template <typename Backend>
void check_forgetting() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    auto const now =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    auto const recent = epoch_of(now);
    for (int at = 0; at < 5; ++at) {
        auto const name = name_of("t" + std::to_string(at), recent);
        CHECK(s.books.deny(name).what == end_answer::ended);
    }
    settle::prepared_name const others{{log_name + "2", "t1", {0, 0}}, recent};
    CHECK(s.books.deny(others).what == end_answer::ended);
    CHECK(s.books.prepare(name_of("p", recent), add<Backend>("a")).what ==
          prepare_answer::prepared);
    CHECK(s.books.forget(log_prefix, now - 1h, 10).value() == 0);
    CHECK(s.books.forget(log_prefix, now + 1h, 2).value() == 2);
    CHECK(s.books.forget(log_prefix, now + 1h, 10).value() == 3);
    CHECK(s.books.forget(log_prefix, now + 1h, 10).value() == 0);
    CHECK(s.books.receipt_of(others.of).value() == 0U);
    CHECK(s.books.commit(name_of("p", recent)).what == end_answer::ended);
    CHECK(s.books.receipt_of(name_of("p").of).value() == recent);
    // A receipt has the date of its claim, whatever the clock of the database shows.
    auto const old = epoch_of(now - 100h);
    CHECK(s.books.deny(name_of("old", old)).what == end_answer::ended);
    commit_at<Backend>(s, name_of("old work", old));
    CHECK(s.books.forget(log_prefix, now - 99h, 10).value() == 2);
    CHECK(s.books.receipt_of(name_of("p").of).value() == recent);
    // The clock itself.
    auto const there = s.books.time().value();
    CHECK(std::chrono::abs(there - now) < 600s);
}

template <typename Backend>
void check_threads() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 6; ++thread) {
        threads.emplace_back([&s, thread] {
            for (int index = 0; index < 5; ++index) {
                auto const name = name_of(std::to_string(thread) + "." + std::to_string(index));
                // They queue for one row.
                while (s.books.prepare(name, add<Backend>("a")).what != prepare_answer::prepared) {
                }
                while (s.books.commit(name).what != end_answer::ended) {
                }
            }
        });
    }
    for (auto& one : threads) one.join();
    CHECK(s.sum("a") == "30");
    CHECK(s.listed().empty());
}

template <typename Backend>
void check_lost_messages() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    text_proxy between{own.port()};
    typename Backend::resource far{own.address_at(between.port()), Backend::limits()};

    std::string session;
    between.disturb(Backend::prepare_sql, text_fault::drop_reply);
    auto const lost = far.prepare(name_of("t1"), note_and_add<Backend>(session, "a"));
    CHECK(lost.what == prepare_answer::unknown);
    CHECK(between.has_struck());
    CHECK_FALSE(lost.problem.text.empty());
    s.wait_for_end_of(session);
    CHECK(s.listed() == std::vector{name_of("t1").text()});
    between.disturb(Backend::commit_sql, text_fault::drop_request);
    CHECK(far.commit(name_of("t1")).what == end_answer::unknown);
    CHECK(between.has_struck());
    CHECK(s.sum("a") == "0");
    between.disturb(Backend::commit_sql, text_fault::drop_reply);
    CHECK(far.commit(name_of("t1")).what == end_answer::unknown);
    CHECK(between.has_struck());
    CHECK(far.commit(name_of("t1")).what == end_answer::absent);
    CHECK(far.receipt_of(name_of("t1").of).value() == 1U);
    CHECK(s.sum("a") == "1");

    between.disturb(Backend::prepare_sql, text_fault::drop_request);
    auto const unsent = far.prepare(name_of("t2"), note_and_add<Backend>(session, "b"));
    CHECK(unsent.what == prepare_answer::unknown);
    CHECK(between.has_struck());
    s.wait_for_end_of(session);
    CHECK(s.listed().empty());
    between.disturb("UPDATE sums", text_fault::drop_reply);
    CHECK(far.prepare(name_of("t2"), add<Backend>("b")).what == prepare_answer::unavailable);
    CHECK(between.has_struck());

    // A prepare that takes effect after a read of the list.
    between.disturb(Backend::prepare_sql, text_fault::hold_request);
    auto const late = far.prepare(name_of("t3", 8), note_and_add<Backend>(session, "c"));
    CHECK(late.what == prepare_answer::unknown);
    CHECK(between.has_struck());
    CHECK(s.listed().empty());
    auto const early = s.books.roll_back(name_of("t3", 8)).what;
    CHECK((early == end_answer::absent || early == end_answer::unavailable));
    between.release();
    s.wait_for_end_of(session);
    CHECK(s.listed() == std::vector{name_of("t3", 8).text()});
    CHECK(s.books.roll_back(name_of("t3", 8)).what == end_answer::ended);
    CHECK(s.books.deny(name_of("t3")).what == end_answer::ended);
    CHECK(s.sum("c") == "0");
}

template <typename Backend>
void check_killed_sessions() {
    typename Backend::database const own;
    prepared_scene<Backend> s{own.address()};
    text_proxy between{own.port()};
    auto limits = Backend::limits();
    limits.lock_timeout = 100s;
    limits.statement_timeout = 100s;
    limits.answer_timeout = 120s;
    typename Backend::resource patient{own.address_at(between.port()), limits};
    for (bool const by_server : {true, false}) {
        CAPTURE(by_server);
        auto const name = name_of(by_server ? "t1" : "t2");
        typename Backend::session holder{s.at};
        holder.ask("BEGIN");
        holder.ask("UPDATE sums SET n = n WHERE id = 'a'");
        // MariaDB may list the UPDATE as running until the session's next statement.
        auto const holding = holder.ask_one(Backend::own_id_sql);
        settle::prepare_result answer;
        std::thread waits{[&] { answer = patient.prepare(name, add<Backend>("a")); }};
        std::vector<std::string> waiting;
        auto const is_waiting = [&] {
            waiting = Backend::waiting(s.beside);
            return waiting.size() == 1 && waiting[0] != holding;
        };
        CHECK(wait_until(60s, is_waiting));
        if (!by_server) between.cut();
        else if (!waiting.empty()) Backend::kill(s.beside, waiting[0]);
        waits.join();
        INFO(answer.problem);
        CHECK(answer.what == prepare_answer::unavailable);
        holder.ask("COMMIT");
        // The server sees the end of a client only when the lock is free.
        REQUIRE(waiting.size() == 1);
        s.wait_for_end_of(waiting[0]);
        CHECK(s.nothing_of(name));
        CHECK(s.books.prepare(name, add<Backend>("a")).what == prepare_answer::prepared);
        CHECK(s.books.commit(name).what == end_answer::ended);
    }
    CHECK(s.sum("a") == "2");
}

/// The server is killed between prepare and commit, and right after the answer to a commit.
template <typename Backend>
void check_crashes() {
    typename Backend::server own;
    prepared_scene<Backend> s{Backend::address_of(own)};
    CHECK(s.books.prepare(name_of("t1"), add<Backend>("a")).what == prepare_answer::prepared);
    CHECK(s.books.prepare(name_of("t2"), add<Backend>("b")).what == prepare_answer::prepared);
    auto const before = s.books.in_doubt(log_prefix, "", 10).value();
    own.kill();
    CHECK(s.books.prepare(name_of("t3"), add<Backend>("c")).what == prepare_answer::unavailable);
    CHECK(s.books.receipt_of(name_of("t1").of).has_value() == false);
    auto const away = s.books.commit(name_of("t1"));
    CHECK(away.what == end_answer::unavailable);
    INFO(away.problem);
    CHECK(away.problem.code == settle::condition::retryable);
    own.start();
    CHECK(s.books.in_doubt(log_prefix, "", 10).value() == before);
    CHECK(s.books.commit(name_of("t1")).what == end_answer::ended);
    own.kill();
    own.start();
    CHECK(s.books.commit(name_of("t1")).what == end_answer::absent);
    CHECK(s.books.receipt_of(name_of("t1").of).value() == 1U);
    CHECK(s.books.roll_back(name_of("t2")).what == end_answer::ended);
    own.kill();
    own.start();
    typename Backend::session beside{s.at};
    CHECK(beside.ask_one("SELECT n FROM sums WHERE id = 'a'") == "1");
    CHECK(beside.ask_one("SELECT n FROM sums WHERE id = 'b'") == "0");
    // A crash can undo a roll back, whose name is then in doubt again.
    auto const again = s.books.roll_back(name_of("t2")).what;
    CHECK((again == end_answer::ended || again == end_answer::absent));
    CHECK(s.listed().empty());
}

} // namespace settle_test
