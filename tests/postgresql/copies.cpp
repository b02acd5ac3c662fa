// SPDX-License-Identifier: BSL-1.0
// A log is at home in its table: a renamed schema, a user with fewer rights and a promoted standby
// are no other place; a database from a template and a copied schema are copies.
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>
#include <settle/testing/faults.hpp>

#include <transfer/transfer.hpp>

#include <thread>

namespace settle_test {
namespace {

using settle::errc;

/// A database of the server of this object alone, dropped in the end.
class fresh_server_database {
public:
    /// Shape:   server - "USER@HOST:PORT/DATABASE"; how - " TEMPLATE name", or nothing
    explicit fresh_server_database(std::string server, std::string const& how = "")
        : name_{fresh_name()}, server_{std::move(server)} {
        ask("postgresql://" + server_, "CREATE DATABASE " + name_ + how);
    }
    fresh_server_database(fresh_server_database const&) = delete;
    fresh_server_database& operator=(fresh_server_database const&) = delete;
    ~fresh_server_database() {
        try {
            ask("postgresql://" + server_, "DROP DATABASE " + name_ + " WITH (FORCE)");
        } catch (std::exception const&) {
            // The server may be gone.
        }
    }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string address(std::string const& user = "") const {
        auto const at = server_.find('@');
        auto const end = server_.find('/');
        return "postgresql://" + (user.empty() ? server_.substr(0, at) : user) +
               server_.substr(at, end - at) + "/" + name_;
    }

private:
    std::string name_;
    std::string server_;
};

auto engine_of(pg::database& db) {
    return settle::engine{db, settle::type<bank::transfer_type>, settle::two_phases};
}

settle::error refusal_of_engine(std::string const& address) {
    pg::database db{address};
    try {
        static_cast<void>(engine_of(db));
    } catch (settle::failure const& refused) {
        return refused.problem();
    }
    return {};
}

/// Two accounts, a transfer that is done, and one whose worker ended before its commit.
void fill(std::string const& address) {
    namespace st = settle::testing;
    pg::database db{address};
    st::faulty<pg::database> with_faults{db};
    settle::engine engine{with_faults, settle::type<bank::transfer_type>, settle::two_phases};
    for (char const* const id : {"A", "B"}) {
        engine.create(bank::accounts, {id, 100, 100}).value();
    }
    CHECK(engine.run("done", bank::transfer{"A", "B", 1}).done());
    with_faults.plan([](st::call const& call) {
        return st::fault{call.what == "commit" ? st::fault_kind::crash_before
                                               : st::fault_kind::none};
    });
    CHECK_THROWS_AS(std::ignore = engine.run("open", bank::transfer{"A", "B", 10}), st::crash);
}

std::string stored(std::string const& address, std::string const& name) {
    return ask_one(address, "SELECT value FROM settle_meta WHERE name = '" + name + "'");
}
std::string balance(std::string const& address, std::string const& id) {
    return ask_one(address, "SELECT balance FROM accounts WHERE id = '" + id + "'");
}

auto close_copy(pg::database& db) {
    return settle::close_copied_log(db, settle::type<bank::transfer_type>);
}

TEST_CASE("copies: a database from a template is closed, and the original goes on") {
    fresh_server_database const own{shared_postgresql()};
    fill(own.address());
    auto const name = stored(own.address(), "log");
    fresh_server_database const other{shared_postgresql(), " TEMPLATE " + own.name()};
    auto const refused = refusal_of_engine(other.address());
    CHECK(refused.code == errc::other_home);
    CHECK_MESSAGE(says(refused, " name=" + own.name() + "', and now it is at 'system="),
                  refused.text);

    // Two programs close it at the same time.
    pg::database copy{other.address()};
    pg::database again{other.address()};
    settle::recovery_report second;
    std::jthread also{[&] { second = close_copy(again); }};
    auto const first = close_copy(copy);
    also.join();
    CHECK_MESSAGE(first.problem.empty(), first.problem);
    CHECK_MESSAGE(second.problem.empty(), second.problem);
    CHECK(first.canceled + second.canceled == 1);
    CHECK(stored(other.address(), "log") != name);
    CHECK(stored(other.address(), "belongs_to") == stored(other.address(), "log"));
    CHECK(balance(other.address(), "A") == "99");
    CHECK(ask_one(other.address(), "SELECT count(*) FROM settle_mark") == "0");
    CHECK(refusal_of_engine(other.address()).empty());

    CHECK(refusal_of_engine(own.address()).empty());
    pg::database db{own.address()};
    auto engine = engine_of(db);
    CHECK(engine.retry("open").done());
    CHECK(balance(own.address(), "A") == "89");
    CHECK(stored(own.address(), "log") == name);
}

/// A user of the server who may use all tables of a database, but only read settle_meta.
class reader {
public:
    explicit reader(fresh_server_database const& of) : of_{of}, name_{fresh_name()} {
        ask(of.address(), "CREATE ROLE " + name_ + " LOGIN");
        allow(of);
    }
    reader(reader const&) = delete;
    reader& operator=(reader const&) = delete;
    ~reader() {
        try {
            ask(of_.address(), "DROP OWNED BY " + name_ + "; DROP ROLE " + name_);
        } catch (std::exception const&) {
            // The server may be gone.
        }
    }
    void allow(fresh_server_database const& in) const {
        ask(in.address(),
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + name_ +
                "; REVOKE INSERT, UPDATE ON settle_meta FROM " + name_);
    }
    [[nodiscard]] std::string const& name() const { return name_; }

private:
    fresh_server_database const& of_;
    std::string name_;
};

TEST_CASE("copies: a user who may not write the metadata is refused a copy, and changes nothing") {
    fresh_server_database const own{shared_postgresql()};
    fill(own.address());
    reader const user{own};
    {
        fresh_server_database const other{shared_postgresql(), " TEMPLATE " + own.name()};
        CHECK(refusal_of_engine(other.address(user.name())).code == errc::other_home);
        pg::database copy{other.address(user.name())};
        auto const moved = settle::accept_moved_log(copy);
        CHECK(moved.problem().code == pg::insufficient_privilege);
        CHECK(close_copy(copy).problem.code == pg::insufficient_privilege);
        CHECK(refusal_of_engine(other.address()).code == errc::other_home);
        // Nothing was closed before the log could keep that it is being closed.
        pg::database by_owner{other.address()};
        auto const report = close_copy(by_owner);
        CHECK_MESSAGE(report.problem.empty(), report.problem);
        CHECK(report.canceled == 1);
        CHECK(refusal_of_engine(other.address()).empty());
    }
    // At home the engine needs no home that is kept.
    ask(own.address(), "DELETE FROM settle_meta WHERE name = 'home'");
    CHECK(refusal_of_engine(own.address(user.name())).empty());
    CHECK(ask(own.address(), "SELECT 1 FROM settle_meta WHERE name = 'home'").empty());
    // A server that only reads is refused before.
    ask(own.address(), "ALTER DATABASE " + own.name() + " SET default_transaction_read_only = on");
    CHECK(refusal(own.address()).code == pg::read_only_transaction);
}

TEST_CASE("copies: a schema is at home under a new name, and its copy is not") {
    fresh_schema const own;
    fill(own.address());
    fresh_schema const other;
    auto const copy = "DO $$ DECLARE each text; BEGIN FOR each IN SELECT tablename FROM pg_tables "
                      "WHERE schemaname = '" +
                      own.name() + "' LOOP EXECUTE 'CREATE TABLE " + other.name() +
                      ".' || each || ' (LIKE " + own.name() +
                      ".' || each || "
                      "' INCLUDING ALL)'; EXECUTE 'INSERT INTO " +
                      other.name() + ".' || each || ' TABLE " + own.name() +
                      ".' || each; END LOOP; END $$";
    ask(own.address(), copy);
    CHECK(refusal_of_engine(other.address()).code == errc::other_home);
    pg::database moved{other.address()};
    CHECK(settle::accept_moved_log(moved).has_value());
    CHECK(refusal_of_engine(other.address()).empty());

    auto const between = fresh_name();
    auto const rename = [&](std::string const& from, std::string const& to) {
        ask(own.address(), "ALTER SCHEMA " + from + " RENAME TO " + to);
    };
    rename(other.name(), between);
    rename(own.name(), other.name());
    CHECK(refusal_of_engine(other.address()).empty());
    rename(other.name(), own.name());
    rename(between, other.name());
}

TEST_CASE("copies: a user who may not ask for the cluster still tells a copy") {
    fresh_server_database const own{shared_postgresql()};
    fill(own.address());
    auto const home = stored(own.address(), "home");
    CHECK(home.starts_with("system="));
    auto const user = fresh_name();
    ask(own.address(), "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE " +
                           user +
                           " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN "
                           "SCHEMA public TO " +
                           user);
    CHECK(refusal_of_engine(own.address(user)).empty());
    CHECK(stored(own.address(), "home") == home);
    {
        fresh_server_database const other{shared_postgresql(), " TEMPLATE " + own.name()};
        CHECK(refusal_of_engine(other.address(user)).code == errc::other_home);
    }
    ask(own.address(), "DELETE FROM settle_meta WHERE name = 'home'");
    CHECK(refusal_of_engine(own.address(user)).empty());
    CHECK(stored(own.address(), "home").starts_with("system= database="));
    // A user with more rights completes it.
    CHECK(refusal_of_engine(own.address()).empty());
    CHECK(stored(own.address(), "home") == home);
    ask(own.address(), "DROP OWNED BY " + user + "; DROP ROLE " + user);
}

TEST_CASE("copies: an engine asks where its log is in one round trip") {
    fresh_schema const own;
    fill(own.address());
    pg::database db{own.address()};
    auto log = db.bind_log();
    auto const before = db.round_trips();
    CHECK(log.home().value().is_same);
    CHECK(db.round_trips() - before == 1);
}

TEST_CASE("long: copies: a promoted standby is at home") {
    postgresql_server primary;
    fill(primary.address());
    postgresql_server standby{postgresql_server::standby_of{primary}};
    primary.kill();
    standby.promote();
    CHECK(refusal_of_engine(standby.address()).empty());
    CHECK(balance(standby.address(), "A") == "89");
}

} // namespace
} // namespace settle_test
