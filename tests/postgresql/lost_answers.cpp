// SPDX-License-Identifier: BSL-1.0
// A network loses, cuts or delays any one round trip of a call.
#include "fixtures.hpp"
#include "lost_answers_suite.hpp"
#include "proxy.hpp"

namespace settle_test {
namespace {

/// For lost_answers_suite.hpp.
struct postgresql_place {
    using database = settle::postgresql::database;
    using proxy = settle_test::proxy;
    using place = fresh_schema;

    static settle::postgresql::database_options short_waits() {
        settle::postgresql::database_options limits;
        limits.statement_timeout = 250ms;
        limits.answer_timeout = 300ms;
        return limits;
    }
    static std::string address_at(place const& own, int port) {
        return own.address_at(port, proxy::options);
    }
};

// One phase has one round trip, and two phases have five.
TEST_CASE("lost answers: a transaction of one phase settles with the outcome of its caller") {
    check_lost_answers_of_run<postgresql_place>(settle::phases::one, 1);
}
TEST_CASE("lost answers: a transaction of two phases settles with the outcome of its caller") {
    check_lost_answers_of_run<postgresql_place>(settle::phases::two, 5);
}
TEST_CASE("lost answers: a batch of one phase settles with the outcomes of its caller") {
    check_lost_answers_of_batch<postgresql_place>(settle::phases::one, 1);
}
TEST_CASE("lost answers: a batch of two phases settles with the outcomes of its caller") {
    check_lost_answers_of_batch<postgresql_place>(settle::phases::two, 5);
}
TEST_CASE("lost answers: a cancel settles with the outcome of its caller") {
    check_lost_answers_of_cancel<postgresql_place>();
}
TEST_CASE("lost answers: what recover was disturbed at is settled by another") {
    check_lost_answers_of_recover<postgresql_place>();
}

} // namespace
} // namespace settle_test
