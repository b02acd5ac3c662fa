// SPDX-License-Identifier: BSL-1.0
// Commits that execute the parts in the log's own store, with the other parts in a second file.
#include "two_files.hpp"

using namespace two_files_test;

TEST_CASE("joined: a part in the log's own store leaves no mark and comes with the commit") {
    two_files files;
    std::string seen;
    files.action = [&](settle::event const& event) {
        seen.append(name_of(event.taken)).append(" ").append(files.marks()).append(", ");
    };
    auto engine = files.make(settle::early_entries);
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(seen == "insert 0+0, apply 0+1, commit 0+1, confirm 0+0, close 0+0, end 0+0, ");
    CHECK(files.sums() == "40+60");

    seen.clear();
    CHECK(engine.submit("s", deposit{"A", "V", 1}).problem.empty());
    CHECK(engine.work().done == 1);
    CHECK(seen.find("apply 0+1, commit 0+1, ") != std::string::npos);

    seen.clear();
    CHECK(engine.reverse("t").done());
    CHECK(seen.find("apply 0+1, commit 0+1, ") != std::string::npos);
    CHECK(files.sums() == "99+1");

    seen.clear();
    auto in_two_phases = files.make(settle::two_phases);
    CHECK(in_two_phases.run("u", deposit{"A", "V", 9}).done());
    CHECK(seen == "insert 0+0, apply 1+1, commit 1+1, confirm 0+0, close 0+0, end 0+0, ");
}

TEST_CASE("joined: a part that is refused at the commit cancels, with its reason") {
    two_files files;
    auto engine = files.make(settle::early_entries);
    auto const poor = engine.run("t", deposit{"A", "V", 101});
    CHECK(poor.canceled());
    CHECK(poor.why == reason::guard_failed);
    CHECK(poor.participant == "from");
    auto const nobody = engine.run("u", deposit{"Z", "V", 1});
    CHECK(nobody.why == reason::record_missing);
    auto const no_vault = engine.run("v", deposit{"A", "W", 1});
    CHECK(no_vault.why == reason::record_missing);
    CHECK(no_vault.participant == "to");
    CHECK(files.marks() == "0+0");
    CHECK(files.sums() == "100+0");
    CHECK(entry_of(engine, "t").participant == "from");
}

TEST_CASE("joined: a busy part backs off, and is executed once the other transaction has ended") {
    two_files files;
    auto other = files.make(settle::two_phases);
    auto engine = files.make(settle::early_entries);
    files.action = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = other.run("c", correction{"A", "V", 70}), killed);
    files.action = {};
    CHECK(files.marks() == "1+1");
    bool is_ended = false;
    files.world.while_pausing = [&] {
        if (std::exchange(is_ended, true)) return;
        CHECK(other.retry("c").done());
    };
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(is_ended);
    CHECK(files.sums() == "10+61");
    CHECK(files.marks() == "0+0");

    files.world.while_pausing = {};
    files.action = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = other.run("d", correction{"A", "V", 70}), killed);
    files.action = {};
    CHECK(engine.run("u", deposit{"A", "V", 1}).why == reason::busy);
    CHECK(files.marks() == "1+1");
}

TEST_CASE("joined: whoever takes over finds every mark, wherever its worker was killed") {
    using settle::step;
    for (auto const last : {step::insert, step::apply, step::commit, step::confirm, step::close}) {
        CAPTURE(name_of(last));
        two_files files;
        auto engine = files.make(settle::early_entries);
        files.action = kill_after(last);
        CHECK_THROWS_AS(std::ignore = engine.run("t", deposit{"A", "V", 60}), killed);
        files.action = {};
        auto next = files.make(settle::early_entries);
        CHECK(next.run("t", deposit{"A", "V", 60}).done());
        CHECK(files.sums() == "40+60");
        CHECK(files.marks() == "0+0");
    }
}

TEST_CASE("joined: a worker that was overtaken before its commit changes nothing") {
    two_files files;
    auto engine = files.make(settle::early_entries);
    auto next = files.make(settle::early_entries);
    std::string const id = "t";
    files.action = [&](settle::event const& event) {
        if (event.taken != settle::step::apply) return;
        files.action = kill_after(settle::step::apply);
        CHECK_THROWS_AS(std::ignore = next.retry(id), killed);
        CHECK(files.marks() == "1+1");
        files.action = {};
    };
    CHECK(engine.run(id, deposit{"A", "V", 60}).done());
    CHECK(files.sums() == "40+60");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("joined: transactions of a window keep their order on a record in the own store") {
    two_files files;
    auto engine = files.make(settle::early_entries);
    check_order_of_windows(files, engine);
}
