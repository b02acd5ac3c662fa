// SPDX-License-Identifier: BSL-1.0
// Leftovers of an old program are taken over through a bad network, and from a server that answers
// with errors. Each ends as it does without faults.
#include "server_answers.hpp"
#include "taken_over.hpp"

namespace settle_test {
namespace {

/// A leftover: the number of its steps, and its server.
struct leftover {
    fresh_database::address_of* server;
    int steps;      ///< how many of its writes the old program made
    int undone = 0; ///< and the number of steps of its cancel
};

/// A worker that takes over behind a bad network, and another worker that reaches the server
/// directly.
class takeover_scene {
public:
    using setup = leftover;

    explicit takeover_scene(leftover const& leftover)
        : of_(leftover), own_(*leftover.server), between_(own_.port()),
          program_(own_.address(), dialect_), straight_(own_.address(), dialect_) {}

    std::map<std::string, int> commands(int number) {
        auto astray = begin(-number);
        CHECK(take_over(*astray).empty());
        check(-number);
        return between_.all_requests();
    }

    bool run_disturbed(message_fault const& fault, int number) {
        INFO("left after ", of_.steps, " writes and ", of_.undone, " of a cancel: ", fault.text());
        auto astray = begin(number + 1);
        between_.add(fault.proxy_rule);
        std::string const problem = take_over(*astray);
        INFO(problem);
        between_.clear_rules();
        bool const sent = between_.requests(fault.proxy_rule.command) >= fault.proxy_rule.nth;
        // A single fault keeps no worker from the end, except a fault of the first read.
        if (fault.proxy_rule.command != "find") CHECK(problem.empty());
        settle_all(straight_);
        check(number + 1);
        if (!fault.is_late()) return sent;
        between_.release();
        CHECK(between_.wait_for_replies(fault.proxy_rule.command,
                                        between_.requests(fault.proxy_rule.command)));
        settle_all(straight_);
        check(number + 1);
        return sent;
    }

private:
    /// Makes the leftover, and a worker whose engine has cached nothing, so that every worker sends
    /// the same messages.
    std::unique_ptr<taken_over> begin(int number) {
        program_.open(number);
        program_.transfer(number, of_.steps);
        program_.cancel(number, of_.undone);
        auto astray = patiently([&] {
            return std::make_unique<taken_over>(between_.address(own_.name(), disturbed_waits),
                                                dialect_);
        });
        between_.reset_counts();
        return astray;
    }
    static std::string take_over(taken_over& bank) {
        settle::recover_options options;
        options.older_than = std::chrono::seconds{0};
        auto const recovered = bank.engine().recover(options);
        auto const worked = bank.engine().work();
        return recovered.problem.text + worked.problem.text;
    }
    /// The leftover ends as its writes require, whatever the fault.
    void check(int number) {
        auto const found = straight_.engine().find(program_.id_text(number)).value().value();
        bool const moved = of_.undone == 0;
        CHECK(found.state == (moved ? settle::state::done : settle::state::canceled));
        check_sums(straight_, number, moved);
        CHECK(straight_.engine().marks().value() == 0);
    }

    static dialect recent_dialect() {
        auto made = dialects().front();
        REQUIRE(make_recent(made));
        return made;
    }

    leftover of_;
    dialect const dialect_ = recent_dialect();
    fresh_database own_;
    proxy between_;
    old_program program_;
    taken_over straight_;
};

std::vector<leftover> leftovers() {
    std::vector<leftover> setups;
    for (auto* const server : {&standalone_address, &replica_set_address}) {
        for (int steps = 1; steps < old_program::steps; ++steps) setups.push_back({server, steps});
        for (int undone = 1; undone < old_program::cancel_steps; ++undone) {
            setups.push_back({server, 4, undone});
        }
    }
    return setups;
}

void disturb(std::size_t every) {
    std::atomic<std::size_t> number = 0;
    every_message<takeover_scene>(leftovers(), [&](auto const&, auto const& command, int nth) {
        auto faults = every_answer(false, command, nth);
        std::erase_if(faults, [&](message_fault const&) { return number++ % every != 0; });
        for (fault const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
            faults.push_back({{.command = command, .nth = nth, .what = what}});
        }
        return faults;
    });
}

} // namespace

TEST_CASE("long: leftovers: takeover succeeds through errors and lost messages" *
          doctest::test_suite("many callers")) {
    disturb(11);
}
TEST_CASE("exhaustive: leftovers: takeover succeeds through every error") { disturb(1); }

} // namespace settle_test
