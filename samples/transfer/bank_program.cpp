// SPDX-License-Identifier: BSL-1.0
// The bank's program: opens accounts, runs payment orders, and shows their outcomes.
#include "bank_program.hpp"

#include <shared/main_of.hpp>

#include "orders.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

class bank_application {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr std::string_view purpose = "Moves money between the accounts of a bank.";
    static constexpr std::string_view piece = "order";
    static constexpr std::string_view pieces = "payment orders";
    static constexpr std::string_view default_store = "sqlite:bank.db";
    static constexpr std::array<std::string_view, 1> tables{bank::accounts.name};
    using reader = bank::order_reader;

    template <typename Visit>
    static void each_type(Visit&& visit) {
        visit(bank::transfer_type);
    }

    void add_options(CLI::App&, CLI::App& open) {
        samples::add_money(open, "--balance", balance_, "The first balance of each account");
    }

    template <typename Make>
    auto with_arguments(settle::any_database& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<bank::transfer_type>, settle::type<samples::note_type>,
                    how);
    }

    /// Opens every account that the file's orders name.
    template <typename Opener>
    void open(Opener& records, reader& orders) const {
        samples::account_list<bank::account> list{balance_};
        records.read(orders, [&](auto const& order) {
            list.add(order.parameters.source);
            list.add(order.parameters.destination);
        });
        records.create(bank::accounts, list.accounts);
    }

    /// Calls visit(collection, key) for the records of a transfer.
    template <typename Visit>
    static void each_record(bank::transfer const& parameters, Visit&& visit) {
        visit(bank::accounts, parameters.source);
        visit(bank::accounts, parameters.destination);
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        auto const move = [&](bank::transfer const& transfer, std::int64_t sign) {
            moves.push_back({bank::accounts.name, transfer.source, -sign * transfer.amount});
            moves.push_back({bank::accounts.name, transfer.destination, sign * transfer.amount});
        };
        return samples::read_parameters<bank::transfer>(done, "transfer", move);
    }

    template <typename Read, typename Visit>
    static void each_account(Read const& read, Visit&& visit) {
        auto [stored] = read(bank::accounts);
        for (bank::account const& each : stored) {
            visit(bank::accounts.name, each.id, each.opened_with, each.balance);
        }
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
