// SPDX-License-Identifier: BSL-1.0
// Writes that no majority acknowledges, selected by the write concern: a worker sees its own
// writes, as long as there is no election.
#include "bank.hpp"
#include "commands.hpp"
#include "servers.hpp"

#include <thread>

namespace settle_test {
namespace {

/// Another program's insert that the server does not finish. The state of a majority, and of a
/// snapshot, stays as it was before the insert.
class open_insert {
public:
    explicit open_insert(std::string const& address) : shell_(address) {
        set(R"("alwaysOn", "data": {"collectionNS": ")" + shell_.database() + R"(.others"})");
        inserts_ = std::thread{[address] {
            auto const reply = run_command(address, R"({"insert": "others", "documents": [{}], )"
                                                    R"("writeConcern": {"w": 1}})");
            CHECK_MESSAGE(reply.ok, reply.error);
        }};
        auto const begun =
            shell_.run("admin", R"({"waitForFailPoint": "hangAfterCollectionInserts", )"
                                R"("timesEntered": 1, "maxTimeMS": 60000})");
        CHECK_MESSAGE(begun.ok, begun.error);
    }
    open_insert(open_insert const&) = delete;
    open_insert& operator=(open_insert const&) = delete;
    ~open_insert() {
        set(R"("off")");
        inserts_.join();
    }

private:
    void set(std::string const& mode) {
        auto const reply =
            shell_.run("admin", R"({"configureFailPoint": "hangAfterCollectionInserts", "mode": )" +
                                    mode + "}");
        CHECK_MESSAGE(reply.ok, reply.error);
    }

    connection shell_;
    std::thread inserts_;
};

/// Shape:   how - settle::phases
void check_transfers_beside_an_open_insert(settle::phases how) {
    replica_set const set{1};
    settle::mongodb::database_options by_name;
    by_name.weak_writes = true;
    settle::mongodb::database db{set.address("bank") + "&w=1", by_name};
    auto engine = bank_on(db, how);
    for (char const* id : {"A", "B", "C"}) engine.create(ledgers, {id, opening, 0, ""}).value();
    {
        open_insert const by_others{set.address("bank")};
        // The waiting transactions are read before they are confirmed.
        CHECK(engine.submit("t1", transfer{"A", "B", 30}).problem.empty());
        CHECK(engine.submit("t2", transfer{"C", "B", 5}).problem.empty());
        auto const worked = engine.work();
        CHECK_MESSAGE(worked.problem.empty(), worked.problem);
        CHECK(engine.run("t3", transfer{"B", "A", 1}).done());
        for (std::string const id : {"t1", "t2", "t3"}) {
            INFO(id);
            auto const found = engine.find(id);
            CHECK((found.has_value() && found.value() &&
                   found.value()->state == settle::state::done));
        }
        CHECK(balance(engine, "A") == opening - 29);
        CHECK(balance(engine, "B") == opening + 34);
        CHECK(balance(engine, "C") == opening - 5);
        CHECK(engine.marks().value() == 0);
    }
    settle_all(engine);
    CHECK(balance(engine, "B") == opening + 34);
}

} // namespace

TEST_CASE("weak writes: a confirm sees its own mark beside an open native transaction") {
    check_transfers_beside_an_open_insert(settle::phases::two);
}

TEST_CASE("weak writes: one phase sees acknowledged writes beside an open native transaction") {
    check_transfers_beside_an_open_insert(settle::phases::one);
}

} // namespace settle_test
