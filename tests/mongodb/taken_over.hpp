// SPDX-License-Identifier: BSL-1.0
// The accounts and transactions of an old program in settle's hands.
#pragma once

#include "bank.hpp"
#include "old_programs.hpp"
#include "shared_servers.hpp"

#include <doctest/doctest.h>
#include <settle/running/calls/listing.hpp>
#include <settle/settle.hpp>

#include <transfer/tutorial.hpp>

namespace settle_test {

inline settle::mongodb::tutorial_layout layout_of(dialect const& dialect) {
    settle::mongodb::tutorial_layout layout;
    layout.fields = {{"amount", "value"}};
    layout.states = dialect.states;
    layout.applied = dialect.applied;
    layout.canceled = dialect.canceled;
    layout.ids = dialect.ids;
    layout.key = dialect.key;
    return layout;
}

/// The database of an old program, taken over.
class taken_over {
public:
    taken_over(std::string const& address, dialect const& dialect)
        : database_{address, layout_of(dialect)},
          engine_{database_, patient(), settle::type<bank::tutorial::transfer_type>} {}

    auto& engine() { return engine_; }
    std::int64_t balance(std::string const& id) {
        return engine_.read(bank::tutorial::accounts, id).value().value().balance;
    }

private:
    using database = settle::mongodb::tutorial_database<bank::tutorial::transfer_type>;
    database database_;
    settle::engine<database, settle::options, settle::type_tag<bank::tutorial::transfer_type>>
        engine_;

    static settle::options patient() {
        settle::options limits;
        limits.patience = long_patience;
        return limits;
    }
};

/// Settles everything after a take-over.
inline void settle_all(taken_over& bank) {
    auto const report = bank.engine().recover(of_any_age());
    CHECK(report.problem.empty());
    CHECK(report.skipped.empty());
    CHECK(report.undecided == 0);
    // A worker runs submitted transactions that no worker had begun.
    CHECK(bank.engine().work().problem.empty());
    CHECK(bank.engine().sweep().problem.empty());
}

inline void check_sums(taken_over& bank, int of, bool moved) {
    CHECK(bank.balance("A" + std::to_string(of)) == (moved ? 900 : 1000));
    CHECK(bank.balance("B" + std::to_string(of)) == (moved ? 1100 : 1000));
}

/// Checks that no record has a mark, bare or not, and that `count` records still have their unknown
/// field `owner`.
inline void check_records(std::string const& address, int count) {
    auto const counted = [&](std::string const& filter) {
        auto const reply = run_command(
            address, R"({"aggregate": "accounts", "cursor": {}, "pipeline": [{"$match": )" +
                         filter + R"(}, {"$count": "n"}]})");
        REQUIRE(reply.ok);
        return reply.number("cursor.firstBatch.0.n").value_or(0);
    };
    CHECK(counted(R"({"pendingTransactions.0": {"$exists": true}})") == 0);
    CHECK(counted(R"({"owner.of": {"$in": ["A", "B"]}})") == count);
}

} // namespace settle_test
