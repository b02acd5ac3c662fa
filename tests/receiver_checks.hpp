// SPDX-License-Identifier: BSL-1.0
// Tests that the receiver on every database server passes. An Office is an airline that sells the
// seats of one flight, with
//
//   database, handler    the receiver's database, and the airline's handler; a request is the
//                        number of seats, and a result {"seats":1}
//   Office(free)         a database of its own, with a flight of so many free seats
//   db, airline_receiver, clock
//   another(name)        opens the same database again, for a receiver of this name; its error
//   bookings(), effects(), confirms()       in the airline's own records
//   book_twice(session)  a statement that fails, with the text `twice` in its error
//   damage(key)          takes the last moment from a row
#pragma once

#include "contains.hpp"
#include "receiver_calls.hpp"

#include <settle/receiver.hpp>
#include <settle/testing/manual_environment.hpp>
#include <settle/testing/receiver_suite.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace receiver_checks {

using airline::made_call;
using settle::call_operation;
using settle::call_status;
using settle::receiver_status;
using settle::service_answer;
using settle::service_call;
using testing::contains;

/// Takes the calls of a wave in threads.
template <typename Office>
struct threaded_client {
    typename Office::database* db;

    void send(std::span<service_call const> calls, std::span<service_answer> answers) const {
        settle::receiver airline_receiver{*db};
        std::vector<std::jthread> threads;
        for (std::size_t index = 1; index < calls.size(); ++index) {
            threads.emplace_back([&, index] {
                answers[index] = airline_receiver.take(calls[index], typename Office::handler{});
            });
        }
        answers[0] = airline_receiver.take(calls[0], typename Office::handler{});
    }
};

template <typename Office>
void check_grade() {
    Office in{1000};
    std::unique_ptr<typename Office::database> again;
    threaded_client<Office> client{&in.db};
    settle::testing::receiver_description description;
    description.service = "airline";
    description.accepted = "1";
    description.refused = "1000000";
    description.query = "1";
    description.confirms_alone = true;
    description.effects = [&] { return in.effects(); };
    description.confirms = [&] { return in.confirms(); };
    description.close = [&](std::string_view key) {
        auto const status = settle::receiver{in.db}.close(key).value().standing.status;
        return status != receiver_status::applied && status != receiver_status::confirmed;
    };
    description.restart = [&] {
        again = in.another("airline").value();
        client.db = again.get();
    };
    auto const report = settle::testing::grade_receiver(client, description);
    CHECK_MESSAGE(report.grade == settle::barrier, report);
    CHECK(report.problem == "");
}

/// A refusal undoes the work, and its row is stored alone.
template <typename Office>
void check_refusal() {
    using handler = typename Office::handler;
    Office in{10};
    auto const refused =
        in.airline_receiver.take(made_call(call_operation::apply, "a", "11"), handler{});
    CHECK(refused == service_answer::refused("the flight has too few seats"));
    CHECK(in.bookings() == 0);
    auto const row = in.airline_receiver.find("a").value();
    REQUIRE(row.has_value());
    CHECK(row->standing.status == receiver_status::refused);
    CHECK(row->answer == refused.text);
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a", "11"), handler{}) ==
          refused);
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a", "1"), handler{}).status ==
          call_status::refused);
    CHECK(in.bookings() == 0);
}

/// A key with another request is refused, and its row stays.
template <typename Office>
void check_another_request() {
    using handler = typename Office::handler;
    Office in{10};
    auto const take = [&](call_operation operation, char const* request, bool has_apply = true) {
        auto made = made_call(operation, has_apply ? "a" : "b", request);
        made.has_apply = has_apply;
        return in.airline_receiver.take(made, handler{});
    };
    auto const first = take(call_operation::apply, "2");
    CHECK(first.status == call_status::ok);
    auto const other = take(call_operation::apply, "3");
    CHECK(other.status == call_status::refused);
    CHECK(contains(other.text, "the key 'a' came with two requests"));
    CHECK(take(call_operation::compensate, "3") == service_answer::ok());
    CHECK(in.effects() == 1);
    CHECK(take(call_operation::apply, " 2\n") == first);
    CHECK(take(call_operation::confirm, "4").status == call_status::ok);
    CHECK(take(call_operation::apply, "3").status == call_status::refused);
    CHECK(take(call_operation::confirm, "1", false).status == call_status::ok);
    auto const confirm = take(call_operation::confirm, "2", false);
    CHECK(confirm.status == call_status::unavailable);
    CHECK(contains(confirm.text, "the key 'b' came with two requests"));
    CHECK(take(call_operation::confirm, "1", false).status == call_status::ok);
    CHECK(in.effects() == 1);
    CHECK(in.confirms() == 2);
    // A sender may write a large number as a text, and change that between two tries.
    auto large = made_call(call_operation::apply, "c", "9007199254740993");
    auto const of_large = in.airline_receiver.take(large, handler{});
    CHECK_FALSE(contains(of_large.text, "two requests"));
    large.request = "\"9007199254740993\"";
    CHECK(in.airline_receiver.take(large, handler{}) == of_large);
}

