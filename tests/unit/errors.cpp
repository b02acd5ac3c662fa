// SPDX-License-Identifier: BSL-1.0
// The text and the condition of each error, also of rare errors.
#include "sqlite_file.hpp"

#include <settle/running/calls/recovery.hpp>

#include <condition_variable>
#include <mutex>
#include <set>
#include <sstream>
#include <tuple>

namespace sqlite_test {
namespace {

using settle::condition;
using settle::errc;
using settle::sqlite::database;

TEST_CASE("errors: every code has its own text and one condition") {
    std::set<std::string> reply;
    for (int code = 1; code <= static_cast<int>(errc::call_paused); ++code) {
        std::error_code const error = static_cast<errc>(code);
        CAPTURE(code);
        CHECK(reply.insert(error.message()).second);
        CHECK(error.message() != "unknown error");
        bool const again = error == errc::store_unreachable || error == errc::stopped ||
                           error == errc::call_unavailable || error == errc::runner_full ||
                           error == errc::call_paused;
        bool const unknown = error == errc::call_unknown;
        CHECK((error == condition::retryable) == again);
        CHECK((error == condition::unknown) == unknown);
        CHECK((error == condition::permanent) == (!again && !unknown));
        CHECK(error != condition::conflict);
    }
    CHECK(std::string{settle::settle_category().name()} == "settle");
    CHECK(settle::settle_category().message(0) == "unknown error");
    CHECK_FALSE(std::make_error_code(std::errc::interrupted) == condition::permanent);
}

TEST_CASE("errors: every condition has its own text") {
    std::set<std::string> reply;
    for (auto const one :
         {condition::retryable, condition::conflict, condition::permanent, condition::unknown}) {
        CHECK(reply.insert(settle::make_error_condition(one).message()).second);
    }
    CHECK(std::string{settle::condition_category().name()} == "settle condition");
    CHECK(settle::condition_category().message(0) == "unknown condition");
}

TEST_CASE("errors: an error prints its text, or the text of its code") {
    std::ostringstream out;
    out << settle::error{errc::damaged, "settle: a sentence"} << '/'
        << settle::error{errc::damaged, ""};
    CHECK(out.str() == "settle: a sentence/the stored data is damaged");
}

TEST_CASE("errors: an empty error converts to false, as a std::error_code does") {
    std::ostringstream out;
    out << settle::error{};
    CHECK(out.str() == "no error");
    CHECK(std::string{settle::failure{settle::error{}}.what()} == "no error");
    CHECK_FALSE(settle::error{});
    CHECK(settle::error{make_error_code(errc::damaged), ""});
    static_assert(!std::is_convertible_v<settle::error, bool>);
}

TEST_CASE("errors: a result is read as a std::expected and throws for an absent value") {
    using texts = settle::result<std::string>;
    texts const good{"text"};
    texts const bad{errc::damaged, "settle: a sentence"};
    CHECK(good);
    CHECK_FALSE(bad);
    CHECK(*good == "text");
    CHECK(good->size() == 4);
    CHECK(good.value_or("other") == "text");
    CHECK(bad.value_or("other") == "other");
    CHECK(texts{"text"}.value_or("other") == "text");
    CHECK(*texts{"text"} == "text");
    CHECK(bad.error() == bad.problem());
    CHECK(bad.error().code == errc::damaged);
    CHECK(texts{bad}.error().text == "settle: a sentence");
    CHECK_THROWS_AS(std::ignore = *bad, settle::failure);
    CHECK_THROWS_AS(std::ignore = bad->size(), settle::failure);
    CHECK_THROWS_AS(std::ignore = good.error(), std::logic_error);
    static_assert(!std::is_convertible_v<texts, bool>);

    settle::result<void> const nothing;
    CHECK(nothing);
    CHECK_FALSE(nothing.error());
    settle::result<void> const failed{errc::damaged, ""};
    CHECK_FALSE(failed);
    CHECK_THROWS_AS(*failed, settle::failure);
    CHECK(failed.error().message() == "the stored data is damaged");
    CHECK(settle::result<std::optional<int>>{errc::damaged, ""}.value_or(std::nullopt) ==
          std::nullopt);
}

TEST_CASE("errors: a missing record is named with its collection and key") {
    folder const folder;
    database db{folder.file()};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 5}).value();
    CHECK(engine.at(items, "A").amount == 5);
    try {
        std::ignore = engine.at(items, "B\n");
        FAIL("it was there");
    } catch (settle::failure const& problem) {
        CHECK(problem.problem().code == errc::record_missing);
        CHECK(problem.problem().code == condition::permanent);
        CHECK(std::string{problem.what()} == "settle: 'items' has no record \"B\\n\". Create it "
                                             "first, or ask with read(). See errors#errors");
    }
    sql(folder.file(), "ALTER TABLE items RENAME TO gone");
    CHECK_THROWS_AS(std::ignore = engine.at(items, "A"), settle::failure);
    CHECK_FALSE(engine.read(items, "A"));
}

