// SPDX-License-Identifier: BSL-1.0
// Disturbs every single message between a caller and its server, one after the other.
#pragma once

#include "patiently.hpp"
#include "proxy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace settle_test {

/// The fault of one message, and the time of its late arrival.
struct message_fault {
    rule proxy_rule{};
    bool after_recovery = false; ///< the late message arrives when everything has been settled

    [[nodiscard]] bool is_late() const { return proxy_rule.what == fault::hold_request; }
    /// Whether every repetition of the message has the fault until the caller gives up.
    [[nodiscard]] bool lasts() const { return proxy_rule.times > 1; }
    [[nodiscard]] std::string text() const {
        return "message '" + proxy_rule.command + "' " + std::to_string(proxy_rule.nth) +
               ", fault " + std::to_string(static_cast<int>(proxy_rule.what)) + " " +
               proxy_rule.answer + (after_recovery ? ", very late" : "");
    }
};

/// The driver's limit for a reply that may never arrive. It is short, since only disturbed
/// callers wait, also on a busy machine. The driver repeats a request if a server reports no
/// primary, either at once or at the rate of this option.
inline std::string const disturbed_waits =
    "socketTimeoutMS=3000&connectTimeoutMS=3000&heartbeatFrequencyMS=500";

/// Returns the faults to try at the nth message of a command.
template <typename Scene>
using message_faults_at = std::function<std::vector<message_fault>(
    typename Scene::setup const& setup, std::string const& command, int nth)>;

/// The commands of an undisturbed caller. On a busy machine a driver may repeat a command, so each
/// count is the lowest of several runs.
template <typename Scene>
std::map<std::string, int> usual_commands(typename Scene::setup const& setup) {
    Scene scene{setup};
    auto least = scene.commands(0);
    for (int number = 1; number < 3; ++number) {
        auto const again = scene.commands(number);
        for (auto& [command, count] : least) {
            auto const found = again.find(command);
            count = found == again.end() ? 0 : std::min(count, found->second);
        }
    }
    std::erase_if(least, [](auto const& one) { return is_greeting(one.first); });
    return least;
}

template <typename Scene>
void every_message(typename Scene::setup const& setup, message_faults_at<Scene> const& make,
                   std::size_t callers) {
    std::vector<message_fault> faults;
    std::size_t messages = 0;
    for (auto const& [command, count] : usual_commands<Scene>(setup)) {
        // The driver ends a native transaction with it when settle does not need that transaction
        // any more.
        if (command == "abortTransaction") continue;
        for (int nth = 1; nth <= count; ++nth, ++messages) {
            for (message_fault& one : make(setup, command, nth)) faults.push_back(std::move(one));
        }
    }
    // Single, in one phase: the accounts, the entry, the commit.
    CHECK(messages >= 3);
    CHECK(!faults.empty());
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> missed = 0;
    std::vector<std::jthread> side_by_side;
    for (std::size_t i = 0; i < std::min(callers, faults.size()); ++i) {
        side_by_side.emplace_back([&] {
            try {
                Scene scene{setup};
                for (std::size_t at = next++; at < faults.size(); at = next++) {
                    if (!scene.run_disturbed(faults[at], static_cast<int>(at))) ++missed;
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
    side_by_side.clear();
    // On a busy machine the undisturbed callers may have repeated a message.
    INFO(missed << " of " << faults.size() << " messages were never sent");
    CHECK(missed * 10 <= faults.size());
}

/// Applies the faults of `make` to every message of a caller's action in each of these setups. The
/// waits are long and the work is little, so many callers run side by side.
/// Shape:   Scene - made of a setup; commands(number) acts undisturbed and counts the messages;
///          run_disturbed(message_fault, number) acts once more with the fault, checks the end, and
///          returns whether the message was sent at all
template <typename Scene>
void every_message(std::vector<typename Scene::setup> const& setups,
                   message_faults_at<Scene> const& make) {
    constexpr std::size_t side_by_side = 48;
    std::size_t const each = std::max<std::size_t>(2, side_by_side / setups.size());
    std::vector<std::jthread> all;
    for (auto const& setup : setups) {
        all.emplace_back([&] {
            try {
                every_message<Scene>(setup, make, each);
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
}

inline std::vector<fault> const lost_or_late{fault::drop_reply, fault::hold_request};
inline std::vector<fault> const every_fault{fault::drop_request, fault::drop_reply,
                                            fault::cut_reply, fault::hold_reply,
                                            fault::hold_request};

/// Applies each of these faults to every message. A late message arrives after the end.
/// Shape:   thorough - it also arrives before the recovery, and some callers never get an answer
template <typename Scene>
void lose_every_message(std::vector<typename Scene::setup> const& setups,
                        std::vector<fault> const& faults, bool thorough) {
    every_message<Scene>(setups, [&](auto const&, std::string const& command, int nth) {
        std::vector<message_fault> message_faults;
        for (fault const what : faults) {
            message_faults.push_back({{.command = command, .nth = nth, .what = what}, true});
            if (!thorough || !message_faults.back().is_late()) continue;
            message_faults.push_back({{.command = command, .nth = nth, .what = what}, false});
        }
        if (thorough && nth == 1) {
            message_faults.push_back(
                {{.command = command, .times = 10'000, .what = fault::drop_reply}});
        }
        return message_faults;
    });
}

} // namespace settle_test
