// SPDX-License-Identifier: BSL-1.0
// Transfers in memory, one at a time and by run_all, with numeric keys and text keys.
#include "baseline/memory.hpp"
#include "bench.hpp"
#include "repeated.hpp"
#include "workload.hpp"

#include <settle/memory.hpp>
#include <settle/metrics.hpp>
#include <settle/settle.hpp>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::in_memory {

struct number_account {
    std::int64_t id;
    std::int64_t balance;
};
struct number_transfer {
    std::int64_t source;
    std::int64_t destination;
    std::int64_t amount;
};

} // namespace bench::in_memory

SETTLE_STRUCT(bench::in_memory::number_account, id, balance);
SETTLE_STRUCT(bench::in_memory::number_transfer, source, destination, amount);

namespace bench::in_memory {

inline constexpr settle::collection<number_account, "accounts", &number_account::id> numbered;
inline constexpr auto number_type =
    transfer_between<number_account, number_transfer>(numbered, numbered);

namespace {

/// The differences between numeric keys and text keys.
struct numbers {
    using key = std::int64_t;
    using account = number_account;
    using transfer = number_transfer;
    static constexpr auto const& accounts = numbered;
    static constexpr auto const& type = number_type;
    static key make(std::size_t number) { return static_cast<key>(number) * 7919; }
};
struct texts {
    using key = std::string;
    using account = bench::account;
    using transfer = bench::transfer;
    static constexpr auto const& accounts = bench::accounts;
    static constexpr auto const& type = transfer_type;
    static key make(std::size_t number) { return "a" + std::to_string(10'000'000 + number); }
};

template <typename Kind>
struct work {
    using transfer = typename Kind::transfer;

    std::vector<typename Kind::key> keys{};
    std::int64_t opening = 0;
    std::vector<std::pair<std::string, transfer>> requests{};
    std::vector<std::int64_t> expected{};

