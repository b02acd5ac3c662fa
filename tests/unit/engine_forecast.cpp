// SPDX-License-Identifier: BSL-1.0
// What an engine says that an action would do with an entry, beside what the action then does.
#include "engine_types.hpp"

#include <contains.hpp>

namespace engine_test {
namespace {

using settle::operator_action;
using testing::contains;

using watched_engine =
    settle::engine<settle::memory::database, settle::type_tag<transfer_type>,
                   settle::environment_binding<manual_environment>, settle::observer_binding<hook>>;

/// A bank with an entry in each state, as killed workers leave them.
struct forecast_bank {
    settle::memory::database database;
    world_state world;
    std::function<void(settle::event const&)> watch;
    watched_engine engine{database, settle::type<transfer_type>,
                          settle::with_environment(manual_environment{world}),
                          settle::observed_by(hook{watch})};

    forecast_bank() {
        open_accounts(engine, {{"A", 100}, {"B", 0}});
        REQUIRE(engine.submit("initial", transfer{"A", "B", 1}).problem.empty());
        REQUIRE(engine.run("done", transfer{"A", "B", 1}).done());
        REQUIRE(engine.run("canceled", transfer{"A", "B", 1000}).canceled());
        leave("pending", settle::step::apply, 1);
        leave("applied", settle::step::commit, 1);
        leave("canceling", settle::step::cancel, 1000);
    }

    void leave(std::string const& id, settle::step last, std::int64_t amount) {
        watch = kill_after(last);
        CHECK_THROWS_AS(std::ignore = engine.run(id, transfer{"A", "B", amount}), killed);
        watch = nullptr;
    }
    [[nodiscard]] settle::action_forecast ask(operator_action action, std::string const& id) {
        return engine.forecast(action, entry_of(engine, id));
    }
    settle::outcome take(operator_action action, std::string const& id) {
        switch (action) {
        case operator_action::recover: return engine.retry(id);
        case operator_action::cancel: return engine.cancel(id);
        case operator_action::reverse: return engine.reverse(id);
        case operator_action::resolve: break;
        }
        return engine.resolve(id, "source", "by hand");
    }
};

} // namespace

TEST_CASE("forecast: an action is allowed where it then does what its sentence says") {
    struct expectation {
        std::string id;
        operator_action action;
        state end;
    };
    std::vector<expectation> const expected{
        {"initial", operator_action::recover, state::done},
        {"initial", operator_action::cancel, state::canceled},
        {"pending", operator_action::recover, state::done},
        {"pending", operator_action::cancel, state::canceled},
        {"applied", operator_action::recover, state::done},
        {"canceling", operator_action::recover, state::canceled},
        {"done", operator_action::reverse, state::done},
    };
    for (state const present : settle::all_states) {
        std::string const id{name_of(present)};
        if (present == state::deciding || present == state::barred) continue;
        for (operator_action const action : settle::all_operator_actions) {
            CAPTURE(id);
            CAPTURE(name_of(action));
            forecast_bank bank;
            REQUIRE(entry_of(bank.engine, id).state == present);
            auto const forecast = bank.ask(action, id);
            auto const* place = std::find_if(
                expected.data(), expected.data() + expected.size(),
                [&](expectation const& each) { return each.id == id && each.action == action; });
            bool const is_expected = place != expected.data() + expected.size();
            CHECK(forecast.is_allowed == is_expected);
            CHECK_FALSE(forecast.text.empty());
            CHECK_MESSAGE(entry_of(bank.engine, id).state == present, "a forecast changes nothing");
            if (!is_expected) continue;
            auto const ended = bank.take(action, id);
            CHECK(entry_of(bank.engine, ended.id).state == place->end);
            bool const is_reversal = action == operator_action::reverse;
            auto const* const word = place->end == state::canceled ? "ends canceled" : "done";
            CHECK(contains(forecast.text, is_reversal ? "'done/reverse'" : word));
        }
    }
}

TEST_CASE("forecast: an entry that is too old to commit is told to be canceled") {
    forecast_bank bank;
    CHECK(contains(bank.ask(operator_action::recover, "pending").text, "commits and ends done"));
    bank.world.time += std::chrono::hours{24 * 8};
    CHECK(contains(bank.ask(operator_action::recover, "pending").text, "it is never committed"));
    CHECK(bank.engine.retry("pending").canceled());
    auto const late = bank.ask(operator_action::reverse, "done");
    CHECK_FALSE(late.is_allowed);
    CHECK(contains(late.text, "too long ago"));
    CHECK(bank.engine.reverse("done").problem.message() == late.text);
}

TEST_CASE("forecast: an entry that no worker can use allows nothing, with the same sentence") {
    forecast_bank bank;
    auto stored = entry_of(bank.engine, "pending");
    stored.type = "rent";
    auto const forecast = bank.engine.forecast(operator_action::cancel, stored);
    CHECK_FALSE(forecast.is_allowed);
    CHECK(contains(forecast.text, "is of type 'rent', which this engine does not have"));
}

TEST_CASE("forecast: counts are by state, and by what is allowed") {
    forecast_bank bank;
    settle::forecast_counts counts;
    for (settle::entry const& stored : bank.engine.list())
        counts.add(stored, bank.engine.forecast(operator_action::cancel, stored));
    CHECK(counts.looked_at == 6);
    CHECK(counts.allowed == 2);
    std::string groups;
    for (auto const& group : counts.groups) {
        groups += std::string{name_of(group.state)} + (group.is_allowed ? "+" : "-") +
                  std::to_string(group.count) + " ";
        if (group.state == state::applied) CHECK(contains(group.text, "too late"));
    }
    CHECK(groups == "initial+1 pending+1 applied-1 done-1 canceling-1 canceled-1 ");
}

TEST_CASE("forecast: what is due is what a recovery takes") {
    forecast_bank bank;
    auto const due = [&](std::chrono::minutes older_than) {
        std::uint64_t count = 0;
        settle::recover_options options;
        options.older_than = older_than;
        for (settle::entry const& stored : bank.engine.list()) {
            if (bank.engine.is_due(stored, options)) ++count;
        }
        return count;
    };
    // Their owner is this live process, so only time shows that they stand still.
    bank.world.time += std::chrono::minutes{20};
    CHECK(due(std::chrono::minutes{30}) == 0);
    CHECK(bank.engine.recover().young == 3);
    CHECK(due(std::chrono::minutes{10}) == 3);
    settle::recover_options options;
    options.older_than = std::chrono::minutes{10};
    auto const report = bank.engine.recover(options);
    CHECK(report.done == 2);
    CHECK(report.canceled == 1);
    CHECK(due(std::chrono::minutes{0}) == 0);
}

} // namespace engine_test
