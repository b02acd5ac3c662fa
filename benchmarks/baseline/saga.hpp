// SPDX-License-Identifier: BSL-1.0
// A trip of three calls by hand, with a row of a log in SQLite. Each step is durable before the
// next call, so a later run can repeat the last call with the same key, or undo the earlier calls.
#pragma once

#include "../travel.hpp"
#include "one_phase.hpp"

namespace baseline {

/// The columns of `log_sql`, and the columns of stages.
[[nodiscard]] inline std::string saga_log_sql(log_layout layout) {
    std::string sql = log_sql(layout);
    return sql.insert(sql.find(", parameters TEXT"), ", revision INTEGER NOT NULL, kept INTEGER")
        .replace(sql.find("images TEXT"), 11, "results TEXT");
}

/// Calls of services in the same process.
class local_calls {
public:
    explicit local_calls(bench::travel_services& services) : services_(&services) {}

    /// Makes the calls of one stage.
    /// Shape:   ask - gives the request of a trip; take - gets the answer to it
    template <typename Ask, typename Take>
    void call_all(std::span<bench::trip_request const> batch, std::int64_t, Ask const& ask,
                  Take const& take) const {
        for (std::size_t at = 0; at < batch.size(); ++at) take(at, services_->answer(ask(at)));
    }

private:
    bench::travel_services* services_;
};

/// Shape:   Calls - local_calls or http_calls
template <typename Calls>
class saga {
public:
    saga(connection const& connection, Calls& calls)
        : calls_(&calls), commits_(connection),
          insert_(connection,
                  "INSERT INTO log(id, type, state, epoch, committed, attempts, reason, owner, "
                  "created, modified, revision, kept, parameters) "
                  "VALUES(?1, 1, 1, ?2, 0, 0, 0, 1, ?2, ?2, 0, 0, ?3)"),
          keep_(connection,
                "UPDATE log SET state = ?4, revision = ?3 + 1, kept = ?3 + 1, results = ?5, "
                "modified = ?6 WHERE id = ?1 AND state = ?2 AND revision = ?3"),
          close_(connection, "UPDATE log SET state = 3, committed = epoch, modified = ?3 "
                             "WHERE id = ?1 AND state = ?2 AND revision = 2") {}

    /// One trip; every step is durable before the next call.
    void run(bench::trip_request const& request) { run_batch({&request, 1}); }

    /// Many trips, step by step; each step is one commit.
    void run_batch(std::span<bench::trip_request const> batch) {
        if (under_way_.size() < batch.size()) under_way_.resize(batch.size());
        auto const created = now();
        in_step(batch, [&](auto const& one, results&) { insert(one, created); });
        calls_->call_all(
            batch, created,
            [&](std::size_t index) {
                auto const& trip = batch[index].second;
                return bench::seat_request{trip.flight, trip.people};
            },
            [&](std::size_t index, bench::ticket const& ticket) {
                under_way_[index].take(ticket);
            });
        keep_all(batch, 0, pending);
        calls_->call_all(
            batch, created,
            [&](std::size_t index) {
                return bench::room_request{batch[index].second.traveller,
                                           under_way_[index].flight.number};
            },
            [&](std::size_t index, bench::room const& room) { under_way_[index].take(room); });
        // The charge cannot be undone: the row records that it may have been made.
        keep_all(batch, 1, deciding);
        calls_->call_all(
            batch, created,
            [&](std::size_t index) {
                return bench::charge{batch[index].second.traveller, under_way_[index].flight.price};
            },
            [](std::size_t, settle::nothing) {});
        auto const time = now();
        in_step(batch, [&](auto const& one, results const&) {
            expect(close_.changes_one(one.first, deciding, time));
        });
    }

private:
    static constexpr std::int64_t pending = 1;
    static constexpr std::int64_t deciding = 6;

    struct results {
        bench::ticket flight{};
        std::string json{};

        void take(bench::ticket const& ticket) {
            flight = ticket;
            json.assign(R"([{"number":)");
            append_number(json, ticket.number);
            json += R"(,"price":)";
            append_number(json, ticket.price);
            json += "}]";
        }
        void take(bench::room const& room) {
            json.back() = ',';
            json += R"({"number":)";
            append_number(json, room.number);
            json += "}]";
        }
    };

    /// One commit.
    template <typename Write>
    void in_step(std::span<bench::trip_request const> batch, Write const& write) {
        commits_.in_one([&] {
            for (std::size_t at = 0; at < batch.size(); ++at) write(batch[at], under_way_[at]);
        });
    }

    void insert(bench::trip_request const& request, std::int64_t time) {
        auto const& [id, trip] = request;
        json_.assign(R"({"traveller":")").append(trip.traveller).append(R"(","flight":")");
        json_.append(trip.flight).append(R"(","people":)");
        append_number(json_, trip.people);
        json_ += '}';
        expect(insert_.changes_one(id, time, json_));
    }
    void keep_all(std::span<bench::trip_request const> batch, std::int64_t revision,
                  std::int64_t next) {
        auto const time = now();
        in_step(batch, [&](auto const& one, results const& kept) {
            expect(keep_.changes_one(one.first, pending, revision, next, kept.json, time));
        });
    }
    static void expect(bool changed) {
        if (!changed) throw std::runtime_error("by hand: a trip is not in its state");
    }

    Calls* calls_;
    commits commits_;
    statement insert_;
    statement keep_;
    statement close_;
    std::vector<results> under_way_;
    std::string json_;
};

} // namespace baseline
