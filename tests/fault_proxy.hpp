// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one server: it loses, cuts and delays single messages. A
// proxy for a protocol derives from it and reads the messages.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace settle_test {

enum class fault {
    drop_request,  ///< the server never receives it; the client's connection is closed
    drop_reply,    ///< the server executes it; the client's connection is closed without an answer
    cut_reply,     ///< the same after half of the answer
    delay_request, ///< reaches the server after `time`, also when the client has given up
    delay_reply,   ///< the server executes it at once; the client gets the reply after `time`
    hold_request,  ///< reaches the server when release() is called, as late as that may be
    hold_reply,    ///< the server executes it; the client gets the reply when release() is called
    // Of a protocol whose proxy can write messages:
    refuse,        ///< the server never receives it; the client gets `answer`
    replace_reply, ///< the server executes it; the client gets `answer` instead of the reply
    add_to_reply,  ///< the server executes it; its reply also has the members of `answer`
};

/// All functions may be called from any thread, at any time.
class fault_proxy {
public:
    using milliseconds = std::chrono::milliseconds;

    fault_proxy(fault_proxy const&) = delete;
    fault_proxy& operator=(fault_proxy const&) = delete;

    [[nodiscard]] int port() const { return port_; }

    /// Releases the held messages.
    void release();
    /// While it is on, no message passes in either direction, and no connection is refused.
    void black_hole(bool on);
    /// While it is on, new connections are closed at once, as if no server listened.
    void refuse(bool on);
    void cut_connections();
    /// The number of messages that a rule has hit.
    [[nodiscard]] int hits() const;
    /// Waits until the server has answered each request that a rule has hit, also when the client
    /// has gone, or until the server has ended its connection. False on a timeout.
    [[nodiscard]] bool wait_for_landing(milliseconds limit = milliseconds{60'000});

protected:
    struct verdict {
        bool hit = false;
        fault what{};
        milliseconds time{0};
        int releases = 0; ///< how often release() had been called before the decision
        std::string answer{};
    };
    /// A request without a reply. It may not have reached the server yet.
    struct open_request {
        std::string text; ///< as the proxy counts it
        verdict decided;
    };
    /// A client's connection and its connection to the server, with a thread for each direction.
    /// The descriptors are closed when both threads have ended, never before.
    struct link {
        explicit link(int client);
        link(link const&) = delete;
        link& operator=(link const&) = delete;
        ~link();
        void cut() const;

        int const to_client;
        int const to_server;
        std::map<std::int64_t, open_request> waiting{};  ///< by number; under the proxy's mutex
        std::map<std::uint32_t, std::string> prepared{}; ///< SQL by number; under the mutex
        std::atomic<int> ended{0};                       ///< how many of the two threads
        std::thread requests{};
        std::thread replies{};
    };
    template <typename Rule>
    struct live_rule {
        Rule pattern;
        int seen = 0;
    };

    explicit fault_proxy(int server_port);
    /// The derived class has called stop().
    virtual ~fault_proxy() = default;

    /// Begins to accept clients: the end of the derived class's constructor.
    void start();
    /// Closes all connections; delayed and held messages never arrive. The begin of the derived
    /// class's destructor.
    void stop();

    /// Passes messages until a connection ends. Called in a thread of its own.
    virtual void pass_requests(link& link) = 0;
    virtual void pass_replies(link& link) = 0;
    /// Called after the last request of a client. A late request must also take effect: a server
    /// may give up a request whose client has gone.
    void end_requests(link& link);
    /// Called after the last reply of the server.
    void end_replies(link& link);

    /// Counts a message for each matching rule, and finds the first rule that is due. The caller
    /// holds the mutex.
    template <typename Rule, typename Matches>
    [[nodiscard]] verdict decide(std::vector<live_rule<Rule>>& rules, Matches const& matches) {
        verdict decided;
        for (auto& rule : rules) {
            Rule const& pattern = rule.pattern;
            if (!matches(pattern)) continue;
            int const seen = ++rule.seen;
            if (decided.hit || seen < pattern.nth || seen >= pattern.nth + pattern.times) continue;
            decided = {true, pattern.what, pattern.time, releases_};
            if constexpr (requires { pattern.answer; }) decided.answer = pattern.answer;
        }
        hits_ += decided.hit ? 1 : 0;
        return decided;
    }
    /// Waits for as long as a message is to wait; false when the proxy ends.
    [[nodiscard]] bool pause(verdict const& by, fault delay, fault hold);

    mutable std::mutex mutex_;
    std::condition_variable changed_;

private:
    void accept_clients();
    void remove_ended();

    int const server_port_;
    int listener_ = -1;
    int port_ = 0;
    bool ending_ = false;
    bool gate_closed_ = false;
    bool refusing_ = false;
    int releases_ = 0;
    int hits_ = 0;
    std::list<std::shared_ptr<link>> links_;
    std::thread acceptor_;
};

} // namespace settle_test
