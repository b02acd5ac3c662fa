// SPDX-License-Identifier: BSL-1.0
// The program of the two banks: opens accounts, runs payment orders, and shows their outcomes.
#include <shared/main_of.hpp>

#include "books.hpp"
#include "comparison.hpp"
#include "ledger.hpp"
#include "orders.hpp"

#include <settle/mariadb.hpp>
#include <settle/postgresql.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

constexpr std::string_view ledger_name = books::ledger.name;

class books_application {
public:
    static constexpr std::string_view name = "books";
    static constexpr std::string_view purpose =
        "Moves money between two banks: one in PostgreSQL, one in MariaDB.";
    static constexpr std::string_view piece = "order";
    static constexpr std::string_view pieces = "payment orders";
    static constexpr std::string_view default_store = "";
    static constexpr bool in_other_databases = true;
    static constexpr auto const& prepared = books::ledger;
    using reader = books::order_reader;

    template <typename Visit>
    static void each_type(Visit&& visit) {
        visit(books::outgoing_type);
        visit(books::incoming_type);
    }

    void add_options(CLI::App& line, CLI::App& open) {
        samples::add_money(open, "--balance", balance_, "The first balance of each account");
        samples::add_text(line, "--accounts", accounts_,
                          "The database of the first bank, which also has the log");
        samples::add_text(line, "--ledger", ledger_, "The database of the second bank");
    }

    template <typename Visit>
    auto visit_store(Visit&& visit) {
        auto& store = store_.emplace(accounts_);
        resource_.emplace(ledger_);
        return visit(store);
    }

    /// The oldest snapshot of the first bank's server, where marks of a hot account gather.
    std::string held_back() {
        auto const holder = store_->oldest_snapshot().value();
        if (!holder) return {};
        return fmt::format("the first bank's oldest snapshot: {}, {} old; 'VACUUM' waits for it\n",
                           samples::printable(holder->name), samples::span_text(holder->age));
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases, Make&& make) {
        return make(store, settle::type<books::outgoing_type>, settle::type<books::incoming_type>,
                    settle::type<samples::note_type>,
                    settle::bind(books::ledger, *resource_, books::book));
    }

    /// Opens the accounts of payers and payees, each at its bank.
    template <typename Opener>
    void open(Opener& records, reader& orders) const {
        samples::account_list<books::account> first{balance_};
        samples::account_list<books::account> second{balance_};
        records.read(orders, [&](auto const& order) {
            auto const& transfer = order.parameters;
            bool const out = std::is_same_v<decltype(transfer), books::outgoing const&>;
            (out ? first : second).add(transfer.payer);
            (out ? second : first).add(transfer.payee);
        });
        std::vector<std::string> ids;
        for (auto const& account : second.accounts) ids.push_back(account.id);
        books::ledger_client client{ledger_};
        client.make_tables();
        auto const opened = client.open(ids, balance_);
        records.count(ledger_name, opened, ids.size() - opened);
        records.create(books::accounts, first.accounts);
    }

    /// Calls visit(collection, key) for the record of a transfer. The ledger checks its own
    /// account.
    template <typename Visit>
    static void each_record(books::outgoing const& parameters, Visit&& visit) {
        visit(books::accounts, parameters.payer);
    }
    template <typename Visit>
    static void each_record(books::incoming const& parameters, Visit&& visit) {
        visit(books::accounts, parameters.payee);
    }

    /// The account of the ledger that a prepared part locks.
    template <typename Parameters>
    static std::string locked_by(Parameters const& parameters) {
        return samples::record_name(ledger_name, books::posting_of(parameters).account);
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        return books::with_parameters(done, [&]<typename Parameters>(Parameters const& parameters) {
            bool const out = std::is_same_v<Parameters, books::outgoing>;
            moves.push_back(
                {out ? books::accounts.name : ledger_name, parameters.payer, -parameters.amount});
            moves.push_back(
                {out ? ledger_name : books::accounts.name, parameters.payee, parameters.amount});
        });
    }

    /// Calls visit(name, id, opened_with, now) for the accounts of both banks.
    template <typename Read, typename Visit>
    void each_account(Read const& read, Visit&& visit) const {
        auto [stored] = read(books::accounts);
        for (books::account const& each : stored) {
            visit(books::accounts.name, each.id, each.opened_with, each.balance);
        }
        books::ledger_client{ledger_}.each_account([&](books::account const& each) {
            visit(ledger_name, each.id, each.opened_with, each.balance);
        });
    }

    /// Compares the log with the postings, and looks for parts in doubt.
    template <typename Engine>
    bool check_others(Engine& engine) const {
        books::ledger_client client{ledger_};
        books::comparison compared{client.postings()};
        for (settle::entry const& entry : engine.list()) compared.compare(entry);
        // Only the log of a purge can lack transfers that the ledger knows.
        if (!engine.read(samples::notes, samples::purge_note).value()) compared.finish();
        for (auto const& id : client.unbalanced()) {
            compared.wrong(fmt::format("the balance of {} is not the sum of its postings", id));
        }
        bool const well = compared.faults == 0;
        samples::print_finding(well, "postings",
                               well
                                   ? samples::with_commas(compared.agreeing) + " agree with the log"
                                   : samples::with_commas(compared.faults) + " faults");
        for (auto const& each : compared.sentences) samples::print_line("    " + each);
        auto const doubts = engine.in_doubt(books::ledger).value().size();
        samples::print_finding(doubts == 0, "in doubt", samples::with_commas(doubts));
        if (doubts > 0) samples::print("'{} doubts' shows what holds them back\n", name);
        return well && doubts == 0;
    }

    static std::string_view in_words(std::string_view participant, settle::reason reason) {
        if (reason == settle::reason::guard_failed) return "balance too low";
        if (reason != settle::reason::refused) return {};
        return participant == "payer" ? "the ledger refuses the debit"
                                      : "the ledger refuses the credit";
    }

private:
    std::string accounts_ = "postgresql://127.0.0.1/bank";
    std::string ledger_ = "mariadb://127.0.0.1/ledger";
    std::int64_t balance_ = 0;
    std::optional<settle::postgresql::database> store_;
    std::optional<settle::mariadb::resource> resource_;
};

} // namespace

int main(int argc, char** argv) { return samples::main_of(books_application{}, argc, argv); }
