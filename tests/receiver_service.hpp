// SPDX-License-Identifier: BSL-1.0
// A service of the tests: an airline that sells the seats of one flight, on a receiver in SQLite.
#pragma once

#include <receiver_calls.hpp>

#include <settle/sqlite/receiver/receiver.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace airline {

using settle::call_operation;
using settle::call_status;
using settle::receiver_status;
using settle::service_answer;
using settle::service_call;
using settle::timestamp;
using settle::sqlite::receiver_database;
using settle::sqlite::receiver_session;

/// The handler. A request is the number of seats.
struct seats {
    service_answer apply(receiver_session& db, service_call const& call) const {
        std::int64_t const people = std::stoll(std::string{call.request});
        // The seats are taken before the guard, so that a refusal has writes to undo.
        db.change("UPDATE flight SET free = free - ?1", people);
        db.change("INSERT INTO booking(key, people) VALUES(?1, ?2)", call.key, people);
        auto const [left] = db.first<std::int64_t>("SELECT free FROM flight").value();
        if (left < 0) return service_answer::refused("the flight has too few seats");
        auto const [number] = db.first<std::int64_t>("SELECT max(number) FROM booking").value();
        return service_answer::ok(R"({"ticket":)" + std::to_string(number) + "}");
    }
    /// The free seats.
    service_answer query(receiver_session& db, service_call const&) const {
        auto const [free] = db.first<std::int64_t>("SELECT free FROM flight").value();
        return service_answer::ok(std::to_string(free));
    }
    service_answer confirm(receiver_session& db, service_call const& call) const {
        if (!call.has_apply) {
            db.change("INSERT INTO booking(key, people, confirms, undone) VALUES(?1, 0, 1, 1)",
                      call.key);
            return service_answer::ok();
        }
        db.change("UPDATE booking SET confirms = confirms + 1, carried = ?2 WHERE key = ?1",
                  call.key, call.result);
        return service_answer::ok();
    }
    service_answer compensate(receiver_session& db, service_call const& call) const {
        db.change("UPDATE flight SET free = free + (SELECT max(people) FROM booking WHERE key = "
                  "?1)",
                  call.key);
        db.change("UPDATE booking SET undone = undone + 1, carried = ?2 WHERE key = ?1", call.key,
                  call.result);
        return service_answer::ok();
    }
};

/// Creates the service's own tables, with so many free seats.
inline void create_tables(receiver_database& db, std::int64_t free) {
    db.change([&](receiver_session& own) {
          own.change("CREATE TABLE IF NOT EXISTS flight(free INTEGER NOT NULL)");
          own.change("CREATE TABLE IF NOT EXISTS booking(number INTEGER PRIMARY KEY, "
                     "key TEXT NOT NULL, people INTEGER NOT NULL, "
                     "confirms INTEGER NOT NULL DEFAULT 0, undone INTEGER NOT NULL DEFAULT 0, "
                     "carried TEXT NOT NULL DEFAULT '')");
          own.change("INSERT INTO flight(free) SELECT ?1 WHERE NOT EXISTS(SELECT 1 FROM flight)",
                     free);
      }).value();
}

/// The effects in the service's own tables.
struct books {
    std::int64_t free = 0;
    std::int64_t bookings = 0;
    std::int64_t confirms = 0;
    std::int64_t undone = 0;

    friend bool operator==(books const&, books const&) = default;
};

inline books books_of(receiver_database& db) {
    books books;
    db.change([&](receiver_session& own) {
          std::tie(books.free, books.bookings, books.confirms, books.undone) =
              own.first<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(
                     "SELECT (SELECT free FROM flight), count(*), coalesce(sum(confirms), 0), "
                     "coalesce(sum(undone), 0) FROM booking")
                  .value();
      }).value();
    return books;
}

} // namespace airline
