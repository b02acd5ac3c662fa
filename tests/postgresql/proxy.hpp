// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one PostgreSQL server: it loses, cuts and delays single round
// trips.
//
//   proxy between{server.port()};
//   between.add({.sql = "COMMIT", .what = fault::drop_reply});
//   database bank{own.address_at(between.port(), proxy::options)};
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace settle_test {

enum class fault {
    drop_request,  ///< the server never sees it; the client's connection is closed
    drop_reply,    ///< the server did it; the client's connection is closed without an answer
    cut_reply,     ///< the same after half of the answer
    delay_request, ///< reaches the server after `time`, also when the client has given up
    delay_reply,   ///< the server did it at once; the client learns it after `time`
    hold_request,  ///< reaches the server when release() is called, as late as that may be
    hold_reply,    ///< the server did it; the client learns it when release() is called
};

/// A request is all that a client sends up to a Sync: one round trip.
struct rule {
    std::string sql = "COMMIT"; ///< is in a statement of the request, also in a prepared statement
    int nth = 1;                ///< which such request, counted from the rule's making on
    int times = 1;              ///< the nth request and the next ones
    fault what = fault::drop_reply;
    std::chrono::milliseconds time{0};
};

/// All functions may be called from any thread, at any time.
class proxy {
public:
    using milliseconds = std::chrono::milliseconds;
    /// Of an address through the proxy, which reads what passes.
    static constexpr char const* options = "sslmode=disable&gssencmode=disable";

    explicit proxy(int server_port);
    proxy(proxy const&) = delete;
    proxy& operator=(proxy const&) = delete;
    ~proxy(); ///< closes all connections; delayed and held requests never arrive

    [[nodiscard]] int port() const { return port_; }

    void add(rule one);
    void clear_rules();
    /// Releases the held requests and replies.
    void release();
    /// While it is on, nothing passes in either direction, and nothing is refused either.
    void black_hole(bool on);
    /// While it is on, new connections are closed at once, as where no server listens.
    void refuse(bool on);
    void cut_connections();

    /// How many requests with this SQL the server was sent, and has answered.
    [[nodiscard]] int requests(std::string const& sql = "") const;
    [[nodiscard]] int replies(std::string const& sql = "") const;
    void reset_counts();
    /// Waits for late replies as well; false on a timeout.
    bool wait_for_replies(std::string const& sql, int count,
                          milliseconds limit = milliseconds{10'000});

private:
    struct link;
    struct live_rule {
        rule pattern;
        int seen = 0;
    };
    struct verdict {
        bool hit = false;
        fault what{};
        milliseconds time{0};
        int releases = 0; ///< how often release() had been called when it was decided
    };

    void accept_clients();
    void pass_requests(link& one);
    void pass_replies(link& one);
    verdict decide(std::string const& sql);
    bool pause(verdict const& by, fault delay, fault hold);
    void remove_ended();

    int const server_port_;
    int listener_ = -1;
    int port_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool ending_ = false;
    bool gate_closed_ = false;
    bool refusing_ = false;
    int releases_ = 0;
    std::vector<live_rule> rules_;
    std::vector<std::string> requests_; ///< their SQL
    std::vector<std::string> replies_;
    std::list<std::shared_ptr<link>> links_;
    std::thread acceptor_;
};

} // namespace settle_test
