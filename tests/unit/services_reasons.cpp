// SPDX-License-Identifier: BSL-1.0
// The text of a cancel's reason: every caller and reader of the transaction gets it.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <service_receiver.hpp>

namespace reasons_test {

using namespace engine_test;

struct trip {
    std::string customer, hotel;
    std::int64_t price = 0;
};
struct stay {
    std::string hotel;
};

SETTLE_STRUCT(trip, customer, hotel, price);
SETTLE_STRUCT(stay, hotel);

using service_test::receiver;
using settle::call;
using settle::errc;
using settle::service_answer;
using settle::service_call;
using settle::step;
using testing::contains;

inline constexpr settle::service<stay, settle::nothing, "booker", settle::barrier> booker;

inline constexpr auto trip_type =
    settle::transaction<trip, "trip">(settle::participant<"payer">(accounts, param<&trip::customer>)
                                          .require(field<&account::balance> >= param<&trip::price>)
                                          .apply(field<&account::balance> -= param<&trip::price>)
                                          .compensate(settle::inverse),
                                      settle::together(settle::participant<"car">(booker)
                                                           .apply(call(param<&trip::hotel>))
                                                           .compensate(call())
                                                           .tries<2>(),
                                                       settle::participant<"room">(booker)
                                                           .apply(call(param<&trip::hotel>))
                                                           .compensate(call())
                                                           .tries<2>()));

namespace {

/// Accounts and a log, and a booker that outlives the engines.
/// Shape:   Log - memory::database or file_database
template <typename Log>
struct office {
    Log accounts_at{};
    receiver services{};
    std::string steps{};      ///< of all engines: "insert apply "
    std::string last_problem; ///< of the last event
    std::function<void(settle::event const&)> watch{};
    world_state world{};

    auto make() {
        return settle::engine{accounts_at.database_here(), settle::bind(booker, services),
                              settle::type<trip_type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  steps.append(name_of(event.taken)).append(" ");
                                  last_problem = event.problem;
                                  if (watch) watch(event);
                              })};
    }
    office() {
        auto engine = make();
        open_accounts(engine, {{"A", 1000}});
    }
    /// Answers each apply of a participant.
    void always(std::map<std::string, service_answer> answers) {
        services.before = [answers](service_call const& call) -> std::optional<service_answer> {
            auto const answer = answers.find(std::string{call.participant});
            bool const applies = call.operation == settle::call_operation::apply;
            if (answer == answers.end() || !applies) return std::nullopt;
            return answer->second;
        };
    }
};

/// A log in memory that holds no text of a reason.
struct full_log {
    using log_type = decltype(std::declval<settle::memory::database&>().bind_log());
    struct session : log_type {
        session(log_type&& inner, int& count) : log_type(std::move(inner)), refused(&count) {}
        void write(std::span<settle::entry_write const> writes,
                   std::span<settle::write_result> results, settle::write_context const& context) {
            bool const fits =
                std::all_of(writes.begin(), writes.end(), [](settle::entry_write const& write) {
                    return write.why_text.empty();
                });
            if (fits) return log_type::write(writes, results, context);
            ++*refused;
            for (auto& one : results) {
                one.reply = settle::log_answer::unfit;
                one.problem = {errc::bad_parameters, "settle: the test's log is full"};
            }
        }
        int* refused;
    };

    template <typename... Collections>
    auto bind(std::string const& log_name) {
        return inner.bind<Collections...>(log_name);
    }
    session bind_log() { return {inner.bind_log(), refused}; }
    auto& database_here() { return *this; }

    settle::memory::database inner{};
    int refused = 0;
};

struct in_memory {
    settle::memory::database database{};
    auto& database_here() { return database; }
};
struct in_file {
    sqlite_test::folder here{};
    settle::sqlite::database database{here.file()};
    auto& database_here() { return database; }
};

trip const usual{"A", "Ritz", 100};

constexpr auto no_rooms = "settle: the service 'booker' refused the apply of 'room': no rooms "
                          "left. See errors#errors";

} // namespace

TEST_CASE_TEMPLATE("reasons: a refusal's own sentence is told to every caller and reader", Log,
                   in_memory, in_file) {
    office<Log> office;
    office.always({{"room", service_answer::refused("no rooms left")}});
    auto engine = office.make();
    auto const first = engine.run("t", usual);
    CHECK(first.canceled());
    CHECK(first.why == reason::refused);
    CHECK(first.participant == "room");
    CHECK(first.problem.code == errc::call_refused);
    CHECK(first.problem.text == no_rooms);
    // The text takes no write of its own.
    CHECK(office.steps == "insert apply keep apply cancel compensate close end ");
    CHECK(office.last_problem == no_rooms);

    CHECK(entry_of(engine, "t").why_text == no_rooms);
    CHECK(engine.page({}, {}, 10).value().at(0).why_text == no_rooms);
    auto another = office.make();
    office.last_problem.clear();
    CHECK(another.run("t", usual) == first);
    CHECK(office.last_problem == no_rooms);
    CHECK(another.run_all(std::vector<std::pair<std::string, trip>>{{"t", usual}}).at(0) == first);
    office.last_problem.clear();
    CHECK(another.cancel("t") == first);
    CHECK(office.last_problem == no_rooms);
    CHECK(another.retry("t") == first);
    CHECK(another.submit("t", usual) == first);
    CHECK(contains(first.text(), "no rooms left"));
}

