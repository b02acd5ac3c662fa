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
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

constexpr std::string_view ledger_name = books::ledger.name;

class books_application {
public:
    static constexpr std::string_view name = "books";
    static constexpr std::string_view purpose =
        "Moves money between two banks: one in PostgreSQL, one in MariaDB.";
    static constexpr std::string_view pieces = "payment orders";
    static constexpr std::string_view default_store = "";
    static constexpr auto const& prepared = books::ledger;
    using reader = books::order_reader;

    std::vector<samples::text_option> options() {
        return {
            {"--accounts", "The database of the first bank, which also has the log", &accounts_},
            {"--ledger", "The database of the second bank", &ledger_}};
    }

    std::vector<samples::open_option> open_options() {
        return {{"--balance", "The first balance of each account",
                 samples::open_option::kind::money, &balance_}};
    }

    template <typename Visit>
    auto visit_store(Visit&& visit) {
        auto& store = store_.emplace(accounts_);
        resource_.emplace(ledger_);
        return visit(store);
    }

    /// The oldest snapshot of the first bank's server, where marks of a hot account gather.
    std::string held_back() {
        auto const found = store_->oldest_snapshot().value();
        if (!found) return {};
        return fmt::format("the first bank's oldest snapshot: {}, {} old; 'VACUUM' waits for it\n",
                           samples::printable(found->name), samples::span_text(found->age));
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases, Make&& make) {
        return make(store, settle::type<books::outgoing_type>, settle::type<books::incoming_type>,
                    settle::type<samples::note_type>,
                    settle::bind(books::ledger, *resource_, books::book));
    }

    /// Opens the accounts of payers and payees, each at its bank.
    template <typename Opener>
    void open(Opener& records, std::filesystem::path const& file) const {
        books::order_reader orders{file};
        samples::mentions at_first;
        samples::mentions at_second;
        std::int64_t sum = 0;
        books::order_reader::piece piece;
        // An overflowing sum is found before any account is created.
        auto const add = [&](samples::mentions& to, std::uint64_t line, std::string const& id) {
            if (to.add(line, id)) sum = samples::add(sum, balance_);
        };
        while (records.goes_on(0) && orders.next(piece)) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) records.refuse(*no);
            if (auto const* noted = std::get_if<samples::remark>(&piece)) records.note(*noted);
            if (auto const* given = std::get_if<samples::request<books::outgoing>>(&piece)) {
                add(at_first, given->line, given->parameters.payer);
                add(at_second, given->line, given->parameters.payee);
            }
            if (auto const* given = std::get_if<samples::request<books::incoming>>(&piece)) {
                add(at_second, given->line, given->parameters.payer);
                add(at_first, given->line, given->parameters.payee);
            }
        }
        std::vector<std::string> ids;
        for (auto const& [line, id] : at_second.all()) ids.push_back(id);
        books::ledger_client client{ledger_};
        client.make_tables();
        auto const opened = client.open(ids, balance_);
        records.count(ledger_name, opened, ids.size() - opened);
        records.create_each(books::accounts, at_first, [&](std::string const& id) {
            return books::account{id, balance_, balance_};
        });
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

    template <typename Parameters>
    static samples::refusal not_open(samples::request<Parameters> const& request, std::string_view,
                                     std::string const& key) {
        return {request.line, "unknown account",
                fmt::format("order '{}': the first bank has no account '{}'", request.id, key)};
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        return books::with_parameters(done, [&]<typename Parameters>(Parameters const& of) {
            bool const out = std::is_same_v<Parameters, books::outgoing>;
            moves.push_back({out ? books::accounts.name : ledger_name, of.payer, -of.amount});
            moves.push_back({out ? ledger_name : books::accounts.name, of.payee, of.amount});
        });
    }

    /// Calls visit(name, id, opened_with, now) for the accounts of both banks.
    template <typename Engine, typename Visit>
    void each_account(Engine& engine, Visit&& visit) const {
        for (books::account const& each : engine.scan(books::accounts)) {
            visit(books::accounts.name, each.id, each.opened_with, each.balance);
        }
        books::ledger_client{ledger_}.each_account([&](books::account const& each) {
            visit(ledger_name, each.id, each.opened_with, each.balance);
        });
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        samples::money_sums sums;
        sums.opened = 0;
        each_account(engine, [&](std::string_view, std::string const&, std::int64_t opened_with,
                                 std::int64_t now) {
            sums.now = samples::add(sums.now, now);
            sums.opened = samples::add(*sums.opened, opened_with);
        });
        return sums;
    }

    /// Shape:   account - shown at each bank that has it; empty for all accounts
    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        bool found = account.empty();
        std::int64_t sum = 0;
        each_account(engine, [&](std::string_view bank, std::string const& id, std::int64_t,
                                 std::int64_t now) {
            sum = samples::add(sum, now);
            if (!account.empty() && account != id) return;
            found = true;
            samples::print_amount(samples::record_name(bank, id), samples::format_money(now));
        });
        if (account.empty()) samples::print_amount("sum", samples::format_money(sum));
        if (found) return samples::exit_code::settled;
        samples::complain(name, fmt::format("neither bank has an account '{}'", account));
        return samples::exit_code::refused;
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
        if (well) {
            fmt::print("ok  postings    {} agree with the log\n",
                       samples::with_commas(compared.agreeing));
        } else {
            fmt::print("BAD postings    {} faults\n", samples::with_commas(compared.faults));
            for (auto const& each : compared.sentences) samples::print_line("    " + each);
        }
        auto const doubts = engine.in_doubt(books::ledger).value().size();
        fmt::print("{} in doubt    {}\n", doubts == 0 ? "ok " : "BAD",
                   samples::with_commas(doubts));
        if (doubts > 0) fmt::print("'{} doubts' shows what holds them back\n", name);
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
