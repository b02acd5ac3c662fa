// SPDX-License-Identifier: BSL-1.0
// The engine of the payments.
#pragma once

#include "payments.hpp"

#include <settle/settle.hpp>

namespace payments_test {

struct booking {
    std::string row;
    std::int64_t amount = 0;
};

SETTLE_STRUCT(account, id, balance);
SETTLE_STRUCT(payment, from, third, rest, amount, share, two_shares);
SETTLE_STRUCT(booking, row, amount);

using settle::field, settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::prepared<booking, "thirds"> thirds; ///< in PostgreSQL
inline constexpr settle::prepared<booking, "rests"> rests;   ///< in MariaDB

inline constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"payer">(accounts, param<&payment::from>)
        .require(field<&account::balance> >= param<&payment::amount>)
        .apply(field<&account::balance> -= param<&payment::amount>)
        .compensate(settle::inverse),
    settle::participant<"third">(thirds).apply(
        settle::call(param<&payment::third>, param<&payment::share>)),
    settle::participant<"rest">(rests).apply(
        settle::call(param<&payment::rest>, param<&payment::two_shares>)));

inline settle::work_result book(settle::sql_connection& connection, char const* sql,
                                booking const& request) {
    bool const there = connection.execute(sql, request.amount, request.row) == 1;
    return there ? settle::work_result::ok()
                 : settle::work_result::refused("no row " + request.row);
}

/// Shape:   Records - a database of the library
template <typename Records>
auto make_engine(Records& records, settle::postgresql::resource& left,
                 settle::mariadb::resource& right, watcher const& watch) {
    return settle::engine{
        settle::log_in(records),
        settle::bind(accounts, records),
        settle::bind(thirds, left,
                     [](settle::sql_connection& connection, booking const& request) {
                         return book(connection, "UPDATE sums SET n = n + $1 WHERE id = $2",
                                     request);
                     }),
        settle::bind(rests, right,
                     [](settle::sql_connection& connection, booking const& request) {
                         return book(connection, "UPDATE sums SET n = n + ? WHERE id = ?", request);
                     }),
        settle::type<payment_type>,
        settle::observed_by([&watch](settle::event const& event) {
            if (watch) watch(event);
        })};
}

template <typename Records>
class payments_of final : public payments {
public:
    payments_of(Records& records, settle::postgresql::resource& left,
                settle::mariadb::resource& right, watcher const& watch)
        : records_(records), engine_(make_engine(records, left, right, watch)) {}

    settle::outcome run(payment const& request) override { return engine_.run(request); }
    settle::outcome run(std::string const& id, payment const& request) override {
        return engine_.run(id, request);
    }
    settle::batch_outcomes run_all(std::vector<payment> const& request) override {
        return engine_.run_all(request);
    }
    settle::outcome cancel(std::string const& id, settle::cancel_options const& how) override {
        return engine_.cancel(id, how);
    }
    settle::recovery_report recover() override {
        settle::recover_options any_age;
        any_age.older_than = std::chrono::milliseconds{0};
        return engine_.recover(any_age);
    }
    settle::sweep_report sweep() override { return engine_.sweep(); }
    std::uint64_t marks() override { return engine_.marks().value_or(1); }
    std::vector<settle::doubtful_part> thirds_in_doubt() override {
        return engine_.in_doubt(thirds).value();
    }
    std::vector<settle::doubtful_part> rests_in_doubt() override {
        return engine_.in_doubt(rests).value();
    }
    settle::entry find(std::string const& id) override {
        return engine_.find(id).value().value_or(settle::entry{});
    }
    std::vector<settle::entry> list(bool unfinished) override {
        settle::entry_filter filter;
        filter.unfinished = unfinished;
        std::vector<settle::entry> all;
        for (auto const& one : engine_.list(filter)) all.push_back(one);
        return all;
    }
    void create(account const& account) override {
        auto const created = engine_.create(accounts, account);
        if (!created.has_value()) throw settle::failure{created.problem()};
    }
    std::int64_t balances() override {
        std::int64_t sum = 0;
        for (auto const& one : engine_.scan(accounts)) sum += one.balance;
        return sum;
    }
    std::string log() override { return records_.bind_log().name(); }

private:
    using engine_type = decltype(make_engine(
        std::declval<Records&>(), std::declval<settle::postgresql::resource&>(),
        std::declval<settle::mariadb::resource&>(), watcher{}));
    Records& records_;
    engine_type engine_;
};

} // namespace payments_test