TEST_CASE(
    "reasons: of several errors in one wave, the entry has the text of the part that failed") {
    office<in_memory> office;
    auto engine = office.make();
    office.always({{"car", service_answer::refused("no cars left")},
                   {"room", service_answer::refused("no rooms left")}});
    auto const both = engine.run("both", usual);
    CHECK(both.participant == "car");
    CHECK(contains(both.problem.text, "no cars left"));
    CHECK(entry_of(engine, "both").why_text == both.problem.text);
    office.always({{"car", service_answer::refused("no cars left")},
                   {"room", service_answer::unavailable("closed")}});
    auto const closed = engine.run("closed", usual);
    CHECK(closed.why == reason::refused);
    CHECK(contains(closed.problem.text, "no cars left"));
    CHECK(engine.run("closed", usual) == closed);
}

TEST_CASE("reasons: a call without a try left leaves the text of its last answer") {
    struct wanted {
        service_answer given;
        reason why;
        errc code;
    };
    for (auto const& one :
         {wanted{service_answer::unavailable("on strike"), reason::unavailable,
                 errc::call_unavailable},
          wanted{service_answer::unknown("on strike"), reason::unanswered, errc::call_unknown}}) {
        office<in_file> office;
        office.always({{"room", one.given}});
        auto engine = office.make();
        auto const first = engine.run("t", usual);
        CHECK(first.why == one.why);
        CHECK(first.problem.code == one.code);
        CHECK(contains(first.problem.text, "on strike"));
        CHECK(entry_of(engine, "t").why_text == first.problem.text);
        CHECK(engine.run("t", usual) == first);
    }
}

TEST_CASE("reasons: the text outlives the worker that wrote it, and a caller that waits gets it") {
    for (bool const waits : {false, true}) {
        CAPTURE(waits);
        office<in_file> office;
        office.always({{"room", service_answer::refused("no rooms left")}});
        office.watch = kill_after(step::cancel);
        auto first = office.make();
        CHECK_THROWS_AS(std::ignore = first.run("t", usual), killed);
        office.watch = {};
        office.always({});
        auto second = office.make();
        if (!waits) {
            settle::recover_options now;
            now.older_than = std::chrono::milliseconds{0};
            CHECK(second.recover(now).canceled == 1);
            CHECK(office.last_problem == no_rooms);
        }
        auto const outcome = second.run("t", usual);
        CHECK(outcome.why == reason::refused);
        CHECK(outcome.problem.code == errc::call_refused);
        CHECK(outcome.problem.text == no_rooms);
        CHECK(entry_of(second, "t").why_text == no_rooms);
    }
}

TEST_CASE("reasons: a long text is cut between characters, and any bytes make a text") {
    office<in_file> office;
    auto engine = office.make();
    std::string long_text;
    for (int i = 0; i < 2'000; ++i) long_text += "\xE2\x82\xAC";
    office.always({{"room", service_answer::refused(long_text)}});
    CHECK(engine.run("long", usual).canceled());
    auto const kept = entry_of(engine, "long").why_text;
    CHECK(kept.size() <= 500);
    CHECK(kept.size() > 300);
    CHECK(settle::is_utf8(kept));
    office.always({{"room", service_answer::refused("no \xFF rooms")}});
    CHECK(engine.run("bytes", usual).canceled());
    CHECK(settle::is_utf8(entry_of(engine, "bytes").why_text));
    CHECK(contains(entry_of(engine, "bytes").why_text, "refused the apply of 'room': no "));
    // A reason without an error has no text.
    CHECK(engine.run("poor", trip{"A", "Ritz", 5000}).why == reason::guard_failed);
    CHECK(entry_of(engine, "poor").why_text.empty());
    CHECK(engine.run("poor", trip{"A", "Ritz", 5000}).problem.empty());
}

TEST_CASE("reasons: an entry without room for the text is canceled without it") {
    office<full_log> office;
    office.always({{"room", service_answer::refused("no rooms left")}});
    auto engine = office.make();
    auto const outcome = engine.run("t", usual);
    CHECK(outcome.why == reason::refused);
    CHECK(outcome.problem.text == no_rooms);
    CHECK(office.accounts_at.refused == 1);
    CHECK(entry_of(engine, "t").state == state::canceled);
    CHECK(entry_of(engine, "t").why_text.empty());
}

TEST_CASE("reasons: a record that cannot be used is named to a later caller, too") {
    sqlite_test::folder const folder;
    settle::sqlite::database db{folder.file()};
    for (bool const two_phases : {false, true}) {
        CAPTURE(two_phases);
        auto const how = two_phases ? settle::phases::two : settle::phases::one;
        settle::engine engine{db, how, settle::type<transfer_type>};
        if (!two_phases) open_accounts(engine, {{"A", 100}, {"B", 0}});
        sqlite_test::sql(folder.file(), "UPDATE accounts SET balance = 'much' WHERE id = 'A'");
        std::string const id = two_phases ? "two" : "one";
        auto const first = engine.run(id, transfer{"A", "B", 10});
        CHECK(first.why == reason::record_unusable);
        CHECK(contains(first.problem.text, "balance"));
        CHECK(entry_of(engine, id).why_text == first.problem.text);
        auto const again = engine.run(id, transfer{"A", "B", 10});
        CHECK(again.why == reason::record_unusable);
        CHECK(again.problem.code == errc::record_unusable);
        CHECK(again.problem.text == first.problem.text);
    }
}

} // namespace reasons_test
