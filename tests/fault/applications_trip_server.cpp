// SPDX-License-Identifier: BSL-1.0
// The sample's server under load: thousands of requests are in flight, and it is killed at random
// moments. Each order ends once, and its client learns how.
#include <kill_settings.hpp>
#include <trip/trip.hpp>
#include <trip_services.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace trip_server_test {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using testing::program;
using testing::scratch_folder;
using testing::trip_services;

/// Customers who send their orders again until they know the end.
class customers {
public:
    customers(std::size_t count, unsigned short port) : count_(count), port_(port) {}

    /// Runs until all orders have ended. Calls `disturb()` often, also at the end.
    template <typename Disturb>
    void run(Disturb&& disturb) {
        for (std::size_t number = 0; number < count_; ++number)
            asio::co_spawn(context_, order(number), asio::detached);
        while (!context_.stopped()) {
            context_.run_for(std::chrono::milliseconds{10});
            disturb();
        }
    }
    /// What each customer was told: the status of HTTP.
    [[nodiscard]] std::map<std::string, unsigned> const& told() const { return told_; }

private:
    asio::awaitable<void> order(std::size_t number) {
        auto const text = std::to_string(number);
        std::string const id = "S" + text;
        agency::trip const trip{"traveller " + std::to_string(number % 40),
                                100,
                                "VISA-" + std::to_string(number % 200),
                                "LH " + std::to_string(number % 300),
                                1,
                                "Inn " + std::to_string(number % 400),
                                1,
                                1,
                                "car " + std::to_string(number % 500),
                                1};
        asio::steady_timer timer{context_};
        while (true) {
            unsigned status = 0;
            try {
                status = co_await post(id, settle::encode_json(trip));
            } catch (boost::system::system_error const&) {
                // The server is away, and may have taken the order or not.
            }
            if (status == 200 || status == 409) {
                told_[id] = status;
                co_return;
            }
            timer.expires_after(std::chrono::milliseconds{100 + number % 100});
            co_await timer.async_wait(asio::use_awaitable);
        }
    }
    asio::awaitable<unsigned> post(std::string const& id, std::string body) {
        boost::beast::tcp_stream stream{context_};
        stream.expires_after(std::chrono::minutes{2});
        asio::ip::tcp::endpoint const server{asio::ip::address_v4::loopback(), port_};
        co_await stream.async_connect(server, asio::use_awaitable);
        http::request<http::string_body> request{http::verb::post, "/trips/" + id, 11};
        request.body() = std::move(body);
        request.keep_alive(false);
        request.prepare_payload();
        co_await http::async_write(stream, request, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        http::response<http::string_body> answer;
        co_await http::async_read(stream, buffer, answer, asio::use_awaitable);
        co_return answer.result_int();
    }

    std::size_t count_;
    unsigned short port_;
    asio::io_context context_{1};
    std::map<std::string, unsigned> told_;
};

std::string travellers(scratch_folder const& folder) {
    std::string text{"id,traveller,price,card,flight,people,hotel,rooms,nights,car,days\n"};
    for (int number = 0; number < 40; ++number) {
        text += "T" + std::to_string(number) + ",traveller " + std::to_string(number) +
                ",1.00,VISA,LH,1,Inn,1,1,car,1\n";
    }
    return folder.write("orders.csv", text);
}

void serve(std::size_t orders, std::size_t kills) {
    auto const seed = testing::seed();
    CAPTURE(seed);
    std::mt19937_64 chance{seed};
    scratch_folder const folder{"trip-server"};
    trip_services services{folder};
    auto const opened = services.call({"open", travellers(folder), "--balance", "3000.00"});
    REQUIRE_MESSAGE(opened.code == 0, opened.out << opened.err);
    auto const port = settle_test::unused_port();
    std::unique_ptr<program> server;
    auto const start = [&] {
        server = services.begin_server({"--port", std::to_string(port), "--deadline", "2000"});
    };
    start();
    customers clients{orders, static_cast<unsigned short>(port)};
    // Each kill comes when so many orders have ended.
    std::vector<std::size_t> moments;
    for (std::size_t kill = 0; kill < kills; ++kill) moments.push_back(chance() % orders);
    std::sort(moments.begin(), moments.end());
    std::size_t killed = 0;
    clients.run([&] {
        if (killed == kills || clients.told().size() < moments[killed]) return;
        ++killed;
        server->signal(SIGKILL);
        server.reset();
        if (chance() % 3 == 0) {
            auto const which = chance() % trip_services::count;
            services.kill(which);
            services.start(which);
        }
        start();
    });
    // It prints its address when it takes signals.
    while (!server->printed().ends_with("\n") && !server->has_ended())
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    server->signal(SIGTERM);
    CHECK(server->wait().code == 0);
    CHECK(killed > 0);
    auto const settled = services.call({"recover", "check"});
    CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
    auto const entries = services.ask_all("SELECT id, state FROM settle_entries");
    CHECK(entries.size() == orders);
    std::size_t done = 0;
    for (auto const& row : entries) {
        auto const& told = clients.told().at(row[0]);
        CHECK_MESSAGE(row[1] == (told == 200 ? "done" : "canceled"), row[0]);
        if (told == 200) ++done;
    }
    CHECK(done > 0);
    for (auto const& row : services.faults())
        FAIL_CHECK(row[0] << " at " << row[1] << ": " << row[2] << ", " << row[3]);
}

} // namespace

TEST_CASE("trip server: orders in flight at a server that is killed end once each") {
    serve(400, 3);
}

TEST_CASE("long: trip server: five thousand orders in flight at a server that is killed") {
    serve(5000, testing::kills(10));
}

} // namespace trip_server_test
