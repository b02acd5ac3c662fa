// SPDX-License-Identifier: BSL-1.0
// Calls that answer at the commit: the engine confirms the parts afterwards.
#include "two_files.hpp"

#include <settle/runner.hpp>

#include <chrono>
#include <future>
#include <mutex>
#include <thread>

using namespace two_files_test;
using namespace std::chrono_literals;

namespace {

settle::options answering() {
    settle::options limits;
    limits.answer = settle::at_commit;
    return limits;
}

/// The steps of an engine's transactions, also of its own thread. A hold keeps that thread before
/// the end of its step.
class steps {
public:
    void operator()(settle::event const& event) {
        std::unique_lock guard{mutex_};
        seen_.append(name_of(event.taken)).append(", ");
        changed_.notify_all();
        changed_.wait_for(guard, 10s, [&] { return event.taken != held_; });
    }
    void hold(settle::step taken) {
        std::lock_guard const guard{mutex_};
        held_ = taken;
    }
    void release() {
        hold(settle::step::wait);
        changed_.notify_all();
    }
    /// The steps until a step, which comes within 10 seconds.
    std::string until(settle::step last) {
        std::unique_lock guard{mutex_};
        auto const text = std::string{name_of(last)} + ", ";
        CHECK(changed_.wait_for(guard, 10s, [&] { return seen_.ends_with(text); }));
        return seen_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    settle::step held_ = settle::step::wait;
    std::string seen_;
};

auto engine_of(two_files& files, steps& seen) {
    return settle::engine{files.books,
                          settle::bind(vaults, files.cellar),
                          settle::type<deposit_type>,
                          settle::type<correction_type>,
                          answering(),
                          settle::observed_by(std::ref(seen))};
}

} // namespace

TEST_CASE("at commit: a call answers at the decision, and the engine finishes") {
    two_files files;
    steps seen;
    auto engine = engine_of(files, seen);
    seen.hold(settle::step::confirm);
    auto const answered = engine.run("t", deposit{"A", "V", 60});
    CHECK(answered.done());
    CHECK(!answered.finished);
    CHECK(answered.problem.empty());
    CHECK(seen.until(settle::step::confirm) == "apply, decide, confirm, ");
    CHECK(entry_of(engine, "t").state == settle::state::applied);
    CHECK(engine.reverse("t").problem.code == settle::errc::not_reversible);
    seen.release();
    CHECK(seen.until(settle::step::end) == "apply, decide, confirm, force, close, end, ");
    CHECK(entry_of(engine, "t").state == settle::state::done);
    CHECK(files.sums() == "40+60");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("at commit: a refusal, a batch and one phase answer at the end") {
    two_files files;
    auto engine = settle::engine{files.books, settle::bind(vaults, files.cellar),
                                 settle::type<deposit_type>, answering()};
    CHECK(engine.run("t", deposit{"A", "V", 101}).canceled());
    auto const outcomes = engine.run_all(std::vector<deposit>{{"A", "V", 10}, {"A", "V", 20}});
    for (auto const& ended : outcomes) CHECK((ended.done() && ended.finished));
    CHECK(files.sums() == "70+30");
    CHECK(files.marks() == "0+0");

    two_files others;
    settle::sqlite::database one{others.own.file("one")};
    settle::engine alone{one, settle::type<deposit_type>, answering()};
    open_accounts(alone, {{"A", 100}});
    alone.create(vaults, {"V", 0}).value();
    CHECK(alone.run(deposit{"A", "V", 10}).finished);
}

TEST_CASE("at commit: what the end of an engine leaves is finished by a recovery") {
    for (auto const last : {settle::step::confirm, settle::step::force}) {
        CAPTURE(name_of(last));
        two_files files;
        files.action = kill_after(last);
        {
            settle::engine engine{files.books, settle::bind(vaults, files.cellar),
                                  settle::type<deposit_type>, answering(),
                                  settle::observed_by(hook{files.action})};
            CHECK(!engine.run("t", deposit{"A", "V", 60}).finished);
        }
        files.action = {};
        auto next = files.make();
        CHECK(entry_of(next, "t").state == settle::state::applied);
        CHECK(next.recover({.older_than = 0ms}).done == 1);
        CHECK(files.sums() == "40+60");
        CHECK(files.marks() == "0+0");
    }
}

TEST_CASE("at commit: threads and a runner share the finish, and nothing is lost") {
    two_files files;
    constexpr int each = 50;
    {
        settle::engine engine{files.books, settle::bind(vaults, files.cellar),
                              settle::type<deposit_type>, answering()};
        std::vector<std::future<int>> callers;
        for (int caller = 0; caller < 4; ++caller) {
            callers.push_back(std::async(std::launch::async, [&] {
                int done = 0;
                for (int number = 0; number < each; ++number) {
                    done += engine.run(deposit{"A", "V", 0}).done() ? 1 : 0;
                }
                return done;
            }));
        }
        settle::runner runner{engine};
        std::vector<std::future<settle::outcome>> started;
        for (int number = 0; number < each; ++number) {
            auto promise = std::make_shared<std::promise<settle::outcome>>();
            started.push_back(promise->get_future());
            runner
                .start(deposit{"A", "V", 1},
                       [promise](settle::outcome&& ended) { promise->set_value(ended); })
                .value();
        }
        for (auto& caller : callers) CHECK(caller.get() == each);
        for (auto& answer : started) {
            auto const ended = answer.get();
            CHECK(ended.done());
            CHECK(!ended.finished);
        }
    }
    auto engine = files.make();
    std::ignore = engine.recover({.older_than = 0ms});
    CHECK(files.sums() == "50+50");
    CHECK(files.marks() == "0+0");
}
