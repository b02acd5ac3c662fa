// SPDX-License-Identifier: BSL-1.0
// Transfers from a MongoDB set, which holds the log, to a PostgreSQL server, against the same work
// by hand with PREPARE TRANSACTION.
#include "apart_rounds.hpp"
#include "baseline/mongodb_one_phase.hpp"
#include "baseline/postgresql.hpp"
#include "mongodb_bank.hpp"
#include "postgresql_bank.hpp"

#include <settle/mongodb.hpp>
#include <settle/postgresql.hpp>

namespace bench {

namespace {

/// The accounts of a round.
struct both_banks {
    /// Shape:   log - the collection of the log by hand
    both_banks(mongodb_set const& set, postgresql_pair const& pair, workload const& work,
               char const* log = nullptr)
        : first(set, work, log, "first"), second(pair, 1, work, "second"),
          expected(expected_of(work)) {}

    void check() const {
        first.check(expected.first);
        second.check(expected.second);
    }

    mongodb_bank first;
    postgresql_bank second;
    halves expected;
};

/// PostgreSQL prepares the credit; MongoDB's native transaction, with the log's document, decides;
/// PostgreSQL commits what it has prepared.
class with_prepare {
public:
    explicit with_prepare(both_banks const& banks)
        : first_(banks.first.by_hand()), session_(first_.begin_session()),
          second_(banks.second.address(),
                  {{"begin", "BEGIN"},
                   {"credit",
                    baseline::postgresql::changing(baseline::postgresql::credit_sql("second"))}}) {}

    void run(transfer_request const& request) {
        using baseline::mongodb::members;
        auto const& [id, transfer] = request;
        second_.send("begin");
        second_.send("credit", transfer.destination, transfer.amount);
        second_.send_sql("PREPARE TRANSACTION '" + id + "'");
        second_.sync();
        baseline::mongodb::in_native_transaction(session_, [&, &transfer = transfer] {
            auto debit = baseline::mongodb::update_in(first_, "first");
            debit.update(
                [&](members const& filter) {
                    filter.text("_id", transfer.source);
                    filter.object("balance", [&](members const& enough) {
                        enough.integer("$gte", transfer.amount);
                    });
                },
                [&](members const& change) { baseline::mongodb::add(change, -transfer.amount); });
            debit.expect(1, session_);
            baseline::mongodb::insert_entries(first_, session_, {&request, 1});
        });
        second_.send_sql("COMMIT PREPARED '" + id + "'");
        second_.sync();
    }

private:
    baseline::mongodb::connection first_;
    baseline::mongodb::session session_;
    baseline::postgresql::connection second_;
};

add_case const one_at_a_time{
    79, "MongoDB with the log and PostgreSQL, one at a time",
    [](context& context, std::string const& name) {
        auto const* const set = mongodb_set::of(1);
        auto const* const pair = postgresql_pair::get();
        if (set == nullptr || pair == nullptr) return;
        auto const work = apart::work_of(context);
        auto const settle = [&] {
            return apart::by_settle<settle::mongodb::database, settle::postgresql::database>(
                std::make_shared<both_banks>(*set, *pair, work), work);
        };
        auto const by_hand = [&] {
            // Its check counts the documents of the log.
            auto const banks = std::make_shared<both_banks>(*set, *pair, work, "log");
            return apart::by_hand(
                banks, std::make_shared<with_prepare>(*banks), work,
                [](both_banks const& used) { used.second.check_count("pg_prepared_xacts", 0); });
        };
        apart::compare_with(context, name, work, settle, "PREPARE on PostgreSQL", by_hand, 1.20);
    }};

} // namespace

} // namespace bench
