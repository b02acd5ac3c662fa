// SPDX-License-Identifier: BSL-1.0
// A log and records under objects of one file.
#include "one_store_suite.hpp"
#include "two_files.hpp"

#include <filesystem>

namespace one_store_test {

using namespace settle_test::one_store;

TEST_CASE("one store: two objects of one file are one store, whatever their paths are") {
    sqlite_test::folder const own;
    std::filesystem::create_symlink(own.file("bank"), own.file("link"));
    settle::sqlite::database first{own.file("bank")};
    settle::sqlite::database second{own.file("link")};
    settle::sqlite::database other{own.file("other")};
    CHECK(steps_of_order(first, first, first, 1) == one_phase);
    CHECK(steps_of_order(first, second, second, 2) == one_phase);
    CHECK(steps_of_order(first, second, other, 3) == late);
    CHECK(steps_of_order(second, other, first, 4) == late);
    check_recovery(first, second, first);
}

} // namespace one_store_test
namespace one_store_test {

using two_files_test::account, two_files_test::accounts;
using two_files_test::deposit;
using two_files_test::vault, two_files_test::vaults;
struct share {
    std::string id;
    std::int64_t count = 0;
};

} // namespace one_store_test
BOOST_HANA_ADAPT_STRUCT(one_store_test::share, id, count);
namespace one_store_test {
namespace {

constexpr settle::collection<share, "shares", &share::id> shares;
constexpr auto purchase_type = settle::transaction<deposit, "purchase">(
    settle::participant<"from">(accounts, settle::param<&deposit::from>)
        .require(settle::field<&account::balance> >= settle::param<&deposit::amount>)
        .apply(settle::field<&account::balance> -= settle::param<&deposit::amount>)
        .compensate(settle::inverse),
    settle::participant<"to">(vaults, settle::param<&deposit::to>)
        .confirm(settle::field<&vault::gold> += settle::param<&deposit::amount>),
    settle::participant<"share">(shares, settle::param<&deposit::to>)
        .confirm(settle::field<&share::count> += settle::lit<1>));

} // namespace

TEST_CASE("one store: a commit joins the parts of all objects of the log's file") {
    sqlite_test::folder const own;
    settle::sqlite::database books{own.file("books")};
    settle::sqlite::database again{own.file("books")};
    settle::sqlite::database cellar{own.file("cellar")};
    std::vector<std::string> marks;
    auto const look = [&](settle::event const& event) {
        if (event.taken != settle::step::apply) return;
        for (auto const* const file : {"books", "cellar"}) {
            marks.push_back(
                sqlite_test::sql(own.file(file), "SELECT count(*) FROM settle_mark").at(0));
        }
    };
    settle::engine engine{settle::log_in(books),        settle::bind(accounts, books),
                          settle::bind(vaults, cellar), settle::bind(shares, again),
                          settle::type<purchase_type>,  settle::observed_by(look)};
    engine.create(accounts, {"A", 100}).value();
    engine.create(vaults, {"V", 0}).value();
    engine.create(shares, {"V", 0}).value();
    CHECK(engine.run(deposit{"A", "V", 60}).done());
    CHECK(marks == std::vector<std::string>{"0", "1"});
    CHECK(engine.at(accounts, "A").balance == 40);
    CHECK(engine.at(vaults, "V").gold == 60);
    CHECK(engine.at(shares, "V").count == 1);
    CHECK(engine.run(deposit{"A", "W", 1}).participant == "to");
    CHECK(engine.at(accounts, "A").balance == 40);
    CHECK(engine.marks().value() == 0);
}

} // namespace one_store_test
