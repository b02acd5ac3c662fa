// SPDX-License-Identifier: BSL-1.0
// A file that another program holds: transactions that have no part in it go on meanwhile.
#include "two_files.hpp"

#include <settle/runner.hpp>

#include <atomic>
#include <future>
#include <optional>

namespace left_waves_test {

using namespace two_files_test;
using namespace std::chrono_literals;

/// Pays from an account for what is put into vaults, which may be none; another account pays a fee.
struct share {
    std::string vault;
};
struct payout {
    std::string from;
    std::int64_t amount = 0;
    std::vector<share> shares;
    std::string payer{"rich"};
    std::int64_t fee = 0;
};

} // namespace left_waves_test
BOOST_HANA_ADAPT_STRUCT(left_waves_test::share, vault);
BOOST_HANA_ADAPT_STRUCT(left_waves_test::payout, from, amount, shares, payer, fee);

namespace left_waves_test {
namespace {

inline constexpr auto payout_type = settle::transaction<payout, "payout">(
    settle::participant<"from">(accounts, param<&payout::from>)
        .require(field<&account::balance> >= param<&payout::amount>)
        .apply(field<&account::balance> -= param<&payout::amount>)
        .compensate(settle::inverse),
    settle::participant<"payer">(accounts, param<&payout::payer>)
        .require(field<&account::balance> >= param<&payout::fee>)
        .apply(field<&account::balance> -= param<&payout::fee>)
        .compensate(settle::inverse),
    settle::participant<"to">(vaults, settle::each<&payout::shares>, settle::line<&share::vault>)
        .confirm(field<&vault::gold> += lit<1>));

/// The log, the accounts and the vaults in a file each. A wait for a held file has no limit of its
/// own.
struct three_files {
    folder own{};
    settle::sqlite::database log{own.file("log")};
    settle::sqlite::database books{own.file("books")};
    settle::sqlite::database cellar{own.file("cellar"), {.busy_timeout = 10min}};

    auto make(settle::options const& limits = {}) {
        return settle::engine{settle::log_in(log),           limits,
                              settle::bind(accounts, books), settle::bind(vaults, cellar),
                              settle::type<transfer_type>,   settle::type<deposit_type>,
                              settle::type<payout_type>};
    }

