// SPDX-License-Identifier: BSL-1.0
// Transfers as a native transaction of PostgreSQL by hand, in one round trip: guarded updates and
// rows of the log.
#pragma once

#include "postgresql.hpp"

#include <map>
#include <span>

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
                        {"change_all",
                         changing("UPDATE accounts AS a SET balance = balance + w.added FROM "
                                  "unnest($1::text[], $2::int8[], $3::int8[]) AS "
                                  "w(id, added, needed) WHERE a.id = w.id AND balance >= w.needed",
                                  "$4::int8")},
                        {"enter_all", entry_sql("w.id", "w.parameters", "$3::int8") +
                                          " FROM unnest($1::text[], $2::text[]) AS "
                                          "w(id, parameters)"}}) {}

    void run(bench::request const& one) {
        auto const& [id, transfer] = one;
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
    void run_batch(std::span<bench::request const> batch) {
        on_.send("begin");
        change_accounts(batch);
        auto ids = array::of_texts(batch.size());
        auto parameters = array::of_texts(batch.size());
        for (auto const& [id, transfer] : batch) {
            ids.add(id);
            write_json(json_, transfer.source, transfer.destination, transfer.amount);
            parameters.add(json_);
        }
        on_.send("enter_all", ids, parameters, now());
        on_.send("commit");
        on_.sync();
    }

private:
    struct change {
        std::int64_t added = 0;
        std::int64_t needed = 0; ///< for all debits, whatever their order
    };

    void change_accounts(std::span<bench::request const> batch) {
        // In the order of the keys, so that two batches do not wait for each other.
        std::map<std::string_view, change> changes;
        for (auto const& [id, transfer] : batch) {
            auto& source = changes[transfer.source];
            source.added -= transfer.amount;
            source.needed += transfer.amount;
            changes[transfer.destination].added += transfer.amount;
        }
        auto keys = array::of_texts(changes.size());
        auto added = array::of_integers(changes.size());
        auto needed = array::of_integers(changes.size());
        for (auto const& [key, one] : changes) {
            keys.add(key);
            added.add(one.added);
            needed.add(one.needed);
        }
        on_.send("change_all", keys, added, needed, static_cast<std::int64_t>(changes.size()));
    }

    spelling spelled_;
    connection on_;
    std::string json_;
};

} // namespace baseline::postgresql
