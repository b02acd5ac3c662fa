// SPDX-License-Identifier: BSL-1.0
// Accounts in a SQLite file and on three servers are read together, while programs move money
// between them and are killed.
#include "../committed_reads_suite.hpp"
#include "killed_programs.hpp"

#include <mariadb/servers.hpp>
#include <mongodb/servers.hpp>
#include <postgresql/servers.hpp>
#include <program.hpp>

#include <settle/mariadb.hpp>
#include <settle/mongodb.hpp>
#include <settle/postgresql.hpp>
#include <settle/sqlite.hpp>

#include <array>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace several_stores {

using namespace settle_test;
using settle::field, settle::param, settle::participant;
using smoke_test::in_another_process;

struct purse {
    std::string id;
    std::int64_t coins = 0;
};
SETTLE_STRUCT(purse, id, coins);
inline constexpr settle::collection<purse, "in_file", &purse::id> in_file;
inline constexpr settle::collection<purse, "in_postgresql", &purse::id> in_postgresql;
inline constexpr settle::collection<purse, "in_mariadb", &purse::id> in_mariadb;
inline constexpr settle::collection<purse, "in_mongodb", &purse::id> in_mongodb;

struct ring {
    std::string purse;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(ring, purse, amount);

/// Money moves from a purse of one store to the purse of that name in another one.
template <settle::fixed_string Name, auto const& From, auto const& To>
inline constexpr auto move_type =
    settle::transaction<ring, Name>(participant<"from">(From, param<&ring::purse>)
                                        .require(field<&purse::coins> >= param<&ring::amount>)
                                        .apply(field<&purse::coins> -= param<&ring::amount>)
                                        .compensate(settle::inverse),
                                    participant<"to">(To, param<&ring::purse>)
                                        .confirm(field<&purse::coins> += param<&ring::amount>));
inline constexpr auto to_postgresql = move_type<"to_postgresql", in_file, in_postgresql>;
inline constexpr auto to_mariadb = move_type<"to_mariadb", in_postgresql, in_mariadb>;
inline constexpr auto to_mongodb = move_type<"to_mongodb", in_mariadb, in_mongodb>;
inline constexpr auto to_file = move_type<"to_file", in_mongodb, in_file>;

std::int64_t coins_in(purse const& each) { return each.coins; }
std::int64_t coins_in(std::optional<purse> const& each) { return each->coins; }

/// The money in the four purses of one name.
constexpr std::int64_t in_four_purses = 4'000;

/// The four stores; the log is in the file, or in PostgreSQL.
struct scene {
    postgresql_server postgresql{};
    mariadb_server mariadb{};
    server mongodb{};
    testing::scratch_folder folder{"several-stores"};
    bool log_in_file;
    unsigned purses = 3; ///< in each store

    /// Calls a function with an engine, in this process.
    template <typename Use>
    void use(Use const& use) const {
        settle::sqlite::database file{folder.at("purses.db")};
        settle::postgresql::database second{postgresql.address()};
        settle::mariadb::database third{mariadb.address()};
        settle::mongodb::database fourth{mongodb.address("purses")};
        auto const begin = [&](auto&&... stores) {
            settle::engine engine{stores...,
                                  settle::bind(in_mariadb, third),
                                  settle::bind(in_mongodb, fourth),
                                  settle::type<to_postgresql>,
                                  settle::type<to_mariadb>,
                                  settle::type<to_mongodb>,
                                  settle::type<to_file>};
            use(engine);
        };
        if (log_in_file) begin(file, settle::bind(in_postgresql, second));
        else begin(second, settle::bind(in_file, file));
    }

