// SPDX-License-Identifier: BSL-1.0
// One of the services as a process: its tables and its receiver's rows are in one SQLite file.
#include "books.hpp"
#include "trip.hpp"

#include <shared/interrupt.hpp>
#include <shared/money.hpp>
#include <shared/text.hpp>

#include <settle/http/receiver_server.hpp>
#include <settle/sqlite/receiver/receiver.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <future>
#include <list>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>

namespace {

using settle::service_answer;
using settle::service_call;
using session = settle::sqlite::receiver_session;

constexpr std::string_view program = "trip-service";

/// The request of a call, in the service's own units.
struct service_request {
    std::string item;
    std::int64_t units = 0;
    std::int64_t price = 0;
};

/// The price of a unit for a day, 20.00 to 219.00: the same for an item in every run.
std::int64_t price_of(std::string_view item) {
    std::uint64_t mixed = 14'695'981'039'346'656'037U;
    for (char const each : item) {
        mixed = (mixed ^ static_cast<unsigned char>(each)) * 1'099'511'628'211U;
    }
    return static_cast<std::int64_t>(20 + mixed % 200) * 100;
}

/// Takes calls of one service. The first call for an item gives it the capacity of the command
/// line.
class booking_handler {
public:
    booking_handler(agency::service_kind const& kind, std::int64_t capacity)
        : kind_(&kind), capacity_(capacity) {}

    void create_tables(session& db) const {
        db.change(fmt::format("CREATE TABLE IF NOT EXISTS {}(id TEXT PRIMARY KEY, "
                              "capacity INTEGER NOT NULL, free INTEGER NOT NULL)",
                              kind_->stock));
        db.change(fmt::format("CREATE TABLE IF NOT EXISTS {}(number INTEGER PRIMARY KEY "
                              "AUTOINCREMENT, key TEXT NOT NULL UNIQUE, trip TEXT NOT NULL, "
                              "item TEXT NOT NULL, units INTEGER NOT NULL, "
                              "price INTEGER NOT NULL, confirmed INTEGER NOT NULL)",
                              kind_->taken));
    }

    service_answer apply(session& db, service_call const& call) const {
        auto const request = read(call);
        if (!request) return service_answer::refused("the request is not of this service");
        db.change(fmt::format("INSERT OR IGNORE INTO {} VALUES(?1, ?2, ?2)", kind_->stock),
                  request->item, capacity_);
        auto const changed = db.change(fmt::format("UPDATE {} SET free = free - ?2 "
                                                   "WHERE id = ?1 AND free >= ?2",
                                                   kind_->stock),
                                       request->item, request->units);
        if (changed == 0) {
            return service_answer::refused(
                charges() ? fmt::format("the card {} has no cover", request->item)
                          : fmt::format("{} has too few {}", request->item, kind_->taken));
        }
        db.change(fmt::format("INSERT INTO {}(key, trip, item, units, price, confirmed) "
                              "VALUES(?1, ?2, ?3, ?4, ?5, 0)",
                              kind_->taken),
                  call.key, call.transaction, request->item, request->units, request->price);
        auto const [row] = db.first<std::int64_t>("SELECT last_insert_rowid()").value();
        auto const number = fmt::format("{}-{}", kind_->name, row);
        return service_answer::ok(
            charges() ? settle::encode_json(agency::receipt{number, request->price})
                      : settle::encode_json(agency::booking{number, request->price}));
    }

    service_answer confirm(session& db, service_call const& call) const {
        db.change(fmt::format("UPDATE {} SET confirmed = 1 WHERE key = ?1", kind_->taken),
                  call.key);
        return service_answer::ok();
    }

    service_answer compensate(session& db, service_call const& call) const {
        auto const [item, units] =
            db.first<std::string, std::int64_t>(
                  fmt::format("DELETE FROM {} WHERE key = ?1 RETURNING item, units", kind_->taken),
                  call.key)
                .value();
        db.change(fmt::format("UPDATE {} SET free = free + ?2 WHERE id = ?1", kind_->stock), item,
                  units);
        return service_answer::ok();
    }

private:
    [[nodiscard]] bool charges() const {
        return kind_ == &agency::service_kinds[agency::card_kind];
    }

