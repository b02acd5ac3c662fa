// SPDX-License-Identifier: BSL-1.0
// An airline whose receiver is on MariaDB.
#pragma once

#include "patiently.hpp"
#include "shared_servers.hpp"

#include <receiver_races.hpp>

#include <settle/mariadb/receiver/receiver.hpp>

namespace mariadb_receivers {

using namespace settle_test;
using settle::service_answer;
using settle::service_call;
using settle::mariadb::receiver_database;
using settle::mariadb::receiver_session;

/// An airline that sells the seats of one flight. A request is the number of seats.
struct seats {
    service_answer apply(receiver_session& db, service_call const& call) const {
        // The seats are taken before the guard, so that a refusal has writes to undo.
        db.execute("UPDATE flight SET free = free - CAST(? AS SIGNED)", call.request);
        db.execute("INSERT INTO booking(name, people) VALUES(?, CAST(? AS SIGNED))", call.key,
                   call.request);
        if (db.query("SELECT free FROM flight").integer(0, 0) < 0) {
            return service_answer::refused("the flight has too few seats");
        }
        return service_answer::ok(R"({"seats":)" + std::string{call.request} + "}");
    }
    service_answer query(receiver_session& db, service_call const&) const {
        return service_answer::ok(db.query("SELECT free FROM flight").text(0, 0));
    }
    service_answer confirm(receiver_session& db, service_call const& call) const {
        if (!call.has_apply) {
            db.execute("INSERT INTO booking(name, people, undone) VALUES(?, 0, 1)", call.key);
        }
        db.execute("UPDATE booking SET confirms = confirms + 1 WHERE name = ?", call.key);
        return service_answer::ok();
    }
    service_answer compensate(receiver_session& db, service_call const& call) const {
        db.execute("UPDATE flight SET free = free + "
                   "(SELECT MAX(people) FROM booking WHERE name = ?)",
                   call.key);
        db.execute("UPDATE booking SET undone = undone + 1 WHERE name = ?", call.key);
        return service_answer::ok();
    }
};

inline std::int64_t number_at(std::string const& address, std::string const& sql) {
    return std::stoll(mariadb_session{address}.ask(sql).at(0).at(0));
}

/// A database of its own with a flight.
struct office {
    using database = receiver_database;
    using handler = seats;
    using storage = fresh_mariadb;
    using server = mariadb_server;

    explicit office(std::int64_t free = 10) { make_tables(own.address(), free); }

    static settle::mariadb::options limits() { return patient_limits<settle::mariadb::options>(); }
    /// The server counts it in whole seconds.
    static constexpr std::chrono::seconds shortest_wait{1};
    static constexpr std::string_view locked = "Lock wait timeout";
    static constexpr char const* locks_keys = "ON DUPLICATE KEY UPDATE modified = modified";
    static constexpr int requests_of_two_locks = 4; ///< each session also prepares the statement
    static constexpr char const* sell_seat = "UPDATE seat SET sold = sold + 1 WHERE id = ?";
    static void hasten_deadlock(receiver_session&) {} // the server notices it at once

    static void make_tables(std::string const& address, std::int64_t free) {
        mariadb_session session{address};
        session.ask("CREATE TABLE flight(free BIGINT NOT NULL UNIQUE)");
        session.ask("CREATE TABLE booking(name VARCHAR(200) NOT NULL, people BIGINT NOT NULL, "
                    "confirms BIGINT NOT NULL DEFAULT 0, undone BIGINT NOT NULL DEFAULT 0)");
        session.ask("INSERT INTO flight VALUES(" + std::to_string(free) + ")");
    }
    static std::string make_flight(mariadb_server const& in, std::int64_t free) {
        make_tables(in.address(), free);
        return in.address();
    }
    static std::int64_t effects_at(std::string const& address) {
        return number_at(address, "SELECT COALESCE(SUM(1 - undone), 0) FROM booking");
    }
    /// The number of rows without a booking, and of bookings without a row.
    static std::int64_t unmatched_rows(std::string const& address) {
        return number_at(address,
                         "SELECT (SELECT COUNT(*) FROM settle_receiver WHERE `key` NOT IN "
                         "(SELECT CAST(name AS BINARY) FROM booking)) + (SELECT COUNT(*) FROM "
                         "booking WHERE CAST(name AS BINARY) NOT IN (SELECT `key` FROM "
                         "settle_receiver))");
    }
    void ask(std::string const& sql) const { own.ask(sql); }
    /// True as soon as so many calls wait for a key.
    [[nodiscard]] bool waits(int calls) const {
        return wait_until(std::chrono::seconds{50}, [&] {
            return number("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '" +
                          own.name() +
                          "' AND TIME_MS > 500 AND INFO LIKE '%settle_receiver%' "
                          "AND INFO NOT LIKE '%PROCESSLIST%'") == calls;
        });
    }

    [[nodiscard]] std::int64_t number(std::string const& sql) const {
        return number_at(own.address(), sql);
    }
    [[nodiscard]] std::int64_t bookings() const { return number("SELECT COUNT(*) FROM booking"); }
    [[nodiscard]] std::int64_t effects() const { return effects_at(own.address()); }
    [[nodiscard]] std::int64_t confirms() const {
        return number("SELECT COALESCE(SUM(confirms), 0) FROM booking");
    }

    [[nodiscard]] auto another(std::string const& name) const {
        return receiver_database::open(own.address(), name);
    }
    static void book_twice(receiver_session& db) {
        db.execute("INSERT INTO flight SELECT free FROM flight");
    }
    static constexpr std::string_view twice = "Duplicate entry";
    void damage(std::string const& key) const {
        own.ask("ALTER TABLE settle_receiver MODIFY last_moment BIGINT");
        own.ask("UPDATE settle_receiver SET last_moment = NULL WHERE `key` = '" + key + "'");
    }

    fresh_mariadb own;
    receiver_database db{own.address(), "airline", limits()};
    settle::testing::manual_environment clock;
    settle::receiver<receiver_database, settle::testing::manual_environment> airline_receiver{
        db, {}, clock};
};

} // namespace mariadb_receivers
