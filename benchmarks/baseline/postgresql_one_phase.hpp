// SPDX-License-Identifier: BSL-1.0
// Transfers as a native transaction of PostgreSQL by hand, in one round trip: guarded updates and
// rows of the log.
#pragma once

#include "postgresql_batch.hpp"

namespace baseline::postgresql {

/// How a single transfer is spelled.
enum class spelling : std::uint8_t {
    statements,   ///< BEGIN, two updates, the insert and COMMIT
    one_statement ///< a statement of two updates and the insert
};

class one_phase {
public:
    one_phase(std::string const& address, spelling spelled)
        : spelled_(spelled),
          on_(address, {{"begin", "BEGIN"},
                        {"debit", changing(debit_sql("accounts"))},
                        {"credit", changing(credit_sql("accounts"))},
                        {"enter", entry_sql("$1::text", "$2::text", "$3::int8")},
                        {"commit", "COMMIT"},
                        {"transfer",
                         "WITH debit AS (UPDATE accounts SET balance = balance - $3::int8 WHERE "
                         "id = $1::text AND balance >= $3::int8 RETURNING 1), credit AS (UPDATE "
                         "accounts SET balance = balance + $3::int8 WHERE id = $2::text RETURNING "
                         "1), entry AS (" +
                             entry_sql("$4::text", "$5::text", "$6::int8") +
                             " RETURNING 1) SELECT 1 / ((SELECT count(*) FROM debit) + (SELECT "
                             "count(*) FROM credit) + (SELECT count(*) FROM entry) = 3)::int"},
                        {"change_all", change_all_sql("accounts")},
                        {"enter_all", enter_all_sql()}}) {}

    void run(bench::transfer_request const& request) {
        auto const& [id, transfer] = request;
        write_json(json_, transfer.source, transfer.destination, transfer.amount);
        if (spelled_ == spelling::one_statement) {
            on_.send("transfer", transfer.source, transfer.destination, transfer.amount, id, json_,
                     now());
        } else {
            bool const debits_first = transfer.source < transfer.destination;
            on_.send("begin");
            // All threads lock the rows in the order of their keys.
            if (debits_first) on_.send("debit", transfer.source, transfer.amount);
            on_.send("credit", transfer.destination, transfer.amount);
            if (!debits_first) on_.send("debit", transfer.source, transfer.amount);
            on_.send("enter", id, json_, now());
            on_.send("commit");
        }
        on_.sync();
    }

    /// All transfers in one native transaction: one statement for the accounts, one for the log.
    void run_batch(std::span<bench::transfer_request const> batch) {
        changes_.clear();
        for (auto const& one : batch) {
            changes_.debit(one.second);
            changes_.credit(one.second);
        }
        on_.send("begin");
        send_changes(on_, changes_);
        send_entries(on_, batch, json_);
        on_.send("commit");
        on_.sync();
    }

private:
    spelling spelled_;
    connection on_;
    account_changes changes_;
    std::string json_;
};

} // namespace baseline::postgresql
