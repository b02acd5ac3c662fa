// SPDX-License-Identifier: BSL-1.0
// The payment of the samples, an order of twenty lines, in memory.
#include "baseline/memory_payment.hpp"
#include "bench.hpp"

#include <settle/memory.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

struct payments {
    static constexpr std::size_t items = 3'800;
    static constexpr std::size_t customers = 1'000;
    static constexpr std::int64_t plenty = 1'000'000'000;

    std::vector<std::pair<std::string, shop::payment>> requests{};
    std::int64_t takings = 0;
    std::vector<std::int64_t> sold = std::vector<std::int64_t>(items);

    static std::string item(std::size_t number) { return std::to_string(20'000 + number); }
    static std::string customer(std::size_t number) { return std::to_string(12'000 + number); }

    explicit payments(std::size_t count) {
        std::mt19937_64 chance{20251121};
        for (std::size_t i = 0; i < count; ++i) {
            shop::payment made{std::to_string(500'000 + i), customer(chance() % customers), 0, {}};
            for (std::size_t line = 0; line < 20; ++line) {
                std::size_t const number = chance() % items;
                auto const quantity = static_cast<std::int64_t>(1 + chance() % 12);
                auto const price = static_cast<std::int64_t>(10 + chance() % 1000);
                made.lines.push_back({item(number), quantity, price});
                made.amount += quantity * price;
                sold[number] += quantity;
            }
            takings += made.amount;
            requests.emplace_back("payment-" + made.invoice, std::move(made));
        }
    }
};

double settle_round(payments const& wanted) {
    settle::memory::basic_database<settle::memory::no_lock> db;
    db.reserve<shop::orders>(wanted.requests.size());
    db.reserve_entries<shop::payment_type>(wanted.requests.size());
    settle::engine engine{db, settle::type<shop::payment_type>};
    engine.create(shop::tills, {"shop", 0}).value();
    for (std::size_t i = 0; i < payments::items; ++i) {
        engine.create(shop::items, {payments::item(i), payments::plenty}).value();
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        engine.create(shop::customers, {payments::customer(i), payments::plenty, 0}).value();
    }
    for (auto const& [id, one] : wanted.requests) {
        engine.create(shop::orders, {one.invoice, one.customer, one.amount, "unpaid"}).value();
    }
    bool all = true;
    stopwatch const watch;
    for (auto const& [id, one] : wanted.requests) all = engine.run(id, one).done() && all;
    double const seconds = watch.seconds();
    if (!all || engine.marks().value() != 0) throw wrong_result("settle: a payment is not done");
    if (engine.read(shop::tills, "shop").value()->takings != wanted.takings) {
        throw wrong_result("settle: wrong takings");
    }
    for (std::size_t i = 0; i < payments::items; ++i) {
        auto const found = engine.read(shop::items, payments::item(i)).value();
        if (found->in_stock != payments::plenty - wanted.sold[i]) {
            throw wrong_result("settle: a wrong stock");
        }
    }
    auto const& last = wanted.requests.back().second.invoice;
    if (engine.read(shop::orders, last).value()->status != "paid") {
        throw wrong_result("settle: an order is not paid");
    }
    return seconds;
}

double round_by_hand(payments const& wanted) {
    baseline::memory_shop here{wanted.requests.size()};
    here.open_till("shop");
    for (std::size_t i = 0; i < payments::items; ++i) {
        here.open_item(payments::item(i), payments::plenty);
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        here.open_customer(payments::customer(i), payments::plenty);
    }
    for (auto const& [id, one] : wanted.requests) {
        here.open_order({one.invoice, one.customer, one.amount, "unpaid"});
    }
    bool all = true;
    stopwatch const watch;
    for (auto const& [id, one] : wanted.requests) all = here.run(id, one) && all;
    double const seconds = watch.seconds();
    if (!all || here.takings() != wanted.takings) throw wrong_result("by hand: wrong takings");
    for (std::size_t i = 0; i < payments::items; ++i) {
        if (here.in_stock(payments::item(i)) != payments::plenty - wanted.sold[i]) {
            throw wrong_result("by hand: a wrong stock");
        }
    }
    if (!here.is_paid(wanted.requests.back().second.invoice)) {
        throw wrong_result("by hand: an order is not paid");
    }
    return seconds;
}

add_case const twenty_lines{
    14, "memory, payment of 20 lines", [](context& at, std::string const& name) {
        payments const wanted{at.size(20'000, 2'000)};
        duel rivals;
        rivals.name = name;
        rivals.operations = static_cast<double>(wanted.requests.size());
        rivals.settle = {"settle", [&] { return settle_round(wanted); }};
        rivals.baselines = {{"by hand", [&] { return round_by_hand(wanted); }}};
        rivals.budget = 1.15;
        at.compare(rivals);
    }};

} // namespace

} // namespace bench
