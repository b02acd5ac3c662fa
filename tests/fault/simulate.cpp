// SPDX-License-Identifier: BSL-1.0
// Long runs of several types on a few hot records, with random faults of every kind.
#include "../conformance/fixtures.hpp"
#include "simulation_runs.hpp"

#include <settle/testing/store_suite/types.hpp>

namespace {

using namespace settle::testing;
using settle::each;
using settle::field;
using settle::line;
using settle::param;
using simulation_test::on_one_processor;
using simulation_test::replay;

/// The stock of an article and the number sold.
struct article {
    BOOST_HANA_DEFINE_STRUCT(article, (std::int64_t, number), (std::int64_t, stock),
                             (std::int64_t, sold));
};
constexpr settle::collection<article, "articles", &article::number> articles;

struct sale {
    BOOST_HANA_DEFINE_STRUCT(sale, (std::string, customer), (std::int64_t, price),
                             (std::vector<order_line>, lines));
};

/// The customer pays the shop, and the stock becomes less; money and stock are conserved.
constexpr auto sale_type = settle::transaction<sale, "sale">(
    settle::participant<"customer">(ledgers, param<&sale::customer>)
        .require(field<&ledger::balance> >= param<&sale::price>)
        .apply(field<&ledger::balance> -= param<&sale::price>)
        .compensate(settle::inverse),
    settle::participant<"shop">(ledgers, settle::lit<"shop">)
        .confirm(field<&ledger::balance> += param<&sale::price>),
    settle::participant<"articles">(articles, each<&sale::lines>, line<&order_line::number>)
        .require(field<&article::stock> >= line<&order_line::amount>)
        .apply(field<&article::stock> -= line<&order_line::amount>)
        .compensate(settle::inverse)
        .confirm(field<&article::sold> += line<&order_line::amount>));

using any_transaction = std::variant<move, sale, relabel, issue, withdraw>;

/// One transaction of any type; a few of them cannot succeed.
any_transaction make(dice& chance) {
    constexpr char const* accounts[]{"A", "B", "C", "D", "E", "F", "shop"};
    std::string const account = accounts[chance.between(0, 5)];
    std::string const card_id = "card " + std::to_string(chance.between(1, 4));
    switch (chance.between(0, 9)) {
    case 0: return relabel{account, "label " + std::to_string(chance.between(1, 3))};
    case 1: return issue{card{card_id, "Anna", true, colour::red, {}, 250, {}, 10, 3}};
    case 2: return withdraw{card_id, true};
    case 3:
    case 4: {
        sale sale{account, chance.between(1, 30), {}};
        for (int lines = chance.between(0, 3); lines >= 0; --lines) {
            sale.lines.push_back({chance.between(1, 5), chance.between(1, 20)});
        }
        return sale;
    }
    default: return move{accounts[chance.between(0, 6)], account, chance.between(1, 60)};
    }
}

/// The initial records, and their invariants.
template <typename Simulation>
void prepare(Simulation& trial) {
    for (char const* id : {"A", "B", "C", "D", "E", "F", "shop"}) {
        trial.open(ledgers, {id, 200, 0, "new"});
    }
    for (std::int64_t number = 1; number <= 5; ++number) trial.open(articles, {number, 5'000, 0});
    trial.conserves(ledgers, field<&ledger::balance>)
        .conserves(articles, field<&article::stock>, field<&article::sold>)
        .finally([](auto& engine) -> std::string {
            auto const shop = engine.read(ledgers, "shop").value();
            return shop->balance < 0 ? "the shop owes " + std::to_string(-shop->balance) : "";
        });
}

/// A simulation of all five types.
/// Shape:   given - databases and the engine's other arguments
template <typename... Given>
auto simulation_on(Given&&... given) {
    return simulation{std::forward<Given>(given)..., settle::type<move_type>,
                      settle::type<sale_type>,       settle::type<relabel_type>,
                      settle::type<issue_type>,      settle::type<withdraw_type>};
}

simulation_report in_one_database(simulation_limits const& limits) {
    settle::memory::database db;
    auto trial = simulation_on(db);
    prepare(trial);
    return trial.run(make, limits);
}

simulation_report in_three_databases(simulation_limits const& limits) {
    settle::memory::database entries;
    settle::memory::database bank;
    settle::memory::database shop;
    auto trial = simulation_on(settle::log_in(entries), settle::bind(ledgers, bank),
                               settle::bind(articles, shop), settle::bind(cards, shop));
    prepare(trial);
    return trial.run(make, limits);
}

/// Every other worker uses one phase where it can; the others use two phases.
simulation_report in_one_file(simulation_limits limits) {
    // A look is two scans of the file.
    limits.look_every = 32;
    settle_test::scratch_file const file;
    settle::sqlite::database db{file.path()};
    auto trial = simulation_on(db, settle::phases::one);
    prepare(trial);
    auto report = trial.run(make, limits);
    std::size_t confirmed = 0;
    settle::engine looked{db, settle::type<move_type>};
    for (settle::entry const& one : looked.page({}, "", 1'000'000).value()) {
        if (one.state == settle::state::done && one.committed != 0) ++confirmed;
    }
    CHECK(confirmed > 0);
    CHECK(confirmed < report.done);
    return report;
}

/// The ledgers are in the file of the log, so that commits join their parts.
simulation_report with_joined_commits(simulation_limits limits) {
    limits.look_every = 32;
    settle_test::scratch_file const file;
    settle::sqlite::database db{file.path()};
    settle::memory::database shop;
    auto trial = simulation_on(db, settle::bind(articles, shop), settle::bind(cards, shop));
    prepare(trial);
    return trial.run(make, limits);
}

/// Every other seed also draws how often things go wrong, and how many workers there are.
simulation_limits limits_of(std::uint64_t seed) {
    if (seed % 2 == 0) return simulation_limits::drawn(seed);
    simulation_limits usual;
    usual.seed = seed;
    return usual;
}

/// The events seen over all seeds: a simulation without events shows nothing.
struct experience {
    std::uint64_t begun = 0;
    std::uint64_t steps = 0;
    std::uint64_t late = 0;
    std::uint64_t crashes = 0;
    std::uint64_t reversed = 0;
    std::map<settle::reason, std::uint64_t> reasons;

    void add(simulation_report const& report) {
        begun += report.begun;
        steps += report.steps;
        late += report.late;
        crashes += report.crashes;
        reversed += report.reversed;
        for (auto const& [why, count] : report.reasons) reasons[why] += count;
    }
};

template <typename Simulate>
void run_seeds(std::vector<std::uint64_t> const& seeds_to_run, Simulate const& simulate) {
    on_one_processor const processor;
    experience total;
    for (std::uint64_t const seed : seeds_to_run) {
        simulation_report const report = simulate(limits_of(seed));
        CHECK_MESSAGE(report.problems.empty(), report, "\n  ", replay(seed));
        total.add(report);
    }
    MESSAGE(total.begun, " transactions and ", total.steps, " calls, ", seeds_to_run.size(),
            " seeds");
    if (seeds_to_run.size() == 1) return;
    CHECK(total.late > 100);
    CHECK(total.crashes > 10);
    CHECK(total.reversed > 10);
    using settle::reason;
    for (reason const why : {reason::guard_failed, reason::record_missing, reason::record_exists,
                             reason::busy, reason::cancel_asked, reason::expired}) {
        INFO("canceled because of: ", std::string{name_of(why)});
        CHECK(total.reasons[why] > 0);
    }
}

template <typename Simulate>
void run_purging(std::vector<std::uint64_t> const& seeds_to_run, Simulate const& simulate) {
    on_one_processor const processor;
    std::uint64_t purged = 0;
    std::uint64_t again = 0;
    for (std::uint64_t const seed : seeds_to_run) {
        simulation_report const report = simulate(simulation_limits::slow(seed));
        CHECK_MESSAGE(report.problems.empty(), report, "\n  ", replay(seed));
        purged += report.purged;
        again += report.again;
    }
    MESSAGE(purged, " entries purged, of which ", again, " came again");
    CHECK(purged > 100);
    CHECK((again > 0 || seeds_to_run.size() == 1));
}

} // namespace

TEST_CASE("simulation: a seed repeats its run step by step") {
    simulation_limits limits;
    limits.transactions = 300;
    auto const first = in_one_database(limits);
    auto const second = in_one_database(limits);
    CHECK(first);
    CHECK(first.trace == second.trace);
    CHECK(first.steps == second.steps);
    CHECK(first.done == second.done);
    CHECK(first.lasted == second.lasted);
    limits.seed = 2;
    CHECK(in_one_database(limits).trace != first.trace);
}

TEST_CASE("simulation: five types share a few records of one database") {
    run_seeds(seeds(1, 8), in_one_database);
}

TEST_CASE("simulation: five types span three databases") {
    run_seeds(seeds(1, 4), in_three_databases);
}

TEST_CASE("simulation: five types share one file, some in one phase and some in two") {
    run_seeds(seeds(1, 2), in_one_file);
}

TEST_CASE("simulation: commits join the ledgers, which are in the file of the log") {
    run_seeds(seeds(1, 4), with_joined_commits);
}

TEST_CASE("simulation: entries are purged, and some ids are submitted again") {
    run_purging(seeds(1, 4), in_one_database);
}

TEST_CASE("simulation: limits with which nothing is checked are refused") {
    auto const is_refused = [](auto member) {
        simulation_limits limits;
        limits.*member = 0;
        CHECK_THROWS_AS(std::ignore = in_one_database(limits), std::invalid_argument);
    };
    is_refused(&simulation_limits::workers);
    is_refused(&simulation_limits::look_every);
    is_refused(&simulation_limits::calls_each);
}

TEST_CASE("simulation: a draw may span all values, and a fault hits at least one operation") {
    dice chance{1};
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(chance.between(least, most) != chance.between(least, most));
    CHECK(chance.between(most, most) == most);
    for (std::size_t operations = 1; operations < 70; ++operations) {
        std::uint64_t const all =
            operations < 64 ? (std::uint64_t{1} << operations) - 1 : ~std::uint64_t{0};
        for (int i = 0; i < 20; ++i) {
            CHECK((settle::testing::some_of(operations, chance.draw()) & all) != 0);
        }
    }
}

TEST_CASE("simulation: a violated clause is reported") {
    settle::memory::database db;
    simulation trial{db, settle::type<sale_type>};
    prepare(trial);
    // Sold articles leave the stock, so the stock is not conserved, and the number sold grows.
    trial.conserves(articles, field<&article::stock>)
        .conserves(articles, field<&article::sold>)
        .finally([](auto&) { return "not as the user wants it"; });
    auto const sell = [](dice& chance) {
        return sale{"A", 1, {{chance.between(1, 5), chance.between(1, 5)}}};
    };
    simulation_limits limits;
    limits.transactions = 20;
    auto const report = trial.run(sell, limits);
    CHECK_FALSE(report);
    REQUIRE_FALSE(report.problems.empty());
    CHECK(report.problems.front().starts_with("articles: "));
}

TEST_CASE("long: simulation: a million transactions end right") {
    SUBCASE("in one database") { run_seeds(seeds(1001, 400), in_one_database); }
    SUBCASE("over three databases") { run_seeds(seeds(2001, 120), in_three_databases); }
    SUBCASE("in one file") { run_seeds(seeds(3001, 8), in_one_file); }
    SUBCASE("in one database that is purged") { run_purging(seeds(4001, 100), in_one_database); }
    SUBCASE("in three that are purged") { run_purging(seeds(5001, 40), in_three_databases); }
    SUBCASE("in a file that is purged") { run_purging(seeds(6001, 4), in_one_file); }
}