    work(std::size_t accounts, std::size_t transfers) {
        opening = static_cast<std::int64_t>(transfers) * 100;
        for (std::size_t i = 0; i < accounts; ++i) keys.push_back(Kind::make(i));
        expected.assign(accounts, opening);
        std::mt19937_64 chance{20251121};
        for (std::size_t i = 0; i < transfers; ++i) {
            std::size_t const source = chance() % accounts;
            std::size_t const destination = (source + 1 + chance() % (accounts - 1)) % accounts;
            auto const amount = static_cast<std::int64_t>(1 + chance() % 100);
            expected[source] -= amount;
            expected[destination] += amount;
            std::string id = std::to_string(i);
            id.insert(0, 15 - id.size(), '0');
            requests.push_back({std::move(id), {keys[source], keys[destination], amount}});
        }
    }
};

constexpr std::size_t window = 1000;

template <typename Engine, typename Requests>
bool run_batches(Engine& engine, Requests const& requests) {
    bool all_done = true;
    // The store chooses the window.
    engine.run_all(requests, [&](std::size_t, settle::outcome const& outcome) {
        all_done = all_done && outcome.done();
    });
    return all_done;
}

/// Shape:   observed - nothing, or an observer for the engine
template <typename Kind, typename... Observed>
double settle_round(work<Kind> const& drawn, bool batches, timed_run timed = timed_run::first,
                    Observed const&... observed) {
    settle::memory::basic_database<settle::memory::no_lock> db;
    db.template reserve<Kind::accounts>(drawn.keys.size());
    db.template reserve_entries<Kind::type>(drawn.requests.size());
    settle::engine engine{db, settle::type<Kind::type>, observed...};
    for (auto const& key : drawn.keys) {
        engine.create(Kind::accounts, typename Kind::account{key, drawn.opening}).value();
    }
    bool all_done = true;
    double const seconds = time_of(timed, [&] {
        stopwatch const watch;
        if (batches) {
            all_done = run_batches(engine, drawn.requests) && all_done;
        } else {
            for (auto const& [id, parameters] : drawn.requests) {
                all_done = engine.run(id, parameters).done() && all_done;
            }
        }
        return watch.seconds();
    });
    if (!all_done) throw wrong_result("settle: a transfer is not done");
    if (engine.marks().value() != 0) throw wrong_result("settle: marks are left");
    for (std::size_t i = 0; i < drawn.keys.size(); ++i) {
        auto const found = engine.read(Kind::accounts, drawn.keys[i]).value();
        if (found->balance != drawn.expected[i]) throw wrong_result("settle: a wrong balance");
    }
    return seconds;
}

template <typename Kind, template <typename> typename Entries,
          baseline::memory::fetch Fetches = baseline::memory::fetch::as_used>
double round_by_hand(work<Kind> const& drawn, bool batches) {
    using bank_type = baseline::memory::memory_bank<typename Kind::key, Entries, Fetches>;
    using transfer = typename bank_type::transfer;
    bank_type bank{drawn.keys.size(), drawn.requests.size()};
    for (auto const& key : drawn.keys) bank.open(key, drawn.opening);
    std::vector<typename bank_type::transfer_request> requests;
    for (auto const& [id, given] : drawn.requests) {
        requests.emplace_back(id, transfer{given.source, given.destination, given.amount});
    }
    std::span<typename bank_type::transfer_request const> const request_view{requests};
    bool done = true;
    stopwatch const watch;
    if (batches) {
        for_each_batch(request_view, window,
                       [&](auto const& batch) { done = bank.run_batch(batch) && done; });
    } else {
        for (auto const& one : request_view) done = bank.run(one) && done;
    }
    double const seconds = watch.seconds();
    if (!done) throw wrong_result("by hand: a transfer is not done");
    for (std::size_t i = 0; i < drawn.keys.size(); ++i) {
        if (bank.balance(drawn.keys[i]) != drawn.expected[i]) {
            throw wrong_result("by hand: a wrong balance");
        }
    }
    for (auto const& [id, given] : requests) {
        if (!bank.is_done(id)) throw wrong_result("by hand: an entry is not done");
    }
    if (bank.has_marks()) throw wrong_result("by hand: marks are left");
    return seconds;
}

template <typename Kind>
void compare(context& context, std::string const& name, bool batches) {
    work<Kind> const drawn{10'000, context.size(200'000, 20'000)};
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(drawn.requests.size());
    compared.settle = {"settle", [&] { return settle_round(drawn, batches); }};
    using baseline::memory::entries_in_a_map;
    using baseline::memory::entries_in_an_array;
    using baseline::memory::fetch;
    compared.baselines = {
        {"entries in a map", [&] { return round_by_hand<Kind, entries_in_a_map>(drawn, batches); }},
        {"entries in an array",
         [&] { return round_by_hand<Kind, entries_in_an_array>(drawn, batches); }},
        {"entries in an array, prefetches",
         [&] { return round_by_hand<Kind, entries_in_an_array, fetch::ahead>(drawn, batches); }}};
    // The store's window is 1, which leaves data in the cache: by hand that is tried as well.
    if (batches) {
        compared.baselines.push_back(
            {"entries in an array, one after another",
             [&] { return round_by_hand<Kind, entries_in_an_array>(drawn, false); }});
        compared.baselines.push_back(
            {"entries in an array, one after another, prefetches",
             [&] { return round_by_hand<Kind, entries_in_an_array, fetch::ahead>(drawn, false); }});
    }
    compared.budget = 1.10;
    context.compare(compared);
}

add_case const numbers_one_at_a_time{
    10, "memory, keys are numbers, one at a time",
    [](context& context, std::string const& name) { compare<numbers>(context, name, false); }};

add_case const texts_one_at_a_time{
    11, "memory, keys are texts, one at a time",
    [](context& context, std::string const& name) { compare<texts>(context, name, false); }};

add_case const numbers_in_batches{
    12, "memory, keys are numbers, run_all",
    [](context& context, std::string const& name) { compare<numbers>(context, name, true); }};

add_case const texts_in_batches{
    13, "memory, keys are texts, run_all",
    [](context& context, std::string const& name) { compare<texts>(context, name, true); }};

add_case const numbers_counted{
    16, "memory, keys are numbers, with metrics", [](context& context, std::string const& name) {
        work<numbers> const drawn{10'000, context.size(200'000, 20'000)};
        auto const counts = settle::observed_by(settle::metrics{});
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(drawn.requests.size());
        compared.settle = {"with metrics",
                           [&] { return settle_round(drawn, false, timed_run::first, counts); }};
        compared.baselines = {{"without", [&] { return settle_round(drawn, false); }}};
        compared.budget = 1.05;
        compared.rounds = context.size(41, 3);
        context.compare(compared);
    }};

add_case const texts_repeated{
    60, "memory, keys are texts, repeated", [](context& context, std::string const& name) {
        work<texts> const drawn{10'000, context.size(200'000, 20'000)};
        compare_repeated(context, name, drawn.requests.size(),
                         [&](timed_run timed) { return settle_round(drawn, true, timed); });
    }};

} // namespace

} // namespace bench::in_memory
