// SPDX-License-Identifier: BSL-1.0
// A single transaction changes its records without reading them first. If the unread change is
// refused, the record is read, and the outcome is the same.
#include <settle/adapter/conditional_tries.hpp>

#include "bank_documents.hpp"

#include <settle/mongodb/records/conditional_update.hpp>

#include <map>
#include <vector>

namespace settle_test {
namespace {

struct bank : bank_documents {
    explicit bank(settle::phases how, fresh_database::address_of& server = replica_set_address)
        : bank_documents(server, how) {}

    void put_usual(std::string const& id) { engine.create(ledgers, {id, opening, 0, ""}).value(); }
    /// How often a function makes the server read, insert and update.
    template <typename Function>
    std::map<std::string, std::int64_t> operations_of(Function&& function) {
        REQUIRE(shell.run(R"({"profile": 2})").ok);
        function();
        REQUIRE(shell.run(R"({"profile": 0})").ok);
        std::map<std::string, std::int64_t> seen;
        for (std::string const name : {"query", "update", "insert"}) {
            auto const counted =
                shell.run(R"({"count": "system.profile", "query": {"op": ")" + name + R"("}})");
            REQUIRE_MESSAGE(counted.ok, counted.error);
            seen[name] = counted.number("n").value_or(-1);
        }
        return seen;
    }
};

constexpr std::int64_t transfer_count = 6;

std::map<std::string, std::int64_t> operations_of_transfers(bank& bank) {
    bank.put_usual("A");
    bank.put_usual("B");
    auto seen = bank.operations_of([&] {
        for (std::int64_t i = 0; i < transfer_count; ++i) {
            CHECK(bank.engine.run("t" + std::to_string(i), transfer{"A", "B", 5}).done());
        }
    });
    CHECK(balance(bank.engine, "A") == opening - 5 * transfer_count);
    CHECK(balance(bank.engine, "B") == opening + 5 * transfer_count);
    return seen;
}

} // namespace

TEST_CASE("unread: a single transfer in two phases costs no read") {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        bank bank{settle::two_phases, *server};
        auto const seen = operations_of_transfers(bank);
        CHECK(seen.at("query") == 0);
        // A statement each: two records twice, and the entry twice.
        CHECK(seen.at("update") == 6 * transfer_count);
        CHECK(seen.at("insert") == transfer_count);
    }
}

TEST_CASE("unread: a single transfer in one phase costs no read") {
    bank bank{settle::phases::one};
    auto const seen = operations_of_transfers(bank);
    CHECK(seen.at("query") == 0);
    CHECK(seen.at("insert") == transfer_count);
    CHECK(seen.at("update") == 2 * transfer_count);
}

TEST_CASE("unread: a transfer of 0 does not change its records") {
    for (auto const how : {settle::phases::one, settle::two_phases}) {
        for (auto* const server : {&replica_set_address, &standalone_address}) {
            bank bank{how, *server};
            bank.put_usual("A");
            bank.put_usual("B");
            auto const before = bank.look("suite_ledgers", "A");
            CHECK(bank.engine.run("one", transfer{"A", "B", 0}).done());
            CHECK(bank.engine.run("two", transfer{"B", "A", 0}).done());
            std::vector<std::pair<std::string, transfer>> const some{
                {"three", {"A", "B", 0}}, {"four", {"B", "A", 0}}, {"five", {"A", "B", 0}}};
            for (auto const& outcome : bank.engine.run_all(some)) CHECK(outcome.done());
            CHECK(bank.look("suite_ledgers", "A") == before);
            CHECK(balance(bank.engine, "B") == opening);
        }
    }
}

