// SPDX-License-Identifier: BSL-1.0
// Transfers from a PostgreSQL server, which holds the log, to a MariaDB server, against the same
// work by hand with XA.
#include "apart_rounds.hpp"
#include "baseline/mariadb.hpp"
#include "baseline/postgresql.hpp"
#include "mariadb_bank.hpp"
#include "postgresql_bank.hpp"

#include <settle/mariadb.hpp>
#include <settle/postgresql.hpp>

namespace bench {

namespace {

/// The accounts of a round.
struct both_banks {
    both_banks(postgresql_pair const& pair, workload const& work,
               std::initializer_list<std::string> more = {})
        : first(pair, 0, work, "first", more), second(work, {}, "second"),
          expected(expected_of(work)) {}

    void check() const {
        first.check(expected.first);
        second.check(expected.second);
    }

    postgresql_bank first;
    mariadb_bank second;
    halves expected;
};

/// MariaDB prepares the credit; the commit of PostgreSQL's native transaction, with the log's row,
/// decides; MariaDB commits what it has prepared.
class with_xa {
public:
    explicit with_xa(both_banks const& banks)
        : first_(
              banks.first.address(),
              {{"begin", "BEGIN"},
               {"debit", baseline::postgresql::changing(baseline::postgresql::debit_sql("first"))},
               {"enter", baseline::postgresql::entry_sql("$1::text", "$2::text", "$3::int8")},
               {"commit", "COMMIT"}}),
          second_(banks.second.port(), banks.second.name()) {
        mysql_set_server_option(second_.native(), MYSQL_OPTION_MULTI_STATEMENTS_ON);
    }

    void run(transfer_request const& request) {
        auto const& [id, transfer] = request;
        // A round trip for all of it: XA takes no parameters.
        run_on_second("XA START '" + id + "'; UPDATE second SET balance = balance + " +
                      std::to_string(transfer.amount) + " WHERE id = '" + transfer.destination +
                      "'; XA END '" + id + "'; XA PREPARE '" + id + "'");
        first_.send("begin");
        first_.send("debit", transfer.source, transfer.amount);
        baseline::write_json(json_, transfer.source, transfer.destination, transfer.amount);
        first_.send("enter", id, json_, baseline::now());
        first_.send("commit");
        first_.sync();
        run_on_second("XA COMMIT '" + id + "'");
    }

private:
    void run_on_second(std::string const& statements) const {
        second_.run(statements);
        for (;;) {
            int const next = mysql_next_result(second_.native());
            if (next < 0) return;
            if (next > 0) {
                throw std::runtime_error(std::string{"by hand: "} + mysql_error(second_.native()));
            }
        }
    }

    baseline::postgresql::connection first_;
    baseline::mariadb::connection second_;
    std::string json_;
};

add_case const one_at_a_time{
    78, "PostgreSQL with the log and MariaDB, one at a time",
    [](context& context, std::string const& name) {
        auto const* const pair = postgresql_pair::get();
        if (pair == nullptr || !has_mariadb()) return;
        auto const work = apart::work_of(context);
        auto const settle = [&] {
            return apart::by_settle<settle::postgresql::database, settle::mariadb::database>(
                std::make_shared<both_banks>(*pair, work), work);
        };
        auto const by_hand = [&] {
            auto const banks = std::make_shared<both_banks>(
                *pair, work, std::initializer_list<std::string>{baseline::postgresql::log_sql});
            return apart::by_hand(
                banks, std::make_shared<with_xa>(*banks), work, [&](both_banks const& used) {
                    used.first.check_count("log WHERE state = 3", work.requests.size());
                });
        };
        apart::compare_with(context, name, work, settle, "XA on MariaDB", by_hand, 1.15);
    }};

} // namespace

} // namespace bench
