// SPDX-License-Identifier: BSL-1.0
// A caller behind a bad network, and another caller that reaches the server directly.
#pragma once

#include "bank.hpp"
#include "message_faults.hpp"
#include "shared_servers.hpp"

#include <memory>

namespace settle_test {

/// Shape:   Make - gives an engine for a database, phases and limits
template <auto Make>
class behind_proxy {
protected:
    using engine = decltype(Make(std::declval<settle::mongodb::database&>(), settle::phases::one,
                                 settle::options{}));

    behind_proxy(fresh_database::address_of* server, settle::phases how)
        : how_(how), own_(*server), between_(own_.port()), straight_(own_.address()),
          others_(patiently([&] { return Make(straight_, how, patient_limits()); })),
          astray_(patiently([&] {
              return settle::mongodb::database{between_.address(own_.name(), disturbed_waits)};
          })) {}

    /// Makes a caller whose engine has cached nothing, so that every caller sends the same
    /// messages.
    void make_caller(settle::options const& limits = patient_limits()) {
        caller_.reset(new engine(patiently([&] { return Make(astray_, how_, limits); })));
    }
    void settle_everything() {
        settle_all(others_);
        CHECK(others_.work().problem.empty());
    }
    /// Lets the late message reach the server, whatever its effect.
    void land(message_fault const& fault) {
        between_.release();
        CHECK(between_.wait_for_replies(fault.proxy_rule.command,
                                        between_.requests(fault.proxy_rule.command)));
    }

    settle::phases how_;
    fresh_database own_;
    proxy between_;
    settle::mongodb::database straight_;
    /// Made before the caller connects: the caller's short timeouts only have to cover reads then,
    /// also on a busy server.
    engine others_;
    settle::mongodb::database astray_;
    std::unique_ptr<engine> caller_;
};

} // namespace settle_test
