// SPDX-License-Identifier: BSL-1.0
// A replica set whose clients see only proxies: one before each member.
#pragma once

#include "proxy.hpp"
#include "servers.hpp"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace settle_test {

/// A driver connects to the hosts that the members name in their greeting, whatever its address
/// says. So this class replaces the hosts in every greeting by proxies with names of equal length.
/// The members themselves bypass the proxies. The set must outlive this object.
class proxied_set {
public:
    explicit proxied_set(replica_set& set) {
        std::vector<std::pair<std::string, std::string>> names;
        for (std::size_t i = 0; i < set.size(); ++i) {
            proxies_.push_back(std::make_unique<proxy>(set.member(i).port()));
            names.emplace_back(set.member(i).host(), host(i));
            if (names.back().first.size() != names.back().second.size()) {
                throw std::runtime_error{"a proxy's port has not as many digits as a server's"};
            }
        }
        for (auto& proxy : proxies_) {
            proxy->on_reply([names](wire_message& message) {
                // An empty name is a greeting that is repeated as the set changes.
                if (!is_greeting(message.command)) return;
                for (auto const& [from, to] : names) message.replace(from, to);
            });
        }
    }

    [[nodiscard]] std::size_t size() const { return proxies_.size(); }
    [[nodiscard]] proxy& before(std::size_t number) { return *proxies_.at(number); }
    [[nodiscard]] std::string address(std::string const& database = "") const {
        std::string hosts;
        for (std::size_t i = 0; i < size(); ++i) hosts += (i == 0 ? "" : ",") + host(i);
        return "mongodb://" + hosts + "/" + database + "?replicaSet=settle";
    }
    /// The same rule for each member's proxy, since any of them may become the primary.
    void add(rule const& rule) {
        for (auto& each : proxies_) each->add(rule);
    }

private:
    [[nodiscard]] std::string host(std::size_t number) const {
        return "127.0.0.1:" + std::to_string(proxies_[number]->port());
    }

    std::vector<std::unique_ptr<proxy>> proxies_;
};

} // namespace settle_test
