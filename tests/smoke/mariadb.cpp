// SPDX-License-Identifier: BSL-1.0
// Programs that move money between records of MariaDB, or from a record to a prepared row of
// MariaDB, are killed, and others settle their transactions.
#include "killed_programs.hpp"

#include <mariadb/servers.hpp>
#include <program.hpp>

#include <settle/mariadb.hpp>
#include <settle/sqlite.hpp>

namespace smoke_test {

struct booking {
    std::string row;
    std::int64_t amount = 0;
};

} // namespace smoke_test

SETTLE_STRUCT(smoke_test::booking, row, amount);

namespace smoke_test {

using settle::field, settle::param;

inline constexpr settle::prepared<booking, "ledger"> ledger;

/// Money leaves an account, and arrives in a row of the ledger.
inline constexpr auto outgoing_type = settle::transaction<bank::transfer, "outgoing">(
    settle::participant<"payer">(bank::accounts, param<&bank::transfer::source>)
        .require(field<&bank::account::balance> >= param<&bank::transfer::amount>)
        .apply(field<&bank::account::balance> -= param<&bank::transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(
        settle::call(param<&bank::transfer::destination>, param<&bank::transfer::amount>)));

struct ledger_world {
    std::string file;
    std::string address;

    void open() const {
        settle_test::mariadb_session session{address};
        session.ask("CREATE TABLE ledger (id VARCHAR(20) PRIMARY KEY, balance BIGINT NOT NULL)");
        session.ask("INSERT INTO ledger VALUES ('L', 0)");
        use({}, [](auto& teller) { teller.create(bank::accounts, {"A", 1000, 1000}).value(); });
    }
    void run(watcher const& watch) const {
        use(watch, [](auto& teller) {
            for (;;) std::ignore = teller.run(bank::transfer{"A", "L", 7});
        });
    }
    [[nodiscard]] std::string settle() const {
        std::string said;
        use({}, [&](auto& teller) { said = settle_all(teller); });
        return said;
    }
    [[nodiscard]] std::string fault() const {
        std::int64_t left = 0;
        std::size_t count = 0;
        use({}, [&](auto& teller) {
            left = teller.at(bank::accounts, "A").balance;
            count = teller.page({}, "", 1000).value().size();
        });
        settle_test::mariadb_session session{address};
        auto const booked = std::stoll(session.ask_one("SELECT balance FROM ledger"));
        auto const moved = 7 * static_cast<std::int64_t>(count);
        if (left == 1000 - moved && booked == moved) return {};
        return std::to_string(left) + " left, " + std::to_string(booked) + " booked";
    }

private:
    template <typename Use>
    void use(watcher const& watch, Use const& use) const {
        settle::sqlite::database records{file};
        settle::mariadb::resource books{address};
        settle::engine teller{
            settle::log_in(records), settle::bind(bank::accounts, records),
            settle::bind(ledger, books,
                         [](settle::sql_connection& connection, booking const& request) {
                             auto const rows = connection.execute(
                                 "UPDATE ledger SET balance = balance + ? WHERE id = ?",
                                 request.amount, request.row);
                             return rows == 1 ? settle::work_result::ok()
                                              : settle::work_result::refused("there is no row");
                         }),
            settle::type<outgoing_type>, settle::observed_by([&](settle::event const& seen) {
                if (watch) watch(seen);
            })};
        use(teller);
    }
};

TEST_CASE("a program that moves money in MariaDB is killed, and another settles it") {
    settle_test::mariadb_server const server;
    kill_and_recover(bank_world<settle::mariadb::database>{server.address()});
}

TEST_CASE("a program with a prepared transaction of MariaDB is killed, and another "
          "settles it") {
    settle_test::mariadb_server const server;
    testing::scratch_folder const folder{"smoke-mariadb"};
    kill_and_recover(ledger_world{folder.at("bank.db"), server.address()});
}

} // namespace smoke_test
