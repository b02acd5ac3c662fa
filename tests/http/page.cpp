// SPDX-License-Identifier: BSL-1.0
// The service in Python that the page shows, called by the client.
#include "calls.hpp"
#include "program.hpp"
#include "sockets.hpp"

#include <cstdlib>
#include <iostream>

using namespace settle_test;
using namespace std::chrono_literals;
using enum settle::call_status;
using settle::http::client;

namespace {

/// The block of Python on the page, with this port and this file.
std::string service_of_the_page(std::string const& port, std::string const& file) {
    auto const page = testing::read_file(testing::data_file("../adapters/http/README.md"));
    std::string const begin = "\n```python\n";
    auto const from = page.find(begin);
    REQUIRE(from != std::string::npos);
    auto const to = page.find("\n```\n", from + begin.size());
    auto code = page.substr(from + begin.size(), to - from - begin.size());
    auto const put = [&code](std::string const& old, std::string const& text) {
        auto const at = code.find(old);
        REQUIRE(at != std::string::npos);
        code.replace(at, old.size(), text);
    };
    put("8080", port);
    put("airline.db", file);
    return code;
}

} // namespace

TEST_CASE("the service of the page keeps its promises") {
    constexpr auto python = "/usr/bin/python3";
    if (::access(python, X_OK) != 0) {
        std::cout << "SKIPPED: there is no " << python << std::endl;
        std::exit(SETTLE_SKIP_CODE);
    }
    testing::scratch_folder const folder{"http-page"};
    auto const port = std::to_string(unused_port());
    auto const code =
        folder.write("airline.py", service_of_the_page(port, folder.at("airline.db")));
    testing::program const service{folder, {python, code}};

    client airline{"http://127.0.0.1:" + port + "/airline"};
    auto const ask = [&](call_operation operation, std::string_view key) {
        auto call = seat_call(operation, key);
        call.last_moment += std::chrono::years{100};
        return send_one(airline, call);
    };
    auto const apply = call_operation::apply;
    auto const compensate = call_operation::compensate;
    auto answer = ask(compensate, "log/first/0");
    for (int count = 0; count < 1000 && answer.status == unavailable; ++count) {
        std::this_thread::sleep_for(10ms);
        answer = ask(compensate, "log/first/0");
    }
    // Nothing to undo: it is noted, and a late apply is refused.
    CHECK(answer == service_answer::ok("null"));
    CHECK(ask(apply, "log/first/0") == service_answer::refused("the call was compensated before"));

    auto const ticket = service_answer::ok(R"({"number": "T-log/zo\u00eb 1/0"})");
    CHECK(ask(apply, "log/zoë 1/0") == ticket);
    CHECK(ask(apply, "log/zoë 1/0") == ticket);
    CHECK(ask(apply, "log/third/0") == service_answer::refused("no seat left"));
    CHECK(ask(compensate, "log/zoë 1/0") == service_answer::ok("null"));
    CHECK(ask(compensate, "log/zoë 1/0") == service_answer::ok("null"));
    CHECK(ask(apply, "log/third/0") == service_answer::refused("no seat left"));
    CHECK(ask(apply, "log/fourth/0").status == ok);

    // A key with another request, a confirm, and a confirm whose row was lost.
    auto other = seat_call(apply, "log/fourth/0");
    other.request = R"({"flight":"LH1","people":1})";
    other.last_moment += std::chrono::years{100};
    CHECK(send_one(airline, other) ==
          service_answer::refused("the key came before with another request"));
    other.operation = compensate;
    CHECK(send_one(airline, other).status == ok);
    CHECK(ask(apply, "log/fourth/0").status == ok);
    // A compensation may have arguments of its own.
    other.request = R"({"flight":"LH1","people":0})";
    CHECK(send_one(airline, other).status == unavailable);
    CHECK(ask(call_operation::confirm, "log/fourth/0").status == ok);
    CHECK(ask(call_operation::confirm, "log/fourth/0").status == ok);
    CHECK(ask(apply, "log/fourth/0").status == ok);
    CHECK(contains(ask(call_operation::confirm, "log/lost/0").text, "repair by hand"));
    CHECK(ask(call_operation::confirm, "log/lost/0").status == unavailable);
    auto purged = seat_call(call_operation::confirm, "log/lost/0");
    purged.last_moment = settle::timestamp{1'000'000s};
    CHECK(send_one(airline, purged).status == ok);

    // A compensation gives back what the apply took, whatever it says itself.
    auto single = seat_call(apply, "log/sixth/0");
    single.request = R"({"flight":"LH1","people":1})";
    single.last_moment += std::chrono::years{100};
    CHECK(send_one(airline, single).status == ok);
    single.operation = compensate;
    single.request = R"({"flight":"LH1","people":2})";
    CHECK(send_one(airline, single).status == ok);
    CHECK(ask(apply, "log/seventh/0") == service_answer::refused("no seat left"));

    // A bad request harms no other, and a second client does not wait for the first.
    auto bad = seat_call(apply, "log/bad/0");
    bad.request = R"({"flight":"LH1"})";
    bad.last_moment += std::chrono::years{100};
    CHECK(send_one(airline, bad).status == unknown);
    CHECK(ask(apply, "log/fourth/0").status == ok);
    client second{"http://127.0.0.1:" + port + "/airline"};
    CHECK(send_one(second, seat_call(compensate, "log/first/0")) == service_answer::ok("null"));
    CHECK(ask(apply, "log/fourth/0").status == ok);

    auto late = seat_call(apply, "log/fifth/0");
    late.last_moment = settle::timestamp{1'000'000s};
    CHECK(send_one(airline, late) == service_answer::refused("too late"));
}
