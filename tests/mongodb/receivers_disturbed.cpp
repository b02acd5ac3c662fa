// SPDX-License-Identifier: BSL-1.0
// A receiver behind a bad network: every message of a call is lost or late, and the call is
// repeated.
#include "mishaps.hpp"
#include "receiver_office.hpp"

#include <thread>

namespace mongodb_receivers {

namespace {

using namespace std::chrono_literals;

/// An airline whose receiver is reached directly, and through a proxy.
class disturbed_office {
public:
    explicit disturbed_office(call_operation operation)
        : operation_(operation), between_(office_.own.port()), astray_(patiently([&] {
              return receiver_database{between_.address(office_.own.name(), disturbed_waits),
                                       "airline"};
          })) {}

    /// The messages of an undisturbed call.
    std::map<std::string, int> commands() {
        prepare("usual");
        between_.reset_counts();
        CHECK(take(astray_, operation_, "usual").status == call_status::ok);
        auto sent = between_.all_requests();
        std::erase_if(sent, [](auto const& one) { return is_greeting(one.first); });
        return sent;
    }

    void suffer(rule const& on) {
        CAPTURE(on.command);
        CAPTURE(on.nth);
        CAPTURE(static_cast<int>(on.what));
        prepare("key");
        std::int64_t const before = office_.effects();
        between_.add(on);
        auto const first = take(astray_, operation_, "key");
        CHECK_MESSAGE(first.status != call_status::refused, first.text);
        between_.clear_rules();
        auto const again = repeat(operation_);
        CHECK_MESSAGE(again.status == call_status::ok, again.text);
        // A late message lands behind the end.
        between_.release();
        std::this_thread::sleep_for(20ms);
        CHECK(repeat(operation_) == again);
        CHECK(office_.effects() - before == (operation_ == call_operation::apply        ? 1
                                             : operation_ == call_operation::compensate ? -1
                                                                                        : 0));
        CHECK(office_.sum("\"$confirms\"") == (operation_ == call_operation::confirm ? 1 : 0));
        if (first.status == call_status::ok) CHECK(first == again);
    }

private:
    void prepare(std::string_view key) {
        if (operation_ == call_operation::apply) return;
        CHECK(take(office_.db, call_operation::apply, key).status == call_status::ok);
    }
    /// Repeats the call on the direct way. The server may still hold the locks of the lost call.
    service_answer repeat(call_operation operation) {
        service_answer given;
        for (int tries = 0; tries < 2'000; ++tries) {
            given = take(office_.db, operation, "key");
            bool const ends =
                given.status == call_status::ok || given.status == call_status::refused;
            if (ends) break;
            std::this_thread::sleep_for(5ms);
        }
        return given;
    }
    static service_answer take(receiver_database& on, call_operation operation,
                               std::string_view key) {
        return settle::receiver{on}.take(made_call(operation, key), seats{});
    }

    call_operation operation_;
    office office_;
    proxy between_;
    receiver_database astray_;
};

void lose_every_message_of(call_operation operation) {
    auto const commands = disturbed_office{operation}.commands();
    std::vector<rule> all;
    for (auto const& [command, count] : commands) {
        for (int nth = 1; nth <= count; ++nth) {
            for (fault const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
                all.push_back({.command = command, .nth = nth, .what = what});
            }
        }
    }
    CHECK(commands.count("commitTransaction") == 1);
    CHECK(all.size() >= 9);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> side_by_side;
    for (int i = 0; i < 8; ++i) {
        side_by_side.emplace_back([&] {
            try {
                for (std::size_t at = next++; at < all.size(); at = next++) {
                    disturbed_office{operation}.suffer(all[at]);
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
}

} // namespace

TEST_CASE("receivers: every message of an apply on MongoDB is lost or late") {
    lose_every_message_of(call_operation::apply);
}

TEST_CASE("receivers: every message of a compensation on MongoDB is lost or late") {
    lose_every_message_of(call_operation::compensate);
}

TEST_CASE("receivers: every message of a confirm on MongoDB is lost or late") {
    lose_every_message_of(call_operation::confirm);
}

} // namespace mongodb_receivers
