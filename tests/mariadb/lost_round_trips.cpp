// SPDX-License-Identifier: BSL-1.0
// A network loses, cuts or delays any one round trip of a call.
#include "fixtures.hpp"
#include "lost_answers_suite.hpp"
#include "proxy.hpp"

namespace settle_test {
namespace {

/// For lost_answers_suite.hpp. The proxy cuts a client off whose request it holds.
struct mariadb_place {
    using database = settle::mariadb::database;
    using proxy = mariadb_proxy;
    using place = fresh_mariadb;

    static settle::mariadb::options short_waits() {
        settle::mariadb::options limits;
        limits.lock_timeout = 1s;
        return limits;
    }
    static std::string address_at(place const& own, int port) { return own.address_at(port); }
};

// One phase has one round trip, and two phases have five; each statement is also prepared.
TEST_CASE("lost answers: a transaction of one phase settles with the outcome of its caller") {
    check_lost_answers_of_run<mariadb_place>(settle::phases::one, 1);
}
TEST_CASE("lost answers: a transaction of two phases settles with the outcome of its caller") {
    check_lost_answers_of_run<mariadb_place>(settle::phases::two, 5);
}
TEST_CASE("lost answers: a batch of one phase settles with the outcomes of its caller") {
    check_lost_answers_of_batch<mariadb_place>(settle::phases::one, 1);
}
TEST_CASE("lost answers: a batch of two phases settles with the outcomes of its caller") {
    check_lost_answers_of_batch<mariadb_place>(settle::phases::two, 5);
}
TEST_CASE("lost answers: a cancel settles with the outcome of its caller") {
    check_lost_answers_of_cancel<mariadb_place>();
}
TEST_CASE("lost answers: what recover was disturbed at is settled by another") {
    check_lost_answers_of_recover<mariadb_place>();
}

} // namespace
} // namespace settle_test
