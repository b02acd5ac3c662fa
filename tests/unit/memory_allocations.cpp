// SPDX-License-Identifier: BSL-1.0
// The allocations of a transaction on memory: none, once there is room. A failed allocation must
// not damage transactions in flight.
#include "counted_new.hpp"
#include "engine_shop.hpp"

#include <array>
#include <tuple>

namespace {

using namespace engine_test;

/// A bank for one thread, with room for the entries that a test makes.
class counted_bank {
public:
    explicit counted_bank(std::size_t room) {
        database_.reserve<accounts>(keys.size());
        database_.reserve_entries<transfer_type>(room);
        for (auto const& key : keys) engine_.create(accounts, {key, 1000}).value();
        for (int i = 0; i < 8; ++i) run(1);
    }

    /// The allocations of one round of transfers between all neighbours.
    std::size_t run(std::int64_t amount) {
        transfer transfer{keys.back(), {}, amount};
        std::size_t calls = 0;
        for (auto const& key : keys) {
            transfer.destination = key;
            auto const before = counted_new::calls();
            auto const outcome = engine_.run(transfer);
            calls += counted_new::calls() - before;
            REQUIRE(outcome.verdict == (amount > 1000 ? verdict::canceled : verdict::done));
            transfer.source = key;
        }
        return calls;
    }

    std::size_t run_under(std::string id, std::string source) {
        transfer const transfer{std::move(source), keys[1], 1};
        auto const before = counted_new::calls();
        auto const outcome = engine_.run(std::move(id), transfer);
        REQUIRE(outcome.done());
        return counted_new::calls() - before;
    }

    auto& engine() { return engine_; }

private:
    std::array<std::string, 4> const keys{"A", "B", "C", "fifteen letters"};
    settle::memory::basic_database<settle::memory::no_lock> database_;
    settle::engine<settle::memory::basic_database<settle::memory::no_lock>,
                   settle::type_tag<transfer_type>>
        engine_{database_, settle::type<transfer_type>};
};

} // namespace

TEST_CASE("memory: a transaction with short keys allocates nothing") {
    counted_bank bank{1000};
    std::size_t calls = 0;
    for (int i = 0; i < 100; ++i) calls += bank.run(1);
    CHECK(calls == 0);
    SUBCASE("it is canceled") {
        static_cast<void>(bank.run(2000));
        CHECK(bank.run(2000) == 0);
    }
    SUBCASE("the caller gives its id") { CHECK(bank.run_under("a short id", "A") == 0); }
}

TEST_CASE("memory: the test counts allocations of long ids and keys") {
    counted_bank bank{1000};
    CHECK(bank.run_under("an id that is too long to stand in its string", "A") > 0);
    bank.engine().create(accounts, {"an account with a long name", 1000}).value();
    CHECK(bank.run_under("t", "an account with a long name") > 0);
    // Entries stay, so entries beyond the reserved room allocate now and then.
    counted_bank narrow{0};
    std::size_t calls = 0;
    for (int i = 0; i < 500; ++i) calls += narrow.run(1);
    CHECK(calls > 0);
    CHECK(calls < 40);
}

namespace {

/// Transfers and changed labels of a shop, many on the same records, with ids that need the heap.
class shop_without_memory {
public:
    explicit shop_without_memory(settle::phases how)
        : engine_{database_, settle::type<transfer_type>, settle::type<sale_type>,
                  settle::type<replace_type>, how} {
        for (auto const& key : keys) engine_.create(accounts, {key, 1000}).value();
        engine_.create(items, {item_key, 50, "open", "a note that is too long for its string"})
            .value();
        for (int i = 0; i < 40; ++i) {
            auto const number = static_cast<std::size_t>(i);
            transfers_.emplace_back("a transfer with a long id, number " + std::to_string(i),
                                    transfer{keys[number % 3], keys[(number + 1) % 3], 1 + i});
        }
        replaced_ = {keys[0], 7, {item_key, 60, "open", "another note that is long enough"}};
    }

    void run() {
        std::ignore = engine_.run_all(transfers_, {16, {}, {}});
        std::ignore = engine_.run("replace the item in its place", replaced_);
        std::ignore = engine_.run("sale of two pieces of the item", sale{item_key, 2});
        std::ignore = engine_.run_all(transfers_, {1, {}, {}});
        static_cast<void>(engine_.page({}, "a", 3));
        static_cast<void>(engine_.marks());
    }
    /// Settles all entries, then checks that every entry has its effect once.
    void check() {
        auto const recovered = engine_.recover({.older_than = std::chrono::milliseconds{-1}});
        CHECK(recovered.undecided == 0);
        CHECK(recovered.skipped.empty());
        CHECK(engine_.marks().value() == 0);
        std::array<std::int64_t, 3> expected{1000, 1000, 1000};
        item shelf{item_key, 50, "open", "a note that is too long for its string"};
        std::size_t listed = 0;
        std::string last;
        for (;;) {
            auto const page = engine_.page({}, last, 7).value();
            for (auto const& entry : page) {
                ++listed;
                REQUIRE(settle::is_final(entry.state));
                if (entry.state == state::done) add(entry, expected, shelf);
            }
            if (page.size() < 7) break;
            last = page.back().id;
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            CHECK(balance_of(engine_, keys[i]) == expected[i]);
        }
        CHECK(engine_.read(items, item_key).value() == shelf);
        std::size_t stored = 0;
        for (auto const& one : transfers_) stored += engine_.find(one.first).value() ? 1U : 0U;
        stored += engine_.find("replace the item in its place").value() ? 1U : 0U;
        stored += engine_.find("sale of two pieces of the item").value() ? 1U : 0U;
        CHECK(stored == listed);
    }

private:
    void add(settle::entry const& entry, std::array<std::int64_t, 3>& balances, item& shelf) const {
        if (entry.type == "sale") {
            shelf.stock -= 2;
            shelf.label = "sold";
        } else if (entry.type == "replace") {
            // Its id sorts before the sale's, so `shelf` does not contain the sale yet.
            shelf = replaced_.value;
            balances[0] -= replaced_.fee;
        } else {
            auto const parameters = settle::decode_json<transfer>(entry.parameters).value();
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (keys[i] == parameters.source) balances[i] -= parameters.amount;
                if (keys[i] == parameters.destination) balances[i] += parameters.amount;
            }
        }
    }

    std::array<std::string, 3> const keys{"A", "an account with a long name", "C"};
    std::string const item_key = "an item with a long name";
    settle::memory::database database_;
    settle::engine<settle::memory::database, settle::type_tag<transfer_type>,
                   settle::type_tag<sale_type>, settle::type_tag<replace_type>, settle::phases>
        engine_;
    std::vector<std::pair<std::string, transfer>> transfers_;
    edit replaced_;
};

} // namespace

TEST_CASE("memory: a failed allocation loses and repeats no effect") {
    for (auto const how : {settle::phases::two, settle::phases::one}) {
        std::size_t failed = 0;
        for (std::size_t number = 1;; ++number) {
            INFO("call " << number << " of the heap, in " << (how == settle::phases::two ? 2 : 1));
            shop_without_memory shop{how};
            counted_new::fail_at(number);
            bool thrown = false;
            try {
                shop.run();
            } catch (std::bad_alloc const&) {
                thrown = true;
            }
            bool const over = !counted_new::has_failed();
            counted_new::fail_at(0);
            failed += thrown ? 1U : 0U;
            shop.check();
            // The call that failed then succeeds now.
            shop.run();
            shop.check();
            if (over) break;
        }
        CHECK(failed > 100);
    }
}