TEST_CASE("unread: a record is read where an update cannot decide, with the same outcome") {
    struct situation {
        char const* name;
        char const* source; ///< the rest of its document
        settle::verdict end;
        std::int64_t left;      ///< on the source
        bool one_phase = false; ///< with two phases an existing mark could not be known
    };
    using enum settle::verdict;
    std::string const mark =
        R"({"id": "other", "part": 0, "line": 0, "epoch": 1, "effect": "add", )"
        R"("confirm": {}, "undo": {"balance": 10}})";
    std::string const marked =
        R"("balance": {"$numberLong": "100"}, "units": 0, "label": "", "pendingTransactions": [)" +
        mark + "]";
    for (situation const& one : {
             situation{"32 bits", R"("balance": 100, "units": 0, "label": "")", done, 70},
             {"a double", R"("balance": 100.0, "units": 0, "label": "")", done, 70},
             {"no marks",
              R"("balance": {"$numberLong": "100"}, "units": {"$numberLong": "0"},)"
              R"("label": "", "pendingTransactions": null)",
              done, 70},
             {"another's mark", marked.c_str(), done, 70},
             {"too little", R"("balance": {"$numberLong": "20"}, "units": 0, "label": "")",
              canceled, 20},
             {"a fraction", R"("balance": 100.5, "units": 0, "label": "")", canceled, -1},
             {"an array",
              R"("balance": [{"$numberLong": "100"}], "units": {"$numberLong": "0"},)"
              R"("label": "")",
              canceled, -1},
             {"marks that are none",
              R"("balance": {"$numberLong": "100"}, )"
              R"("units": {"$numberLong": "0"}, "label": "", )"
              R"("pendingTransactions": "none")",
              canceled, -1, true},
             {"a label that is none",
              R"("balance": {"$numberLong": "100"}, )"
              R"("units": {"$numberLong": "0"}, "label": 7)",
              canceled, -1},
         }) {
        for (auto const how : {settle::phases::one, settle::two_phases}) {
            if (one.one_phase && how != settle::phases::one) continue;
            INFO(one.name << ", phases " << static_cast<int>(how));
            bank bank{how};
            bank.put_ledger("A", one.source);
            bank.put_usual("B");
            auto const outcome = bank.engine.run("t", transfer{"A", "B", 30});
            CHECK_MESSAGE(outcome.verdict == one.end, outcome.text());
            check_outcome(bank.engine, outcome);
            CHECK(balance(bank.engine, "B") == opening + (outcome.done() ? 30 : 0));
            if (one.left >= 0) CHECK(balance(bank.engine, "A") == one.left);
        }
    }
}

TEST_CASE("unread: a refused part does not delay the other part") {
    for (auto const how : {settle::phases::one, settle::two_phases}) {
        bank bank{how};
        bank.put_usual("A");
        // The source could be changed unread, the destination is full.
        bank.put_ledger("B", R"("balance": {"$numberLong": "9223372036854775800"}, "label": "", )"
                             R"("units": {"$numberLong": "0"})");
        auto const outcome = bank.engine.run("t", transfer{"A", "B", 30});
        CHECK(outcome.canceled());
        CHECK(outcome.why == settle::reason::overflow);
        CHECK(outcome.participant == "destination");
        CHECK(balance(bank.engine, "A") == opening);
        CHECK(bank.engine.marks().value() == 0);
    }
}

TEST_CASE("unread: two parts that name one record are two parts") {
    for (auto const how : {settle::phases::one, settle::two_phases}) {
        bank bank{how};
        bank.put_usual("A");
        auto const outcome = bank.engine.run("t", transfer{"A", "A", 30});
        CHECK(outcome.done());
        CHECK(balance(bank.engine, "A") == opening);
        CHECK(bank.engine.marks().value() == 0);
    }
}

TEST_CASE("unread: after each miss records are read for a longer time") {
    settle::detail::conditional_tries tries;
    auto const reads_in_between = [&] {
        int count = 0;
        while (!tries.is_tried()) ++count;
        return count;
    };
    CHECK(tries.is_tried());
    tries.ended(true);
    std::vector<int> between;
    for (int i = 0; i < 8; ++i) {
        tries.ended(false);
        between.push_back(reads_in_between());
    }
    CHECK(between == std::vector{1, 3, 7, 15, 31, 63, 63, 63});
    tries.ended(true);
    CHECK(tries.is_tried());
    tries.ended(false);
    CHECK(reads_in_between() == 1);
}

} // namespace settle_test
