// SPDX-License-Identifier: BSL-1.0
// A file that another program has locked: a deadline or a stop request ends an engine's call.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <chrono>
#include <thread>

namespace sqlite_waits_test {

using namespace engine_test;
using namespace std::chrono_literals;

TEST_CASE("sqlite waits: a deadline or a stop request ends a wait for another program's lock") {
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        sqlite_test::folder const files;
        settle::sqlite::database_options limits;
        limits.busy_timeout = 10min;
        settle::sqlite::database file{files.file(), limits};
        settle::engine engine{file, settle::type<transfer_type>};
        open_accounts(engine, {{"A", 100}, {"B", 0}});
        settle::sqlite::detail::connection const other{files.file(), 10s};
        other.execute("BEGIN IMMEDIATE", "lock the file");
        std::stop_source stop;
        settle::call_options call{{}, stop.get_token()};
        if (has_deadline) call.deadline = 100ms;
        std::jthread const stops{[&] {
            std::this_thread::sleep_for(100ms);
            if (!has_deadline) stop.request_stop();
        }};
        auto const begun = std::chrono::steady_clock::now();
        auto const ended = engine.run("t1", transfer{"A", "B", 1}, call);
        // Without the limits the file's own limit ends the wait, after minutes.
        CHECK(std::chrono::steady_clock::now() - begun < 1min);
        CHECK(ended.verdict == settle::verdict::undecided);
        auto const found = engine.find("t1", call);
        CHECK((found.has_value() || found.problem().code == settle::condition::retryable ||
               found.problem().code == settle::errc::stopped));
        other.execute("ROLLBACK", "end the lock");
        CHECK(engine.run("t1", transfer{"A", "B", 1}).done());
    }
}

} // namespace sqlite_waits_test
