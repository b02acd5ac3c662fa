// SPDX-License-Identifier: BSL-1.0
// The receiver on MongoDB behind a bad network.
#include "message_faults.hpp"
#include "receiver_office.hpp"

#include <receiver_disturbed.hpp>

namespace mongodb_receivers {
namespace {

struct network {
    using office = mongodb_receivers::office;
    using proxy = settle_test::proxy;
    using rule = settle_test::rule;

    static receiver_database open(office const& in, proxy const& between) {
        return patiently([&] {
            return receiver_database{between.address(in.own.name(), disturbed_waits), "airline"};
        });
    }
    static std::string const& name(rule const& rule) { return rule.command; }
    static std::vector<rule> messages(proxy const& between) {
        std::vector<rule> rules;
        for (auto const& [command, count] : between.all_requests()) {
            if (is_greeting(command)) continue;
            for (int nth = 1; nth <= count; ++nth)
                rules.push_back({.command = command, .nth = nth});
        }
        return rules;
    }
};

} // namespace

TEST_CASE("receivers: every message of an apply on MongoDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::apply);
}
TEST_CASE("receivers: every message of a compensation on MongoDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::compensate);
}
TEST_CASE("receivers: every message of a confirm on MongoDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::confirm);
}

} // namespace mongodb_receivers
