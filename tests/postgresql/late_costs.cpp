// SPDX-License-Identifier: BSL-1.0
// What a transfer between two servers costs them: commits that wait for the disk, and rows. The
// servers count both themselves.
#include "late_bank.hpp"
#include "servers.hpp"

namespace late_entries {
namespace {

/// What a server has done.
struct server_counts {
    std::int64_t syncs = 0; ///< of its write-ahead log
    std::int64_t rows = 0;  ///< inserted, updated and deleted

    server_counts operator-(server_counts const& before) const {
        return {syncs - before.syncs, rows - before.rows};
    }
};

std::int64_t number_of(postgresql_server const& server, std::string const& query) {
    return std::stoll(ask_one(server.address(), query));
}

/// Waits until no other session is left: each adds its counts to the server's when it ends.
server_counts counts_of(postgresql_server const& server) {
    bool const are_ended = wait_until(1min, [&] {
        return number_of(server, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = "
                                 "'client backend' AND pid <> pg_backend_pid()") == 0;
    });
    REQUIRE(are_ended);
    return {number_of(server, "SELECT wal_sync FROM pg_stat_wal"),
            number_of(server, "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM "
                              "pg_stat_user_tables")};
}

/// What a transfer has cost.
struct costs_of_both {
    std::array<server_counts, 2> servers;
    std::array<std::uint64_t, 2> round_trips;
};

struct two_servers {
    // No sync comes from elsewhere for a while.
    arguments settings{"wal_writer_delay=10s", "checkpoint_timeout=1h", "autovacuum=off"};
    postgresql_server first{settings};
    postgresql_server second{settings};

    two_servers() {
        ask(first.address(), accounts_sql);
        ask(second.address(), vaults_sql);
        std::ignore = costs(5); // the first engine makes the library's tables
    }

    /// What both servers do for an engine that runs some transfers, one at a time.
    /// Shape:   more - further arguments of the engine
    template <typename... More>
    costs_of_both costs(int transfers, More const&... more) {
        std::array const before{counts_of(first), counts_of(second)};
        std::array<std::uint64_t, 2> round_trips{};
        {
            pg::database books{first.address()};
            pg::database cellar{second.address()};
            settle::engine engine{books, settle::bind(vaults, cellar), settle::type<deposit_type>,
                                  more...};
            for (int paid = 0; paid < transfers; ++paid) {
                REQUIRE(engine.run(deposit{"A", "V", 1}).done());
            }
            round_trips = {books.round_trips(), cellar.round_trips()};
        }
        return {{counts_of(first) - before[0], counts_of(second) - before[1]}, round_trips};
    }
};

} // namespace

TEST_CASE("late: servers count the commits and rows of a transfer") {
    constexpr int few = 20;
    constexpr int many = 60;
    two_servers servers;
    // What the construction of an engine costs is in both.
    auto const check = [&](std::array<double, 2> syncs, std::array<double, 2> rows,
                           std::array<double, 2> round_trips, auto const&... more) {
        auto const some = servers.costs(few, more...);
        auto const costs_of_many = servers.costs(many, more...);
        for (std::size_t const server : {0U, 1U}) {
            CAPTURE(server);
            auto const each = [&](auto last, auto first) {
                return static_cast<double>(last - first) / (many - few);
            };
            auto const& last = costs_of_many.servers[server];
            auto const& first = some.servers[server];
            // The server's own processes may sync, too.
            CHECK(each(last.syncs, first.syncs) == doctest::Approx(syncs[server]).epsilon(0.1));
            CHECK(each(last.rows, first.rows) == doctest::Approx(rows[server]));
            CHECK(each(costs_of_many.round_trips[server], some.round_trips[server]) ==
                  doctest::Approx(round_trips[server]).epsilon(0.05));
        }
    };
    // The first server: entry and account, and the close, which is not forced. The second: the mark
    // that comes and goes, and the vault.
    check({1, 2}, {3, 3}, {2, 2});
    // The entry is inserted first, and then changed by the commit with the account.
    check({2, 2}, {4, 3}, {3, 2}, settle::early_entries);
}

} // namespace late_entries
