// SPDX-License-Identifier: BSL-1.0
// An airline whose receiver is on PostgreSQL.
#pragma once

#include "patiently.hpp"
#include "shared_servers.hpp"

#include <receiver_races.hpp>

#include <settle/postgresql/receiver/receiver.hpp>

namespace postgresql_receivers {

using namespace settle_test;
using airline::made_call;
using receiver_checks::applying;
using receiver_checks::contains;
using settle::call_operation;
using settle::call_status;
using settle::service_answer;
using settle::service_call;
using settle::postgresql::receiver_database;
using settle::postgresql::receiver_session;
using std::chrono::milliseconds;

/// An airline that sells the seats of one flight. A request is the number of seats.
struct seats {
    service_answer apply(receiver_session& db, service_call const& call) const {
        // The seats are taken before the guard, so that a refusal has writes to undo.
        db.execute("UPDATE flight SET free = free - $1::int8", call.request);
        db.execute("INSERT INTO booking(key, people) VALUES($1, $2::int8)", call.key, call.request);
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
            db.execute("INSERT INTO booking(key, people, undone) VALUES($1, 0, 1)", call.key);
        }
        db.execute("UPDATE booking SET confirms = confirms + 1 WHERE key = $1", call.key);
        return service_answer::ok();
    }
    service_answer compensate(receiver_session& db, service_call const& call) const {
        db.execute("UPDATE flight SET free = free + "
                   "(SELECT max(people) FROM booking WHERE key = $1)",
                   call.key);
        db.execute("UPDATE booking SET undone = undone + 1 WHERE key = $1", call.key);
        return service_answer::ok();
    }
};

/// Creates the airline's own tables.
inline void make_flight(std::string const& address, std::int64_t free) {
    ask(address, "CREATE TABLE flight(free bigint NOT NULL UNIQUE);"
                 "CREATE TABLE booking(key text NOT NULL, people bigint NOT NULL, "
                 "confirms bigint NOT NULL DEFAULT 0, undone bigint NOT NULL DEFAULT 0);"
                 "INSERT INTO flight VALUES(" +
                     std::to_string(free) + ")");
}
inline std::int64_t number_at(std::string const& address, std::string const& sql) {
    return std::stoll(ask_one(address, sql));
}
inline std::int64_t effects_at(std::string const& address) {
    return number_at(address, "SELECT coalesce(sum(1 - undone), 0) FROM booking");
}

/// A schema of its own with a flight.
struct office {
    using database = receiver_database;
    using handler = seats;

    explicit office(std::int64_t free = 10) {
        postgresql_receivers::make_flight(own.address(), free);
    }

    [[nodiscard]] std::int64_t number(std::string const& sql) const {
        return number_at(own.address(), sql);
    }
    [[nodiscard]] std::int64_t bookings() const { return number("SELECT count(*) FROM booking"); }
    [[nodiscard]] std::int64_t effects() const { return effects_at(own.address()); }
    [[nodiscard]] std::int64_t confirms() const {
        return number("SELECT coalesce(sum(confirms), 0) FROM booking");
    }

    [[nodiscard]] auto another(std::string const& name) const {
        return receiver_database::open(own.address(), name);
    }
    static void book_twice(receiver_session& db) {
        db.execute("INSERT INTO flight SELECT free FROM flight");
    }
    static constexpr std::string_view twice = "duplicate key";
    void damage(std::string const& key) const {
        settle_test::ask(own.address(),
                         "ALTER TABLE settle_receiver ALTER last_moment DROP NOT NULL;"
                         "UPDATE settle_receiver SET last_moment = NULL WHERE key = '" +
                             key + "'");
    }

    using storage = fresh_schema;
    using server = postgresql_server;
    static settle::postgresql::database_options limits() {
        return settle_test::patient_limits<settle::postgresql::database_options>();
    }
    static constexpr milliseconds shortest_wait{100};
    static constexpr std::string_view locked = "55P03";
    static constexpr char const* locks_keys = "pg_advisory_xact_lock";
    static constexpr int requests_of_two_locks = 2;
    static constexpr char const* sell_seat = "UPDATE seat SET sold = sold + 1 WHERE id = $1";
    static void hasten_deadlock(receiver_session& db) {
        db.execute("SET LOCAL deadlock_timeout = '50ms'");
    }
    static std::string make_flight(postgresql_server const& in, std::int64_t free) {
        postgresql_receivers::make_flight(in.address(), free);
        return in.address();
    }
    static std::int64_t effects_at(std::string const& address) {
        return postgresql_receivers::effects_at(address);
    }
    /// The number of rows without a booking, and of bookings without a row.
    static std::int64_t unmatched_rows(std::string const& address) {
        return number_at(address,
                         "SELECT count(*) FROM settle_receiver AS r FULL JOIN booking AS b "
                         "ON b.key = r.key WHERE r.key IS NULL OR b.key IS NULL");
    }
    void ask(std::string const& sql) const { settle_test::ask(own.address(), sql); }

    /// Of the sessions whose calls wait for a key.
    [[nodiscard]] std::string application() const { return "application_name=" + own.name(); }
    [[nodiscard]] bool waits(int calls) const {
        return wait_until(std::chrono::seconds{50}, [&] {
            return number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
                          "AND application_name = '" +
                          own.name() + "'") == calls;
        });
    }

    fresh_schema own;
    receiver_database db{own.address(application()), "airline", limits()};
    settle::testing::manual_environment clock;
    settle::receiver<receiver_database, settle::testing::manual_environment> airline_receiver{
        db, {}, clock};
};

} // namespace postgresql_receivers
