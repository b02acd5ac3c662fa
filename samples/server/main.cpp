// SPDX-License-Identifier: BSL-1.0
// The agency's counter: a server that sells a trip for each POST, in coroutines of Boost.Asio.
#include "answers.hpp"

#include <shared/interrupt.hpp>
#include <shared/text.hpp>
#include <trip/books.hpp>
#include <trip/trip.hpp>

#include <settle/asio.hpp>
#include <settle/http.hpp>
#include <settle/sqlite.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using counter::reply;

struct settings {
    std::string database = "trip.db";
    std::uint16_t port = 8080;
    std::int64_t deadline_ms = 5000; // of a request
    std::array<std::string, 4> addresses{};
};

/// One connection after the other is accepted; each serves its requests in a coroutine.
template <typename Engine>
class trip_server {
public:
    trip_server(asio::io_context& context, Engine& engine, settings const& given)
        : context_(context), engine_(engine), runner_(engine, {.queue = 20'000}),
          deadline_(given.deadline_ms), acceptor_(context, {asio::ip::tcp::v4(), given.port}) {}

    [[nodiscard]] unsigned port() const { return acceptor_.local_endpoint().port(); }
    void start() { asio::co_spawn(context_, accept(), asio::detached); }

private:
    using stream = beast::tcp_stream;
    using request_body = beast::http::request<beast::http::string_body>;

    asio::awaitable<void> accept() {
        asio::steady_timer timer{context_};
        for (;;) {
            boost::system::error_code failed;
            auto socket =
                co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failed));
            if (!failed) {
                asio::co_spawn(context_, serve(stream{std::move(socket)}), asio::detached);
                continue;
            }
            // The process may have too many files open for a moment.
            timer.expires_after(std::chrono::milliseconds{100});
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    asio::awaitable<void> serve(stream connection) {
        // A broken connection ends its coroutine. The transactions of its requests go on.
        try {
            beast::flat_buffer buffer;
            bool stays = true;
            while (stays) {
                connection.expires_after(std::chrono::minutes{1});
                request_body request;
                co_await beast::http::async_read(connection, buffer, request, asio::use_awaitable);
                connection.expires_never();
                auto const trip_reply = co_await answer(request);
                stays = request.keep_alive();
                connection.expires_after(std::chrono::minutes{1});
                auto message = trip_reply.message(request.version(), stays);
                co_await beast::http::async_write(connection, message, asio::use_awaitable);
            }
        } catch (boost::system::system_error const&) {
        }
    }

    /// POST /trips/ID sells a trip. GET /trips/ID says what became of it.
    asio::awaitable<reply> answer(request_body const& request) {
        auto const target = request.target();
        constexpr std::string_view folder = "/trips/";
        if (!std::string_view{target.data(), target.size()}.starts_with(folder))
            co_return reply::not_found("there is /trips/ID alone");
        std::string const id{target.substr(folder.size())};
        if (request.method() == beast::http::verb::get) co_return counter::found(engine_.find(id));
        if (request.method() != beast::http::verb::post)
            co_return reply::wrong("a trip takes POST and GET");
        auto const trip = settle::decode_json<agency::trip>(request.body());
        if (!trip) co_return reply::wrong(trip.problem().text);
        // The trip goes on after the request's deadline; then the client asks again.
        struct waiting {
            explicit waiting(asio::io_context& context) : timer(context) {}
            asio::steady_timer timer;
            std::optional<settle::outcome> ended{};
        };
        auto const shared = std::make_shared<waiting>(context_);
        shared->timer.expires_after(deadline_);
        auto const then = [shared](settle::outcome ended) {
            shared->ended = std::move(ended);
            shared->timer.cancel();
        };
        settle::async_run(runner_, id, *trip, asio::bind_executor(context_, then));
        boost::system::error_code canceled;
        co_await shared->timer.async_wait(asio::redirect_error(asio::use_awaitable, canceled));
        if (shared->ended) co_return counter::ended(*shared->ended);
        co_return counter::goes_on(id, "not decided yet");
    }

    asio::io_context& context_;
    Engine& engine_;
    settle::runner<Engine> runner_;
    std::chrono::milliseconds deadline_;
    asio::ip::tcp::acceptor acceptor_;
};

int run(settings const& options) {
    samples::interrupt const interrupt;
    settle::sqlite::database db{options.database};
    settle::http::client flight{options.addresses[0]};
    settle::http::client hotel{options.addresses[1]};
    settle::http::client car{options.addresses[2]};
    settle::http::client card{options.addresses[3]};
    settle::engine engine{db,
                          settle::type<agency::trip_type>,
                          settle::bind(agency::flights, flight),
                          settle::bind(agency::hotels, hotel),
                          settle::bind(agency::cars, car),
                          settle::bind(agency::cards, card)};
    // What an earlier process has left, now and every ten seconds.
    settle::recovery_schedule schedule;
    schedule.every = std::chrono::seconds{10};
    settle::recovery_thread const keeper{engine, schedule};
    asio::io_context context{1};
    trip_server server{context, engine, options};
    std::stop_callback const stops{interrupt.token(), [&] { context.stop(); }};
    server.start();
    fmt::print("http://127.0.0.1:{}/trips/\n", server.port());
    std::fflush(stdout);
    context.run();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    settings options;
    CLI::App line{"Sells a trip for each POST /trips/ID.", "trip-server"};
    line.add_option("--database", options.database, "The file of the agency")
        ->capture_default_str();
    line.add_option("--port", options.port, "0 takes a free one")->capture_default_str();
    line.add_option("--deadline", options.deadline_ms, "Of a request, in milliseconds")
        ->capture_default_str();
    for (std::size_t index = 0; index < options.addresses.size(); ++index) {
        auto const& kind = agency::service_kinds[index];
        options.addresses[index] = fmt::format("http://127.0.0.1:{}/{}", kind.port, kind.name);
        line.add_option(fmt::format("--{}", kind.name), options.addresses[index],
                        fmt::format("The address of the {} service", kind.name))
            ->capture_default_str();
    }
    CLI11_PARSE(line, argc, argv);
    try {
        return run(options);
    } catch (std::exception const& problem) {
        fmt::print(stderr, "trip-server: {}\n", problem.what());
        return 1;
    }
}
