// SPDX-License-Identifier: BSL-1.0
// The resource of PostgreSQL: the suite, and tests of PostgreSQL's own behaviour.
#include "backend.hpp"
#include "failures.hpp"
#include "prepared_suite.hpp"

using namespace settle_test;
namespace postgres = settle::postgresql;

namespace {

using backend = postgresql_backend;

} // namespace

TEST_CASE("resource: prepare, commit and roll back") { check_ends<backend>(); }
TEST_CASE("resource: refused and failed work leaves nothing") { check_refusals<backend>(); }
TEST_CASE("resource: locks, denials") { check_locks<backend>(); }
TEST_CASE("resource: lists are of one log and one database") { check_lists<backend>(); }
TEST_CASE("resource: old receipts are erased") { check_forgetting<backend>(); }
TEST_CASE("resource: threads queue for a row") { check_threads<backend>(); }
TEST_CASE("resource: lost and late messages") { check_lost_messages<backend>(); }
TEST_CASE("resource: killed sessions") { check_killed_sessions<backend>(); }
TEST_CASE("resource: a server that is killed") { check_crashes<backend>(); }

TEST_CASE("resource: a server that prepares nothing is refused with the setting to change") {
    postgresql_server const own{{"max_prepared_transactions=0"}};
    postgres::resource books{backend::address_of(own)};
    auto const problem = failure_of([&] { books.bind(log_name); });
    CHECK(problem.code == settle::errc::unfit_store);
    CHECK(says(problem, "max_prepared_transactions"));
}

TEST_CASE("resource: a server that can prepare no more is unavailable") {
    postgresql_server const own{{"max_prepared_transactions=1"}};
    prepared_scene<backend> s{backend::address_of(own)};
    CHECK(s.books.prepare(name_of("t1"), add<backend>("a")).what == prepare_answer::prepared);
    auto const full = s.books.prepare(name_of("t2"), add<backend>("b"));
    CHECK(full.what == prepare_answer::unavailable);
    INFO(full.problem);
    CHECK(full.problem.code == settle::condition::retryable);
    CHECK(full.problem.text.find("number of prepared transactions") != std::string::npos);
    CHECK(s.books.commit(name_of("t1")).what == end_answer::ended);
    CHECK(s.books.prepare(name_of("t2"), add<backend>("b")).what == prepare_answer::prepared);
    CHECK(s.books.commit(name_of("t2")).what == end_answer::ended);
}
