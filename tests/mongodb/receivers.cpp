// SPDX-License-Identifier: BSL-1.0
// The receiver on MongoDB: rows and work in one native transaction of a replica set.
#include "receiver_office.hpp"

#include <settle/testing/receiver_suite.hpp>

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mongodb_receivers {
namespace {

using settle::receiver_status;
using std::chrono::milliseconds;

/// Takes the calls of a wave in threads.
struct threaded_client {
    receiver_database* db;

    void send(std::span<service_call const> calls, std::span<service_answer> answers) const {
        settle::receiver airline_receiver{*db};
        std::vector<std::jthread> threads;
        for (std::size_t at = 1; at < calls.size(); ++at) {
            threads.emplace_back(
                [&, at] { answers[at] = airline_receiver.take(calls[at], seats{}); });
        }
        answers[0] = airline_receiver.take(calls[0], seats{});
    }
};

} // namespace

TEST_CASE("receivers: the receiver on MongoDB has the grade barrier") {
    office in{1000};
    std::optional<receiver_database> again;
    threaded_client client{&in.db};
    settle::testing::receiver_description of;
    of.service = "airline";
    of.accepted = "1";
    of.refused = "1000000";
    of.query = "1";
    of.confirms_alone = true;
    of.effects = [&] { return in.effects(); };
    of.confirms = [&] { return in.sum("\"$confirms\""); };
    of.close = [&](std::string_view key) {
        auto const status = settle::receiver{in.db}.close(key).value().standing.status;
        return status != receiver_status::applied && status != receiver_status::confirmed;
    };
    of.restart = [&] { client.db = &again.emplace(in.own.address(), "airline"); };
    auto const report = settle::testing::grade_receiver(client, of);
    CHECK_MESSAGE(report.grade == settle::barrier, report);
    CHECK(report.problem == "");
}

TEST_CASE("receivers: a refusal on MongoDB undoes the work, and its row is stored alone") {
    office in;
    auto const refused =
        in.airline_receiver.take(made_call(call_operation::apply, "a", "11"), seats{});
    CHECK(refused == service_answer::refused("the flight has too few seats"));
    CHECK(in.sum("1") == 0);
    auto const row = in.airline_receiver.find("a").value();
    REQUIRE(row.has_value());
    CHECK(row->standing.status == receiver_status::refused);
    CHECK(row->answer == refused.text);
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a", "1"), seats{}) == refused);
    CHECK(in.sum("1") == 0);
}

TEST_CASE("receivers: work on MongoDB that fails is undone and may be sent again") {
    struct failing : seats {
        service_answer apply(receiver_session& db, service_call const& made) const {
            std::ignore = seats::apply(db, made);
            throw std::runtime_error{"the printer is out of paper"};
        }
    };
    struct careless : seats {
        service_answer apply(receiver_session& db, service_call const&) const {
            try {
                db.run(R"({"insert": "flights", "documents": [{"_id": "LH1"}]})");
            } catch (settle::failure const&) {
            }
            return service_answer::ok();
        }
    };
    office in;
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), failing{}) ==
          service_answer::unavailable("the printer is out of paper"));
    // The server has ended the native transaction at the error, whatever the handler answers.
    auto const lost = in.airline_receiver.take(made_call(call_operation::apply, "a"), careless{});
    CHECK(lost.status == call_status::unavailable);
    CHECK(contains(lost.text, "duplicate key"));
    CHECK_FALSE(in.airline_receiver.find("a").value());
    CHECK(in.sum("1") == 0);
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), seats{}).status ==
          call_status::ok);
    CHECK(in.effects() == 1);
}

TEST_CASE("receivers: threads on MongoDB that share keys take effect once for each") {
    constexpr int keys = 12;
    office in{1000};
    std::array<std::array<service_answer, keys>, 4> answers;
    {
        std::vector<std::jthread> threads;
        for (auto& mine : answers) {
            threads.emplace_back([&] {
                for (int i = 0; i < keys; ++i) {
                    auto& answer = mine[static_cast<std::size_t>(i)];
                    std::string const key = "k" + std::to_string(i);
                    // Every third request is refused.
                    auto const made =
                        made_call(call_operation::apply, key, i % 3 == 0 ? "10000" : "1");
                    do answer = in.airline_receiver.take(made, seats{});
                    while (answer.status == call_status::unavailable);
                }
            });
        }
    }
    for (auto const& one : answers) CHECK(one == answers[0]);
    CHECK(in.effects() == keys * 2 / 3);
    CHECK(in.airline_receiver.list({receiver_status::refused}).value().size() == keys / 3);
}

TEST_CASE("receivers: rows on MongoDB are listed and purged") {
    office in;
    for (auto const* key : {"c", "a", "b"}) {
        auto made = made_call(call_operation::apply, key);
        made.last_moment = in.clock.now();
        made.line = 7;
        CHECK(in.airline_receiver.take(made, seats{}).status == call_status::ok);
    }
    auto const undone =
        in.airline_receiver.take(made_call(call_operation::compensate, "b"), seats{});
    CHECK(undone.status == call_status::ok);
    CHECK(in.airline_receiver.take(made_call(call_operation::confirm, "c"), seats{}).status ==
          call_status::ok);
    auto const page = in.airline_receiver.list({}, {}, 2).value();
    REQUIRE(page.size() == 2);
    CHECK(page[0].key == "a");
    CHECK(page[0].answer == R"({"seats":1})");
    CHECK(page[0].line == 7);
    CHECK(page[0].created == in.clock.now());
    CHECK(page[1].standing.status == receiver_status::compensated);
    CHECK(in.airline_receiver.list({receiver_status::applied}, "a").value().empty());
    CHECK(in.airline_receiver.find("z").value() == std::nullopt);
    CHECK(in.airline_receiver.purge().value() == 0);
    in.clock.advance(std::chrono::minutes{5} + milliseconds{1});
    CHECK(in.airline_receiver.purge(1).value() == 1);
    CHECK(in.airline_receiver.purge().value() == 1);
    CHECK(in.airline_receiver.list().value().size() == 1);
    REQUIRE(run_command(in.own.address(), R"({"update": "settle_receiver", "updates": [)"
                                          R"({"q": {"_id": "a"}, "u": {"$unset": )"
                                          R"({"last_moment": 1}}}]})")
                .ok);
    CHECK(in.airline_receiver.list().problem().code == settle::errc::damaged);
    auto const damaged = in.airline_receiver.take(made_call(call_operation::apply, "a"), seats{});
    CHECK(damaged.status == call_status::unavailable);
    CHECK(contains(damaged.text, "the row 'a' of the collection settle_receiver is damaged"));
}

TEST_CASE("receivers: a database of another receiver, or without transactions, is refused") {
    office in;
    auto const other = receiver_database::open(in.own.address(), "hotel");
    CHECK(other.problem().code == settle::errc::unfit_store);
    CHECK(contains(other.problem().text, "belongs to the receiver 'airline', and this is 'hotel'"));
    CHECK(receiver_database::open(in.own.address(), "").problem().code == settle::errc::bad_text);
    fresh_database const single{standalone_address};
    auto const alone = receiver_database::open(single.address(), "airline");
    CHECK(contains(alone.problem().text, "a receiver needs native transactions"));
}

} // namespace mongodb_receivers
