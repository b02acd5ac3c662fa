// SPDX-License-Identifier: BSL-1.0
// A receiver behind a bad network: every message of a call is lost or late, and the call is
// repeated.
#pragma once

#include "receiver_checks.hpp"
#include "server_process.hpp"

#include <atomic>
#include <chrono>

namespace receiver_checks {

/// An airline whose receiver is reached directly, and through a proxy.
/// Shape:   Network - has the types office, proxy (a fault_proxy) and rule; open(office, proxy), a
///          receiver's database with short limits behind the proxy; and messages(proxy), a rule for
///          each message since the last reset_counts()
template <typename Network>
class disturbed_office {
public:
    using office = typename Network::office;
    using rule = typename Network::rule;
    using database = typename office::database;

    explicit disturbed_office(call_operation operation)
        : operation_(operation), between_(office_.own.port()),
          astray_(Network::open(office_, between_)) {}

    /// The messages of an undisturbed call.
    std::vector<rule> messages() {
        service_answer answer;
        // On a busy machine an undisturbed call may reach a limit. Then the next call is made.
        for (int tries = 0; tries < 9 && answer.status != call_status::ok; ++tries) {
            auto const key = "usual" + std::to_string(tries);
            prepare(key);
            between_.reset_counts();
            answer = take(astray_, key);
            CHECK_MESSAGE(answer.status != call_status::refused, answer.text);
        }
        CHECK_MESSAGE(answer.status == call_status::ok, answer.text);
        return Network::messages(between_);
    }

    /// Shape:   early - a late message lands before the call is repeated, and otherwise after its
    ///          end
    /// Returns: false if the call reached a limit before its disturbed message: the machine is busy
    [[nodiscard]] bool run_disturbed(rule const& disturbed, bool early) {
        INFO(disturbed.nth, " of ", Network::name(disturbed), ", fault ",
             static_cast<int>(disturbed.what));
        CAPTURE(early);
        prepare("key");
        std::int64_t const before = office_.effects();
        between_.add(disturbed);
        auto const first = take(astray_, "key");
        CHECK_MESSAGE(first.status != call_status::refused, first.text);
        bool const struck =
            settle_test::wait_until(std::chrono::seconds{10}, [&] { return between_.hits() == 1; });
        if (!struck && first.status != call_status::ok) return false;
        CHECK(struck);
        between_.clear_rules();
        if (early) {
            between_.release();
            CHECK(between_.wait_for_landing());
        }
        auto const again = repeat();
        CHECK_MESSAGE(again.status == call_status::ok, again.text);
        between_.release();
        CHECK(between_.wait_for_landing());
        CHECK(repeat() == again);
        CHECK(office_.effects() - before == (operation_ == call_operation::apply        ? 1
                                             : operation_ == call_operation::compensate ? -1
                                                                                        : 0));
        CHECK(office_.confirms() == (operation_ == call_operation::confirm ? 1 : 0));
        if (first.status == call_status::ok) CHECK(first == again);
        return true;
    }

private:
    void prepare(std::string_view key) {
        if (operation_ == call_operation::apply) return;
        auto const applied = settle::receiver{office_.db}.take(
            made_call(call_operation::apply, key), typename office::handler{});
        CHECK(applied.status == call_status::ok);
    }
    /// Repeats the call on the direct way. The server may still hold the locks of the lost call.
    service_answer repeat() {
        service_answer answer;
        for (int tries = 0; tries < 2'000; ++tries) {
            answer = take(office_.db, "key");
            bool const ends =
                answer.status == call_status::ok || answer.status == call_status::refused;
            if (ends) break;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return answer;
    }
    service_answer take(database& from, std::string_view key) {
        return settle::receiver{from}.take(made_call(operation_, key), typename office::handler{});
    }

    call_operation operation_;
    office office_;
    typename Network::proxy between_;
    database astray_;
};

template <typename Network>
void lose_every_message_of(call_operation operation) {
    using scene = disturbed_office<Network>;
    using fault = decltype(Network::rule::what);
    struct message_fault {
        typename Network::rule on;
        bool early;
    };
    std::vector<message_fault> faults;
    // On a busy machine a driver may repeat a message, so the fewest messages of three calls count.
    auto messages = scene{operation}.messages();
    for (int more = 0; more < 2; ++more) {
        auto found = scene{operation}.messages();
        if (found.size() < messages.size()) messages = std::move(found);
    }
    for (auto message : messages) {
        for (auto const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
            message.what = what;
            faults.push_back({message, false});
            if (what == fault::hold_request) faults.push_back({message, true});
        }
    }
    CHECK(faults.size() >= 12);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> side_by_side;
    for (int i = 0; i < 8; ++i) {
        side_by_side.emplace_back([&] {
            try {
                for (std::size_t index = next++; index < faults.size(); index = next++) {
                    int tries = 0;
                    while (!scene{operation}.run_disturbed(faults[index].on, faults[index].early)) {
                        if (++tries == 20) throw std::runtime_error{"the fault hits no message"};
                    }
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
}

} // namespace receiver_checks