TEST_CASE("errors: an entry removed by another program makes the outcome undecided") {
    folder const folder;
    database db{folder.file()};
    bool removed = false;
    auto const remove = [&](settle::event const& seen) {
        if (seen.taken != settle::step::apply || removed) return;
        removed = true;
        sql(folder.file(), "DELETE FROM settle_entry");
    };
    settle::engine engine{db, settle::type<add_type>, settle::observed_by(remove),
                          settle::two_phases};
    engine.create(items, item{"A", 5}).value();
    auto const outcome = engine.run<add_type>("one", change{"A", 1, "", {}});
    CHECK(removed);
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == errc::damaged);
    CHECK(contains(outcome.problem.text, "another program has removed it"));
}

TEST_CASE("errors: the recovery thread reports an observer's exception and continues") {
    struct throwing_engine {
        settle::recovery_report recover(settle::recover_options const&) {
            throw std::runtime_error{"an observer's own"};
        }
        settle::sweep_report sweep(std::stop_token const&) {
            settle::sweep_report swept;
            swept.undone = 1;
            return swept;
        }
    } engine;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<settle::error> problems;
    std::uint64_t undone = 0;
    settle::recovery_schedule schedule;
    schedule.every = std::chrono::milliseconds{1};
    schedule.report = [&](settle::recovery_report const& report,
                          settle::sweep_report const& swept) {
        std::lock_guard const lock{mutex};
        problems.push_back(report.problem);
        undone += swept.undone;
        changed.notify_one();
    };
    settle::recovery_thread const recovering{engine, schedule};
    std::unique_lock lock{mutex};
    REQUIRE(changed.wait_for(lock, std::chrono::seconds{30}, [&] { return problems.size() > 2; }));
    CHECK(problems.front().code == std::errc::interrupted);
    CHECK(problems.front().text == "an observer's own");
    // The exception keeps no sweep from its turn.
    CHECK(undone > 0);
}

TEST_CASE("errors: marks that differ in one member are not equal") {
    using mark = settle::mark<item>;
    mark whole;
    whole.id = "t";
    whole.epoch_number = 2;
    auto const differs = [&](auto&& alter) {
        mark other = whole;
        alter(other);
        return !(other == whole) && !(whole == other);
    };
    CHECK(whole == mark{whole});
    CHECK(differs([](mark& changed) { changed.id = "u"; }));
    CHECK(differs([](mark& changed) { changed.part.line = 1; }));
    CHECK(differs([](mark& changed) { changed.epoch_number = 3; }));
    CHECK(differs([](mark& changed) { changed.confirm_delta[0] = 1; }));
    CHECK(differs([](mark& changed) { changed.undo_delta[0] = 1; }));
    CHECK(differs([](mark& changed) {
        changed.exclusive = std::make_shared<settle::exclusive_effect<item>>();
    }));
}

} // namespace
} // namespace sqlite_test
