// SPDX-License-Identifier: BSL-1.0
// Every call that SQLite makes to the disk fails in turn, once or from then on. The caller gets a
// clear error, and everything settles after the fault.
#include "power_story.hpp"

namespace power {
namespace {

constexpr trouble every_trouble[]{trouble::io_error, trouble::short_write, trouble::failing_sync,
                                  trouble::full};

/// Plays the story on a faulty disk. Returns the number of calls that the fault could have hit.
std::size_t play(disk& disk, plan const& wrong, observations& seen) {
    vfs const files{disk};
    manual_environment const time;
    disk.arm(wrong);
    story{disk, time, seen}.play();
    std::size_t const calls = disk.calls();
    disk.arm({});
    CHECK(files.open_files() == 0);
    return calls;
}

/// Returns the problems that remain after the fault. The power may have been lost at its end too,
/// and the disk may then keep all, some or none of a failed commit.
std::vector<std::string> after_trouble(disk disk, std::optional<loss> power_went, std::size_t seed,
                                       observations const& seen) {
    vfs const files{disk};
    manual_environment const time = an_hour_later(2);
    if (power_went) disk.restart(*power_went, seed);
    return check_reopened(disk, time, seen);
}

void check_trouble(plan const& wrong) {
    disk disk;
    observations seen;
    play(disk, wrong, seen);
    // A loss of power shows the difference between a failed and a successful sync; other faults
    // alternate.
    constexpr std::optional<loss> ends[]{{}, loss::all, {}, loss::nothing, {}, loss::some};
    std::size_t const turn = wrong.at % std::size(ends);
    for (std::size_t end = 0; end < std::size(ends); ++end) {
        auto const power_went = ends[end];
        bool const is_sync = wrong.kind == trouble::failing_sync;
        bool const is_dark = wrong.dark_after > 0;
        if (is_sync ? !power_went && (is_dark || end > 0) : end != turn) continue;
        auto const bad = after_trouble(disk, power_went, wrong.at, seen);
        std::string where{name_of(wrong.kind)};
        where.append(wrong.lasting ? " from call " : " at call ").append(std::to_string(wrong.at));
        if (power_went) where += ", then a loss of power";
        INFO(where);
        CHECK_MESSAGE(bad.empty(), joined(bad));
    }
}

/// Shape:   every - n: the trouble is tried at every nth call; 1: at each call
void fail_calls(std::size_t every) {
    for (trouble const kind : every_trouble) {
        disk whole;
        observations seen;
        std::size_t const calls = play(whole, {kind, 0, false}, seen);
        CHECK(calls > 20);
        for (std::size_t at = 1; at <= calls; at += every) {
            check_trouble({kind, at, false});
            check_trouble({kind, at, true});
        }
        MESSAGE(std::string{name_of(kind)} << " at " << (calls + every - 1) / every << " of "
                                           << calls << " calls, once and from then on");
    }
}

} // namespace

TEST_CASE("disk errors: every 23rd call of the disk fails, once or from then on") {
    fail_calls(23);
}

TEST_CASE("disk errors: a sync fails once, and the power is lost later") {
    disk whole;
    observations seen;
    std::size_t const syncs = play(whole, {trouble::failing_sync, 0, false}, seen);
    for (std::size_t at = 1; at <= syncs; ++at) {
        for (std::size_t const later : {10U, 40U, 160U}) {
            check_trouble({trouble::failing_sync, at, false, later});
        }
    }
}

TEST_CASE("long: disk errors: every call of the disk fails, once or from then on") {
    fail_calls(1);
}

} // namespace power