    three_files() {
        auto engine = make();
        open_accounts(engine, {{"A", 100}, {"B", 0}, {"C", 1'000}, {"D", 0}});
        for (auto const* id : {"V", "W"}) engine.create(vaults, {id, 0}).value();
        for (int number = 0; number < 6; ++number)
            engine.create(accounts, {"P" + std::to_string(number), 0}).value();
    }
    [[nodiscard]] std::int64_t balance(std::string const& id) {
        auto engine = make();
        return balance_of(engine, id);
    }
    [[nodiscard]] std::int64_t gold() {
        auto engine = make();
        return engine.at(vaults, "V").gold + engine.at(vaults, "W").gold;
    }
    [[nodiscard]] std::uint64_t marks() { return make().marks().value(); }
};

/// The outcome of a transaction that a runner runs.
template <typename Engine, typename Parameters>
std::future<settle::outcome> start(settle::runner<Engine>& runner, std::string id,
                                   Parameters const& parameters,
                                   settle::call_options const& call = {}) {
    auto promise = std::make_shared<std::promise<settle::outcome>>();
    auto outcome = promise->get_future();
    auto const started = runner.start(
        std::move(id), parameters,
        [promise](settle::outcome ended) { promise->set_value(std::move(ended)); }, call);
    REQUIRE(started.has_value());
    return outcome;
}

/// Lets a file go after a while that is longer than the other jobs of a window wait for it.
class released_later {
public:
    explicit released_later(std::string const& file) : held_(file) {}
    [[nodiscard]] bool is_released() const { return is_released_; }

private:
    holding_program held_;
    std::atomic<bool> is_released_ = false;
    std::jthread releases_{[this] {
        std::this_thread::sleep_for(400ms);
        is_released_ = true;
        held_.let_go();
    }};
};

} // namespace

TEST_CASE("left waves: a runner's other transactions end while a file is held") {
    three_files files;
    auto engine = files.make();
    settle::runner runner{engine};
    holding_program other{files.own.file("cellar")};
    auto held = start(runner, "held", deposit{"A", "V", 1});
    for (int count = 0; count < 30; ++count) {
        auto quick = start(runner, std::to_string(count), transfer{"C", "D", 1});
        CHECK(quick.get().done());
    }
    CHECK(held.wait_for(0s) == std::future_status::timeout);
    auto behind = start(runner, "behind", deposit{"A", "V", 2});
    other.let_go();
    CHECK(held.get().done());
    CHECK(behind.get().done());
    CHECK(engine.at(vaults, "V").gold == 3);
    CHECK(engine.marks().value() == 0);
}

TEST_CASE("left waves: threads that share windows end their transactions while a file is held") {
    three_files files;
    auto engine = files.make();
    holding_program other{files.own.file("cellar")};
    std::atomic<int> done = 0;
    std::jthread const held{[&] {
        on_threads(3, [&](int thread) {
            done += engine.run("held-" + std::to_string(thread), deposit{"A", "V", 1}).done();
        });
    }};
    on_threads(4, [&](int thread) {
        for (int number = 0; number < 10; ++number) {
            auto const id = std::to_string(thread) + "-" + std::to_string(number);
            CHECK(engine.run(id, transfer{"C", "D", 1}).done());
        }
    });
    CHECK(done == 0);
    other.let_go();
    while (done < 3) std::this_thread::sleep_for(1ms);
    CHECK(engine.at(vaults, "V").gold == 3);
}

TEST_CASE(
    "left waves: a deadline ends the wait for a held file, and the late wave leaves no mark") {
    three_files files;
    std::optional<released_later> other;
    {
        auto engine = files.make();
        settle::runner runner{engine};
        other.emplace(files.own.file("cellar"));
        auto begun = start(runner, "t", deposit{"A", "V", 5}, {.deadline = 150ms});
        auto waiting = start(runner, "u", deposit{"A", "V", 5}, {.deadline = 200ms});
        CHECK(begun.get().verdict == settle::verdict::undecided);
        CHECK(waiting.get().verdict == settle::verdict::undecided);
        CHECK_FALSE(other->is_released());
    }
    settle::options limits;
    limits.takeover = 100ms;
    auto engine = files.make(limits);
    CHECK(engine.run("t", deposit{"A", "V", 5}).done());
    CHECK(engine.run("u", deposit{"A", "V", 5}).done());
    CHECK(engine.marks().value() == 0);
    CHECK(engine.at(vaults, "V").gold == 10);
    CHECK(balance_of(engine, "A") == 90);
}

/// A batch that runs while the vaults are held, and then let go.
struct held_run {
    /// Shape:   each transaction of the batch gets a payer of its own
    held_run(settle::phases how, std::vector<payout> batch, std::size_t window = 1'000)
        : outcomes(batch.size()), is_early(batch.size()) {
        settle::engine engine{settle::log_in(files.log), settle::bind(accounts, files.books),
                              settle::bind(vaults, files.cellar), settle::type<payout_type>, how};
        for (std::size_t number = 0; number < batch.size(); ++number)
            batch[number].payer = "P" + std::to_string(number);
        released_later const other{files.own.file("cellar")};
        engine.run_all(batch,
                       [&](std::size_t number, settle::outcome ended) {
                           is_early[number] = !other.is_released();
                           outcomes[number] = std::move(ended);
                       },
                       {.window = window});
        CHECK(engine.marks().value() == 0);
    }

    three_files files{};
    std::vector<settle::outcome> outcomes;
    std::vector<bool> is_early; ///< it ended before the vaults were let go
};

constexpr settle::phases all_ways[]{settle::early_entries, settle::phases::one};

TEST_CASE("left waves: a batch keeps the order of its input") {
    for (auto const how : all_ways) {
        CAPTURE(how);
        // The first is canceled, since its vault is missing; so the money suffices for the others.
        held_run run{how,
                     {{"A", 60, {{"missing"}}},
                      {"A", 60, {}},
                      {"A", 30, {{"V"}}},
                      {"A", 20, {}},
                      {"A", 5, {{"V"}, {"W"}}},
                      {"C", 7, {}}}};
        CHECK(run.outcomes[0].why == reason::record_missing);
        CHECK(run.outcomes[3].why == reason::guard_failed);
        for (std::size_t const number : {1U, 2U, 4U, 5U}) CHECK(run.outcomes[number].done());
        CHECK(run.is_early[5]);
        CHECK_FALSE(run.is_early[1]);
        CHECK(run.files.balance("A") == 5);
        CHECK(run.files.gold() == 3);
    }
}

TEST_CASE("left waves: a guard that fails beside an earlier transaction is tried again") {
    for (auto const how : all_ways) {
        CAPTURE(how);
        // The first is canceled by its fee while the second waits for its vault.
        held_run run{how, {{"A", 60, {}, {}, 50}, {"A", 60, {{"V"}}}, {"A", 60, {}}, {"C", 1, {}}}};
        CHECK(run.outcomes[0].why == reason::guard_failed);
        CHECK(run.outcomes[1].done());
        CHECK(run.outcomes[2].why == reason::guard_failed);
        CHECK(run.is_early[0]);
        CHECK(run.is_early[3]);
        CHECK(run.files.balance("A") == 40);
    }
}

TEST_CASE("left waves: a transaction that waits behind a wave keeps its place in the batch") {
    for (auto const how : all_ways) {
        CAPTURE(how);
        // The first has its part in the wave that is left. The fourth enters the window after that,
        // and waits behind the wave before it sends anything; the fifth needs the same money.
        held_run run{how,
                     {{"C", 1, {{"V"}}},
                      {"B", 0, {}},
                      {"D", 0, {}},
                      {"A", 60, {{"W"}}},
                      {"A", 60, {}},
                      {"D", 0, {}}},
                     3};
        for (std::size_t const number : {0U, 1U, 2U, 3U, 5U}) CHECK(run.outcomes[number].done());
        CHECK(run.outcomes[4].why == reason::guard_failed);
        CHECK(run.is_early[1]);
        CHECK_FALSE(run.is_early[3]);
        CHECK(run.files.balance("A") == 40);
        CHECK(run.files.gold() == 2);
    }
}

TEST_CASE("left waves: stop requests end the waits of threads and of a runner's callers") {
    three_files files;
    auto engine = files.make();
    holding_program other{files.own.file("cellar")};
    settle::runner runner{engine};
    auto held = start(runner, "held", deposit{"A", "V", 1}, {.deadline = 10min});
    std::stop_source stop;
    settle::call_options const stoppable{{}, stop.get_token()};
    auto stopped = start(runner, "stopped", deposit{"A", "V", 1}, stoppable);
    CHECK(start(runner, "quick", transfer{"C", "D", 1}).get().done());
    // The window's order keeps it behind the others, and it has an account in common with them.
    std::stop_source last_stop;
    auto behind = start(runner, "behind", transfer{"A", "B", 1}, {{}, last_stop.get_token()});
    std::jthread const stops{[&] {
        std::this_thread::sleep_for(300ms);
        stop.request_stop();
    }};
    std::atomic<int> undecided = 0;
    on_threads(4, [&](int thread) {
        auto const ended =
            engine.run("thread-" + std::to_string(thread), deposit{"C", "V", 1}, stoppable);
        undecided += ended.verdict == settle::verdict::undecided;
    });
    CHECK(undecided == 4);
    CHECK(stopped.get().verdict == settle::verdict::undecided);
    last_stop.request_stop();
    CHECK(behind.wait_for(1min) == std::future_status::ready);
    CHECK(held.wait_for(0s) == std::future_status::timeout);
    other.let_go();
    CHECK(held.get().done());
}

TEST_CASE("left waves: transactions end in a store that is slow, while new ones begin") {
    three_files files;
    auto engine = files.make();
    settle::runner runner{engine};
    std::atomic<bool> is_over = false;
    std::jthread const slows{[&] {
        while (!is_over) {
            holding_program other{files.own.file("cellar")};
            std::this_thread::sleep_for(150ms);
            other.let_go();
            std::this_thread::sleep_for(5ms);
        }
    }};
    std::vector<std::future<settle::outcome>> outcomes;
    for (int number = 0; number < 150; ++number) {
        outcomes.push_back(start(runner, std::to_string(number), deposit{"C", "V", 1}));
        std::this_thread::sleep_for(20ms);
    }
    CHECK(outcomes.front().wait_for(0s) == std::future_status::ready);
    is_over = true;
    for (auto& each : outcomes) CHECK(each.get().done());
    CHECK(engine.at(vaults, "V").gold == 150);
}

} // namespace left_waves_test
