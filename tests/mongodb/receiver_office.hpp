// SPDX-License-Identifier: BSL-1.0
// An airline whose receiver is on MongoDB.
#pragma once

#include "shared_servers.hpp"

#include <receiver_checks.hpp>

#include <settle/mongodb/receiver/receiver.hpp>

#include <string>

namespace mongodb_receivers {

using namespace settle_test;
using airline::made_call;
using receiver_checks::contains;
using settle::call_operation;
using settle::call_status;
using settle::service_answer;
using settle::service_call;
using settle::mongodb::receiver_database;
using settle::mongodb::receiver_session;

/// An airline that sells the seats of one flight. A request is the number of seats.
struct seats {
    service_answer apply(receiver_session& db, service_call const& call) const {
        std::string const key{call.key};
        std::string const people{call.request};
        // The booking is written before the guard, so that a refusal has a write to undo.
        db.run(R"({"insert": "bookings", "documents": [{"key": ")" + key + R"(", "people": )" +
               people + R"(, "undone": 0, "confirms": 0}]})");
        auto const taken =
            db.run(R"({"update": "flights", "updates": [{"q": {"_id": "LH1", "free": {"$gte": )" +
                   people + R"(}}, "u": {"$inc": {"free": -)" + people + "}}}]}");
        if (contains(taken, R"("n" : 0)")) {
            return service_answer::refused("the flight has too few seats");
        }
        return service_answer::ok(R"({"seats":)" + people + "}");
    }
    service_answer query(receiver_session& db, service_call const&) const {
        db.run(R"({"find": "flights", "filter": {"_id": "LH1"}})");
        return service_answer::ok("1");
    }
    service_answer confirm(receiver_session& db, service_call const& call) const {
        if (!call.has_apply) {
            db.run(R"({"insert": "bookings", "documents": [{"key": ")" + std::string{call.key} +
                   R"(", "people": 0, "undone": 1, "confirms": 1}]})");
            return service_answer::ok();
        }
        return count(db, call, "confirms");
    }
    service_answer compensate(receiver_session& db, service_call const& call) const {
        db.run(R"({"update": "flights", "updates": [{"q": {"_id": "LH1"}, )"
               R"("u": {"$inc": {"free": 1}}}]})");
        return count(db, call, "undone");
    }

private:
    static service_answer count(receiver_session& db, service_call const& call,
                                std::string const& field) {
        db.run(R"({"update": "bookings", "updates": [{"q": {"key": ")" + std::string{call.key} +
               R"("}, "u": {"$inc": {")" + field + R"(": 1}}}]})");
        return service_answer::ok();
    }
};

/// A database of its own with a flight.
struct office {
    using database = receiver_database;
    using handler = seats;

    explicit office(std::int64_t free = 10) {
        run(R"({"insert": "flights", "documents": [{"_id": "LH1", "free": )" +
            std::to_string(free) + "}]}");
        run(R"({"create": "bookings"})");
    }

    /// The sum of an expression over all bookings.
    [[nodiscard]] std::int64_t sum(std::string const& expression) const {
        auto const found =
            run(R"({"aggregate": "bookings", "cursor": {}, "pipeline": [{"$group": {)"
                R"("_id": null, "sum": {"$sum": )" +
                expression + "}}}]}");
        return found.number("cursor.firstBatch.0.sum").value_or(0);
    }
    [[nodiscard]] std::int64_t bookings() const { return sum("1"); }
    [[nodiscard]] std::int64_t flights() const {
        return run(R"({"count": "flights"})").number("n").value_or(0);
    }
    [[nodiscard]] std::int64_t effects() const { return sum(R"({"$subtract": [1, "$undone"]})"); }
    [[nodiscard]] std::int64_t confirms() const { return sum("\"$confirms\""); }

    [[nodiscard]] auto another(std::string const& name) const {
        return receiver_database::open(own.address(), name);
    }
    static void book_twice(receiver_session& db) {
        db.run(R"({"insert": "flights", "documents": [{"_id": "LH1"}]})");
    }
    static constexpr std::string_view twice = "duplicate key";
    void damage(std::string const& key) const {
        run(R"({"update": "settle_receiver", "updates": [{"q": {"_id": ")" + key +
            R"("}, "u": {"$unset": {"last_moment": 1}}}]})");
    }

    fresh_database own{replica_set_address};
    receiver_database db{own.address(), "airline"};
    settle::testing::manual_environment clock;
    settle::receiver<receiver_database, settle::testing::manual_environment> airline_receiver{
        db, {}, clock};

private:
    reply run(std::string const& command) const {
        auto ended = run_command(own.address(), command);
        REQUIRE(ended.ok);
        return ended;
    }
};

} // namespace mongodb_receivers
