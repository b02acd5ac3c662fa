// SPDX-License-Identifier: BSL-1.0
// Transfers between two databases of PostgreSQL by hand: PREPARE TRANSACTION, a row of the log that
// decides, COMMIT PREPARED.
#pragma once

#include "postgresql_batch.hpp"

namespace baseline::postgresql {

/// Whether the second database works while the first does.
enum class overlap : std::uint8_t { none, both };

/// The databases whose native transaction is prepared before the decision.
enum class preparing : std::uint8_t {
    both,
    second ///< the native transaction of the first database holds the row of the log, and decides
};

/// The log is in the first database. After a crash, a prepared transfer without a row is rolled
/// back, after an insert of a row that records the rollback; a transfer with a row is committed.
class prepared {
public:
    prepared(std::string const& first, std::string const& second, overlap databases,
             preparing which)
        : overlap_(databases), preparing_(which),
          first_(first, {{"begin", "BEGIN"},
                         {"debit", changing(debit_sql("first"))},
                         {"enter", entry_sql("$1::text", "$2::text", "$3::int8")},
                         {"change_all", change_all_sql("first")},
                         {"enter_all", enter_all_sql()},
                         {"commit", "COMMIT"}}),
          second_(second, {{"begin", "BEGIN"},
                           {"credit", changing(credit_sql("second"))},
                           {"change_all", change_all_sql("second")}}) {}

    void run(bench::transfer_request const& request) {
        auto const& [id, transfer] = request;
        in_both(
            id,
            [&, &transfer = transfer] { first_.send("debit", transfer.source, transfer.amount); },
            [&, &transfer = transfer] {
                second_.send("credit", transfer.destination, transfer.amount);
            },
            [&, &id = id, &transfer = transfer] {
                write_json(json_, transfer.source, transfer.destination, transfer.amount);
                first_.send("enter", id, json_, now());
            });
    }

    /// All transfers of a batch are one native transaction in each database, and their rows decide.
    void run_batch(std::span<bench::transfer_request const> batch) {
        debits_.clear();
        credits_.clear();
        for (auto const& one : batch) {
            debits_.debit(one.second);
            credits_.credit(one.second);
        }
        in_both(
            batch.front().first, [&] { send_changes(first_, debits_); },
            [&] { send_changes(second_, credits_); }, [&] { send_entries(first_, batch, json_); });
    }

private:
    /// One native transaction in each database.
    /// Shape:   id - of both; debit(), credit(), enter() - queue their statements
    template <typename Debit, typename Credit, typename Enter>
    void in_both(std::string const& id, Debit const& debit, Credit const& credit,
                 Enter const& enter) {
        std::string const name = " '" + id + "'";
        second_.send("begin");
        credit();
        second_.send_sql("PREPARE TRANSACTION" + name);
        second_.start();
        if (overlap_ == overlap::none) second_.finish();
        first_.send("begin");
        debit();
        if (preparing_ == preparing::second) {
            decide_in_the_same(enter);
        } else {
            first_.send_sql("PREPARE TRANSACTION" + name);
            first_.sync();
            if (overlap_ == overlap::both) second_.finish();
            enter();
            first_.sync();
        }
        second_.send_sql("COMMIT PREPARED" + name);
        second_.start();
        if (overlap_ == overlap::none) second_.finish();
        if (preparing_ == preparing::both) {
            first_.send_sql("COMMIT PREPARED" + name);
            first_.sync();
        }
        if (overlap_ == overlap::both) second_.finish();
    }

    /// The first database needs no PREPARE: its commit of the debits and the rows decides. It waits
    /// until the second database is prepared.
    template <typename Enter>
    void decide_in_the_same(Enter const& enter) {
        enter();
        if (overlap_ == overlap::both) {
            first_.sync();
            second_.finish();
        }
        first_.send("commit");
        first_.sync();
    }

    overlap overlap_;
    preparing preparing_;
    connection first_;
    connection second_;
    account_changes debits_;
    account_changes credits_;
    std::string json_;
};

} // namespace baseline::postgresql
