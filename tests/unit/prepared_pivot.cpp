// SPDX-License-Identifier: BSL-1.0
// A prepared part beside a pivot: from the call of the pivot on, work that refuses cancels nothing.
#include <preparing_database.hpp>

#include <settle/memory.hpp>
#include <settle/settle.hpp>

#include <doctest/doctest.h>

namespace prepared_pivot_test {

struct withdrawal {
    std::string account;
    std::int64_t amount = 0;
};
struct charge {
    std::int64_t amount = 0;
};
struct purchase {
    std::string account;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(withdrawal, account, amount);
SETTLE_STRUCT(charge, amount);
SETTLE_STRUCT(purchase, account, amount);

using preparing_test::database;
using preparing_test::fault;
using settle::param;
using settle::work_result;

inline constexpr settle::prepared<withdrawal, "ledger"> ledger;
inline constexpr settle::service<charge, settle::nothing, "cards", settle::barrier> cards;
inline constexpr auto purchase_type = settle::transaction<purchase, "purchase">(
    settle::participant<"payer">(ledger).apply(
        settle::call(param<&purchase::account>, param<&purchase::amount>)),
    settle::participant<"card">(cards).apply(settle::call(param<&purchase::amount>)));

namespace {

work_result withdraw(database::connection& on, withdrawal const& asked) {
    if (on.balance_of(asked.account) < asked.amount) return work_result::refused("no money");
    auto const added = on.add(asked.account, -asked.amount);
    return added.has_value() ? work_result::ok() : work_result::failed(added.problem());
}

} // namespace

TEST_CASE("prepared: work that refuses behind the call of a pivot is reported, and tried again") {
    using namespace std::chrono_literals;
    settle::memory::database log;
    database books;
    books.accounts = {{"X", 100}};
    bool answers = false;
    auto const card = [&](charge const&,
                          settle::service_call const&) -> settle::reply<settle::nothing> {
        if (!answers) return settle::service_answer::unknown("lost");
        return settle::nothing{};
    };
    settle::options limits;
    limits.patience = 100ms;
    limits.call_first_pause = 1ms;
    settle::engine engine{settle::log_in(log), limits, settle::bind(ledger, books, withdraw),
                          settle::bind(cards, card), settle::type<purchase_type>};
    auto const told = engine.run("t", purchase{"X", 60}, {50ms, {}});
    CHECK(told.verdict == settle::verdict::undecided);
    CHECK(books.names().size() == 1);
    // The next worker rolls the name back, and another program takes the money before it prepares.
    answers = true;
    books.disturb = [&](std::string_view operation, std::string const&) {
        if (operation == "prepare") books.accounts["X"] = 10;
        return fault::none;
    };
    auto const again = engine.retry("t");
    CHECK(again.verdict == settle::verdict::undecided);
    CHECK(again.problem.code == settle::errc::work_refused);
    CHECK(again.problem.text.find("no money") != std::string::npos);
    CHECK(engine.find("t").value()->state == settle::state::deciding);
    books.disturb = [](std::string_view, std::string const&) { return fault::none; };
    books.accounts["X"] = 70;
    CHECK(engine.retry("t").done());
    CHECK(books.accounts.at("X") == 10);
    CHECK(books.names().empty());
}

} // namespace prepared_pivot_test
