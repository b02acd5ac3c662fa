// SPDX-License-Identifier: BSL-1.0
// The shop's program: opens customers, stock and orders, runs payments and refunds, and looks at
// what became of them.
#include <shared/application.hpp>

#include "invoices.hpp"
#include "payment.hpp"
#if SAMPLES_WITH_MONGODB
#include "tutorial_shop.hpp"
#endif

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace {

class shop_application {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::string_view purpose =
        "Lets the customers of a shop pay their orders, and pays refunds.";
    static constexpr std::string_view pieces = "invoices";
    static constexpr std::string_view default_store = "sqlite:shop.db";
    static constexpr std::array<std::string_view, 4> tables{shop::customers.name, shop::orders.name,
                                                   shop::items.name, shop::tills.name};
    using reader = shop::invoice_reader;
#if SAMPLES_WITH_MONGODB
    using tutorial = shop::tutorial_shop;
#endif

    std::vector<samples::open_option> open_options() {
        using kind = samples::open_option::kind;
        return {{"--balance", "What each customer owns", kind::money, &balance_},
                {"--stock", "How many there are of each stock code", kind::count, &stock_}};
    }

    template <typename Store>
    auto make_engine(Store& store, settle::phases how) const {
        return settle::engine{store, settle::type<shop::payment_type>,
                              settle::type<shop::refund_type>, how};
    }

    /// Opens the till, every customer and stock code that the file names, and its orders.
    template <typename Opener>
    void open(Opener& records, std::filesystem::path const& file) const {
        open_names(records, file);
        shop::invoice_reader invoices{file};
        shop::invoice_reader::piece piece;
        while (records.goes_on(invoices.share()) && invoices.next(piece)) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) records.refuse(*no);
            auto const* order = std::get_if<samples::request<shop::payment>>(&piece);
            if (order) open_order(records, *order);
        }
    }

    /// Calls visit(collection, key) for the records of a payment or a refund.
    template <typename Visit>
    static void each_record(shop::payment const& wanted, Visit&& visit) {
        visit(shop::orders, wanted.invoice);
        each_shared_record(wanted, visit);
    }
    template <typename Visit>
    static void each_record(shop::refund const& wanted, Visit&& visit) {
        each_shared_record(wanted, visit);
    }

    template <typename Parameters>
    static samples::refusal not_open(samples::request<Parameters> const& asked,
                                     std::string_view collection, std::string const& key) {
        auto const refuse = [&](std::string reason, std::string_view sentence) {
            return samples::refusal{asked.line, std::move(reason),
                                    fmt::format("invoice {}: {}", asked.id, sentence)};
        };
        if (collection == shop::orders.name) {
            return refuse("unknown order", "it is not open as an order");
        }
        if (collection == shop::customers.name) {
            return refuse("unknown customer", fmt::format("there is no customer {}", key));
        }
        if (collection == shop::tills.name) return refuse("no till", "the till is not open");
        return refuse("unknown stock code", fmt::format("there is no stock code {}", key));
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        samples::money_sums sums;
        for (shop::customer const& each : engine.scan(shop::customers)) {
            sums.now = samples::add(sums.now, each.balance);
            sums.opened = samples::add(sums.opened.value_or(0), each.opened_with);
        }
        for (shop::till const& each : engine.scan(shop::tills)) {
            sums.now = samples::add(sums.now, each.takings);
        }
        return sums;
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        if (!account.empty()) return show_balance(engine, account);
        for (shop::customer const& each : engine.scan(shop::customers)) {
            fmt::print("{:<20} {:>16}\n", each.id, samples::format_money(each.balance));
        }
        for (shop::till const& each : engine.scan(shop::tills)) {
            fmt::print("{:<20} {:>16}\n", each.id, samples::format_money(each.takings));
        }
        fmt::print("{:<20} {:>16}\n", "sum", samples::format_money(sums(engine).now));
        return samples::exit_code::settled;
    }

    static std::string_view in_words(std::string_view participant, settle::reason reason) {
        if (reason != settle::reason::guard_failed) return {};
        if (participant == "customer") return "balance too low";
        if (participant == "stock") return "not enough in stock";
        if (participant == "till") return "not enough in the till";
        if (participant == "order") return "not an unpaid order of this amount";
        return {};
    }

private:
    template <typename Opener>
    void open_names(Opener& records, std::filesystem::path const& file) const {
        samples::csv_file lines{file};
        auto const customer = lines.column("CustomerID");
        auto const stock_code = lines.column("StockCode");
        std::unordered_set<std::string> seen_customers;
        std::vector<std::string> customers;
        std::int64_t sum = 0;
        std::unordered_set<std::string> seen_codes;
        std::vector<std::string> codes;
        samples::csv_row row;
        while (records.goes_on(0) && lines.next(row)) {
            // The invoices are read once more, and then a damaged line is told of.
            if (!row) continue;
            auto const& id = row.fields[customer];
            auto const& code = row.fields[stock_code];
            if (!id.empty() && seen_customers.insert(id).second) {
                // A sum that is too large is found before there is any record.
                sum = samples::add(sum, balance_);
                customers.push_back(id);
            }
            if (!code.empty() && seen_codes.insert(code).second) codes.push_back(code);
        }
        records.create(shop::tills, shop::till{"shop", 0});
        records.create_each(shop::customers, customers, [&](std::string const& id) {
            return shop::customer{id, balance_, balance_};
        });
        records.create_each(shop::items, codes, [&](std::string const& code) {
            return shop::item{code, stock_};
        });
    }

    template <typename Opener>
    void open_order(Opener& records, samples::request<shop::payment> const& asked) const {
        auto const& wanted = asked.parameters;
        bool const made = records.create(
            shop::orders, shop::order{wanted.invoice, wanted.customer, wanted.amount, "unpaid"});
        if (made) return;
        auto const there = records.engine().read(shop::orders, wanted.invoice).value();
        if (there && there->customer == wanted.customer && there->amount == wanted.amount) return;
        records.refuse({asked.line, "id in use with another content",
                        fmt::format("invoice {}: an order of this number is there, with another "
                                    "customer or amount",
                                    wanted.invoice)});
    }

    template <typename Parameters, typename Visit>
    static void each_shared_record(Parameters const& wanted, Visit&& visit) {
        visit(shop::customers, wanted.customer);
        for (auto const& line : wanted.lines) visit(shop::items, line.stock_code);
        visit(shop::tills, std::string{"shop"});
    }

    template <typename Engine>
    static samples::exit_code show_balance(Engine& engine, std::string const& account) {
        auto const till = engine.read(shop::tills, account).value();
        auto const customer = engine.read(shop::customers, account).value();
        if (!till && !customer) {
            samples::complain(name, fmt::format("there is no customer '{}'", account));
            return samples::exit_code::refused;
        }
        auto const amount = customer ? customer->balance : till->takings;
        fmt::print("{}\n", samples::format_money(amount));
        return samples::exit_code::settled;
    }

    std::int64_t balance_ = 0;
    std::int64_t stock_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    return samples::main_of(shop_application{}, argc, argv);
}
