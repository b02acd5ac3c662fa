// SPDX-License-Identifier: BSL-1.0
// What an operator sees of prepared transactions in doubt, and of a database that hangs.
#include "client.hpp"

#include <postgresql/servers.hpp>
#include <service_receiver.hpp>

#include <settle/memory.hpp>
#include <settle/postgresql.hpp>
#include <settle/postgresql/prepared/resource.hpp>

#include <doctest/doctest.h>

namespace console_night {

struct account {
    std::string id;
    std::int64_t balance = 0;
};
struct order {
    std::string customer;
    std::int64_t price = 0;
};
struct booking {
    std::string customer;
    std::int64_t amount = 0;
};

} // namespace console_night

SETTLE_STRUCT(console_night::account, id, balance);
SETTLE_STRUCT(console_night::order, customer, price);
SETTLE_STRUCT(console_night::booking, customer, amount);

namespace console_night {
namespace {

using settle::call, settle::field, settle::param, settle::work_result;
using settle_test::get_json, settle_test::post, settle_test::wait_until;

constexpr settle::collection<account, "accounts", &account::id> accounts;
constexpr settle::prepared<booking, "ledger"> ledger;
constexpr settle::service<booking, settle::nothing, "shop", settle::barrier> shop;

constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"books">(ledger).apply(call(param<&order::customer>, param<&order::price>)),
    settle::participant<"goods">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()));

work_result book(settle::sql_connection& connection, booking const& request) {
    auto const sql = "UPDATE sums SET n = n + $1 WHERE id = $2";
    bool const is_there = connection.execute(sql, request.amount, request.customer) == 1;
    return is_there ? work_result::ok() : work_result::refused("no row " + request.customer);
}

/// A database with the records and a ledger, a log elsewhere, and a shop that does not answer.
struct night {
    night() {
        settle_test::ask(address, "CREATE TABLE sums (id varchar(20) PRIMARY KEY, n bigint)");
        settle_test::ask(address, "INSERT INTO sums VALUES ('anna', 0), ('bert', 0)");
        services.before = [this](settle::service_call const&) {
            if (++calls == 2) stops.request_stop();
            return std::optional{settle::service_answer::unknown("it does not answer")};
        };
    }
    auto make() {
        return settle::engine{settle::log_in(log),
                              settle::bind(accounts, records),
                              settle::bind(ledger, books, book),
                              settle::bind(shop, services),
                              settle::type<order_type>,
                              settle::options{.stuck_after = std::chrono::milliseconds{0}}};
    }
    /// Leaves an order whose second call of the shop had no answer.
    void leave(auto& engine, std::string const& id) {
        REQUIRE(engine.create(accounts, {"anna", 100}).has_value());
        auto const ended = engine.run(id, order{"anna", 10}, {{}, stops.get_token()});
        REQUIRE(ended.verdict == settle::verdict::undecided);
    }

    settle_test::postgresql_server server{{"max_prepared_transactions=20"}};
    std::string const address = server.address("postgres", "sslmode=disable&gssencmode=disable");
    settle::memory::database log{};
    settle::postgresql::database records{address};
    settle::postgresql::resource books{address};
    service_test::receiver services{};
    int calls = 0;
    std::stop_source stops{};
};

/// The row of an array whose member has a value.
nlohmann::json row_of(nlohmann::json const& rows, char const* member, std::string const& value) {
    for (auto const& row : rows) {
        if (row[member] == value) return row;
    }
    return {};
}

