// SPDX-License-Identifier: BSL-1.0
// A well-known article applies the tutorial to a balance and an order in Python: the order has no
// amount, only a state, and its mark does not hold the old state. Leftovers of its program at any
// step are finished.
#include "old_programs.hpp"
#include "shared_servers.hpp"

#include <doctest/doctest.h>
#include <settle/settle.hpp>

#include <payment/tutorial.hpp>

namespace settle_test {
namespace {

using settle::state;
using namespace std::chrono_literals;
namespace shop_of = shop::tutorial;

struct fashion {
    std::string name;
    bool object_ids; ///< created by the driver where no program gives an id
    bool recent;     ///< not too old to be committed; only an ObjectId holds its time of creation
    std::string field = "balance";
};

/// The article's program, which stops at a chosen step.
class article {
public:
    article(std::string const& address, fashion const& fashion) : to_{address}, of_(fashion) {}

    void open(int number) {
        insert("balance", number, "\"" + of_.field + "\": 1000");
        insert("orders", number, R"("state": "UnPaid")");
    }
    static constexpr int steps = 8;
    void pay(int number, int count) {
        if (count > 0) {
            insert("transaction", number,
                   R"("balance_id": )" + id("balance", number) + R"(, "order_id": )" +
                       id("orders", number) + R"(, "amount": 100, "state": "Initial")");
        }
        if (count > 1) move(number, "Initial", "Pending");
        if (count > 2) change("balance", number, -100, "", "$push");
        if (count > 3) change("orders", number, 0, "Paid", "$push");
        if (count > 4) move(number, "Pending", "Applied");
        if (count > 5) change("balance", number, 0, "", "$pull");
        if (count > 6) change("orders", number, 0, "", "$pull");
        if (count > 7) move(number, "Applied", "Done");
    }
    static constexpr int cancel_steps = 4;
    /// Shape:   paid - whether the order is
    void cancel(int number, int count, bool paid) {
        if (count > 0) move(number, "Pending", "Canceling");
        if (count > 1 && paid) change("orders", number, 0, "UnPaid", "$pull");
        if (count > 2 && has_mark("balance", number)) change("balance", number, 100, "", "$pull");
        if (count > 3) move(number, "Canceling", "Canceled");
    }
    void pay_order_again(int number) { change("orders", number, 0, "Paid", "$push"); }

    [[nodiscard]] std::string text_id(std::string const& collection, int number) const {
        if (!of_.object_ids) return collection.substr(0, 1) + std::to_string(number);
        // Days ago, and the same each time.
        auto const now = std::chrono::system_clock::now().time_since_epoch();
        auto const hours = std::chrono::duration_cast<std::chrono::hours>(now).count();
        auto const born = of_.recent ? (hours / 24 - 2) * 24 * 3600 : 0x51000000LL;
        return fmt::format("{:08x}{:02x}{:014x}", born, int{collection[0]}, number);
    }

    connection to_;

private:
    [[nodiscard]] std::string id(std::string const& collection, int number) const {
        auto const text = text_id(collection, number);
        return of_.object_ids ? R"({"$oid": ")" + text + "\"}" : '"' + text + '"';
    }
    void run(std::string const& command) {
        auto const reply = to_.run(command);
        REQUIRE_MESSAGE(reply.ok, reply.error);
        REQUIRE(reply.number("n") == 1);
    }
    void insert(std::string const& collection, int number, std::string const& rest) {
        run(R"({"insert": ")" + collection + R"(", "documents": [{"_id": )" +
            id(collection, number) + ", " + rest + "}]}");
    }
    void update(std::string const& collection, std::string const& query,
                std::string const& change) {
        run(R"({"update": ")" + collection + R"(", "updates": [{"q": )" + query + R"(, "u": )" +
            change + "}]}");
    }
    void move(int number, std::string const& from, std::string const& to) {
        update("transaction",
               R"({"_id": )" + id("transaction", number) + R"(, "state": ")" + from + "\"}",
               R"({"$set": {"state": ")" + to + "\"}}");
    }
    void change(std::string const& collection, int number, int amount, std::string const& to,
                std::string const& how) {
        std::string made =
            "{\"" + how + R"(": {"pendingTransactions": )" + id("transaction", number) + "}";
        if (amount != 0) {
            made += R"(, "$inc": {")" + of_.field + "\": " + std::to_string(amount) + "}";
        }
        if (!to.empty()) made += R"(, "$set": {"state": ")" + to + "\"}";
        update(collection, R"({"_id": )" + id(collection, number) + "}", made + "}");
    }
    bool has_mark(std::string const& collection, int number) {
        return to_.run(R"({"count": ")" + collection + R"(", "query": {"_id": )" +
                       id(collection, number) + R"(, "pendingTransactions": )" +
                       id("transaction", number) + "}}")
                   .number("n") == 1;
    }

    fashion const& of_;
};

