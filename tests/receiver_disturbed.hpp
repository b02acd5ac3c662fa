// SPDX-License-Identifier: BSL-1.0
// A receiver behind a bad network: every message of a call is lost or late, and the call is
// repeated.
#pragma once

#include "receiver_checks.hpp"

#include <atomic>
#include <chrono>

namespace receiver_checks {

/// An airline whose receiver is reached directly, and through a proxy.
/// Shape:   Network - has the types office, proxy and rule; open(office, proxy), a receiver's
///          database with short limits behind the proxy; and messages(proxy), a rule for each
///          message since the last reset_counts()
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
        prepare("usual");
        between_.reset_counts();
        CHECK(take(astray_, "usual").status == call_status::ok);
        return Network::messages(between_);
    }

    /// Shape:   early - a late message lands before the call is repeated, and otherwise after its
    ///          end
    void run_disturbed(rule const& on, bool early) {
        INFO(on.nth, " of ", Network::name(on), ", fault ", static_cast<int>(on.what));
        CAPTURE(early);
        prepare("key");
        std::int64_t const before = office_.effects();
        between_.add(on);
        auto const first = take(astray_, "key");
        CHECK_MESSAGE(first.status != call_status::refused, first.text);
        between_.clear_rules();
        if (early) between_.release();
        auto const again = repeat();
        CHECK_MESSAGE(again.status == call_status::ok, again.text);
        between_.release();
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        CHECK(repeat() == again);
        CHECK(office_.effects() - before == (operation_ == call_operation::apply        ? 1
                                             : operation_ == call_operation::compensate ? -1
                                                                                        : 0));
        CHECK(office_.confirms() == (operation_ == call_operation::confirm ? 1 : 0));
        if (first.status == call_status::ok) CHECK(first == again);
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
        service_answer given;
        for (int tries = 0; tries < 2'000; ++tries) {
            given = take(office_.db, "key");
            bool const ends =
                given.status == call_status::ok || given.status == call_status::refused;
            if (ends) break;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return given;
    }
    service_answer take(database& on, std::string_view key) {
        return settle::receiver{on}.take(made_call(operation_, key), typename office::handler{});
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
    std::vector<message_fault> all;
    for (auto on : scene{operation}.messages()) {
        for (auto const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
            on.what = what;
            all.push_back({on, false});
            if (what == fault::hold_request) all.push_back({on, true});
        }
    }
    CHECK(all.size() >= 12);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> side_by_side;
    for (int i = 0; i < 8; ++i) {
        side_by_side.emplace_back([&] {
            try {
                for (std::size_t at = next++; at < all.size(); at = next++) {
                    scene{operation}.run_disturbed(all[at].on, all[at].early);
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
}

} // namespace receiver_checks
