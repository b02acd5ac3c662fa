// SPDX-License-Identifier: BSL-1.0
// Calls that a person has paused.
#include "order_office.hpp"

namespace pauses_test {

using namespace order_test;
using settle::errc;
using settle::pause_scope;

namespace {

/// Counts the calls that services get.
struct counting_office : office {
    std::size_t call_count = 0;
    counting_office() {
        services.before = [this](service_call const&) -> std::optional<service_answer> {
            ++call_count;
            return std::nullopt;
        };
    }
};

} // namespace

TEST_CASE("pauses: a transaction goes on up to its first paused call, and ends after the resume") {
    counting_office office;
    auto engine = office.make();
    CHECK(engine.pause_calls(pause_scope::service, "courier", "it moves house").value());
    auto const first = engine.run("t1", usual);
    CHECK(first.verdict == settle::verdict::undecided);
    CHECK(first.problem.code == errc::call_paused);
    CHECK(first.problem.text == "settle: the calls of the service 'courier' are paused: it moves "
                                "house. Resume them with resume_calls(). See stuck#paused-calls");
    // The wait for a person is a wait for a service.
    CHECK(office.world.elapsed >= engine.limits().call_patience);
    CHECK(office.call_count == 1);
    CHECK(entry_of(engine, "t1").stages_kept == 2);
    CHECK(entry_of(engine, "t1").call_tries == 0);
    CHECK(balance_of(engine, "A") == 900);

    // The next program sees the pause, too.
    auto later = office.make();
    CHECK(later.retry("t1", {1s, {}}).problem.code == errc::call_paused);
    CHECK(office.call_count == 1);
    CHECK(later.resume_calls(pause_scope::service, "courier").value());
    CHECK(later.retry("t1").done());
    CHECK(office.call_count == 2);
    CHECK(later.paused_calls().value().empty());
}

TEST_CASE("pauses: a call of the engine that waits goes on soon after the resume") {
    counting_office office;
    auto engine = office.make();
    auto person = office.make();
    CHECK(person.pause_calls(pause_scope::type, "order", "a price is wrong").value());
    std::chrono::nanoseconds resumed{};
    office.world.while_pausing = [&] {
        if (office.world.elapsed < 20s || resumed != 0s) return;
        CHECK(office.call_count == 0);
        CHECK(person.resume_calls(pause_scope::type, "order").value());
        resumed = office.world.elapsed;
    };
    CHECK(engine.run("t1", usual).done());
    CHECK(resumed >= 20s);
    CHECK(office.world.elapsed - resumed <= 2s);
}

TEST_CASE("pauses: a running engine notices a pause within a second, and between two calls") {
    counting_office office;
    auto engine = office.make();
    auto person = office.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(person.pause_calls(pause_scope::transaction, "t2", "ask first").value());
    office.world.elapsed += 1s;
    CHECK(engine.run("t2", usual, {1s, {}}).problem.code == errc::call_paused);
    CHECK(engine.run("t3", usual).done());
    CHECK(office.call_count == 4);

    // The pause comes while the goods are asked for.
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        ++office.call_count;
        if (call.transaction == "t4") {
            CHECK(engine.pause_calls(pause_scope::transaction, "t4", "ask first").value());
        }
        return std::nullopt;
    };
    CHECK(engine.run("t4", usual, {1s, {}}).problem.code == errc::call_paused);
    CHECK(office.call_count == 5);
}

TEST_CASE("pauses: recover leaves what is paused as it is, and brings the others to their end") {
    counting_office office;
    auto engine = office.make();
    for (auto const* const id : {"t1", "t2"}) CHECK(engine.submit(id, usual).problem.empty());
    CHECK(engine.pause_calls(pause_scope::transaction, "t1", "ask first").value());
    CHECK(engine.work().undecided == 1);
    auto const before = entry_of(engine, "t1");
    office.world.time += 1h;
    auto const elapsed = office.world.elapsed;
    auto const report = engine.recover({.older_than = 0s});
    CHECK(report.done == 0);
    CHECK(entry_of(engine, "t1").epoch_number == before.epoch_number);
    CHECK(office.world.elapsed == elapsed);
    CHECK(engine.resume_calls(pause_scope::transaction, "t1").value());
    CHECK(engine.recover({.older_than = 0s}).done == 1);
}

TEST_CASE("pauses: a paused service holds back no compensation of another") {
    counting_office office;
    auto engine = office.make();
    std::string undone;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::compensate) undone.append(call.participant);
        if (call.participant != "parcel" || call.operation != call_operation::apply)
            return std::nullopt;
        CHECK(engine.pause_calls(pause_scope::service, "shop", "closed").has_value());
        return service_answer::refused("no van");
    };
    auto const first = engine.run("t1", usual, {1s, {}});
    CHECK(first.verdict == settle::verdict::undecided);
    CHECK(balance_of(engine, "A") == 1000);
    CHECK(undone.find("parcel") != std::string::npos);
    CHECK(undone.find("goods") == std::string::npos);
    CHECK(entry_of(engine, "t1").state == settle::state::canceling);
    CHECK(engine.resume_calls(pause_scope::service, "shop").value());
    CHECK(engine.retry("t1").canceled());
    CHECK(undone.find("goods") != std::string::npos);
}

