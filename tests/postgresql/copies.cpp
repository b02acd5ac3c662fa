// SPDX-License-Identifier: BSL-1.0
// A log is at home in its table: a renamed schema, a user with fewer rights and a promoted standby
// are no other place; a database from a template and a copied schema are copies.
#include "copies_suite.hpp"
#include "sums.hpp"

#include <settle/postgresql.hpp>

namespace settle_test {
namespace {

struct fixture {
    using database = pg::database;
    using place = fresh_postgresql;
    static auto copy_of(place const& own) {
        return std::make_unique<place>(" TEMPLATE " + own.name());
    }
    static std::string ask_one(std::string const& address, std::string const& sql) {
        return settle_test::ask_one(address, sql);
    }
};
using scene = copies<fixture>;

TEST_CASE_FIXTURE(scene, "copies: a database from a template is closed, and the original goes on") {
    check_closed_copy("name", "system=");
}

/// A user of the server who may use all tables of a database, but only read settle_meta.
class reader {
public:
    explicit reader(fresh_postgresql const& server) : of_{server}, name_{fresh_name()} {
        ask(server.address(), "CREATE ROLE " + name_ + " LOGIN");
        allow(server);
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
    void allow(fresh_postgresql const& in) const {
        ask(in.address(),
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + name_ +
                "; REVOKE INSERT, UPDATE ON settle_meta FROM " + name_);
    }
    [[nodiscard]] std::string const& name() const { return name_; }

private:
    fresh_postgresql const& of_;
    std::string name_;
};

TEST_CASE_FIXTURE(
    scene, "copies: a user who may not write the metadata is refused a copy, and changes nothing") {
    fresh_postgresql const own;
    fill(own.address());
    reader const user{own};
    {
        fresh_postgresql const other{" TEMPLATE " + own.name()};
        CHECK(refusal_of_engine(other.address_of(user.name())).code == errc::other_home);
        pg::database copy{other.address_of(user.name())};
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
    CHECK(refusal_of_engine(own.address_of(user.name())).empty());
    CHECK(ask(own.address(), "SELECT 1 FROM settle_meta WHERE name = 'home'").empty());
    // A server that only reads is refused before.
    ask(own.address(), "ALTER DATABASE " + own.name() + " SET default_transaction_read_only = on");
    CHECK(refusal(own.address()).code == pg::read_only_transaction);
}

TEST_CASE_FIXTURE(scene, "copies: a schema is at home under a new name, and its copy is not") {
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

TEST_CASE_FIXTURE(scene, "copies: a user who may not ask for the cluster still tells a copy") {
    fresh_postgresql const own;
    fill(own.address());
    auto const home = stored(own.address(), "home");
    CHECK(home.starts_with("system="));
    auto const user = fresh_name();
    ask(own.address(), "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE " +
                           user +
                           " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN "
                           "SCHEMA public TO " +
                           user);
    CHECK(refusal_of_engine(own.address_of(user)).empty());
    CHECK(stored(own.address(), "home") == home);
    {
        fresh_postgresql const other{" TEMPLATE " + own.name()};
        CHECK(refusal_of_engine(other.address_of(user)).code == errc::other_home);
    }
    ask(own.address(), "DELETE FROM settle_meta WHERE name = 'home'");
    CHECK(refusal_of_engine(own.address_of(user)).empty());
    CHECK(stored(own.address(), "home").starts_with("system= database="));
    // A user with more rights completes it.
    CHECK(refusal_of_engine(own.address()).empty());
    CHECK(stored(own.address(), "home") == home);
    ask(own.address(), "DROP OWNED BY " + user + "; DROP ROLE " + user);
}

TEST_CASE_FIXTURE(scene, "copies: an engine asks where its log is in one round trip") {
    check_round_trips(fresh_postgresql{}, 1);
}

TEST_CASE_FIXTURE(scene, "long: copies: a promoted standby is at home") {
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
