// SPDX-License-Identifier: BSL-1.0
// The receiver on PostgreSQL behind a bad network.
#include "proxy.hpp"
#include "receiver_office.hpp"

#include <patiently.hpp>
#include <receiver_disturbed.hpp>

namespace postgresql_receivers {
namespace {

using namespace std::chrono_literals;

struct network {
    using office = postgresql_receivers::office;
    using proxy = settle_test::proxy;
    using rule = settle_test::rule;

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
    static std::string const& name(rule const& rule) { return rule.sql; }
    static std::vector<rule> messages(proxy const& between) {
        std::vector<rule> all;
        for (int nth = 1; nth <= between.requests(); ++nth) all.push_back({.sql = "", .nth = nth});
        return all;
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