/// A confirm whose row was lost takes no effect, until its row may have been purged.
template <typename Office>
void check_lost_row() {
    using handler = typename Office::handler;
    Office in{10};
    auto const confirm = made_call(call_operation::confirm, "a");
    auto const lost = in.airline_receiver.take(confirm, handler{});
    CHECK(lost.status == call_status::unavailable);
    CHECK(contains(lost.text, "repair by hand"));
    CHECK_FALSE(in.airline_receiver.find("a").value().has_value());
    CHECK(in.confirms() == 0);
}

/// Work that fails is undone and may be sent again.
template <typename Office>
void check_failed_work() {
    using handler = typename Office::handler;
    using session = typename Office::database::session;
    struct failing : handler {
        service_answer apply(session& db, service_call const& call) const {
            std::ignore = handler::apply(db, call);
            throw std::runtime_error{"the printer is out of paper"};
        }
    };
    struct careless : handler {
        service_answer apply(session& db, service_call const& call) const {
            auto answer = handler::apply(db, call);
            try {
                Office::book_twice(db);
            } catch (settle::failure const&) {
            }
            return answer;
        }
    };
    Office in{10};
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), failing{}) ==
          service_answer::unavailable("the printer is out of paper"));
    // The server has undone the work at the error, whatever the handler answers.
    auto const lost = in.airline_receiver.take(made_call(call_operation::apply, "a"), careless{});
    CHECK(lost.status == call_status::unavailable);
    CHECK(contains(lost.text, Office::twice));
    CHECK_FALSE(in.airline_receiver.find("a").value());
    CHECK(in.bookings() == 0);
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), handler{}).status ==
          call_status::ok);
    CHECK(in.effects() == 1);
}

/// Threads that share keys take effect once for each.
template <typename Office>
void check_threads() {
    constexpr int keys = 12;
    Office in{1000};
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
                    do answer = in.airline_receiver.take(made, typename Office::handler{});
                    while (answer.status == call_status::unavailable);
                }
            });
        }
    }
    for (auto const& one : answers) CHECK(one == answers[0]);
    CHECK(in.effects() == keys * 2 / 3);
    CHECK(in.airline_receiver.list({receiver_status::refused}).value().size() == keys / 3);
}

/// Rows are listed and purged, and damaged rows are noticed.
template <typename Office>
void check_rows() {
    using handler = typename Office::handler;
    Office in{10};
    for (auto const* key : {"c", "a", "b"}) {
        auto call = made_call(call_operation::apply, key);
        call.last_moment = in.clock.now();
        call.line = 7;
        CHECK(in.airline_receiver.take(call, handler{}).status == call_status::ok);
    }
    auto const take = [&](call_operation operation, std::string_view key) {
        return in.airline_receiver.take(made_call(operation, key), handler{}).status;
    };
    CHECK(take(call_operation::compensate, "b") == call_status::ok);
    CHECK(take(call_operation::confirm, "c") == call_status::ok);
    auto const page = in.airline_receiver.list({}, {}, 2).value();
    REQUIRE(page.size() == 2);
    CHECK(page[0].key == "a");
    CHECK(page[0].answer == R"({"seats":1})");
    CHECK(page[0].transaction == "trip");
    CHECK(page[0].line == 7);
    CHECK(page[0].created == in.clock.now());
    CHECK(page[0].standing.has_apply);
    CHECK(page[1].standing.status == receiver_status::compensated);
    CHECK(in.airline_receiver.list({receiver_status::applied}, "a").value().empty());
    CHECK(in.airline_receiver.list({{}, "trip"}).value().size() == 3);
    CHECK(in.airline_receiver.list({{}, "tour"}).value().empty());
    CHECK(in.airline_receiver.find("z").value() == std::nullopt);
    CHECK(in.airline_receiver.purge().value() == 0);
    in.clock.advance(std::chrono::minutes{5} + std::chrono::milliseconds{1});
    CHECK(in.airline_receiver.purge(1).value() == 1);
    CHECK(in.airline_receiver.purge().value() == 1);
    CHECK(in.airline_receiver.list().value().size() == 1);
    in.damage("a");
    CHECK(in.airline_receiver.list().problem().code == settle::errc::damaged);
    auto const damaged = in.airline_receiver.take(made_call(call_operation::apply, "a"), handler{});
    CHECK(damaged.status == call_status::unavailable);
    CHECK(contains(damaged.text, "the row 'a' of the "));
    CHECK(contains(damaged.text, " settle_receiver is damaged"));
}

/// A database of another receiver is refused.
template <typename Office>
void check_owner() {
    Office in{10};
    auto const other = in.another("hotel");
    CHECK(other.problem().code == settle::errc::unfit_store);
    CHECK(contains(other.problem().text, "belongs to the receiver 'airline', and this is 'hotel'"));
    CHECK(in.another("").problem().code == settle::errc::bad_text);
}

} // namespace receiver_checks
