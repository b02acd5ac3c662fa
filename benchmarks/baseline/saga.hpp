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

class saga {
public:
    saga(connection const& on, bench::travel_services& services)
        : services_(&services), commits_(on),
          insert_(on, "INSERT INTO log(id, type, state, epoch, committed, attempts, reason, owner, "
                      "created, modified, revision, kept, parameters) "
                      "VALUES(?1, 1, 1, ?2, 0, 0, 0, 1, ?2, ?2, 0, 0, ?3)"),
          keep_(on, "UPDATE log SET state = ?4, revision = ?3 + 1, kept = ?3 + 1, results = ?5, "
                    "modified = ?6 WHERE id = ?1 AND state = ?2 AND revision = ?3"),
          close_(on, "UPDATE log SET state = 3, committed = epoch, modified = ?3 "
                     "WHERE id = ?1 AND state = ?2 AND revision = 2") {}

    /// One trip; every step is durable before the next call.
    void run(bench::trip_request const& one) { run_batch({&one, 1}); }

    /// Many trips, step by step; each step is one commit.
    void run_batch(std::span<bench::trip_request const> batch) {
        if (under_way_.size() < batch.size()) under_way_.resize(batch.size());
        in_step(batch, [&](auto const& one, results&, std::int64_t time) { insert(one, time); });
        for (std::size_t at = 0; at < batch.size(); ++at) book_flight(batch[at], under_way_[at]);
        in_step(batch, [&](auto const& one, results const& of, std::int64_t time) {
            keep(one, 0, pending, of, time);
        });
        for (std::size_t at = 0; at < batch.size(); ++at) book_room(batch[at], under_way_[at]);
        // The charge cannot be undone: the row says that it may have been made.
        in_step(batch, [&](auto const& one, results const& of, std::int64_t time) {
            keep(one, 1, deciding, of, time);
        });
        for (std::size_t at = 0; at < batch.size(); ++at) {
            services_->pay({batch[at].second.traveller, under_way_[at].flight.price});
        }
        in_step(batch, [&](auto const& one, results const&, std::int64_t time) {
            expect(close_.changes_one(one.first, deciding, time));
        });
    }

private:
    static constexpr std::int64_t pending = 1;
    static constexpr std::int64_t deciding = 6;

    struct results {
        bench::ticket flight{};
        std::string json{};
    };

    /// One commit, and one reading of the clock.
    template <typename Write>
    void in_step(std::span<bench::trip_request const> batch, Write const& write) {
        auto const time = now();
        commits_.in_one([&] {
            for (std::size_t at = 0; at < batch.size(); ++at) {
                write(batch[at], under_way_[at], time);
            }
        });
    }

    void insert(bench::trip_request const& one, std::int64_t time) {
        auto const& [id, trip] = one;
        json_.assign(R"({"traveller":")").append(trip.traveller).append(R"(","flight":")");
        json_.append(trip.flight).append(R"(","people":)");
        append_number(json_, trip.people);
        json_ += '}';
        expect(insert_.changes_one(id, time, json_));
    }
    void book_flight(bench::trip_request const& one, results& of) {
        of.flight = services_->book(bench::seat_request{one.second.flight, one.second.people});
        of.json.assign(R"([{"number":)");
        append_number(of.json, of.flight.number);
        of.json += R"(,"price":)";
        append_number(of.json, of.flight.price);
        of.json += "}]";
    }
    void book_room(bench::trip_request const& one, results& of) {
        auto const made =
            services_->book(bench::room_request{one.second.traveller, of.flight.number});
        of.json.back() = ',';
        of.json += R"({"number":)";
        append_number(of.json, made.number);
        of.json += "}]";
    }
    void keep(bench::trip_request const& one, std::int64_t revision, std::int64_t next,
              results const& of, std::int64_t time) const {
        expect(keep_.changes_one(one.first, pending, revision, next, of.json, time));
    }
    static void expect(bool changed) {
        if (!changed) throw std::runtime_error("by hand: a trip is not in its state");
    }

    bench::travel_services* services_;
    commits commits_;
    statement insert_;
    statement keep_;
    statement close_;
    std::vector<results> under_way_;
    std::string json_;
};

} // namespace baseline
