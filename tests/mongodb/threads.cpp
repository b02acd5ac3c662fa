// SPDX-License-Identifier: BSL-1.0
// Threads share native transactions and ids; each thread gets its own outcome.
#include "../own_ends.hpp"
#include "bank.hpp"
#include "shared_servers.hpp"

TEST_CASE("threads: they share native transactions, and each gets its own outcome") {
    using namespace settle_test;
    for (auto const how : {settle::phases::one, settle::two_phases}) {
        fresh_database const own{replica_set_address};
        settle::mongodb::database db{own.address()};
        auto engine = bank_on(db, how, without_limits(short_limits()));
        REQUIRE(run_command(own.address(), R"({"insert": "suite_ledgers", "documents": [)"
                                           R"({"_id": "broken", "balance": "much"}]})")
                    .ok);
        check_own_ends(engine);
    }
}

TEST_CASE("threads: a batch sees each id that another thread inserts meanwhile") {
    using namespace settle_test;
    fresh_database const own{replica_set_address};
    settle::mongodb::database first{own.address()};
    settle::mongodb::database second{own.address()};
    auto batches = bank_on(first, settle::phases::one, without_limits(short_limits()));
    auto singles = bank_on(second, settle::phases::one, without_limits(short_limits()));
    check_taken_ids(batches, singles);
}
