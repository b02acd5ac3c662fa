// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions, in memory and in SQLite files.
#include "../committed_reads_suite.hpp"
#include "fixtures.hpp"

using namespace settle_test;
using namespace committed_reads;

TEST_CASE_TEMPLATE("committed reads: each step of a transfer, its worker killed after one", Fixture,
                   memory_fixture, sqlite_fixture) {
    using enum settle::step;
    for (auto const killed_after : {apply, commit, end}) {
        for (auto const how : {settle::two_phases, settle::early_entries}) {
            Fixture fixture;
            check_steps(fixture.database_here(), fixture.second_database(), deposit{"P", "V", 60},
                        "940open 60 none", how, killed_after);
        }
    }
}

TEST_CASE_TEMPLATE("committed reads: effects that assign, create and erase", Fixture,
                   memory_fixture, sqlite_fixture) {
    using enum settle::step;
    for (auto const killed_after : {apply, commit, end}) {
        Fixture fixture;
        check_steps(fixture.database_here(), fixture.second_database(), closing{"P", "V", "shut"},
                    "1000shut none 5", settle::two_phases, killed_after);
    }
}

TEST_CASE("committed reads: each step of a late entry, its worker killed after one") {
    using enum settle::step;
    for (auto const killed_after : {apply, decide, end}) {
        sqlite_fixture fixture;
        check_steps(fixture.database_here(), fixture.second_database(), deposit{"P", "V", 60},
                    "940open 60 none", settle::phases::one, killed_after);
    }
}

TEST_CASE_TEMPLATE("committed reads: beside writers", Fixture, memory_fixture, sqlite_fixture) {
    Fixture fixture;
    check_beside_writers(fixture.database_here(), fixture.second_database(), 100);
}

TEST_CASE_TEMPLATE("committed reads: records together, beside writers", Fixture, memory_fixture,
                   sqlite_fixture) {
    Fixture fixture;
    check_together(fixture.database_here(), fixture.second_database(), together::all, 100);
}

TEST_CASE("committed reads: records that two objects of one file hold") {
    scratch_file const file;
    settle::sqlite::database near{file.path()};
    settle::sqlite::database beside{file.path()};
    check_together(near, beside, together::all, 50);
}

TEST_CASE("committed reads: records together in files of two kinds of log") {
    memory_fixture memory;
    sqlite_fixture file;
    check_together(memory.database_here(), file.database_here(), together::all, 50);
    check_together(file.second_database(), memory.second_database(), together::all, 50);
}

TEST_CASE("committed reads: writers do not wait while the rows of files are read") {
    scratch_file const first;
    scratch_file const second;
    scratch_file const third;
    interrupted<settle::sqlite::database> near{first.path()};
    interrupted<settle::sqlite::database> far{second.path()};
    check_rows_after_hold(near, far, 2);
    interrupted<settle::memory::database> without_moments;
    interrupted<settle::sqlite::database> log{third.path()};
    check_rows_after_hold(log, without_moments, 1);
}

namespace {

struct naming {
    std::string purse, label;
};
SETTLE_STRUCT(naming, purse, label);
inline constexpr auto naming_type = settle::transaction<naming, "naming">(
    participant<"purse">(purses, param<&naming::purse>)
        .confirm(field<&purse::label> = param<&naming::label>));

/// A session whose look takes keys alone.
template <typename... Collections>
struct session_of_keys : settle::memory::record_session<std::mutex, Collections...> {
    using base = settle::memory::record_session<std::mutex, Collections...>;
    explicit session_of_keys(base&& inner) : base(std::move(inner)) {}
    settle::result<settle::store_look> look(settle::look_request request) {
        request.collections = {};
        return base::look(request);
    }
};
struct database_of_keys : settle::memory::database {
    template <typename... Collections>
    session_of_keys<Collections...> bind(std::string const& log_name) {
        return session_of_keys<Collections...>{
            settle::memory::database::bind<Collections...>(log_name)};
    }
};

} // namespace

TEST_CASE("committed reads: a store without looks at whole collections refuses them") {
    database_of_keys near;
    database_of_keys far;
    settle::engine engine{near, settle::bind(vaults, far), settle::type<deposit_type>};
    std::ignore = engine.create(purses, {"P", 1000, "open"});
    CHECK(engine.read_committed(purses, "P").value()->coins == 1000);
    CHECK(engine.scan_committed(purses).problem().code == settle::errc::unfit_store);
    auto const both = engine.read_together(settle::all_of(purses), settle::all_of(vaults));
    CHECK(both.problem().code == settle::errc::unfit_store);
}

TEST_CASE("committed reads: a collection that no type of the engine uses") {
    settle::memory::database near;
    settle::memory::database far;
    settle::engine engine{near, settle::bind(vaults, far), settle::type<naming_type>};
    std::ignore = engine.create(purses, {"P", 1000, "open"});
    std::ignore = engine.create(vaults, {"V", 7});
    CHECK(engine.read_committed(vaults, "V").value()->gold == 7);
    auto const seen = engine.read_together(settle::all_of(purses), settle::all_of(vaults)).value();
    CHECK(std::get<1>(seen).front().gold == 7);
}

TEST_CASE_TEMPLATE("committed reads: a limit", Fixture, memory_fixture, sqlite_fixture) {
    Fixture fixture;
    check_limit(fixture.database_here(), fixture.second_database());
}
