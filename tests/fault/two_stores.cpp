// SPDX-License-Identifier: BSL-1.0
// One transaction over two stores at once: accounts in memory, stock in a SQLite file, the log in
// either.
#include "scene.hpp"

#include <conformance/fixtures.hpp>

namespace settle_test {
namespace {

using sqlite_database = settle::sqlite::database;

template <typename Log, typename Accounts, typename Stock>
auto engine_over(Log& log, Accounts& accounts, Stock& stock, manual_environment const& time) {
    return settle::engine{settle::log_in(log),
                          settle::bind(ledgers, accounts),
                          settle::bind(shelves, stock),
                          settle::with_environment(time),
                          short_limits(),
                          settle::type<order_type>,
                          settle::type<move_type>};
}

/// Memory and file are made once; every story has records of its own there.
template <bool LogInFile>
class two_stores {
public:
    auto plain() {
        if constexpr (LogInFile) return engine_over(file_, memory_, file_, time);
        else return engine_over(memory_, memory_, file_, time);
    }
    auto fragile(fault_desk& desk) {
        faulty_memory_.emplace(memory_, desk);
        faulty_file_.emplace(file_, desk);
        if constexpr (LogInFile) {
            return engine_over(*faulty_file_, *faulty_memory_, *faulty_file_, time);
        } else {
            return engine_over(*faulty_memory_, *faulty_memory_, *faulty_file_, time);
        }
    }

    manual_environment time;

private:
    scratch_file path_;
    memory_database memory_;
    sqlite_database file_{path_.path()};
    std::optional<faulty<memory_database>> faulty_memory_;
    std::optional<faulty<sqlite_database>> faulty_file_;
};

/// One story: an id, an account and two shelves that nobody else uses.
struct private_order {
    explicit private_order(std::int64_t count)
        : id("t" + std::to_string(count)), account("A" + std::to_string(count)), first(2 * count),
          second(2 * count + 1),
          wanted{account, 30, {{first, 5}, {second, 20}, {first, 15}}} {}

    template <typename Engine>
    void open(Engine& engine, std::int64_t balance) const {
        engine.create(ledgers, {account, balance, 0, ""}).value();
        engine.create(shelves, {first, 20}).value();
        engine.create(shelves, {second, 20}).value();
    }
    /// Everything was paid and taken, or nothing was.
    template <typename Engine>
    void check(Engine& engine, std::int64_t balance) const {
        auto const found = engine.find(id).value();
        bool const ran = found && found->state == settle::state::done;
        CHECK((!found || settle::is_final(found->state)));
        CHECK(engine.read(ledgers, account).value()->balance == (ran ? balance - 30 : balance));
        CHECK(engine.read(shelves, first).value()->amount == (ran ? 0 : 20));
        CHECK(engine.read(shelves, second).value()->amount == (ran ? 0 : 20));
    }

    std::string id;
    std::string account;
    std::int64_t first;
    std::int64_t second;
    order wanted;
};

template <bool LogInFile>
void usual_orders() {
    two_stores<LogInFile> stores;
    auto engine = stores.plain();
    private_order const paid{1};
    paid.open(engine, 100);
    CHECK(engine.run(paid.id, paid.wanted).done());
    CHECK(engine.run(paid.id, paid.wanted).done());
    paid.check(engine, 100);
    private_order const poor{2};
    poor.open(engine, 29);
    outcome const told = engine.run(poor.id, poor.wanted);
    CHECK(told.why == settle::reason::guard_failed);
    CHECK(told.participant == "customer");
    poor.check(engine, 29);
    private_order greedy{3};
    greedy.open(engine, 100);
    greedy.wanted.lines.push_back({greedy.second, 1});
    outcome const short_of_stock = engine.run(greedy.id, greedy.wanted);
    CHECK(short_of_stock.participant == "stock");
    CHECK(short_of_stock.line == 3U);
    greedy.check(engine, 100);
    CHECK(engine.reverse(paid.id).done());
    CHECK(engine.read(ledgers, paid.account).value()->balance == 100);
    CHECK(engine.read(shelves, paid.first).value()->amount == 20);
    CHECK(engine.marks().value() == 0);
    check_settled(engine, {told, short_of_stock});
}

template <bool LogInFile>
void hit_everywhere() {
    two_stores<LogInFile> stores;
    auto plain = stores.plain();
    std::int64_t count = 0;
    for (std::int64_t const balance : {100, 10}) {
        for (fault_kind const kind : every_kind) {
            for (std::size_t number = 1;; ++number) {
                INFO("balance ", balance, ", fault: ", std::string{name_of(kind)}, " at call ",
                     number);
                private_order const story{++count};
                story.open(plain, balance);
                fault_desk desk;
                desk.plan(fault_at(number, kind));
                std::optional<outcome> told;
                {
                    auto engine = stores.fragile(desk);
                    try {
                        told = engine.run(story.id, story.wanted);
                    } catch (crash const&) {
                    }
                }
                if (!is_crash(kind)) {
                    REQUIRE(told.has_value());
                    CHECK(told->verdict == (balance == 100 ? verdict::done : verdict::canceled));
                }
                bool const reached = desk.calls() >= number;
                desk.plan({});
                stores.time.advance(1s);
                CHECK(plain.recover(at_once()).skipped.empty());
                if (desk.deliver_late() != 0) {
                    stores.time.advance(1s);
                    plain.recover(at_once());
                    plain.sweep();
                }
                story.check(plain, balance);
                CHECK(plain.marks().value() == 0);
                if (!reached) break;
            }
        }
    }
    CHECK(plain.sweep().looked_at == 0);
}

} // namespace

TEST_CASE("two stores: an order is paid in memory and taken from a file, log in memory") {
    usual_orders<false>();
}
TEST_CASE("two stores: an order is paid in memory and taken from a file, log in the file") {
    usual_orders<true>();
}
TEST_CASE("two stores: hit once at every call, log in memory") { hit_everywhere<false>(); }
TEST_CASE("two stores: hit once at every call, log in the file") { hit_everywhere<true>(); }

TEST_CASE("two stores: either is refused to another log") {
    scratch_file path;
    sqlite_database file{path.path()};
    memory_database memory;
    manual_environment const time;
    auto engine = engine_over(file, memory, file, time);
    engine.create(ledgers, {"A", 1, 0, ""}).value();
    CHECK_THROWS_AS(engine_over(memory, memory, file, time), settle::failure);
    memory_database another;
    CHECK_THROWS_AS(engine_over(another, memory, another, time), settle::failure);
}

} // namespace settle_test