TEST_CASE("console: prepared transactions in doubt are named, and settled from the page") {
    night night;
    auto engine = night.make();
    night.leave(engine, "o-1");
    settle::prepared_name const lost{{night.log.name(), "lost", {1, 0}}, 1};
    auto const add = [](settle::sql_connection& connection) {
        return book(connection, {"bert", 1});
    };
    REQUIRE(night.books.prepare(lost, add).what == settle::prepare_answer::prepared);
    settle::console const console{engine};
    auto const overview = [&] { return get_json(console, "/").json(); };

    auto seen = overview();
    REQUIRE(seen["in_doubt"].size() == 1);
    CHECK(seen["in_doubt"][0]["store"] == "ledger");
    CHECK(seen["in_doubt"][0]["count"] == 2);
    CHECK(seen["in_doubt"][0]["not_listed"] == 0);
    CHECK(row_of(seen["stores"], "name", "ledger")["answers"] == true);
    auto const waiting = row_of(seen["parts_in_doubt"], "id", "o-1");
    CHECK(waiting["store"] == "ledger");
    CHECK(waiting["name"].get<std::string>().starts_with("settle/" + night.log.name() + "/"));
    CHECK(waiting["age_seconds"] >= 0);
    CHECK(waiting["what_ends_it"] == "its entry is pending: 'recover' ends both");
    CHECK(get_json(console, "/entries/o-1").status == 200);
    auto const alone = row_of(seen["parts_in_doubt"], "id", "lost");
    CHECK(alone["name"] == lost.text());
    CHECK(alone["what_ends_it"] == "it has no entry: a sweep rolls it back");

    // Why the order waits.
    CHECK(seen["unfinished"]["by_type_and_state"][0]["stage"] == 1);
    CHECK(seen["stuck"]["oldest"][0]["why"].get<std::string>().starts_with(
        "the call of goods (shop) was tried "));
    CHECK(post(console, "/calls/pause", "scope=service&name=shop&why=it+is+away").status == 200);
    CHECK(overview()["stuck"]["oldest"][0]["why"] == "the calls of 'shop' are paused: it is away");
    CHECK(post(console, "/calls/resume", "scope=service&name=shop").status == 200);

    auto const tried = post(console, "/sweep", "dry_run=1").json();
    CHECK(tried["seen"] == "0-1");
    CHECK(overview()["in_doubt"][0]["count"] == 2);
    CHECK(post(console, "/sweep", "seen=0-1").status == 200);
    seen = overview();
    CHECK(seen["in_doubt"][0]["count"] == 1);
    CHECK(get_json(console, "/entries/lost").json()["state"] == "canceled");

    night.services.before = [](settle::service_call const&) { return std::nullopt; };
    auto const forecast = post(console, "/entries/o-1/recover", "dry_run=1").json();
    auto const ended =
        post(console, "/entries/o-1/recover", "seen=" + forecast["seen"].get<std::string>());
    CHECK(ended.json()["verdict"] == "done");
    seen = overview();
    CHECK(seen["in_doubt"][0]["count"] == 0);
    CHECK(seen["parts_in_doubt"].empty());
}

TEST_CASE("console: a database that hangs delays no view beyond its limit, and is named") {
    night night;
    auto engine = night.make();
    night.leave(engine, "o-1");
    settle::console const console{engine, {.store_limit = std::chrono::milliseconds{500}}};
    // By itself the database waits for 45 s.
    auto const get_in_time = [&](std::string const& target) {
        auto const begun = std::chrono::steady_clock::now();
        auto answer = get_json(console, target);
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{15});
        return answer;
    };
    night.server.freeze();
    auto const seen = get_in_time("/").json();
    CHECK(row_of(seen["stores"], "name", "log")["answers"] == true);
    CHECK(row_of(seen["stores"], "name", "shop")["answers"].is_null());
    for (auto const* const name : {"accounts", "ledger"}) {
        auto const store = row_of(seen["stores"], "name", name);
        CHECK(store["answers"] == false);
        CHECK(store["problem"].get<std::string>().starts_with("settle: "));
    }
    CHECK(seen["in_doubt"][0]["count"].is_null());
    CHECK(seen["in_doubt"][0]["problem"].is_string());
    CHECK(seen["unfinished"]["total"] == 1);
    std::string const why = "its store 'accounts' gives no answer: settle: ";
    CHECK(seen["stuck"]["oldest"][0]["why"].get<std::string>().starts_with(why));
    CHECK(get_in_time("/entries").json()["entries"].size() == 1);
    auto const entry = get_in_time("/entries/o-1");
    CHECK(entry.status == 200);
    CHECK(entry.json()["why_unfinished"].get<std::string>().starts_with(why));
    auto const marks = entry.json()["marks"]["problem"].get<std::string>();
    CHECK(marks.find("the marks in 'accounts' are not known: ") != std::string::npos);
    CHECK(marks.find("the marks in 'ledger' are not known: ") != std::string::npos);
    CHECK(get_in_time("/records/accounts/anna").status == 503);
    CHECK(get_in_time("/actions").status == 200);

    night.server.thaw();
    CHECK(wait_until(std::chrono::minutes{1}, [&] {
        auto const stores = get_json(console, "/").json()["stores"];
        return row_of(stores, "name", "accounts")["answers"] == true &&
               row_of(stores, "name", "ledger")["answers"] == true;
    }));
}

} // namespace
} // namespace console_night