TEST_CASE("pauses: tries before and after a pause count together") {
    office office;
    auto engine = office.make(call_operation::apply, 1000);
    std::size_t most = 4;
    office.services.before = [&, away = office.services.before](service_call const& call) {
        if (--most == 0) {
            CHECK(engine.pause_calls(pause_scope::service, "shop", "it is away").value());
        }
        return away(call);
    };
    CHECK(engine.run("t1", usual, {10min, {}}).verdict == settle::verdict::undecided);
    CHECK(office.calls["goods"].size() == 4);
    CHECK(entry_of(engine, "t1").call_tries == 4);
    CHECK(engine.resume_calls(pause_scope::service, "shop").value());
    CHECK(engine.retry("t1", patient()).canceled());
    CHECK(office.calls["goods"].size() == 10);
}

TEST_CASE("pauses: the list keeps what is paused, since when and why") {
    counting_office office;
    auto engine = office.make();
    auto const since = office.world.time;
    CHECK(engine.pause_calls(pause_scope::service, "shop", "\"closed\"\n").value());
    CHECK_FALSE(engine.pause_calls(pause_scope::service, "shop", "\"closed\"\n").value());
    office.world.time += 1h;
    CHECK(engine.pause_calls(pause_scope::service, "shop", "for long").value());
    CHECK(engine.pause_calls(pause_scope::type, "order", "x").value());
    CHECK(engine.paused_calls().value() ==
          std::vector<settle::call_pause>{{pause_scope::service, "shop", "for long", since},
                                          {pause_scope::type, "order", "x", since + 1h}});
    CHECK_FALSE(engine.resume_calls(pause_scope::type, "shop").value());
    CHECK(engine.resume_calls(pause_scope::service, "shop").value());
    CHECK_FALSE(engine.resume_calls(pause_scope::service, "shop").value());
    CHECK(engine.paused_calls().value().size() == 1);
}

TEST_CASE("pauses: names of nothing and reasons without text are refused") {
    counting_office office;
    auto engine = office.make();
    auto const refused = [&](pause_scope scope, std::string const& name, std::string const& why) {
        auto const answer = engine.pause_calls(scope, name, why);
        CHECK_FALSE(answer.has_value());
        return answer.problem();
    };
    CHECK(refused(pause_scope::service, "chop", "x") ==
          settle::error{errc::bad_option, "settle: the engine has no service 'chop'. Give the name "
                                          "in its definition. See stuck#paused-calls"});
    CHECK(refused(pause_scope::type, "shop", "x").text.find("no type with calls") !=
          std::string::npos);
    CHECK(refused(pause_scope::transaction, "", "x").code == errc::bad_text);
    CHECK(refused(pause_scope::service, "shop", "").code == errc::bad_text);
    CHECK(refused(pause_scope::service, "shop", "\xff").code == errc::bad_text);
    CHECK(refused(pause_scope::service, "shop", std::string(1001, 'x')).code == errc::bad_text);
    CHECK(engine.paused_calls().value().empty());

    std::string const why(1000, 'x');
    std::size_t kept = 0;
    while (
        engine.pause_calls(pause_scope::transaction, "t" + std::to_string(kept), why).has_value()) {
        REQUIRE(++kept < 100);
    }
    CHECK(refused(pause_scope::service, "shop", why).code == errc::bad_option);
    CHECK(engine.paused_calls().value().size() == kept);
    CHECK(engine.run("t0", usual, {1s, {}}).problem.code == errc::call_paused);
}

TEST_CASE("pauses: no call is made while the list cannot be read") {
    counting_office office;
    auto log = office.accounts_at.bind_log();
    CHECK(log.replace_metadata("paused_calls", std::nullopt, R"([{"shop":"shop"}])").has_value());
    auto engine = office.make();
    auto const first = engine.run("t1", usual, {10s, {}});
    CHECK(first.problem.code == errc::damaged);
    CHECK(first.problem.text.find("'paused_calls' cannot be read") != std::string::npos);
    CHECK(office.call_count == 0);
    CHECK(engine.resume_calls(pause_scope::service, "shop").problem().code == errc::damaged);
    CHECK(log.replace_metadata("paused_calls", R"([{"shop":"shop"}])", "[]").has_value());
    office.world.elapsed += 1s;
    CHECK(engine.retry("t1").done());
}

} // namespace pauses_test