using database = settle::mongodb::tutorial_database<shop_of::payment_type>;

struct taken_shop {
    explicit taken_shop(std::string const& address, std::string const& field = "balance")
        : held{address, layout(field)}, engine{held, settle::type<shop_of::payment_type>} {}

    void settle_all() {
        auto const recovered = engine.recover({.older_than = 0s});
        CHECK(recovered.problem.empty());
        for (auto const& skipped : recovered.skipped) FAIL_CHECK(skipped.problem.text);
        CHECK(recovered.undecided == 0);
        auto const worked = engine.work();
        for (auto const& skipped : worked.skipped) FAIL_CHECK(skipped.problem.text);
        auto const swept = engine.sweep();
        for (auto const& skipped : swept.skipped) FAIL_CHECK(skipped.problem.text);
        CHECK(engine.marks().value() == 0);
    }
    void check(article const& program, int number, bool paid) {
        auto const purse =
            engine.read(shop_of::balances, program.text_id("balance", number)).value();
        auto const order = engine.read(shop_of::orders, program.text_id("orders", number)).value();
        REQUIRE(purse.has_value());
        REQUIRE(order.has_value());
        CHECK(purse->balance == (paid ? 900 : 1000));
        CHECK(order->state == (paid ? "Paid" : "UnPaid"));
    }
    state state_of(article const& program, int number) {
        return engine.find(program.text_id("transaction", number)).value().value().state;
    }

    static settle::mongodb::tutorial_layout layout(std::string const& field) {
        settle::mongodb::tutorial_layout documents;
        documents.transactions = "transaction";
        documents.states = settle::mongodb::spelling::capitalised;
        if (field != "balance") documents.record_fields = {{"balance", field}};
        return documents;
    }

    database held;
    settle::engine<database, settle::type_tag<shop_of::payment_type>> engine;
};

std::vector<fashion> fashions() {
    return {{"texts as ids", false, false},
            {"ObjectIds of long ago", true, false},
            {"ObjectIds of today", true, true},
            {"another field", false, false, "amount"}};
}

} // namespace

TEST_CASE("paid orders: a payment that the article's program left at any step is finished") {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        for (auto const& fashion : fashions()) {
            fresh_database const own{*server};
            article program{own.address(), fashion};
            for (int step = 0; step <= article::steps; ++step) {
                program.open(step);
                program.pay(step, step);
            }
            taken_shop shop{own.address(), fashion.field};
            shop.settle_all();
            int const least = fashion.recent ? 1 : 5;
            for (int step = 0; step <= article::steps; ++step) {
                INFO(fashion.name, ", after ", step, " writes");
                shop.check(program, step, step >= least);
                if (step == 0) continue;
                CHECK(shop.state_of(program, step) ==
                      (step >= least ? state::done : state::canceled));
            }
        }
    }
}

TEST_CASE("paid orders: a cancel that the article's program left at any step is finished") {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        for (auto const& fashion : fashions()) {
            fresh_database const own{*server};
            article program{own.address(), fashion};
            int number = 0;
            for (int applied = 2; applied <= 4; ++applied) {
                for (int step = 1; step <= article::cancel_steps; ++step, ++number) {
                    program.open(number);
                    program.pay(number, applied);
                    program.cancel(number, step, applied > 3);
                }
            }
            taken_shop shop{own.address(), fashion.field};
            shop.settle_all();
            for (int each = 0; each < number; ++each) {
                INFO(fashion.name, ", ", each % article::cancel_steps + 1,
                     " writes of a cancel after ", each / article::cancel_steps + 2);
                shop.check(program, each, false);
                CHECK(shop.state_of(program, each) == state::canceled);
            }
        }
    }
}

TEST_CASE("paid orders: a late payment of the article's program does not change the outcome") {
    auto const of = fashions().front();
    fresh_database const own{replica_set_address};
    article program{own.address(), of};
    for (int const steps : {4, 5, 8}) {
        program.open(steps);
        program.pay(steps, steps);
    }
    taken_shop shop{own.address()};
    shop.settle_all();
    for (int const steps : {4, 5, 8}) program.pay_order_again(steps);
    CHECK(shop.engine.sweep().undone == 3);
    for (int const steps : {4, 5, 8}) shop.check(program, steps, steps > 4);
}

