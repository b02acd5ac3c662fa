// SPDX-License-Identifier: BSL-1.0
// Exactly the rights that postgresql#rights lists are enough, and an error without one of them
// names the next step.
#include "receiver_office.hpp"
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

namespace settle_test {
namespace {

/// A user of the server, with rights on a schema.
class user {
public:
    user(fresh_schema const& in, std::string const& suffix) : in_{in}, name_{in.name() + suffix} {
        ask(in_.address(), "CREATE ROLE " + name_ + " LOGIN");
    }
    user(user const&) = delete;
    user& operator=(user const&) = delete;
    ~user() {
        try {
            ask(in_.address(), "DROP OWNED BY " + name_ + " CASCADE; DROP ROLE " + name_);
        } catch (std::exception const&) {
            // The schema's end reports a server that is gone.
        }
    }
    void grant(std::string const& right, std::string const& on) const {
        ask(in_.address(), "GRANT " + right + " ON " + on + " TO " + name_);
    }
    void revoke(std::string const& right, std::string const& on) const {
        ask(in_.address(), "REVOKE " + right + " ON " + on + " FROM " + name_);
    }
    [[nodiscard]] std::string address() const {
        auto all = in_.address();
        auto const from = all.find("//") + 2;
        return all.replace(from, all.find('@') - from, name_);
    }

private:
    fresh_schema const& in_;
    std::string name_;
};

auto engine_of(pg::database& db, settle::phases how) {
    return settle::engine{db, settle::type<bank::transfer_type>, how};
}

/// Everything that an engine does.
void use_everything(std::string const& address) {
    pg::database db{address};
    for (auto const how : all_phases) {
        auto teller = engine_of(db, how);
        CHECK(teller.run(bank::transfer{"A", "B", 1}).done());
        auto const submitted = teller.submit(bank::transfer{"A", "B", 1});
        CHECK_MESSAGE(submitted.problem.empty(), submitted.problem);
        CHECK(teller.work().done == 1);
        std::vector<bank::transfer> const several(20, bank::transfer{"A", "B", 1});
        auto const all = teller.run_all(several);
        CHECK(std::all_of(all.begin(), all.end(), [](auto const& one) { return one.done(); }));
        CHECK(teller.recover().problem.empty());
        CHECK(teller.sweep().problem.empty());
        CHECK(teller.purge().problem.empty());
        CHECK_FALSE(teller.page({}, "", 100).value().empty());
        CHECK(teller.marks().value() == 0);
    }
    CHECK_FALSE(db.listen().wait(1ms).value());
}

void make_accounts(std::string const& address) {
    pg::database db{address};
    auto teller = engine_of(db, settle::phases::one);
    REQUIRE(teller.create(bank::accounts, {"A", 1000, 1000}).has_value());
    REQUIRE(teller.create(bank::accounts, {"B", 0, 0}).has_value());
}

TEST_CASE("rights: a user who may use the tables, and a user who may make them") {
    fresh_schema const own;
    user const makes{own, "_makes"};
    makes.grant("USAGE, CREATE", "SCHEMA " + own.name());
    make_accounts(makes.address());
    use_everything(makes.address());

    user const uses{own, "_uses"};
    uses.grant("USAGE", "SCHEMA " + own.name());
    uses.grant("SELECT, INSERT, UPDATE, DELETE", "ALL TABLES IN SCHEMA " + own.name());
    use_everything(uses.address());
    CHECK(ask_one(own.address(), "SELECT sum(balance) FROM accounts") == "1000");
}

TEST_CASE("rights: if a right is missing, the sentence names the table") {
    fresh_schema const own;
    make_accounts(own.address());
    user const lacks{own, "_lacks"};
    lacks.grant("USAGE", "SCHEMA " + own.name());
    auto const tables = "ALL TABLES IN SCHEMA " + own.name();
    for (std::string const right : {"SELECT", "INSERT", "UPDATE"}) {
        lacks.grant("SELECT, INSERT, UPDATE, DELETE", tables);
        pg::database db{lacks.address()};
        auto teller = engine_of(db, settle::phases::two);
        lacks.revoke(right, tables);
        INFO(right);
        auto const ended = teller.run(bank::transfer{"A", "B", 1});
        INFO(ended.problem.text);
        CHECK_FALSE(ended.done());
        CHECK(ended.problem.code == pg::insufficient_privilege);
        CHECK(says(ended.problem, "permission denied for table "));
        CHECK(says(ended.problem, "(SQLSTATE 42501). Give the user this right"));
    }
    lacks.revoke("USAGE", "SCHEMA " + own.name());
    auto const hidden = pg::database::open(lacks.address());
    REQUIRE_FALSE(hidden.has_value());
    CHECK(hidden.problem().code == settle::errc::unfit_store);
    CHECK(says(hidden.problem(), "has no schema that exists and that the user may use"));
}

TEST_CASE("rights: of a receiver") {
    using postgresql_receivers::seats;
    using settle::call_operation;
    postgresql_receivers::office const in;
    user const clerk{in.own, "_clerk"};
    clerk.grant("USAGE", "SCHEMA " + in.own.name());
    clerk.grant("SELECT, INSERT, UPDATE, DELETE", "flight, booking, settle_receiver");
    clerk.grant("SELECT", "settle_receiver_meta");
    pg::receiver_database db{clerk.address(), "airline"};
    settle::receiver airline_receiver{db};
    for (auto const end : {call_operation::confirm, call_operation::compensate}) {
        auto const key = std::string{name_of(end)};
        for (auto const operation : {call_operation::apply, end}) {
            auto const answer = airline_receiver.take(airline::made_call(operation, key), seats{});
            CHECK_MESSAGE(answer.status == settle::call_status::ok, answer.text);
        }
    }
    CHECK(airline_receiver.close("c").has_value());
    CHECK(airline_receiver.list().value().size() == 3);
    CHECK(airline_receiver.purge().has_value());
    clerk.revoke("UPDATE", "settle_receiver");
    auto const answer =
        airline_receiver.take(airline::made_call(call_operation::apply, "d"), seats{});
    CHECK(answer.status == settle::call_status::unavailable);
    INFO(answer.text);
    CHECK(answer.text.find("permission denied for table settle_receiver") != std::string::npos);
    CHECK(in.effects() == 1);
}

} // namespace
} // namespace settle_test
