// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one PostgreSQL server: it loses, cuts and delays single round
// trips.
//
//   proxy between{server.port()};
//   between.add({.sql = "COMMIT", .what = fault::drop_reply});
//   database bank{own.address_at(between.port(), proxy::options)};
#pragma once

#include "fault_proxy.hpp"

namespace settle_test {

/// A request is everything that a client sends up to a Sync: one round trip.
struct rule {
    std::string sql = "COMMIT"; ///< is in a statement of the request, also in a prepared statement
    int nth = 1;                ///< which such request, counted from the creation of the rule
    int times = 1;              ///< the number of disturbed requests, from the nth on
    fault what = fault::drop_reply;
    std::chrono::milliseconds time{0};
};

/// All functions may be called from any thread, at any time.
class proxy : public fault_proxy {
public:
    /// The options of an address through the proxy, which must read the messages.
    static constexpr char const* options = "sslmode=disable&gssencmode=disable";

    explicit proxy(int server_port) : fault_proxy{server_port} { start(); }
    ~proxy() override { stop(); }

    void add(rule one);
    void clear_rules();

    /// How many requests with this SQL the server was sent, and has answered.
    [[nodiscard]] int requests(std::string const& sql = "") const;
    [[nodiscard]] int replies(std::string const& sql = "") const;
    /// How many notifications the clients were sent.
    [[nodiscard]] int notices() const;
    void reset_counts();
    /// Waits for late replies as well; false on a timeout.
    bool wait_for_replies(std::string const& sql, int count,
                          milliseconds limit = milliseconds{10'000});

private:
    void pass_requests(link& one) override;
    void pass_replies(link& one) override;

    std::vector<live_rule<rule>> rules_;
    std::vector<std::string> requests_; ///< their SQL
    std::vector<std::string> replies_;
    int notices_ = 0;
};

} // namespace settle_test
