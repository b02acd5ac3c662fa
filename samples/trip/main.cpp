// SPDX-License-Identifier: BSL-1.0
// The agency's program: opens accounts, sells trips, and shows their outcomes.
#include <shared/main_of.hpp>

#include "books.hpp"
#include "comparison.hpp"
#include "orders.hpp"
#include "trip.hpp"

#include <settle/http.hpp>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

/// Where a service answers, and where its file is.
struct service_location {
    std::string address;
    std::string database;
    std::unique_ptr<settle::http::client> client{};
};

class agency_application {
public:
    static constexpr std::string_view name = "trip";
    static constexpr std::string_view purpose =
        "Sells trips: books flight, hotel and car, and charges a card.";
    static constexpr std::string_view pieces = "orders";
    static constexpr std::string_view default_store = "sqlite:trip.db";
    static constexpr std::array<std::string_view, 1> tables{agency::accounts.name};
    using reader = agency::order_reader;

    agency_application() {
        for (std::size_t at = 0; at < locations_.size(); ++at) {
            auto const& kind = agency::service_kinds[at];
            locations_[at].address = fmt::format("http://127.0.0.1:{}/{}", kind.port, kind.name);
            locations_[at].database = fmt::format("{}.db", kind.name);
        }
    }

    std::vector<samples::text_option> options() {
        std::vector<samples::text_option> all;
        for (std::size_t at = 0; at < locations_.size(); ++at) {
            auto const name_of_service = agency::service_kinds[at].name;
            all.push_back({fmt::format("--{}", name_of_service),
                           fmt::format("The address of the {} service", name_of_service),
                           &locations_[at].address});
            all.push_back({fmt::format("--{}-database", name_of_service),
                           fmt::format("The file of the {} service, for check", name_of_service),
                           &locations_[at].database});
        }
        return all;
    }

    std::vector<samples::open_option> open_options() {
        return {{"--balance", "The first balance of each traveller",
                 samples::open_option::kind::money, &balance_}};
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) {
        for (auto& each : locations_) {
            each.client = std::make_unique<settle::http::client>(each.address);
        }
        settle::options limits;
        limits.call_first_pause = std::chrono::milliseconds{50};
        limits.call_longest_pause = std::chrono::seconds{2};
        return make(store, settle::type<agency::trip_type>, settle::type<samples::note_type>,
                    settle::bind(agency::flights, *locations_[0].client),
                    settle::bind(agency::hotels, *locations_[1].client),
                    settle::bind(agency::cars, *locations_[2].client),
                    settle::bind(agency::cards, *locations_[3].client), limits, how);
    }

    /// Opens the agency's account and an account for every traveller of the file.
    template <typename Opener>
    void open(Opener& records, std::filesystem::path const& file) const {
        agency::order_reader orders{file};
        samples::mentions ids;
        std::int64_t sum = 0;
        agency::order_reader::piece piece;
        while (records.goes_on(0) && orders.next(piece)) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) records.refuse(*no);
            if (auto const* noted = std::get_if<samples::remark>(&piece)) records.note(*noted);
            auto const* order = std::get_if<samples::request<agency::trip>>(&piece);
            if (order == nullptr) continue;
            // An overflowing sum is found before any account is created.
            if (ids.add(order->line, order->parameters.traveller)) {
                sum = samples::add(sum, balance_);
            }
        }
        records.create(agency::accounts, agency::account{"agency", 0, 0});
        records.create_each(agency::accounts, ids, [&](std::string const& id) {
            return agency::account{id, balance_, balance_};
        });
    }

    /// Calls visit(collection, key) for the records of a trip.
    template <typename Visit>
    static void each_record(agency::trip const& parameters, Visit&& visit) {
        visit(agency::accounts, parameters.traveller);
        visit(agency::accounts, std::string{"agency"});
    }

    static samples::refusal not_open(samples::request<agency::trip> const& request,
                                     std::string_view, std::string const& key) {
        return {request.line, "unknown traveller",
                fmt::format("order '{}': there is no account '{}'", request.id, key)};
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        auto const move = [&](agency::trip const& of, std::int64_t sign) {
            moves.push_back({agency::accounts.name, of.traveller, -sign * of.price});
            moves.push_back({agency::accounts.name, "agency", sign * of.price});
        };
        return samples::read_parameters<agency::trip>(done, "trip", move);
    }

    template <typename Engine, typename Visit>
    static void each_account(Engine& engine, Visit&& visit) {
        for (agency::account const& each : engine.scan(agency::accounts)) {
            visit(agency::accounts.name, each.id, each.opened_with, each.balance);
        }
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        return samples::sums_of<agency_application>(engine);
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        if (!account.empty()) {
            auto const found = engine.read(agency::accounts, account).value();
            if (!found) {
                samples::complain(name, fmt::format("there is no account '{}'", account));
                return samples::exit_code::refused;
            }
            fmt::print("{}\n", samples::format_money(found->balance));
            return samples::exit_code::settled;
        }
        for (agency::account const& each : engine.scan(agency::accounts)) {
            samples::print_amount(each.id, samples::format_money(each.balance));
        }
        samples::print_amount("sum", samples::format_money(sums(engine).now));
        return samples::exit_code::settled;
    }

    /// Compares the log with the files of the services.
    template <typename Engine>
    bool check_others(Engine& engine) const {
        std::array<agency::service_books, 4> books;
        for (std::size_t at = 0; at < locations_.size(); ++at) {
            books[at] = agency::read_books(agency::service_kinds[at], locations_[at].database);
        }
        agency::comparison compared{books};
        for (settle::entry const& entry : engine.list()) compared.compare(entry);
        // After a purge, the log may lack trips that the services still have.
        if (!engine.read(samples::notes, samples::purge_note).value()) compared.finish();
        bool const well = compared.faults == 0;
        if (well) {
            fmt::print("ok  services    {} trips are in all books, {} in none\n",
                       samples::with_commas(compared.whole), samples::with_commas(compared.never));
        } else {
            fmt::print("BAD services    {} faults in their books\n",
                       samples::with_commas(compared.faults));
            for (auto const& each : compared.sentences) samples::print_line("    " + each);
        }
        bool const paid = compared.booked() == compared.charged();
        fmt::print("{} cards       charged {}, for bookings of {}\n", paid ? "ok " : "BAD",
                   samples::format_money(compared.charged()),
                   samples::format_money(compared.booked()));
        return well && paid;
    }

    static std::string_view in_words(std::string_view participant, settle::reason reason) {
        if (reason == settle::reason::guard_failed && participant == "traveller") {
            return "balance too low";
        }
        if (reason != settle::reason::refused) return {};
        if (participant == "flight") return "no seats left";
        if (participant == "hotel") return "no rooms left";
        if (participant == "car") return "no cars left";
        return participant == "card" ? "no cover of the card" : std::string_view{};
    }

private:
    std::int64_t balance_ = 0;
    std::array<service_location, 4> locations_;
};

} // namespace

int main(int argc, char** argv) {
    return samples::main_of(agency_application{}, samples::file_store, argc, argv);
}
