// SPDX-License-Identifier: BSL-1.0
// Accounts in a SQLite file and on three servers are read together, while programs move money
// between them and are killed.
#include "killed_programs.hpp"

#include <mariadb/servers.hpp>
#include <mongodb/servers.hpp>
#include <postgresql/servers.hpp>
#include <program.hpp>

#include <settle/mariadb.hpp>
#include <settle/mongodb.hpp>
#include <settle/postgresql.hpp>
#include <settle/sqlite.hpp>

#include <sstream>
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
    std::string first, second;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(ring, first, second, amount);

/// Money moves from a purse of one store to a purse of another one.
template <settle::fixed_string Name, auto const& From, auto const& To>
inline constexpr auto move_type =
    settle::transaction<ring, Name>(participant<"from">(From, param<&ring::first>)
                                        .require(field<&purse::coins> >= param<&ring::amount>)
                                        .apply(field<&purse::coins> -= param<&ring::amount>)
                                        .compensate(settle::inverse),
                                    participant<"to">(To, param<&ring::second>)
                                        .confirm(field<&purse::coins> += param<&ring::amount>));
inline constexpr auto to_postgresql = move_type<"to_postgresql", in_file, in_postgresql>;
inline constexpr auto to_mariadb = move_type<"to_mariadb", in_postgresql, in_mariadb>;
inline constexpr auto to_mongodb = move_type<"to_mongodb", in_mariadb, in_mongodb>;
inline constexpr auto to_file = move_type<"to_file", in_mongodb, in_file>;

constexpr std::int64_t all_money = 4 * 3 * 1000;

/// The four stores; the log is in the file, or in PostgreSQL.
struct scene {
    postgresql_server postgresql{};
    mariadb_server mariadb{};
    server mongodb{};
    testing::scratch_folder folder{"several-stores"};
    bool log_in_file;

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
                ring const move{std::to_string(n % 3), std::to_string(n / 3 % 3), 1 + n % 5};
                std::ignore = engine.template run<to_postgresql>(move);
                std::ignore = engine.template run<to_mariadb>(move);
                std::ignore = engine.template run<to_mongodb>(move);
                std::ignore = engine.template run<to_file>(move);
            }
        });
    }
    /// Reads all purses together, so often.
    [[nodiscard]] std::string read(int times) const {
        std::ostringstream said;
        use([&](auto& engine) {
            std::vector<std::string> const keys{"0", "1", "2"};
            int exact = 0;
            int not_had = 0;
            while (exact < times) {
                auto const seen = engine.read_together(
                    settle::keys_of(in_file, keys), settle::keys_of(in_postgresql, keys),
                    settle::keys_of(in_mariadb, keys), settle::keys_of(in_mongodb, keys));
                if (!seen && seen.problem().code == settle::condition::retryable) {
                    ++not_had;
                    continue;
                }
                std::int64_t sum = 0;
                auto const add = [&](auto const& purses) {
                    for (auto const& each : purses) sum += each->coins;
                };
                std::apply([&](auto const&... purses) { (add(purses), ...); }, seen.value());
                if (sum != all_money) {
                    said << "the sum was " << sum << "; ";
                    break;
                }
                ++exact;
            }
            said << exact << " exact, " << not_had << " not had";
        });
        return said.str();
    }
    [[nodiscard]] std::string open() const {
        use([&](auto& engine) {
            for (char const* const id : {"0", "1", "2"}) {
                engine.create(in_file, {id, 1000}).value();
                engine.create(in_postgresql, {id, 1000}).value();
                engine.create(in_mariadb, {id, 1000}).value();
                engine.create(in_mongodb, {id, 1000}).value();
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

TEST_CASE("purses in four stores are read together while programs are killed that change them") {
    for (bool const log_in_file : {true, false}) {
        CAPTURE(log_in_file);
        scene const stores{.log_in_file = log_in_file};
        REQUIRE(in_another_process([&] { return stores.open(); }) == "opened");
        for (unsigned round = 0; round < 2; ++round) {
            child one{[&](int) { stores.write(round); }};
            child other{[&](int) { stores.write(round + 100); }};
            // A reader that is killed makes nobody wait.
            child reader{[&](int) { std::ignore = stores.read(1'000'000); }};
            auto const first = in_another_process([&] { return stores.read(20); });
            one.kill();
            reader.kill();
            // The transactions of the killed program are unfinished.
            auto const second = in_another_process([&] { return stores.read(20); });
            other.kill();
            MESSAGE(first << "; " << second);
            CHECK(first.starts_with("20 exact"));
            CHECK(second.starts_with("20 exact"));
        }
        CHECK(in_another_process([&] { return stores.settle(); }) == "0 marks");
        CHECK(in_another_process([&] { return stores.read(1); }) == "1 exact, 0 not had");
    }
}

} // namespace several_stores
