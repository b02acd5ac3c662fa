// SPDX-License-Identifier: BSL-1.0
// A transfer as one native transaction by hand: two updates and a row of the log.
#pragma once

#include "../workload.hpp"
#include "clock.hpp"
#include "sqlite.hpp"

#include <cstddef>
#include <span>

namespace baseline {

/// The states as settle numbers them.
enum class state : std::int64_t { initial, pending, applied, done, canceling, canceled };

/// Where the log keeps its rows.
enum class log_layout : std::uint8_t {
    by_id,    ///< in the order of the ids: a single tree
    by_number ///< in the order of their arrival, with an index of the ids: two trees
};

/// The columns of settle's log row, except `open` and the columns of stages.
[[nodiscard]] inline std::string log_sql(log_layout layout) {
    bool const by_id = layout == log_layout::by_id;
    return std::string{"CREATE TABLE log("} +
           (by_id ? "id TEXT PRIMARY KEY NOT NULL"
                  : "number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE") +
           ", type INTEGER, state INTEGER NOT NULL, epoch INTEGER NOT NULL, "
           "committed INTEGER NOT NULL, attempts INTEGER NOT NULL, reason INTEGER NOT NULL, "
           "owner INTEGER NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL, "
           "parameters TEXT, participant TEXT, line INTEGER, images TEXT)" +
           (by_id ? " WITHOUT ROWID" : "");
}

inline constexpr char const* debit_sql =
    "UPDATE accounts SET balance = balance - ?1 WHERE id = ?2 AND balance >= ?1";
inline constexpr char const* credit_sql =
    "UPDATE accounts SET balance = balance + ?1 WHERE id = ?2";

class one_phase {
public:
    explicit one_phase(connection const& connection)
        : commits_(connection), debit_(connection, debit_sql), credit_(connection, credit_sql),
          insert_(connection,
                  "INSERT INTO log(id, type, state, epoch, committed, attempts, reason, owner, "
                  "created, modified, parameters) VALUES(?1, 1, ?2, ?3, 0, 0, ?4, 1, ?5, ?5, ?6)") {
    }

    void run(bench::transfer_request const& request) {
        commits_.in_one([&] { write(request, now()); });
    }
    void run_batch(std::span<bench::transfer_request const> batch) {
        // One reading of the clock serves a whole batch.
        auto const time = now();
        commits_.in_one([&] {
            for (auto const& one : batch) write(one, time);
        });
    }

private:
    void write(bench::transfer_request const& request, std::int64_t time) {
        constexpr std::int64_t guard_failed = 1;
        auto const& [id, transfer] = request;
        write_json(json_, transfer.source, transfer.destination, transfer.amount);
        bool const enough = debit_.changes_one(transfer.amount, transfer.source);
        if (enough && !credit_.changes_one(transfer.amount, transfer.destination)) {
            throw std::runtime_error("by hand: there is no account " + transfer.destination);
        }
        insert_.changes_one(id, static_cast<std::int64_t>(enough ? state::done : state::canceled),
                            time, enough ? 0 : guard_failed, time, json_);
    }

    commits commits_;
    statement debit_;
    statement credit_;
    statement insert_;
    std::string json_;
};

} // namespace baseline
