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
#include <memory>
#include <string>
#include <string_view>
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
    static constexpr std::string_view piece = "order";
    static constexpr std::string_view pieces = "orders";
    static constexpr std::string_view default_store = "sqlite:trip.db";
    static constexpr std::array<std::string_view, 1> tables{agency::accounts.name};
    static constexpr bool in_other_databases = true;
    using reader = agency::order_reader;

    template <typename Visit>
    static void each_type(Visit&& visit) {
        visit(agency::trip_type);
    }

    agency_application() {
        for (std::size_t index = 0; index < locations_.size(); ++index) {
            auto const& kind = agency::service_kinds[index];
            locations_[index].address = fmt::format("http://127.0.0.1:{}/{}", kind.port, kind.name);
            locations_[index].database = fmt::format("{}.db", kind.name);
        }
    }

    void add_options(CLI::App& line, CLI::App& open) {
        samples::add_money(open, "--balance", balance_, "The first balance of each traveller");
        for (std::size_t index = 0; index < locations_.size(); ++index) {
            auto const service = agency::service_kinds[index].name;
            samples::add_text(line, fmt::format("--{}", service), locations_[index].address,
                              fmt::format("The address of the {} service", service));
            samples::add_text(line, fmt::format("--{}-database", service),
                              locations_[index].database,
                              fmt::format("The file of the {} service, for check", service));
        }
    }

    template <typename Make>
    auto with_arguments(settle::any_database& store, settle::phases how, Make&& make) {
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
    void open(Opener& records, reader& orders) const {
        samples::account_list<agency::account> travellers{balance_};
        records.read(orders,
                     [&](auto const& order) { travellers.add(order.parameters.traveller); });
        records.create(agency::accounts, std::vector{agency::account{"agency", 0, 0}});
        records.create(agency::accounts, travellers.accounts);
    }

    /// Calls visit(collection, key) for the records of a trip.
    template <typename Visit>
    static void each_record(agency::trip const& parameters, Visit&& visit) {
        visit(agency::accounts, parameters.traveller);
        visit(agency::accounts, std::string{"agency"});
    }

    /// The moves of a done entry; false when this program cannot read the entry.
    static bool read_moves(settle::entry const& done, std::vector<samples::money_move>& moves) {
        auto const move = [&](agency::trip const& trip, std::int64_t sign) {
            moves.push_back({agency::accounts.name, trip.traveller, -sign * trip.price});
            moves.push_back({agency::accounts.name, "agency", sign * trip.price});
        };
        return samples::read_parameters<agency::trip>(done, "trip", move);
    }

    template <typename Read, typename Visit>
    static void each_account(Read const& read, Visit&& visit) {
        auto [stored] = read(agency::accounts);
        for (agency::account const& each : stored) {
            visit(agency::accounts.name, each.id, each.opened_with, each.balance);
        }
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
        samples::print_finding(
            well, "services",
            well ? fmt::format("{} trips are in all books, {} in none",
                               samples::with_commas(compared.whole),
                               samples::with_commas(compared.never))
                 : fmt::format("{} faults in their books", samples::with_commas(compared.faults)));
        for (auto const& each : compared.sentences) samples::print_line("    " + each);
        bool const paid = compared.booked() == compared.charged();
        samples::print_finding(paid, "cards",
                               fmt::format("charged {}, for bookings of {}",
                                           samples::format_money(compared.charged()),
                                           samples::format_money(compared.booked())));
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
