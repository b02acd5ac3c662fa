// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one MongoDB server: it loses, cuts and delays single messages.
// It also sends replies in the server's place that the server has no reason to send.
//
//   proxy between{server.port()};
//   between.add({.command = "update", .nth = 2, .what = fault::drop_reply});
//   connection client{between.address("bank")};
#pragma once

#include "wire.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace settle_test {

enum class fault {
    drop_request,    ///< the server never sees it; the client's connection is closed
    drop_reply,      ///< the server did it; the client's connection is closed without an answer
    cut_reply,       ///< the same after half of the answer
    delay_request,   ///< reaches the server after `time`, also when the client has given up
    delay_reply,     ///< the server did it at once; the client learns it after `time`
    hold_request,    ///< reaches the server when release() is called, as late as that may be
    hold_reply,      ///< the server did it; the client learns it when release() is called
    refuse,          ///< the server never sees it; the client gets `answer`
    answer_so,       ///< the server did it; the client gets `answer` instead of its own
    add_to_reply,    ///< the server did it; its answer has the members of `answer` as well
};

struct rule {
    std::string command = "";   ///< "update"; empty: any, except greetings of a driver
    int nth = 1;                ///< which message of that kind, counted from the rule's making on
    int times = 1;              ///< the nth message and the next ones
    fault what = fault::drop_reply;
    std::chrono::milliseconds time{0};
    std::string answer = "";    ///< as JSON
};

/// libmongoc's own messages, sent at any time: a count of them would make tests depend on time.
bool is_greeting(std::string const& command);

/// All functions may be called from any thread, at any time.
class proxy {
public:
    using milliseconds = std::chrono::milliseconds;
    /// May change the message, its length too: the header is put right afterwards.
    using hook = std::function<void(wire_message&)>;

    explicit proxy(int server_port);
    proxy(proxy const&) = delete;
    proxy& operator=(proxy const&) = delete;
    ~proxy();   ///< closes all connections; delayed and held messages never arrive

    [[nodiscard]] int port() const { return port_; }
    /// The address of the server behind the proxy. The client does not look for a replica set's
    /// other members.
    [[nodiscard]] std::string address(std::string const& database = "",
                                      std::string const& options = "") const;

    void add(rule one);
    void clear_rules();
    /// Releases the held messages.
    void release();
    /// While it is on, nothing passes in either direction, and nothing is refused either.
    void black_hole(bool on);
    /// While it is on, new connections are closed at once, as where no server listens.
    void refuse(bool on);
    void cut_connections();

    /// A hook may change each message. The proxy runs one hook at a time, and sets a new hook when
    /// no hook runs. A variable that a hook captures must outlive the proxy, or the call that
    /// replaces the hook.
    void on_request(hook change);
    void on_reply(hook change);

    // Requests of clients, and replies of the server; dropped and cut messages count as well.
    [[nodiscard]] int requests(std::string const& command) const;
    [[nodiscard]] int replies(std::string const& command) const;
    /// Without the driver's greetings.
    [[nodiscard]] int requests() const;
    [[nodiscard]] std::map<std::string, int> all_requests() const;
    void reset_counts();
    /// Waits until the server has sent that many replies, including late replies; false on a
    /// timeout.
    bool wait_for_replies(std::string const& command, int count,
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
        int releases = 0;   ///< how often release() had been called when it was decided
        std::string answer{};
    };

    void accept_clients();
    void pass_requests(link& one);
    void pass_replies(link& one);
    bool pass_request(link& one, wire_message& message);
    verdict take_reply(link& one, wire_message& message);
    bool pass_reply(link const& one, wire_message& message, verdict const& decided);
    void change(hook const& by, wire_message& message);
    verdict first_rule(std::string const& command);
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
    std::map<std::string, int> requests_;
    std::map<std::string, int> replies_;
    std::list<std::shared_ptr<link>> links_;
    std::mutex hooks_mutex_;
    hook on_request_;   ///< under hooks_mutex_
    hook on_reply_;     ///< under hooks_mutex_
    std::thread acceptor_;
};

} // namespace settle_test
