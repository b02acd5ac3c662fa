// SPDX-License-Identifier: BSL-1.0
// Transfers between two databases of PostgreSQL by hand: PREPARE TRANSACTION in both, a row of the
// log that decides, COMMIT PREPARED in both.
#pragma once

#include "postgresql.hpp"

namespace baseline::postgresql {

/// Whether the second database works while the first does.
enum class overlap : std::uint8_t { none, both };

/// The log is in the first database. After a crash, a prepared transfer without a row is rolled
/// back, after an insert of a row that records the rollback; a transfer with a row is committed.
class prepared {
public:
    prepared(std::string const& first, std::string const& second, overlap databases)
        : overlap_(databases),
          first_(first, {{"begin", "BEGIN"},
                         {"debit", changing(debit_sql("first"))},
                         {"enter", entry_sql("$1::text", "$2::text", "$3::int8")}}),
          second_(second, {{"begin", "BEGIN"}, {"credit", changing(credit_sql("second"))}}) {}

    void run(bench::request const& one) {
        auto const& [id, transfer] = one;
        first_.send("begin");
        first_.send("debit", transfer.source, transfer.amount);
        first_.send_sql("PREPARE TRANSACTION '" + id + "'");
        second_.send("begin");
        second_.send("credit", transfer.destination, transfer.amount);
        second_.send_sql("PREPARE TRANSACTION '" + id + "'");
        sync_both();
        write_json(json_, transfer.source, transfer.destination, transfer.amount);
        first_.send("enter", id, json_, now());
        first_.sync();
        first_.send_sql("COMMIT PREPARED '" + id + "'");
        second_.send_sql("COMMIT PREPARED '" + id + "'");
        sync_both();
    }

private:
    void sync_both() const {
        first_.start();
        if (overlap_ == overlap::none) first_.finish();
        second_.start();
        if (overlap_ == overlap::both) first_.finish();
        second_.finish();
    }

    overlap overlap_;
    connection first_;
    connection second_;
    std::string json_;
};

} // namespace baseline::postgresql
