// SPDX-License-Identifier: BSL-1.0
// The receiver on PostgreSQL behind a bad network.
#include "proxy.hpp"
#include "receiver_office.hpp"

#include <patiently.hpp>
#include <receiver_disturbed.hpp>

namespace postgresql_receivers {
namespace {

using namespace std::chrono_literals;

struct network : settle_test::single_messages {
    using office = postgresql_receivers::office;
    using proxy = settle_test::proxy;

    static receiver_database open(office const& in, proxy const& between) {
        settle::postgresql::database_options limits;
        limits.statement_timeout = 1s;
        limits.answer_timeout = 1500ms;
        // The server keeps the locks of a lost call for as long.
        limits.idle_timeout = 2500ms;
        return patiently([&] {
            return receiver_database{in.own.address_at(between.port(), proxy::options), "airline",
                                     limits};
        });
    }
};

} // namespace

TEST_CASE("receivers: every message of an apply on PostgreSQL is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::apply);
}
TEST_CASE("receivers: every message of a compensation on PostgreSQL is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::compensate);
}
TEST_CASE("receivers: every message of a confirm on PostgreSQL is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::confirm);
}

} // namespace postgresql_receivers
