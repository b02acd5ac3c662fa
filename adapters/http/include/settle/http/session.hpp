// SPDX-License-Identifier: BSL-1.0
// The thread that has the calls of all clients under way.
#pragma once

#include <settle/http/transfer.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace http::detail {

struct multi_destroyer {
    void operator()(CURLM* held) const noexcept { curl_multi_cleanup(held); }
};

struct share_destroyer {
    void operator()(CURLSH* held) const noexcept { curl_share_cleanup(held); }
};

/// A file descriptor, closed at the end.
class descriptor {
public:
    /// Errors:  throws std::system_error if the number is below 0
    descriptor(int number, char const* what);
    descriptor(descriptor const&) = delete;
    descriptor& operator=(descriptor const&) = delete;
    ~descriptor();

    [[nodiscard]] int get() const noexcept { return number_; }

private:
    int number_;
};

/// Transfers that share connections. libcurl looks through all connections of a group at each call,
/// so a session has several groups.
class transfer_group {
public:
    using moment = std::chrono::steady_clock::time_point;
    static constexpr std::size_t largest = 250;

    /// Shape:   epoll - gets the sockets; number - of this group, in the high half of their data;
    ///          most - transfers, and connections; share - of all groups
    transfer_group(int epoll, std::size_t number, std::size_t most, CURLSH* share);
    transfer_group(transfer_group const&) = delete;
    transfer_group& operator=(transfer_group const&) = delete;
    ~transfer_group() = default;

    [[nodiscard]] bool full() const noexcept { return transfers_.size() == most_; }
    /// Errors:  throws std::bad_alloc
    [[nodiscard]] transfer& add();
    /// Lets libcurl continue: on a socket, or after the time that it has set.
    void go_on(curl_socket_t socket, int events);
    void go_on_in_time(moment now);
    /// When libcurl is to be called at the latest.
    [[nodiscard]] std::optional<moment> const& timer() const noexcept { return timer_; }
    /// Ends the transfers that are over, and calls `function(transfer)` for each.
    template <typename Function>
    void end_transfers(Function&& function);
    [[nodiscard]] auto const& transfers() const noexcept { return transfers_; }

private:
    static int watch(CURL*, curl_socket_t socket, int action, void* self, void* known) noexcept;
    static int set_timer(CURLM*, long milliseconds, void* self) noexcept;

    int epoll_;
    std::uint64_t number_;
    std::size_t most_;
    CURLSH* share_;
    std::optional<moment> timer_;
    std::unique_ptr<CURLM, multi_destroyer> multi_;
    std::vector<std::unique_ptr<transfer>> transfers_; ///< destroyed before multi_
};

/// Makes the calls of all clients of a process in a thread of its own, which begins with the first
/// call. Calls of one host share connections.
class session {
public:
    /// The session of this process. It lives as long as a client.
    /// Errors:  throws std::system_error if the system has no descriptors
    [[nodiscard]] static std::shared_ptr<session> of_process();

    session();
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session();

    /// Any thread may call it.
    void start(std::shared_ptr<client_calls> const& client, calls_to_start calls);
    /// A client begins.
    void note_client() noexcept { ++clients_; }
    /// A client ends: so do its calls.
    void end_client();

private:
    using moment = transfer_group::moment;

    void run_thread();
    void wake();

    // The thread's own functions.

    void run();
    void round();
    /// Takes new calls. Returns: false if the session ends
    bool take_calls();
    void begin_calls();
    void begin_calls_of(client_calls& client);
    /// Answers the calls that have no time left.
    void expire();
    /// Ends transfers for which nobody waits, or whose time is over.
    void end_forgotten();
    /// True if the client may have one more call under way.
    [[nodiscard]] bool may_begin(client_calls const& client) const;
    [[nodiscard]] transfer* idle_transfer();
    void put_back(transfer& ended);
    void wait();
    void end_all(std::string_view why);

    std::size_t most_; ///< calls at once, of all clients
    descriptor epoll_;
    descriptor wakes_; ///< written when calls are started

    std::atomic<std::size_t> clients_ = 0;
    std::mutex lock_;
    std::vector<queued_call> started_;
    bool closes_ = false; ///< a client is closed
    bool ends_ = false;
    std::thread thread_;

    // The thread's own members.
    std::vector<std::shared_ptr<client_calls>> active_; ///< clients with calls in their queues
    std::unique_ptr<CURLSH, share_destroyer> share_;    ///< of the groups: the hosts' addresses
    std::vector<std::unique_ptr<transfer_group>> groups_;
    std::vector<transfer*> idle_;
    std::size_t transfers_ = 0;
    moment last_look_{}; ///< for transfers for which nobody waits
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/session.ipp>
#endif
