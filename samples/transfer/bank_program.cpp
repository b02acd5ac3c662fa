// SPDX-License-Identifier: BSL-1.0
// The bank's program: opens accounts, runs payment orders, and shows their outcomes.
#include "bank_program.hpp"

#include <shared/main_of.hpp>

#include "orders.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace {

class bank_application {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr std::string_view purpose = "Moves money between the accounts of a bank.";
    static constexpr std::string_view pieces = "payment orders";
    static constexpr std::string_view default_store = "sqlite:bank.db";
    static constexpr std::array<std::string_view, 1> tables{bank::accounts.name};
    using reader = bank::order_reader;

    std::vector<samples::open_option> open_options() {
        return {{"--balance", "The first balance of each account",
                 samples::open_option::kind::money, &balance_}};
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<bank::transfer_type>, settle::type<samples::note_type>,
                    how);
    }

    /// Opens every account that the file's orders name.
    template <typename Opener>
    void open(Opener& records, std::filesystem::path const& file) const {
        bank::order_reader orders{file};
        samples::mentions ids;
        std::int64_t sum = 0;
        bank::order_reader::piece piece;
        while (records.goes_on(0) && orders.next(piece)) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) records.refuse(*no);
            if (auto const* noted = std::get_if<samples::remark>(&piece)) records.note(*noted);
            auto const* order = std::get_if<samples::request<bank::transfer>>(&piece);
            if (order == nullptr) continue;
            for (auto const& id : {order->parameters.source, order->parameters.destination}) {
                // An overflowing sum is found before any account is created.
                if (ids.add(order->line, id)) sum = samples::add(sum, balance_);
            }
        }
        records.create_each(bank::accounts, ids, [&](std::string const& id) {
            return bank::account{id, balance_, balance_};
        });
    }

    /// Calls visit(collection, key) for the records of a transfer.
    template <typename Visit>
    static void each_record(bank::transfer const& parameters, Visit&& visit) {
        visit(bank::accounts, parameters.source);
        visit(bank::accounts, parameters.destination);
    }

    static samples::refusal not_open(samples::request<bank::transfer> const& request,
                                     std::string_view, std::string const& key) {
        return {request.line, "unknown account",
                fmt::format("order '{}': there is no account '{}'", request.id, key)};
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        auto const move = [&](bank::transfer const& of, std::int64_t sign) {
            moves.push_back({bank::accounts.name, of.source, -sign * of.amount});
            moves.push_back({bank::accounts.name, of.destination, sign * of.amount});
        };
        return samples::read_parameters<bank::transfer>(done, "transfer", move);
    }

    template <typename Engine, typename Visit>
    static void each_account(Engine& engine, Visit&& visit) {
        for (bank::account const& each : engine.scan(bank::accounts)) {
            visit(bank::accounts.name, each.id, each.opened_with, each.balance);
        }
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        return samples::sums_of<bank_application>(engine);
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        if (!account.empty()) {
            auto const found = engine.read(bank::accounts, account).value();
            if (!found) {
                samples::complain(name, fmt::format("there is no account '{}'", account));
                return samples::exit_code::refused;
            }
            fmt::print("{}\n", samples::format_money(found->balance));
            return samples::exit_code::settled;
        }
        for (bank::account const& each : engine.scan(bank::accounts)) {
            samples::print_amount(each.id, samples::format_money(each.balance));
        }
        samples::print_amount("sum", samples::format_money(sums(engine).now));
        return samples::exit_code::settled;
    }

    static std::string_view in_words(std::string_view participant, settle::reason reason) {
        bool const guard = reason == settle::reason::guard_failed;
        return guard && participant == "source" ? "balance too low" : std::string_view{};
    }

private:
    std::int64_t balance_ = 0;
};

} // namespace

int bank::main_of(samples::linked_store const& linked, int argc, char** argv) {
    return samples::main_of(bank_application{}, linked, argc, argv);
}
