// SPDX-License-Identifier: BSL-1.0
// The power fails at every call of SQLite to the disk: no acknowledged transaction is lost, and no
// other transaction is done in part.
#include "power_story.hpp"

namespace power {
namespace {

/// How many calls of the whole story a trouble can strike.
std::size_t calls_of(trouble kind) {
    disk disk;
    vfs const files{disk};
    disk.arm({kind, 0, false});
    manual_environment const time;
    observations seen;
    story{disk, time, seen}.play();
    CHECK_MESSAGE(seen.complaints.empty(), joined(seen.complaints));
    return disk.calls();
}

/// The disk as a loss of power at a call left it, and the outcomes reported until then.
disk darkened(std::size_t index, observations& seen, bool lies = false) {
    disk disk;
    vfs const files{disk};
    if (lies) disk.lie();
    disk.arm({trouble::power_loss, index, false});
    manual_environment const time;
    story{disk, time, seen}.play();
    CHECK(files.open_files() == 0);
    return disk;
}

std::vector<std::string> after_loss(disk disk, loss kind, std::uint64_t seed,
                                    observations const& seen) {
    vfs const files{disk};
    manual_environment const time = an_hour_later(seed);
    disk.restart(kind, seed);
    // The power may be lost again while the first loss is being settled.
    if (kind == loss::some && seed % 2 == 1) {
        disk.arm({trouble::power_loss, 1 + seed * 7919 % 150, false});
        observations ignored = seen;
        static_cast<void>(check_reopened(disk, time, ignored));
        disk.restart(kind, seed + 1);
    }
    return check_reopened(disk, time, seen);
}

/// Shape:   every - n: the power fails at every nth call; seeds - losses by chance at each
void lose_power(std::size_t every, std::uint64_t seeds) {
    std::size_t const calls = calls_of(trouble::power_loss);
    CHECK(calls > 500);
    for (std::size_t index = 1; index <= calls; index += every) {
        observations seen;
        disk const dark = darkened(index, seen);
        REQUIRE(dark.dark());
        for (std::uint64_t seed = 0; seed < seeds + 2; ++seed) {
            auto const kind = seed == 0 ? loss::all : seed == 1 ? loss::nothing : loss::some;
            auto const bad = after_loss(dark, kind, index * 100 + seed, seen);
            INFO("power lost at call " << index << " of " << calls << ", seed " << seed);
            CHECK_MESSAGE(bad.empty(), joined(bad));
        }
    }
    MESSAGE("power lost at " << (calls + every - 1) / every << " of " << calls << " calls, "
                             << seeds + 2 << " times each");
}

} // namespace

TEST_CASE("power: a loss keeps synced bytes and drops the rest") {
    disk lossy_disk;
    auto const file = lossy_disk.create("f", false);
    lossy_disk.write(file, 0, "synced");
    lossy_disk.sync(file);
    lossy_disk.write(file, 0, "wrote.");
    CHECK(lossy_disk.content(file) == "wrote.");
    disk nothing_lost = lossy_disk;
    nothing_lost.restart(loss::nothing, 1);
    CHECK(nothing_lost.content(file) == "wrote.");
    lossy_disk.restart(loss::all, 1);
    CHECK(lossy_disk.content(file) == "synced");
    // The name was never synced: SQLite syncs names for a journal only.
    CHECK_FALSE(lossy_disk.find("f").has_value());
    // Writes that a failed sync gave up are not synced by the next sync.
    lossy_disk.write(file, 0, "first.");
    lossy_disk.fail_sync(file);
    lossy_disk.write(file, 6, "second");
    lossy_disk.sync(file);
    lossy_disk.restart(loss::all, 1);
    CHECK(lossy_disk.content(file) == "syncedsecond");
}

TEST_CASE("power: power is lost at every 13th call of the disk") { lose_power(13, 2); }

TEST_CASE("long: power: power is lost at every call of the disk") { lose_power(1, 2); }

TEST_CASE("power: the test notices a disk that does not sync") {
    std::size_t const calls = calls_of(trouble::power_loss);
    std::size_t problems = 0;
    for (std::size_t index = 37; index <= calls; index += 37) {
        observations seen;
        disk const dark = darkened(index, seen, true);
        if (!after_loss(dark, loss::all, index, seen).empty()) ++problems;
    }
    CHECK(problems > 0);
}

} // namespace power