TEST_CASE("paid orders: a late payment beside a mark of settle has no second effect") {
    auto const fashion = fashions()[2];
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        for (bool const committed : {true, false}) {
            fresh_database const own{*server};
            article program{own.address(), fashion};
            program.open(1);
            program.pay(1, committed ? 5 : 4);
            // A worker of settle adopted the marks, and then ended.
            auto const set = [&](std::string const& collection, std::string const& fields) {
                auto const reply = program.to_.run(R"({"update": ")" + collection +
                                                   R"(", "updates": [{"q": {}, "u": {"$set": {)" +
                                                   fields + "}}}]}");
                REQUIRE(reply.number("nModified") == 1);
            };
            auto const adopt = [&](std::string const& collection, int part,
                                   std::string const& effect) {
                set(collection, R"("pendingTransactions": [{"id": ")" +
                                    program.text_id("transaction", 1) + R"(", "part": )" +
                                    std::to_string(part) + R"(, "line": 0, "epoch": 5, )" + effect +
                                    "}]");
            };
            set("transaction", committed ? R"("epoch": 5, "committed": 5)" : R"("epoch": 5)");
            adopt("balance", 0, R"("effect": "add", "confirm": {}, "undo": {"balance": 100})");
            adopt("orders", 1, R"("effect": "set", "confirm": {}, "undo": {"state": "UnPaid"})");
            program.pay_order_again(1);
            taken_shop shop{own.address()};
            shop.settle_all();
            INFO("committed: ", committed);
            shop.check(program, 1, true);
            CHECK(shop.state_of(program, 1) == state::done);
        }
    }
}

TEST_CASE("paid orders: a transaction that cannot be finished stays unchanged") {
    auto const fashion = fashions().front();
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        fresh_database const own{*server};
        article program{own.address(), fashion};
        auto const update = [&](std::string const& collection, std::string const& id,
                                std::string const& change) {
            auto const reply = program.to_.run(R"({"update": ")" + collection +
                                               R"(", "updates": [{"q": {"_id": ")" + id +
                                               R"("}, "u": )" + change + "}]}");
            REQUIRE(reply.number("nModified") == 1);
        };
        for (int const number : {1, 2, 3, 4}) {
            program.open(number);
            program.pay(number, 4);
        }
        // Another program changed one order, a second payment marks another, and a third has no
        // state.
        update("orders", "o1", R"({"$set": {"state": "Shipped"}})");
        update("orders", "o2", R"({"$push": {"pendingTransactions": "t9"}})");
        update("orders", "o3", R"({"$unset": {"state": 1}})");
        taken_shop shop{own.address()};
        auto const began = std::chrono::steady_clock::now();
        auto const report = shop.engine.recover({.older_than = 0s});
        CHECK(std::chrono::steady_clock::now() - began < shop.engine.limits().patience);
        CHECK(report.canceled == 1);
        REQUIRE(report.skipped.size() == 3);
        for (int const number : {1, 2, 3}) {
            auto const& skipped = report.skipped[static_cast<std::size_t>(number - 1)];
            INFO(skipped.problem.text);
            CHECK(skipped.id == "t" + std::to_string(number));
            CHECK(skipped.problem.code == settle::errc::damaged);
            CHECK(skipped.problem.text.find("'o" + std::to_string(number) + "' of 'orders'") !=
                  std::string::npos);
            // A later call for this transaction alone gets the same error, at once, and changes
            // nothing.
            auto const canceled = shop.engine.cancel(skipped.id);
            CHECK(canceled.verdict == settle::verdict::undecided);
            CHECK(canceled.problem.text == skipped.problem.text);
            CHECK(shop.state_of(program, number) == state::pending);
            CHECK(shop.engine.find(skipped.id).value()->epoch_number == 0);
        }
        auto const touched =
            program.to_.run(R"({"count": "transaction", "query": {"epoch": {"$exists": true}}})");
        CHECK(touched.number("n") == 1);
        shop.check(program, 4, false);
        // Once the orders are repaired by hand, these transactions end as the others.
        update("orders", "o1", R"({"$set": {"state": "Paid"}})");
        update("orders", "o2", R"({"$pull": {"pendingTransactions": "t9"}})");
        update("orders", "o3", R"({"$set": {"state": "Paid"}})");
        shop.settle_all();
        for (int const number : {1, 2, 3}) shop.check(program, number, false);
    }
}

} // namespace settle_test
