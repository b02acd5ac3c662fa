// SPDX-License-Identifier: BSL-1.0
// A person who knows the outcome of a pivot ends a transaction that is deciding.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <settle/testing/faults.hpp>

#include <contains.hpp>
#include <service_receiver.hpp>

#include <semaphore>
#include <thread>
#include <utility>

namespace resolve_test {

using namespace engine_test;

struct order {
    std::string customer;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};
struct receipt {
    std::string number;
};
struct letter {
    std::string receipt;
};

SETTLE_STRUCT(order, customer, price);
SETTLE_STRUCT(charge, customer, amount);
SETTLE_STRUCT(receipt, number);
SETTLE_STRUCT(letter, receipt);

using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::pivot_outcome;
using settle::service_answer;
using settle::service_call;
using testing::contains;
using namespace std::chrono_literals;

inline constexpr settle::service<charge, settle::nothing, "shop", settle::barrier> shop;
inline constexpr settle::service<charge, receipt, "bank", settle::barrier> bank;
inline constexpr settle::service<charge, settle::nothing, "cash", settle::barrier> cash;
inline constexpr settle::service<letter, settle::nothing, "mailer", settle::barrier> mailer;

inline constexpr auto payer = settle::participant<"payer">(accounts, param<&order::customer>)
                                  .require(field<&account::balance> >= param<&order::price>)
                                  .apply(field<&account::balance> -= param<&order::price>)
                                  .compensate(settle::inverse);
inline constexpr auto goods = settle::participant<"goods">(shop)
                                  .apply(call(param<&order::customer>, param<&order::price>))
                                  .compensate(call());

inline constexpr auto order_type = settle::transaction<order, "order">(
    payer, goods,
    settle::participant<"card">(bank).apply(call(param<&order::customer>, param<&order::price>)),
    settle::participant<"mail">(mailer).confirm(
        call(settle::result_from<"card", &receipt::number>)));
inline constexpr auto cash_type = settle::transaction<order, "cash_order">(
    payer,
    settle::participant<"till">(cash).apply(call(param<&order::customer>, param<&order::price>)));

namespace {

struct memory_log {
    settle::memory::database database{};
};
struct file_log {
    sqlite_test::folder files{};
    settle::sqlite::database database{files.file()};
};

/// A log with an account, and a receiver of all services, which outlives the engines. The services
/// with a pivot give no answer.
template <typename Log>
struct office {
    Log log{};
    receiver services{};
    world_state world{};

