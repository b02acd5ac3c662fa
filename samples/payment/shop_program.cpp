// SPDX-License-Identifier: BSL-1.0
// The shop's program: opens customers, stock and orders, runs payments and refunds, and shows their
// outcomes.
#include "shop_program.hpp"

#include <shared/main_of.hpp>

#include "invoices.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace {

class shop_application {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::string_view purpose =
        "Lets the customers of a shop pay their orders, and pays refunds.";
    static constexpr std::string_view piece = "invoice";
    static constexpr std::string_view pieces = "invoices";
    static constexpr std::string_view default_store = "sqlite:shop.db";
    static constexpr std::array<std::string_view, 4> tables{shop::customers.name, shop::orders.name,
                                                            shop::items.name, shop::tills.name};
    using reader = shop::invoice_reader;

    template <typename Visit>
    static void each_type(Visit&& visit) {
        visit(shop::payment_type);
        visit(shop::refund_type);
    }

    void add_options(CLI::App&, CLI::App& open) {
        samples::add_money(open, "--balance", balance_, "The first balance of each customer");
        samples::add_count(open, "--stock", stock_, "The first stock of each stock code");
    }

    template <typename Make>
    auto with_arguments(settle::any_database& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<shop::payment_type>, settle::type<shop::refund_type>,
                    settle::type<samples::note_type>, how);
    }

    /// Opens the till, the orders of the file, and their customers and stock codes.
    template <typename Opener>
    void open(Opener& records, reader& invoices) const {
        samples::account_list<shop::customer> customers{balance_};
        std::unordered_set<std::string> codes;
        std::vector<shop::item> items;
        std::vector<shop::order> orders;
        std::vector<std::uint64_t> lines;
        records.read(invoices, [&](auto const& invoice) {
            auto const& order = invoice.parameters;
            customers.add(order.customer);
            for (auto const& line : order.lines) {
                if (codes.insert(line.stock_code).second)
                    items.push_back({line.stock_code, stock_});
            }
            if constexpr (std::is_same_v<decltype(order), shop::payment const&>) {
                orders.push_back({order.invoice, order.customer, order.amount, "unpaid"});
                lines.push_back(invoice.line);
            }
        });
        records.create(shop::tills, std::vector{shop::till{"shop", 0}});
        records.create(shop::customers, customers.accounts);
        records.create(shop::items, items);
        for (auto const which : records.create(shop::orders, orders)) {
            auto const& order = orders[which];
            auto const existing = records.engine().read(shop::orders, order.invoice).value();
            if (existing && existing->customer == order.customer &&
                existing->amount == order.amount) {
                continue;
            }
            records.refuse({lines[which], "id in use with another content",
                            fmt::format("invoice '{}': an order of this number exists with another "
                                        "customer or amount",
                                        order.invoice)});
        }
    }

    /// Calls visit(collection, key) for the records of a payment or a refund.
    template <typename Parameters, typename Visit>
    static void each_record(Parameters const& parameters, Visit&& visit) {
        if constexpr (std::is_same_v<Parameters, shop::payment>) {
            visit(shop::orders, parameters.invoice);
        }
        visit(shop::customers, parameters.customer);
        for (auto const& line : parameters.lines) visit(shop::items, line.stock_code);
        visit(shop::tills, std::string{"shop"});
    }

    /// The money moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        auto const pay = [&](auto const& of, std::int64_t sign) {
            moves.push_back({shop::customers.name, of.customer, -sign * of.amount});
            moves.push_back({shop::tills.name, "shop", sign * of.amount});
        };
        auto const refund = [&](auto const& of, std::int64_t sign) { pay(of, -sign); };
        return samples::read_parameters<shop::payment>(done, "payment", pay) ||
               samples::read_parameters<shop::refund>(done, "refund", refund);
    }

    template <typename Read, typename Visit>
    static void each_account(Read const& read, Visit&& visit) {
        auto [customers, tills] = read(shop::customers, shop::tills);
        for (shop::customer const& each : customers) {
            visit(shop::customers.name, each.id, each.opened_with, each.balance);
        }
        for (shop::till const& each : tills) {
            visit(shop::tills.name, each.id, std::int64_t{0}, each.takings);
        }
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
    std::int64_t balance_ = 0;
    std::int64_t stock_ = 0;
};

} // namespace

int shop::main_of(samples::linked_store const& linked, int argc, char** argv) {
    return samples::main_of(shop_application{}, linked, argc, argv);
}
