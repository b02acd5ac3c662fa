// SPDX-License-Identifier: BSL-1.0
// An airline whose receiver is on PostgreSQL.
#pragma once

#include "patiently.hpp"
#include "shared_servers.hpp"

#include <receiver_checks.hpp>

#include <settle/postgresql/receiver/receiver.hpp>

namespace postgresql_receivers {

using namespace settle_test;
using airline::made_call;
using receiver_checks::contains;
using settle::call_operation;
using settle::call_status;
using settle::service_answer;
using settle::service_call;
using settle::postgresql::receiver_database;
using settle::postgresql::receiver_session;
using std::chrono::milliseconds;

inline auto patient_limits() {
    return settle_test::patient_limits<settle::postgresql::database_options>();
}

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

    explicit office(std::int64_t free = 10) { make_flight(own.address(), free); }

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
        ask(own.address(), "ALTER TABLE settle_receiver ALTER last_moment DROP NOT NULL;"
                           "UPDATE settle_receiver SET last_moment = NULL WHERE key = '" +
                               key + "'");
    }

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
    receiver_database db{own.address(application()), "airline", patient_limits()};
    settle::testing::manual_environment clock;
    settle::receiver<receiver_database, settle::testing::manual_environment> airline_receiver{
        db, {}, clock};
};

/// A handler whose apply is a function.
template <typename Apply>
struct applying : seats {
    explicit applying(Apply apply) : function(std::move(apply)) {}
    service_answer apply(receiver_session& db, service_call const& call) const {
        return function(db, call);
    }
    Apply function;
};

} // namespace postgresql_receivers
