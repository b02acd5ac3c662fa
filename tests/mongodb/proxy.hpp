// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one MongoDB server: it loses, cuts and delays single messages.
// It also sends replies in the server's place that the server has no reason to send.
//
//   proxy between{server.port()};
//   between.add({.command = "update", .nth = 2, .what = fault::drop_reply});
//   connection client{between.address("bank")};
#pragma once

#include "fault_proxy.hpp"
#include "wire.hpp"

#include <functional>

namespace settle_test {

struct rule {
    std::string command = ""; ///< "update"; empty: any, except greetings of a driver
    int nth = 1;              ///< which message of that kind, counted from the creation of the rule
    int times = 1;            ///< the number of disturbed messages, from the nth on
    fault what = fault::drop_reply;
    std::chrono::milliseconds time{0};
    std::string answer = ""; ///< as JSON
};

/// libmongoc's own messages, sent at any time: a count of them would make tests depend on time.
bool is_greeting(std::string const& command);

/// All functions may be called from any thread, at any time.
class proxy : public fault_proxy {
public:
    /// May change the message, its length too: the header is put right afterwards.
    using hook = std::function<void(wire_message&)>;

    explicit proxy(int server_port) : fault_proxy{server_port} { start(); }
    ~proxy() override { stop(); }

    /// The address of the server behind the proxy. The client does not look for a replica set's
    /// other members.
    [[nodiscard]] std::string address(std::string const& database = "",
                                      std::string const& options = "") const;

    void add(rule rule);
    void clear_rules();

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
    void pass_requests(link& link) override;
    void pass_replies(link& link) override;
    bool pass_request(link& link, wire_message& message);
    verdict take_reply(link& link, wire_message& message);
    bool pass_reply(link const& link, wire_message& message, verdict const& decided);
    void change(hook const& by, wire_message& message);
    verdict enter_request(link& link, wire_message const& message);

    std::vector<live_rule<rule>> rules_;
    std::map<std::string, int> requests_;
    std::map<std::string, int> replies_;
    std::mutex hooks_mutex_;
    hook on_request_; ///< under hooks_mutex_
    hook on_reply_;   ///< under hooks_mutex_
};

} // namespace settle_test
