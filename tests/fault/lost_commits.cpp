// SPDX-License-Identifier: BSL-1.0
// A commit whose sync fails may be in the write-ahead log nevertheless. Its outcome is unknown,
// so its transaction is read and claimed again before any step is repeated.
#include "power_story.hpp"

namespace power {
namespace {

struct seen_step {
    settle::step taken;
    answer failed_answer;
    settle::state state;
};

/// Runs one transfer. In two phases, the sync of the first commit after the step `before` fails; in
/// one phase, the sync of the only commit.
class failing_commit {
public:
    failing_commit(settle::phases how, settle::step before) : before_(before) {
        vfs const files{disk_};
        manual_environment const time;
        settle::sqlite::database db{path, {.busy_timeout = 1ms}};
        settle::engine engine{db,
                              settle::with_environment(time),
                              fault_limits(),
                              how,
                              settle::type<move_type>,
                              settle::observed_by([&](settle::event const& event) { see(event); })};
        engine.create(ledgers, {"A", 100, 0, ""}).value();
        engine.create(ledgers, {"B", 100, 0, ""}).value();
        if (how == settle::phases::one) fail_next_sync();
        end = engine.run("t", move{"A", "B", 30});
        a = engine.read(ledgers, "A").value()->balance;
        b = engine.read(ledgers, "B").value()->balance;
        marks = engine.marks().value();
    }

    /// The first step after the step whose commit failed.
    [[nodiscard]] settle::step next() const { return steps.at(failed_ + 1).taken; }
    [[nodiscard]] seen_step failed() const { return steps.at(failed_); }

    outcome end;
    std::vector<seen_step> steps;
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::uint64_t marks = 0;

private:
    void fail_next_sync() {
        disk_.arm({trouble::failing_sync, 1, false});
        failed_ = steps.size();
        armed_ = true;
    }
    void see(settle::event const& event) {
        steps.push_back({event.taken, event.failed_answer, event.state});
        if (event.taken == before_ && !armed_) fail_next_sync();
    }

    disk disk_;
    settle::step before_;
    std::size_t failed_ = 0;
    bool armed_ = false;
};

void check_end(failing_commit const& seen) {
    CHECK(seen.end.done());
    CHECK(seen.a == 70);
    CHECK(seen.b == 130);
    CHECK(seen.marks == 0);
}

} // namespace

TEST_CASE("lost commits: parts with an unknown commit are applied again under a new claim") {
    failing_commit const seen{settle::phases::two, settle::step::insert};
    CHECK(seen.failed().taken == settle::step::apply);
    CHECK(seen.failed().failed_answer == answer::unknown);
    CHECK(seen.next() == settle::step::claim);
    check_end(seen);
}

TEST_CASE("lost commits: an entry with an unknown change is read before it is changed again") {
    failing_commit const seen{settle::phases::two, settle::step::apply};
    CHECK(seen.failed().taken == settle::step::commit);
    CHECK(seen.next() == settle::step::read);
    check_end(seen);
}

TEST_CASE("lost commits: one phase reads the entry before it runs the transaction again") {
    failing_commit const seen{settle::phases::one, settle::step::end};
    CHECK(seen.failed().taken == settle::step::one_phase);
    CHECK(seen.next() == settle::step::read);
    check_end(seen);
}

} // namespace power