    [[nodiscard]] std::optional<service_request> read(service_call const& call) const {
        if (call.service != kind_->name) return std::nullopt;
        if (charges()) {
            auto const request = settle::decode_json<agency::payment>(call.request);
            if (!request || request->amount <= 0) return std::nullopt;
            return service_request{request->card, request->amount, request->amount};
        }
        auto const request = settle::decode_json<agency::reservation>(call.request);
        if (!request || request->units <= 0 || request->days <= 0) return std::nullopt;
        auto const price = samples::multiply(
            samples::multiply(price_of(request->item), request->units), request->days);
        return service_request{request->item, request->units, price};
    }

    agency::service_kind const* kind_;
    std::int64_t capacity_;
};

struct settings {
    agency::service_kind const* kind = nullptr;
    std::string database;
    int port = 0;
    std::string capacity;
};

/// Takes calls until it is interrupted.
samples::exit_code serve(settings const& settings) {
    bool const money = settings.kind == &agency::service_kinds[agency::card_kind];
    auto const capacity = money ? samples::parse_money("capacity", settings.capacity)
                                : samples::parse_whole("capacity", settings.capacity);
    if (capacity < 0) throw samples::input_error("the capacity is below zero");
    samples::interrupt const interrupted;
    settle::sqlite::receiver_database db{settings.database, std::string{settings.kind->name}};
    booking_handler const handler{*settings.kind, capacity};
    db.change([&](session& own) { handler.create_tables(own); }).value();
    settle::receiver receiver{db};
    std::ignore = receiver.purge().value();
    settle::http::server_options options;
    options.port = settings.port;
    settle::http::receiver_server const server{
        fmt::format("/{}", settings.kind->name),
        [&](service_call const& call) { return receiver.take(call, handler); }, options};
    fmt::print("{}\n", server.address());
    std::fflush(stdout);
    std::promise<void> stopped;
    std::stop_callback const on_stop{interrupted.token(), [&] { stopped.set_value(); }};
    stopped.get_future().wait();
    return samples::exit_code::settled;
}

} // namespace

int main(int argc, char** argv) {
    settings options;
    std::list<settings> kind_settings; // CLI11 keeps their addresses
    CLI::App line{"One of the services that a trip is booked at.", std::string{program}};
    line.require_subcommand(1);
    for (auto const& kind : agency::service_kinds) {
        auto* const command = line.add_subcommand(std::string{kind.name},
                                                  fmt::format("Takes calls for {}", kind.purpose));
        auto& own = kind_settings.emplace_back(settings{&kind, fmt::format("{}.db", kind.name),
                                                        kind.port, std::string{kind.capacity}});
        command->add_option("--database", own.database, "The service's own SQLite file")
            ->capture_default_str();
        command->add_option("--port", own.port, "The port on 127.0.0.1; 0 takes a free one")
            ->capture_default_str()
            ->check(CLI::Range(0, 65'535));
        command
            ->add_option("--capacity", own.capacity,
                         "What there is of each item: a number, for a card an amount of money")
            ->capture_default_str();
        command->callback([&options, &own] { options = own; });
    }
    try {
        line.parse(argc, argv);
        return static_cast<int>(serve(options));
    } catch (CLI::Success const& answer) {
        return line.exit(answer);
    } catch (CLI::ParseError const& error) {
        samples::complain(program, error.what());
        return static_cast<int>(samples::exit_code::wrong_usage);
    } catch (samples::input_error const& error) {
        samples::complain(program, error.what());
        return static_cast<int>(samples::exit_code::wrong_usage);
    } catch (std::exception const& error) {
        samples::complain(program, samples::without_prefix(error.what()));
        return static_cast<int>(samples::exit_code::unsettled);
    }
}
