// SPDX-License-Identifier: BSL-1.0
// What befalls every single message between a caller and its server, one after the other.
#pragma once

#include "proxy.hpp"

#include <settle/store/error.hpp>

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

/// What befalls one message, and when it comes after all.
struct mishap {
    rule on{};
    bool after_recovery = false; ///< a late one comes when everything has been settled already

    [[nodiscard]] bool is_late() const { return on.what == fault::hold_request; }
    /// Whether the caller meets it until it gives up.
    [[nodiscard]] bool lasts() const { return on.times > 1; }
    [[nodiscard]] std::string text() const {
        return "message '" + on.command + "' " + std::to_string(on.nth) + ", fault " +
               std::to_string(static_cast<int>(on.what)) + " " + on.answer +
               (after_recovery ? ", very late" : "");
    }
};

/// The short limits are for messages that something befalls. Before that, a busy machine may
/// take longer.
template <typename Make>
auto patiently(Make make) {
    for (int tries = 50;; --tries) {
        try {
            return make();
        } catch (settle::failure const&) {
            if (tries == 0) throw;
        }
    }
}

/// How long the driver waits for what may never come: short, for who meets a mishap waits so long,
/// but nobody else does, on a busy machine either. A server that says that it is no primary is
/// looked at anew when it has news, or as often as the last one says.
inline std::string const disturbed_waits =
    "socketTimeoutMS=3000&connectTimeoutMS=3000&heartbeatFrequencyMS=500";

/// What is to befall a message: of a command, the nth of its kind.
template <typename Scene>
using mishaps_at = std::function<std::vector<mishap>(typename Scene::setup const& of,
                                                     std::string const& command, int nth)>;

/// The commands of what a caller does undisturbed. On a busy machine a driver may send one again,
/// so each is counted where it was seen least.
template <typename Scene>
std::map<std::string, int> usual_commands(typename Scene::setup const& of) {
    Scene here{of};
    auto least = here.commands(0);
    for (int number = 1; number < 3; ++number) {
        auto const again = here.commands(number);
        for (auto& [command, count] : least) {
            auto const found = again.find(command);
            count = found == again.end() ? 0 : std::min(count, found->second);
        }
    }
    std::erase_if(least, [](auto const& one) { return is_greeting(one.first); });
    return least;
}

template <typename Scene>
void every_message(typename Scene::setup const& of, mishaps_at<Scene> const& make,
                   std::size_t callers) {
    std::vector<mishap> all;
    std::size_t messages = 0;
    for (auto const& [command, count] : usual_commands<Scene>(of)) {
        // The driver ends a native transaction with it when settle does not need one any more.
        if (command == "abortTransaction") continue;
        for (int nth = 1; nth <= count; ++nth, ++messages) {
            for (mishap& one : make(of, command, nth)) all.push_back(std::move(one));
        }
    }
    // Alone and in one phase: the accounts, the entry, the commit.
    CHECK(messages >= 3);
    CHECK(!all.empty());
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> missed = 0;
    std::vector<std::jthread> side_by_side;
    for (std::size_t i = 0; i < std::min(callers, all.size()); ++i) {
        side_by_side.emplace_back([&] {
            try {
                Scene here{of};
                for (std::size_t at = next++; at < all.size(); at = next++) {
                    if (!here.suffer(all[at], static_cast<int>(at))) ++missed;
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
    side_by_side.clear();
    // On a busy machine the undisturbed ones may have had to say something twice.
    INFO(missed << " of " << all.size() << " messages were never sent");
    CHECK(missed * 10 <= all.size());
}

/// Every message of a caller's action in each of these setups meets what `make` has for it. The
/// waits are long and the work is little, so many callers suffer side by side.
/// Shape:   Scene - made of a setup; commands(number) does it undisturbed and counts the messages,
///          suffer(mishap, number) does it once more and checks how it ended; whether the message
///          that was to suffer was sent at all
template <typename Scene>
void every_message(std::vector<typename Scene::setup> const& setups,
                   mishaps_at<Scene> const& make) {
    constexpr std::size_t side_by_side = 48;
    std::size_t const each = std::max<std::size_t>(2, side_by_side / setups.size());
    std::vector<std::jthread> all;
    for (auto const& of : setups) {
        all.emplace_back([&] {
            try {
                every_message<Scene>(of, make, each);
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

/// Every message meets every one of these. A late one comes when all is over.
/// Shape:   thorough - it also comes before the recovery, and some callers never get an answer
template <typename Scene>
void lose_every_message(std::vector<typename Scene::setup> const& setups,
                        std::vector<fault> const& faults, bool thorough) {
    every_message<Scene>(setups, [&](auto const&, std::string const& command, int nth) {
        std::vector<mishap> all;
        for (fault const what : faults) {
            all.push_back({{.command = command, .nth = nth, .what = what}, true});
            if (!thorough || !all.back().is_late()) continue;
            all.push_back({{.command = command, .nth = nth, .what = what}, false});
        }
        if (thorough && nth == 1) {
            all.push_back({{.command = command, .times = 10'000, .what = fault::drop_reply}});
        }
        return all;
    });
}

} // namespace settle_test
