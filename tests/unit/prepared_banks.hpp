// SPDX-License-Identifier: BSL-1.0
// A bank beside a database that prepares, for the tests of prepared parts through the engine.
#pragma once

#include "engine_types.hpp"

#include <preparing_database.hpp>

namespace prepared_test {

using namespace engine_test;

struct payment {
    std::string from, to;
    std::int64_t amount = 0;
};
struct booking {
    std::string account;
    std::int64_t amount = 0;
};

struct salaries {
    std::string from;
    std::vector<booking> lines;
};

SETTLE_STRUCT(payment, from, to, amount);
SETTLE_STRUCT(booking, account, amount);
SETTLE_STRUCT(salaries, from, lines);

using preparing_test::database;
using preparing_test::fault;
using settle::call;
using settle::errc;
using settle::work_result;

inline constexpr settle::prepared<booking, "ledger"> ledger;

inline constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"payer">(accounts, param<&payment::from>)
        .require(field<&account::balance> >= param<&payment::amount>)
        .apply(field<&account::balance> -= param<&payment::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(call(param<&payment::to>, param<&payment::amount>)));

/// A range: each line is prepared alone.
inline constexpr auto salaries_type = settle::transaction<salaries, "salaries">(
    settle::participant<"lines">(ledger, settle::each<&salaries::lines>)
        .apply(call(settle::line<&booking::account>, settle::line<&booking::amount>)));

/// A bank in memory beside a database that prepares; both outlive the engines.
struct banks {
    settle::memory::database records{};
    database books{};
    world_state world{};
    std::function<void(settle::event const&)> watch{};
    std::string steps{}; ///< "insert apply "
    int works = 0;       ///< calls of the work

    work_result book(database::connection& connection, booking const& request) {
        ++works;
        auto const added = connection.add(request.account, request.amount);
        if (added.has_value()) return work_result::ok();
        if (added.problem().code == errc::record_missing) {
            return work_result::refused("no account " + request.account);
        }
        return work_result::failed(added.problem());
    }
    auto make() {
        return settle::engine{
            settle::log_in(records),
            settle::bind(accounts, records),
            settle::bind(ledger, books,
                         [this](database::connection& connection, booking const& request) {
                             return book(connection, request);
                         }),
            settle::type<payment_type>,
            settle::type<salaries_type>,
            settle::with_environment(manual_environment{world}),
            settle::observed_by([this](settle::event const& event) {
                steps.append(name_of(event.taken)).append(" ");
                if (watch) watch(event);
            })};
    }
    banks() {
        books.accounts = {{"X", 0}, {"Y", 0}};
        books.clock = &world.time;
        auto engine = make();
        open_accounts(engine, {{"A", 100}});
    }

    [[nodiscard]] settle::prepared_name name_of_payee(std::string const& id,
                                                      settle::epoch under) const {
        return {{records.name(), id, {1, 0}}, under};
    }
    /// The sum is whole, and `amount` has moved.
    void moved(std::int64_t amount) {
        auto engine = make();
        CHECK(balance_of(engine, "A") == 100 - amount);
        CHECK(books.accounts.at("X") == amount);
        CHECK(books.names().empty());
        CHECK(marks_in(engine) == 0);
    }
};

inline payment const usual{"A", "X", 30};

/// For database::disturb: does this to the first calls of an operation.
inline auto disturbs(std::string_view operation, fault what, int count = 1) {
    return [=, left = count](std::string_view one, std::string const&) mutable {
        if (one != operation || left == 0) return fault::none;
        --left;
        return what;
    };
}

} // namespace prepared_test
