// SPDX-License-Identifier: BSL-1.0
// The applications with --store mariadb://…: their outcomes, and their errors if a database cannot
// be used.
#include "shared_servers.hpp"

#include <doctest/doctest.h>
#include <sql_applications.hpp>

namespace settle_test {
namespace {

/// For sql_applications.hpp.
struct mariadb_samples {
    using database = fresh_mariadb;
    static constexpr char const* name = "mariadb";
    static constexpr char const* scheme = "mariadb";
    static constexpr char const* server = "MariaDB";
    static constexpr char const* schema_sql = "DATABASE()";
    static constexpr char const* unreachable = "mariadb://bank:secret@127.0.0.1:1/bank";
    static std::string ask_one(std::string const& address, std::string const& sql) {
        return mariadb_session{address}.ask_one(sql);
    }
    static void ask(std::string const& address, std::string const& sql) {
        mariadb_session{address}.ask(sql);
    }
};

} // namespace

SETTLE_SAMPLE_SUITE("MariaDB", mariadb_samples);

TEST_CASE("applications: transfer is killed on MariaDB, and no money is lost") {
    fresh_mariadb const own;
    constexpr int orders = 3000;
    bank_at<mariadb_samples> const teller{"killed", own.address(), orders};
    for (arguments const& pace : {arguments{"--batch", "40"}, arguments{"--two-phases"},
                                  arguments{"--threads", "3", "--batch", "7"}}) {
        auto const before = teller.done();
        mariadb_session holder{own.address()};
        holder.ask("START TRANSACTION");
        // The last two orders have this payer, so no run can end before it is killed.
        holder.ask("SELECT * FROM accounts WHERE id = '2252' FOR UPDATE");
        arguments run{"run", teller.input()};
        run.insert(run.end(), pace.begin(), pace.end());
        auto running = teller.start_at(own.address(), run);
        teller.wait_for_more(running, before);
        running.signal(SIGKILL);
        CHECK(running.wait().signal == SIGKILL);
        holder.ask("ROLLBACK");
        auto const settled = teller.call({"recover"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        teller.check_whole();
    }
    auto const rest = teller.call({"run", teller.input()});
    CHECK_MESSAGE(rest.code == 0, rest.out << rest.err);
    teller.check_whole();
    auto const ask_one = [&](char const* sql) {
        return mariadb_samples::ask_one(own.address(), sql);
    };
    CHECK(ask_one("SELECT COUNT(*) FROM settle_entries WHERE state IN ('done', 'canceled')") ==
          std::to_string(orders));
    CHECK(ask_one("SELECT SUM(balance - opened_with) FROM accounts") == "0");
}

} // namespace settle_test
