// SPDX-License-Identifier: BSL-1.0
// The power fails while transactions that were answered at their commit are finished.
#include "power_vfs.hpp"

#include "unit/two_files.hpp"

using namespace two_files_test;
using namespace std::chrono_literals;

namespace power {
namespace {

/// The log and the accounts in one file, the vaults in another.
struct two_disk_files {
    settle::sqlite::database books{"/books.db", {.busy_timeout = 1ms}};
    settle::sqlite::database cellar{"/cellar.db", {.busy_timeout = 1ms}};

    std::function<void(settle::event const&)> action{};

    auto engine() {
        settle::options limits;
        limits.answer = settle::at_commit;
        limits.patience = 5ms;
        return settle::engine{books, settle::bind(vaults, cellar), settle::type<deposit_type>,
                              limits, settle::observed_by(hook{action})};
    }
};

/// Pays twice. Each engine has finished what it can when it ends, so that one thread at a time uses
/// the disk. The write at the end syncs the file of the log alone, with its closes.
/// Shape:   is_killed - each worker ends after its confirms; a recovery finds nothing to confirm
/// Returns: the ids whose transactions were reported as done
std::vector<std::string> pay_twice(bool is_killed) {
    std::vector<std::string> done;
    try {
        two_disk_files files;
        {
            auto engine = files.engine();
            open_accounts(engine, {{"A", 100}});
            engine.create(vaults, {"V", 0}).value();
        }
        for (std::string const id : {"t", "u"}) {
            if (is_killed) files.action = kill_after(settle::step::confirm);
            if (files.engine().run(id, deposit{"A", "V", 30}).done()) done.push_back(id);
            files.action = {};
            if (is_killed) std::ignore = files.engine().recover({.older_than = 0ms});
        }
        auto engine = files.engine();
        open_accounts(engine, {{"B", 0}});
    } catch (settle::failure const&) {
        // The power has failed.
    }
    return done;
}

/// Why the files are wrong after a loss of power and a recovery; empty if they are right.
std::string fault_after(std::vector<std::string> const& done) {
    two_disk_files files;
    auto engine = files.engine();
    auto const recovered = engine.recover({.older_than = 0ms});
    if (!recovered.problem.empty()) return recovered.problem.text;
    std::int64_t paid = 0;
    for (std::string const id : {"t", "u"}) {
        auto const stored = engine.find(id).value();
        bool const is_done = stored && stored->state == settle::state::done;
        if (!is_done && std::count(done.begin(), done.end(), id) != 0) return id + " is lost";
        if (is_done) paid += 30;
    }
    auto const account = engine.read(accounts, "A").value();
    auto const vault = engine.read(vaults, "V").value();
    if (account && account->balance != 100 - paid) return "A has a wrong balance";
    if (vault && vault->gold != paid) return "V has " + std::to_string(vault->gold);
    return engine.marks().value() == 0 ? "" : "a mark is left";
}

} // namespace

TEST_CASE("power: a confirm that is lost after its answer is repeated") {
    for (bool const is_killed : {false, true}) {
        CAPTURE(is_killed);
        std::size_t calls = 0;
        {
            disk disk;
            vfs const files{disk};
            disk.arm({trouble::power_loss, 0, false});
            CHECK(pay_twice(is_killed).size() == 2);
            calls = disk.calls();
        }
        CHECK(calls > 50);
        for (std::size_t index = 1; index <= calls + 1; ++index) {
            CAPTURE(index);
            disk disk;
            vfs const files{disk};
            disk.arm({trouble::power_loss, index, false});
            auto const done = pay_twice(is_killed);
            disk.restart(loss::all, index);
            disk.arm({trouble::power_loss, 0, false});
            CHECK(fault_after(done) == "");
        }
        MESSAGE("power lost at each of " << calls << " calls of the disk");
    }
}

} // namespace power
