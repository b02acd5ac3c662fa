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
    std::vector<std::int64_t> spent = std::vector<std::int64_t>(customers);

    static std::string item(std::size_t number) { return std::to_string(20'000 + number); }
    static std::string customer(std::size_t number) { return std::to_string(12'000 + number); }

    explicit payments(std::size_t count) {
        std::mt19937_64 chance{20251121};
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const payer = chance() % customers;
            shop::payment payment{std::to_string(500'000 + i), customer(payer), 0, {}};
            for (std::size_t line = 0; line < 20; ++line) {
                std::size_t const number = chance() % items;
                auto const quantity = static_cast<std::int64_t>(1 + chance() % 12);
                auto const price = static_cast<std::int64_t>(10 + chance() % 1000);
                payment.lines.push_back({item(number), quantity, price});
                payment.amount += quantity * price;
                sold[number] += quantity;
            }
            takings += payment.amount;
            spent[payer] += payment.amount;
            requests.emplace_back("payment-" + payment.invoice, std::move(payment));
        }
    }
};

double settle_round(payments const& work) {
    settle::memory::basic_database<settle::memory::no_lock> db;
    db.reserve<shop::orders>(work.requests.size());
    db.reserve_entries<shop::payment_type>(work.requests.size());
    settle::engine engine{db, settle::type<shop::payment_type>};
    engine.create(shop::tills, {"shop", 0}).value();
    for (std::size_t i = 0; i < payments::items; ++i) {
        engine.create(shop::items, {payments::item(i), payments::plenty}).value();
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        engine.create(shop::customers, {payments::customer(i), payments::plenty, 0}).value();
    }
    for (auto const& [id, one] : work.requests) {
        engine.create(shop::orders, {one.invoice, one.customer, one.amount, "unpaid"}).value();
    }
    bool all_done = true;
    stopwatch const watch;
    for (auto const& [id, one] : work.requests) all_done = engine.run(id, one).done() && all_done;
    double const seconds = watch.seconds();
    if (!all_done || engine.marks().value() != 0)
        throw wrong_result("settle: a payment is not done");
    if (engine.read(shop::tills, "shop").value()->takings != work.takings) {
        throw wrong_result("settle: wrong takings");
    }
    for (std::size_t i = 0; i < payments::items; ++i) {
        auto const found = engine.read(shop::items, payments::item(i)).value();
        if (found->in_stock != payments::plenty - work.sold[i]) {
            throw wrong_result("settle: a wrong stock");
        }
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        auto const found = engine.read(shop::customers, payments::customer(i)).value();
        if (found->balance != payments::plenty - work.spent[i]) {
            throw wrong_result("settle: a wrong balance of a customer");
        }
    }
    for (auto const& [id, one] : work.requests) {
        if (engine.read(shop::orders, one.invoice).value()->status != "paid") {
            throw wrong_result("settle: an order is not paid");
        }
    }
    return seconds;
}

template <baseline::memory::fetch Fetches>
double round_by_hand(payments const& work) {
    baseline::memory::memory_shop<Fetches> shop_by_hand{work.requests.size()};
    shop_by_hand.open_till("shop");
    for (std::size_t i = 0; i < payments::items; ++i) {
        shop_by_hand.open_item(payments::item(i), payments::plenty);
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        shop_by_hand.open_customer(payments::customer(i), payments::plenty);
    }
    for (auto const& [id, one] : work.requests) {
        shop_by_hand.open_order({one.invoice, one.customer, one.amount, "unpaid"});
    }
    bool all_done = true;
    stopwatch const watch;
    for (auto const& [id, one] : work.requests) all_done = shop_by_hand.run(id, one) && all_done;
    double const seconds = watch.seconds();
    bool const right = all_done && shop_by_hand.takings() == work.takings;
    if (!right) throw wrong_result("by hand: wrong takings");
    for (std::size_t i = 0; i < payments::items; ++i) {
        if (shop_by_hand.in_stock(payments::item(i)) != payments::plenty - work.sold[i]) {
            throw wrong_result("by hand: a wrong stock");
        }
    }
    for (std::size_t i = 0; i < payments::customers; ++i) {
        if (shop_by_hand.balance(payments::customer(i)) != payments::plenty - work.spent[i]) {
            throw wrong_result("by hand: a wrong balance of a customer");
        }
    }
    for (auto const& [id, one] : work.requests) {
        if (!shop_by_hand.is_paid(one.invoice) || !shop_by_hand.is_done(id)) {
            throw wrong_result("by hand: an order is not paid");
        }
    }
    if (shop_by_hand.has_marks()) throw wrong_result("by hand: marks are left");
    return seconds;
}

add_case const twenty_lines{
    14, "memory, payment of 20 lines", [](context& context, std::string const& name) {
        payments const work{context.size(20'000, 2'000)};
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size());
        compared.settle = {"settle", [&] { return settle_round(work); }};
        compared.baselines = {
            {"by hand", [&] { return round_by_hand<baseline::memory::fetch::as_used>(work); }},
            {"by hand, prefetches",
             [&] { return round_by_hand<baseline::memory::fetch::ahead>(work); }}};
        compared.budget = 1.15;
        context.compare(compared);
    }};

} // namespace

} // namespace bench
