// SPDX-License-Identifier: BSL-1.0
// A log is at home in its database: a copy is refused until it is closed or accepted. Fixture gives
//
//   database, place          The types: the store, a place of tables.
//   copy_of(place)           A pointer to a new place with the same tables.
//   ask_one(address, sql)    The value that another program reads.
#pragma once

#include "failures.hpp"

#include <settle/settle.hpp>
#include <settle/testing/faults.hpp>

#include <transfer/transfer.hpp>

#include <thread>

namespace settle_test {

using settle::errc;

template <typename Fixture>
struct copies {
    using database = typename Fixture::database;
    using place = typename Fixture::place;

    static auto engine_of(database& db) {
        return settle::engine{db, settle::type<bank::transfer_type>, settle::two_phases};
    }

    static settle::error refusal_of_engine(std::string const& address) {
        database db{address};
        try {
            static_cast<void>(engine_of(db));
        } catch (settle::failure const& refused) {
            return refused.problem();
        }
        return {};
    }

    /// Two accounts, a transfer that is done, and one whose worker ended before its commit.
    static void fill(std::string const& address) {
        namespace st = settle::testing;
        database db{address};
        st::faulty<database> with_faults{db};
        settle::engine engine{with_faults, settle::type<bank::transfer_type>, settle::two_phases};
        for (char const* const id : {"A", "B"}) {
            engine.create(bank::accounts, {id, 100, 100}).value();
        }
        CHECK(engine.run("done", bank::transfer{"A", "B", 1}).done());
        with_faults.plan([](st::call const& call) {
            return st::fault{call.what == "commit" ? st::fault_kind::crash_before
                                                   : st::fault_kind::none};
        });
        CHECK_THROWS_AS(std::ignore = engine.run("open", bank::transfer{"A", "B", 10}), st::crash);
    }

    static std::string stored(std::string const& address, std::string const& name) {
        return Fixture::ask_one(address,
                                "SELECT value FROM settle_meta WHERE name = '" + name + "'");
    }
    static std::string balance(std::string const& address, std::string const& id) {
        return Fixture::ask_one(address, "SELECT balance FROM accounts WHERE id = '" + id + "'");
    }

    static auto close_copy(database& db) {
        return settle::close_copied_log(db, settle::type<bank::transfer_type>);
    }

    /// Shape:   kept, present - how the refusal names the place, and begins the present home
    static void check_closed_copy(std::string const& kept, std::string const& present) {
        place const own;
        fill(own.address());
        auto const name = stored(own.address(), "log");
        auto const copy = Fixture::copy_of(own);
        auto const& copied = *copy;
        auto const refused = refusal_of_engine(copied.address());
        CHECK(refused.code == errc::other_home);
        CHECK_MESSAGE(
            says(refused, " " + kept + "=" + own.name() + "', and now it is at '" + present),
            refused.text);

        // Two programs close it at the same time.
        database first_program{copied.address()};
        database second_program{copied.address()};
        settle::recovery_report second;
        std::jthread also{[&] { second = close_copy(second_program); }};
        auto const first = close_copy(first_program);
        also.join();
        CHECK_MESSAGE(first.problem.empty(), first.problem);
        CHECK_MESSAGE(second.problem.empty(), second.problem);
        CHECK(first.canceled + second.canceled == 1);
        CHECK(stored(copied.address(), "log") != name);
        CHECK(stored(copied.address(), "belongs_to") == stored(copied.address(), "log"));
        CHECK(balance(copied.address(), "A") == "99");
        CHECK(Fixture::ask_one(copied.address(), "SELECT count(*) FROM settle_mark") == "0");
        CHECK(refusal_of_engine(copied.address()).empty());

        CHECK(refusal_of_engine(own.address()).empty());
        database db{own.address()};
        auto engine = engine_of(db);
        CHECK(engine.retry("open").done());
        CHECK(balance(own.address(), "A") == "89");
        CHECK(stored(own.address(), "log") == name);
    }
    /// Shape:   most - the round trips of a question, if the session has yet to prepare it
    static void check_round_trips(place const& own, std::uint64_t most) {
        fill(own.address());
        database db{own.address()};
        auto log = db.bind_log();
        CHECK(log.home().value().is_same); // its statement is prepared then
        auto const before = db.round_trips();
        CHECK(log.home().value().is_same);
        CHECK(db.round_trips() - before <= most);
    }
};

} // namespace settle_test