    auto make() { return make_on(log.database); }
    /// Shape:   database - the log's, or a wrapper of it
    auto make_on(auto& database) {
        return settle::engine{database,
                              settle::bind(shop, services),
                              settle::bind(bank, services),
                              settle::bind(cash, services),
                              settle::bind(mailer, services),
                              settle::type<order_type>,
                              settle::type<cash_type>,
                              settle::with_environment(manual_environment{world})};
    }
    office() {
        services.before = [](service_call const& call) -> std::optional<service_answer> {
            if (call.participant != "card" && call.participant != "till") return std::nullopt;
            return service_answer::unknown("lost");
        };
        auto engine = make();
        open_accounts(engine, {{"A", 1000}});
    }
};

order const usual{"A", 500};

settle::resolve_options stated(pivot_outcome outcome, std::string result = {}) {
    settle::resolve_options options;
    options.pivot = outcome;
    options.result = std::move(result);
    return options;
}
settle::resolve_options const was_applied = stated(pivot_outcome::was_applied, R"({"number":"7"})");
settle::resolve_options const was_not_applied = stated(pivot_outcome::was_not_applied);

} // namespace

TEST_CASE_TEMPLATE("resolve: a pivot that was applied commits, with the result that is given", Log,
                   memory_log, file_log) {
    office<Log> office;
    auto engine = office.make();
    CHECK(engine.template run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    office.services.calls.clear();
    auto const outcome = engine.resolve("t1", "card", "the bank has it, case 4711", was_applied);
    REQUIRE_MESSAGE(outcome.done(), outcome.text());
    CHECK(outcome.finished);
    CHECK(office.services.called() == "confirm mail");
    REQUIRE(office.services.rows.size() == 2);
    CHECK(office.services.rows.rbegin()->second.request == R"({"receipt":"7"})");
    auto const entry = entry_of(engine, "t1");
    CHECK(entry.state == state::done);
    REQUIRE(entry.results.size() == 1);
    CHECK(entry.results.front().value == R"({"number":"7"})");
    CHECK(entry.results.front().closed == "the bank has it, case 4711");
    CHECK(balance_of(engine, "A") == 500);
    CHECK(engine.marks().value() == 0);
}

TEST_CASE_TEMPLATE("resolve: a pivot that was not applied cancels, and its call is never made", Log,
                   memory_log, file_log) {
    office<Log> office;
    auto engine = office.make();
    CHECK(engine.template run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    office.services.calls.clear();
    auto const outcome = engine.resolve("t1", "card", "never arrived", was_not_applied);
    REQUIRE_MESSAGE(outcome.canceled(), outcome.text());
    CHECK(outcome.why == reason::cancel_asked);
    CHECK(outcome.participant == "card");
    CHECK(office.services.called() == "compensate goods");
    auto const entry = entry_of(engine, "t1");
    CHECK(entry.state == state::canceled);
    REQUIRE(entry.results.size() == 1);
    CHECK(entry.results.front().value.empty());
    CHECK(entry.results.front().closed == "never arrived");
    CHECK(balance_of(engine, "A") == 1000);
    CHECK(engine.marks().value() == 0);
}

TEST_CASE("resolve: a pivot without a result needs none") {
    office<memory_log> office;
    auto engine = office.make();
    CHECK(engine.run<cash_type>("t1", usual, soon).verdict == verdict::undecided);
    CHECK(engine.resolve("t1", "till", "seen in the till", was_applied)
              .problem.text.find("the service 'cash' gives no result") != std::string::npos);
    CHECK(engine.resolve("t1", "till", "seen in the till", stated(pivot_outcome::was_applied))
              .done());
    CHECK(balance_of(engine, "A") == 500);
}

TEST_CASE("resolve: a statement that does not fit the entry is refused and changes nothing") {
    office<memory_log> office;
    auto engine = office.make();
    CHECK(engine.run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    auto const before = entry_of(engine, "t1");
    CHECK(contains(engine.forecast(settle::operator_action::resolve, before).text,
                   "The pivot counts as applied, and it commits; or as not applied"));
    auto const cancel = engine.forecast(settle::operator_action::cancel, before);
    CHECK_FALSE(cancel.is_allowed);
    CHECK(cancel.text == engine.cancel("t1").problem.message());
    auto const refusal = [&](std::string_view participant, auto const&... given) {
        auto const refused = engine.resolve("t1", participant, "by hand", given...);
        CHECK(refused.verdict == verdict::refused);
        CHECK(refused.problem.code == settle::errc::not_closable);
        CHECK(entry_of(engine, "t1") == before);
        return refused.problem.text;
    };
    CHECK(contains(refusal("card"), "its pivot may have been applied"));
    CHECK(contains(refusal("goods", was_applied), "has no call 'goods'"));
    CHECK(contains(refusal("payer", was_applied), "has no call 'payer'"));
    CHECK(
        contains(refusal("card", stated(pivot_outcome::was_applied)), "no result of the service"));
    CHECK(contains(refusal("card", stated(pivot_outcome::was_applied, "{\"number\":7}")),
                   "no result of the service 'bank' can be read"));
    CHECK(contains(refusal("card", stated(pivot_outcome::was_not_applied, "{}")),
                   "only a pivot that was applied has a result"));

    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::confirm) return service_answer::unavailable("away");
        return std::nullopt;
    };
    office.services.decide = [](service_call const&) {
        return service_answer::ok(R"({"number":"8"})");
    };
    CHECK(engine.retry("t1", soon).done());
    CHECK(entry_of(engine, "t1").state == state::applied);
    CHECK(contains(engine.resolve("t1", "card", "by hand", was_not_applied).problem.text,
                   "Only a pivot that is deciding has an outcome"));
}

namespace {

/// A worker and a person with an engine each, on one log. The bank answers every call.
struct race {
    office<memory_log> shared_office{};
    settle::testing::faulty<settle::memory::database> watched{shared_office.log.database};
    decltype(shared_office.make()) worker = shared_office.make();
    decltype(shared_office.make_on(watched)) person = shared_office.make_on(watched);
    settle::outcome ran{};    ///< for the worker
    settle::outcome stated{}; ///< for the person

    race() {
        shared_office.services.decide = [](service_call const&) {
            return service_answer::ok(R"({"number":"8"})");
        };
    }

    /// The person reads the entry during the worker's call of the card, and writes after the
    /// worker's commit.
    void let_worker_win(std::string const& id, settle::resolve_options const& statement) {
        std::binary_semaphore has_read{0};
        std::binary_semaphore may_write{0};
        bool waits = true;
        watched.plan([&](settle::testing::call const& call) {
            bool const writes = call.what == name_of(settle::step::keep) ||
                                call.what == name_of(settle::step::cancel);
            if (writes && std::exchange(waits, false)) {
                has_read.release();
                may_write.acquire();
            }
            return settle::testing::fault{};
        });
        std::jthread other;
        run_with(id, [&] {
            other = std::jthread{[&] {
                stated = person.resolve(id, "card", "by hand", statement);
                has_read.release(); // A person that wrote nothing does not stop the test.
            }};
            has_read.acquire();
        });
        may_write.release();
        other.join();
        watched.plan({});
        CHECK_FALSE(waits);
    }
    /// The person's statement is written during the worker's call of the card.
    void let_person_win(std::string const& id, settle::resolve_options const& statement) {
        run_with(id, [&] { stated = person.resolve(id, "card", "by hand", statement); });
    }

private:
    /// Shape:   during_card - called before the card answers
    template <typename Function>
    void run_with(std::string const& id, Function during_card) {
        shared_office.services.before =
            [&](service_call const& call) -> std::optional<service_answer> {
            if (call.participant == "card") during_card();
            return std::nullopt;
        };
        ran = worker.run<order_type>(id, order{"A", 100});
        shared_office.services.before = [](service_call const&) { return std::nullopt; };
    }
};

} // namespace

TEST_CASE("resolve: either the worker with the pivot's answer or the person wins") {
    race race;
    for (bool const applied : {true, false}) {
        CAPTURE(applied);
        auto const& statement = applied ? was_applied : was_not_applied;
        std::string const id = applied ? "t1" : "t2";
        std::int64_t const balance = balance_of(race.worker, "A");
        race.let_worker_win(id, statement);
        CHECK_MESSAGE(race.ran.done(), race.ran.text());
        CHECK(race.stated.verdict == verdict::refused);
        CHECK(race.stated.problem.code == settle::errc::not_closable);
        CHECK(contains(race.stated.problem.text, "a worker changed '" + id + "' meanwhile"));
        CHECK(balance_of(race.worker, "A") == balance - 100);
        auto const entry = entry_of(race.worker, id);
        REQUIRE(entry.results.size() == 1);
        CHECK(entry.results.front().value == R"({"number":"8"})");
        CHECK_FALSE(entry.results.front().closed);
        CHECK(race.worker.marks().value() == 0);
        // The second statement finds the entry done: nothing is left to resolve.
        auto const late = race.person.resolve(id, "card", "later", statement);
        CHECK(late.verdict == verdict::refused);
        CHECK(late.problem.code == settle::errc::not_closable);
        CHECK(contains(late.problem.text, "its state is done"));
        CHECK(entry_of(race.worker, id) == entry);
    }
    for (bool const applied : {true, false}) {
        CAPTURE(applied);
        std::string const id = applied ? "t3" : "t4";
        std::int64_t const balance = balance_of(race.worker, "A");
        race.let_person_win(id, applied ? was_applied : was_not_applied);
        CHECK(race.stated.done() == applied);
        CHECK(race.stated.canceled() != applied);
        CHECK(race.ran.verdict == race.stated.verdict);
        CHECK(balance_of(race.worker, "A") == balance - (applied ? 100 : 0));
        auto const entry = entry_of(race.worker, id);
        REQUIRE(entry.results.size() == 1);
        CHECK(entry.results.front().value == (applied ? R"({"number":"7"})" : ""));
        CHECK(entry.results.front().closed == "by hand");
        CHECK(race.worker.marks().value() == 0);
        // A second statement finds the entry ended, and changes nothing.
        CHECK(race.person.resolve(id, "card", "later", was_not_applied).problem.code ==
              settle::errc::not_closable);
        CHECK(entry_of(race.worker, id) == entry);
    }
}

TEST_CASE("resolve: a worker that dies after the person's statement is followed by any worker") {
    office<file_log> office;
    auto engine = office.make();
    CHECK(engine.run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::apply) return service_answer::refused("late");
        return service_answer::unavailable("away");
    };
    CHECK_FALSE(engine
                    .resolve("t1", "card", "charged",
                             [] {
                                 auto given = was_applied;
                                 given.deadline = 50ms;
                                 return given;
                             }())
                    .finished);
    office.services.before = [](service_call const&) { return std::nullopt; };
    office.world.time += 31min;
    CHECK(office.make().recover().done == 1);
    CHECK(balance_of(engine, "A") == 500);
}

TEST_CASE("resolve: a closing whose answer is lost is undecided, and can be stated again") {
    using settle::testing::fault_kind;
    office<memory_log> office;
    settle::testing::faulty fragile{office.log.database};
    auto engine = settle::engine{settle::log_in(fragile),
                                 settle::bind(accounts, office.log.database),
                                 settle::bind(bank, office.services),
                                 settle::bind(shop, office.services),
                                 settle::bind(mailer, office.services),
                                 settle::type<order_type>,
                                 settle::with_environment(manual_environment{office.world})};
    CHECK(engine.run("t1", usual, soon).verdict == verdict::undecided);
    for (auto const kind : {fault_kind::unavailable, fault_kind::unknown_after}) {
        int sent = 0;
        fragile.plan([&](settle::testing::call const& call) {
            bool const meant = call.what == name_of(settle::step::cancel);
            sent += meant ? 1 : 0;
            return settle::testing::fault{meant ? kind : fault_kind::none};
        });
        auto limited = was_not_applied;
        limited.deadline = soon.deadline;
        auto const lost = engine.resolve("t1", "card", "never arrived", limited);
        // Only a write that took no effect is sent again.
        CHECK((sent > 1) == (kind == fault_kind::unavailable));
        CHECK(lost.verdict == verdict::undecided);
        CHECK(lost.problem.code == settle::errc::store_unreachable);
        bool const closes = kind == fault_kind::unknown_after;
        CHECK((entry_of(engine, "t1").state == state::canceling) == closes);
    }
    fragile.plan({});
    CHECK(engine.retry("t1").canceled());
    CHECK(balance_of(engine, "A") == 1000);
    // The entry has ended as the person said.
    CHECK(engine.resolve("t1", "card", "never arrived", was_not_applied).canceled());
}

TEST_CASE("resolve: a record that cannot be used while the pivot decides is the reported problem") {
    office<file_log> office;
    auto engine = office.make();
    auto const sql = [&](std::string const& text) { testing::ask(office.log.files.file(), text); };
    CHECK(engine.run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    sql("UPDATE accounts SET balance = 'none'");
    office.world.time += 31min;
    settle::call_options const patient{1min, {}};
    auto const tried = engine.retry("t1", patient);
    CHECK(tried.verdict == verdict::undecided);
    CHECK_MESSAGE(tried.problem.text.find("accounts") != std::string::npos, tried.problem.text);
    CHECK(tried.problem.text.find("later epoch") == std::string::npos);

    // The person states the outcome again, with another result, before the record is mended.
    auto statement = was_applied;
    statement.deadline = 1min;
    CHECK(engine.resolve("t1", "card", "read on the telephone", statement).verdict ==
          verdict::undecided);
    statement.result = R"({"number":"8"})";
    CHECK(engine.resolve("t1", "card", "read in the books", statement).verdict ==
          verdict::undecided);
    auto const stated = entry_of(engine, "t1");
    CHECK(stated.state == state::deciding);
    REQUIRE(stated.results.size() == 1);
    CHECK(stated.results.front().closed == "read in the books");
    CHECK(stated.results.front().value == R"({"number":"8"})");

    sql("UPDATE accounts SET balance = 500");
    CHECK(engine.retry("t1", patient).done());
    CHECK(office.services.rows.rbegin()->second.request == R"({"receipt":"8"})");
    CHECK(balance_of(engine, "A") == 500);
}

TEST_CASE("resolve: a statement raises the revision, so that no write after an older read stands") {
    office<memory_log> office;
    auto worker = office.make();
    CHECK(worker.run<order_type>("t1", usual, soon).verdict == verdict::undecided);
    auto const before = entry_of(worker, "t1");
    REQUIRE(before.state == state::deciding);
    // The worker of the person who states the outcome ends before its claim.
    settle::testing::faulty<settle::memory::database> log{office.log.database};
    log.plan([](settle::testing::call const& call) {
        bool const claims = call.what == name_of(settle::step::claim);
        return settle::testing::fault{claims ? settle::testing::fault_kind::unavailable
                                             : settle::testing::fault_kind::none};
    });
    auto person = office.make_on(log);
    auto given = was_applied;
    given.deadline = 50ms;
    CHECK(person.resolve("t1", "card", "charged", given).verdict == verdict::undecided);
    auto const after = entry_of(worker, "t1");
    CHECK(after.state == state::deciding);
    CHECK(after.epoch_number == before.epoch_number);
    CHECK(after.revision == before.revision + 1);
    REQUIRE(after.results.size() == before.results.size() + 1);
    CHECK(after.results.back().closed == "charged");
}

} // namespace resolve_test