    /// Money goes round until the process is killed.
    void write(unsigned seed) const {
        use([&](auto& engine) {
            for (unsigned n = seed;; ++n) {
                ring const move{std::to_string(n % purses), 1 + n % 5};
                std::ignore = engine.template run<to_postgresql>(move);
                std::ignore = engine.template run<to_mariadb>(move);
                std::ignore = engine.template run<to_mongodb>(move);
                std::ignore = engine.template run<to_file>(move);
            }
        });
    }
    /// Reads the purses of a few names together, or all purses, so often.
    [[nodiscard]] std::string read(int times, bool whole) const {
        std::ostringstream said;
        use([&](auto& engine) {
            int exact = 0;
            int not_had = 0;
            auto const count = [&](auto const& seen, std::int64_t names) {
                if (!seen && seen.problem().code == settle::condition::retryable) {
                    ++not_had;
                    return true;
                }
                std::int64_t sum = 0;
                auto const add = [&](auto const& of_store) {
                    for (auto const& each : of_store) sum += coins_in(each);
                };
                std::apply([&](auto const&... stores) { (add(stores), ...); }, seen.value());
                if (sum == names * in_four_purses) ++exact;
                else said << "the sum was " << sum << "; ";
                return sum == names * in_four_purses;
            };
            for (unsigned n = 0, goes_on = 1; exact < times && goes_on != 0; ++n) {
                if (whole) {
                    goes_on = count(engine.read_together(
                                        settle::all_of(in_file), settle::all_of(in_postgresql),
                                        settle::all_of(in_mariadb), settle::all_of(in_mongodb)),
                                    purses);
                } else {
                    std::vector<std::string> const keys{std::to_string(n % purses),
                                                        std::to_string((n + 1) % purses)};
                    goes_on = count(engine.read_together(settle::keys_of(in_file, keys),
                                                         settle::keys_of(in_postgresql, keys),
                                                         settle::keys_of(in_mariadb, keys),
                                                         settle::keys_of(in_mongodb, keys)),
                                    2);
                }
            }
            said << exact << " exact, " << not_had << " not had";
        });
        return said.str();
    }
    [[nodiscard]] std::string open() const {
        use([&](auto& engine) {
            std::vector<purse> records;
            for (unsigned n = 0; n < purses; ++n) {
                records.push_back({std::to_string(n), in_four_purses / 4});
            }
            for (auto const& problem : {engine.create_all(in_file, records).problem,
                                        engine.create_all(in_postgresql, records).problem,
                                        engine.create_all(in_mariadb, records).problem,
                                        engine.create_all(in_mongodb, records).problem}) {
                if (!problem.empty()) throw settle::failure(problem);
            }
        });
        return "opened";
    }
    [[nodiscard]] std::string settle() const {
        std::ostringstream said;
        use([&](auto& engine) {
            auto const ended = engine.recover({.older_than = std::chrono::milliseconds{0}});
            std::ignore = engine.sweep();
            bool const has_done =
                !engine.page({.state = settle::state::done}, "", 1).value().empty();
            said << ended.problem.text << engine.marks().value() << " marks"
                 << (has_done ? "" : ", nothing was done");
        });
        return said.str();
    }
};

TEST_CASE("writers of a SQLite file and a MongoDB set do not wait while a reader reads the rows") {
    for (std::size_t const members : {1U, 3U}) {
        testing::scratch_folder const folder{"held-reads"};
        replica_set const documents{members};
        using committed_reads::interrupted;
        interrupted<settle::sqlite::database> near{folder.at("near.db")};
        interrupted<settle::mongodb::database> far{documents.address("held_reads")};
        committed_reads::check_rows_after_hold(near, far, 2);
    }
}

TEST_CASE("purses in four stores are read together while programs are killed that change them") {
    for (bool const log_in_file : {true, false}) {
        CAPTURE(log_in_file);
        scene const stores{.log_in_file = log_in_file};
        REQUIRE(in_another_process([&] { return stores.open(); }) == "opened");
        for (unsigned round = 0; round < 2; ++round) {
            child writer{[&](int) { stores.write(round); }};
            child other{[&](int) { stores.write(round + 100); }};
            // A reader that is killed makes nobody wait.
            child reader{[&](int) { std::ignore = stores.read(1'000'000, round == 0); }};
            auto const first = in_another_process([&] { return stores.read(20, false); });
            writer.kill();
            reader.kill();
            // The transactions of the killed program are unfinished.
            auto const second = in_another_process([&] { return stores.read(20, true); });
            other.kill();
            MESSAGE(first << "; " << second);
            CHECK(first.starts_with("20 exact"));
            CHECK(second.starts_with("20 exact"));
        }
        CHECK(in_another_process([&] { return stores.settle(); }) == "0 marks");
        CHECK(in_another_process([&] { return stores.read(1, true); }) == "1 exact, 0 not had");
    }
}

namespace {

/// 10,000 purses are read, a few together and all together, while eight programs are killed at
/// random that change them.
/// Shape:   of_few, of_whole - how often, for each place of the log
void check_while_writers_are_killed(int of_few, int of_whole) {
    for (bool const log_in_file : {true, false}) {
        CAPTURE(log_in_file);
        scene const stores{.log_in_file = log_in_file, .purses = 2'500};
        REQUIRE(in_another_process([&] { return stores.open(); }) == "opened");
        auto const reader = [&](int times, bool reads_all) {
            return [&stores, times, reads_all](int to) {
                ::alarm(0);
                say(to, stores.read(times, reads_all));
            };
        };
        child few{reader(of_few, false)};
        child whole{reader(of_whole, true)};
        std::jthread killer{[&](std::stop_token const& ends) {
            std::mt19937 random{log_in_file};
            std::array<std::optional<child>, 8> writers;
            for (unsigned n = 0; !ends.stop_requested(); ++n) {
                auto& writer = writers[n < writers.size() ? n : random() % writers.size()];
                if (writer) writer->kill();
                writer.emplace([&stores, n](int) { stores.write(100 * n); });
                std::this_thread::sleep_for(std::chrono::milliseconds{random() % 1000});
            }
        }};
        auto const seen_of_few = few.line();
        auto const seen_of_whole = whole.line();
        killer.request_stop();
        killer.join();
        MESSAGE(seen_of_few << "; " << seen_of_whole);
        CHECK(seen_of_few.starts_with(std::to_string(of_few) + " exact"));
        CHECK(seen_of_whole.starts_with(std::to_string(of_whole) + " exact"));
        CHECK(in_another_process([&] { return stores.settle(); }) == "0 marks");
    }
}

} // namespace

TEST_CASE("long: 10,000 purses in four stores are read while programs are killed at random") {
    check_while_writers_are_killed(2'000, 20);
}

TEST_CASE("exhaustive: 10,000 purses in four stores are read while programs are killed at random") {
    check_while_writers_are_killed(50'000, 500);
}

} // namespace several_stores
