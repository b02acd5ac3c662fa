// SPDX-License-Identifier: BSL-1.0
// The shop's program: opens customers, stock and orders, runs payments and refunds, and shows their
// outcomes.
#include "shop_program.hpp"

#include <shared/main_of.hpp>

#include "invoices.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

    std::vector<samples::open_option> open_options() {
        using kind = samples::open_option::kind;
        return {{"--balance", "The first balance of each customer", kind::money, &balance_},
                {"--stock", "The first stock of each stock code", kind::count, &stock_}};
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<shop::payment_type>, settle::type<shop::refund_type>,
                    settle::type<samples::note_type>, how);
    }

    /// Opens the till, the orders of the file, and their customers and stock codes.
    template <typename Opener>
    void open(Opener& records, std::filesystem::path const& file) const {
        shop::invoice_reader invoices{file};
        names_of_file named;
        std::vector<shop::order> orders;
        std::vector<std::uint64_t> lines;
        shop::invoice_reader::piece piece;
        while (records.goes_on(0) && invoices.next(piece)) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) records.refuse(*no);
            if (auto const* noted = std::get_if<samples::remark>(&piece)) records.note(*noted);
            if (auto const* paid = std::get_if<samples::request<shop::payment>>(&piece)) {
                add_names(named, *paid);
                auto const& order = paid->parameters;
                orders.push_back({order.invoice, order.customer, order.amount, "unpaid"});
                lines.push_back(paid->line);
            }
            auto const* back = std::get_if<samples::request<shop::refund>>(&piece);
            if (back != nullptr) add_names(named, *back);
        }
        records.create(shop::tills, shop::till{"shop", 0});
        records.create_each(shop::customers, named.customers, [&](std::string const& id) {
            return shop::customer{id, balance_, balance_};
        });
        records.create_each(shop::items, named.codes,
                            [&](std::string const& code) { return shop::item{code, stock_}; });
        for (std::size_t at = 0; at < orders.size(); ++at) {
            auto const share = static_cast<double>(at) / static_cast<double>(orders.size());
            if (!records.goes_on(share)) return;
            open_order(records, orders[at], lines[at]);
        }
    }

    /// Calls visit(collection, key) for the records of a payment or a refund.
    template <typename Visit>
    static void each_record(shop::payment const& parameters, Visit&& visit) {
        visit(shop::orders, parameters.invoice);
        each_shared_record(parameters, visit);
    }
    template <typename Visit>
    static void each_record(shop::refund const& parameters, Visit&& visit) {
        each_shared_record(parameters, visit);
    }

    template <typename Parameters>
    static samples::refusal not_open(samples::request<Parameters> const& request,
                                     std::string_view collection, std::string const& key) {
        auto const refuse = [&](std::string reason, std::string_view sentence) {
            return samples::refusal{request.line, std::move(reason),
                                    fmt::format("invoice '{}': {}", request.id, sentence)};
        };
        if (collection == shop::orders.name) {
            return refuse("unknown order", "it is not open as an order");
        }
        if (collection == shop::customers.name) {
            return refuse("unknown customer", fmt::format("there is no customer '{}'", key));
        }
        if (collection == shop::tills.name) return refuse("no till", "the till is not open");
        return refuse("unknown stock code", fmt::format("there is no stock code '{}'", key));
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

    template <typename Engine, typename Visit>
    static void each_account(Engine& engine, Visit&& visit) {
        for (shop::customer const& each : engine.scan(shop::customers)) {
            visit(shop::customers.name, each.id, each.opened_with, each.balance);
        }
        for (shop::till const& each : engine.scan(shop::tills)) {
            visit(shop::tills.name, each.id, std::int64_t{0}, each.takings);
        }
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        return samples::sums_of<shop_application>(engine);
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        if (!account.empty()) return show_balance(engine, account);
        for (shop::customer const& each : engine.scan(shop::customers)) {
            samples::print_amount(each.id, samples::format_money(each.balance));
        }
        for (shop::till const& each : engine.scan(shop::tills)) {
            samples::print_amount(each.id, samples::format_money(each.takings));
        }
        samples::print_amount("sum", samples::format_money(sums(engine).now));
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
    struct names_of_file {
        samples::mentions customers;
        samples::mentions codes;
        std::int64_t sum = 0;
    };

    template <typename Parameters>
    void add_names(names_of_file& named, samples::request<Parameters> const& request) const {
        // An overflowing sum is found before any record is created.
        if (named.customers.add(request.line, request.parameters.customer)) {
            named.sum = samples::add(named.sum, balance_);
        }
        for (auto const& line : request.parameters.lines) {
            named.codes.add(request.line, line.stock_code);
        }
    }

    template <typename Opener>
    void open_order(Opener& records, shop::order const& order, std::uint64_t line) const {
        if (records.create(shop::orders, order)) return;
        auto const existing = records.engine().read(shop::orders, order.invoice).value();
        bool const same =
            existing && existing->customer == order.customer && existing->amount == order.amount;
        if (same) return;
        records.refuse({line, "id in use with another content",
                        fmt::format("invoice '{}': an order of this number exists with another "
                                    "customer or amount",
                                    order.invoice)});
    }

    template <typename Parameters, typename Visit>
    static void each_shared_record(Parameters const& parameters, Visit&& visit) {
        visit(shop::customers, parameters.customer);
        for (auto const& line : parameters.lines) visit(shop::items, line.stock_code);
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

int shop::main_of(samples::linked_store const& linked, int argc, char** argv) {
    return samples::main_of(shop_application{}, linked, argc, argv);
}
