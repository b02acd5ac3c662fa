// SPDX-License-Identifier: BSL-1.0
// The work of a resource of PostgreSQL: its settings, its refusals, and names that are taken.
#include "backend.hpp"

#include "prepared_work_suite.hpp"

using namespace settle_test;
namespace postgres = settle::postgresql;

namespace {

using backend = postgresql_backend;

/// Each call runs on the session of the call before.
struct one_session : postgresql_backend {
    static postgres::database_options limits() {
        auto all = postgresql_backend::limits();
        all.connections = 1;
        return all;
    }
};

} // namespace

TEST_CASE("work: what a work sets does not meet the next work") {
    fresh_postgresql const own;
    prepared_scene<one_session> s{own.address()};
    s.beside.ask("CREATE SCHEMA other");
    s.beside.ask("CREATE TABLE other.sums (id varchar(20) PRIMARY KEY, n bigint NOT NULL)");
    s.beside.ask("INSERT INTO other.sums VALUES ('a', 0)");
    // A role belongs to the whole server.
    auto const role = own.name() + "_role";
    s.beside.ask("CREATE ROLE " + role);
    s.beside.ask("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
    check_settings<one_session>(
        s,
        "SELECT concat_ws('|', current_schemas(true)::text, current_user, session_user, "
        "current_setting('lock_timeout'), current_setting('statement_timeout'), "
        "current_setting('idle_in_transaction_session_timeout'), current_setting('TimeZone'), "
        "current_setting('default_transaction_isolation'), "
        "current_setting('default_transaction_read_only'), "
        "current_setting('standard_conforming_strings'), current_setting('client_encoding'), "
        "current_setting('enable_seqscan'), current_setting('row_security'), "
        "coalesce(current_setting('own.setting', true), ''), (SELECT count(*) FROM pg_locks "
        "WHERE locktype = 'advisory' AND pid = pg_backend_pid())::text)",
        {"SET search_path = other", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
         "SET ROLE " + role, "SET SESSION AUTHORIZATION " + role, "RESET ALL",
         "SELECT set_config('standard_conforming_strings', 'off', false)",
         "SET client_encoding = 'LATIN1'", "SET own.setting = 'x'",
         "SET default_transaction_isolation = 'serializable'", "SELECT pg_advisory_lock(7)",
         "DO $$BEGIN PERFORM set_config('TimeZone', 'Asia/Tokyo', false); END$$",
         "DEALLOCATE ALL"});
    CHECK(s.beside.ask_one("SELECT n FROM other.sums") == "0");
    s.beside.ask("DROP OWNED BY " + role);
    s.beside.ask("DROP ROLE " + role);
}

TEST_CASE("work: a name with a quote is prepared as it is, whatever the work has set") {
    fresh_postgresql const own;
    prepared_scene<one_session> s{own.address()};
    auto const name = name_of(R"(t\'1\)");
    auto const work =
        statements({"SET standard_conforming_strings = off", "SET backslash_quote = on"});
    auto const answer = s.books.prepare(name, work);
    CHECK_MESSAGE(answer.what == prepare_answer::prepared, answer.problem);
    CHECK(s.listed() == std::vector{name.text()});
    CHECK(s.books.commit(name).what == end_answer::ended);
}

TEST_CASE("work: what would fail again refuses the part") {
    fresh_postgresql const own;
    prepared_scene<backend> s{own.address()};
    s.beside.ask("ALTER TABLE sums ADD CHECK (n < 1000), ADD small smallint");
    s.beside.ask("CREATE TABLE child (id varchar(20) REFERENCES sums DEFERRABLE INITIALLY "
                 "DEFERRED)");
    s.beside.ask("CREATE VIEW low AS SELECT * FROM sums WHERE n < 10 WITH CHECK OPTION");
    s.beside.ask("CREATE FUNCTION own() RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE 'the "
                 "account is closed'; END$$");
    check_refusals_of_database<backend>(
        s, {{"INSERT INTO sums VALUES ('a', 1)", "23505"},
            {"UPDATE sums SET n = 5000 WHERE id = 'a'", "23514"},
            // The prepare checks this one.
            {"INSERT INTO child VALUES ('nobody')", "23503"},
            {"UPDATE sums SET small = 100000 WHERE id = 'a'", "22003"},
            {"UPDATE sums SET n = 1 / 0 WHERE id = 'a'", "22012"},
            {"UPDATE sums SET n = NULL WHERE id = 'a'", "23502"},
            {"INSERT INTO low VALUES ('d', 11)", "44000"},
            {"SELECT own()", "the account is closed"},
            {"DO $$BEGIN RAISE 'too late' USING ERRCODE = '45000'; END$$", "too late"},
            {"UPDAT sums", "42601"},
            {"COMMIT", "must not begin or end"},
            {"DISCARD ALL", "25001"},
            // The prepare refuses these.
            {"CREATE TEMP TABLE more (n int)", "temporary"},
            {"LISTEN news", "LISTEN"}});
}

TEST_CASE("work: a name that another database of the server has is unknown") {
    fresh_postgresql const own;
    fresh_postgresql const other;
    prepared_scene<backend> s{own.address()};
    auto const name = name_of("t1");
    backend::prepare_foreign(other.address(), name.text(), "CREATE TABLE things (n int)");
    auto const answer = s.books.prepare(name, add<backend>("a"));
    INFO(answer.problem);
    CHECK(answer.what == prepare_answer::unknown);
    CHECK(answer.problem.code == postgres::duplicate_object);
    psql_session there{other.address()};
    backend::roll_back_foreign(there, name.text());
    CHECK(s.nothing_of(name));
}

TEST_CASE("work: a statement that takes too long is busy") {
    fresh_postgresql const own;
    auto limits = backend::limits();
    limits.statement_timeout = 1s;
    prepared_scene<backend> s{own.address()};
    postgres::resource brief{s.at, limits};
    auto const slow = brief.prepare(name_of("t1"), statements({"SELECT pg_sleep(100)"}));
    CHECK_MESSAGE(slow.what == prepare_answer::busy, slow.problem);
    CHECK(s.nothing_of(name_of("t1")));
}

TEST_CASE("work: a native transaction with a failed statement is not prepared") {
    fresh_postgresql const own;
    settle::postgresql::detail::pool pool{own.address(), {}};
    auto const held = pool.take();
    held->begin();
    held->send_sql("SELECT 1 / 0", "divide");
    CHECK_THROWS_AS(held->sync(), settle::failure);
    try {
        held->prepare("settle test: " + own.name());
        FAIL("it was prepared");
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == postgres::failed_transaction);
    }
    psql_session beside{own.address()};
    CHECK(beside.ask_one("SELECT count(*) FROM pg_prepared_xacts WHERE database = "
                         "current_database()") == "0");
}

TEST_CASE("work: COPY with the client, and no statement, is refused with a sentence") {
    fresh_postgresql const own;
    prepared_scene<backend> s{own.address()};
    for (auto const* const sql : {"COPY sums FROM STDIN", "COPY sums TO STDOUT", "", " -- none"}) {
        CAPTURE(sql);
        auto const answer = s.books.prepare(name_of("t1"), statements({sql}));
        CHECK(answer.what == prepare_answer::refused);
        CHECK(answer.problem.code == settle::condition::permanent);
        bool const copies = std::string_view{sql}.starts_with("COPY");
        char const* const why = copies ? "use INSERT or SELECT" : "the statement is empty";
        CHECK_MESSAGE(answer.problem.text.find(why) != std::string::npos, answer.problem);
    }
    commit_surely<backend>(s, "t1", add<backend>("a"));
}
