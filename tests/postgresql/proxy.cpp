// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"
#include "sockets.hpp"
#include "wire.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include <netinet/tcp.h>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

/// Both directions are small messages that wait for each other.
void send_at_once(int fd) {
    int const on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int count_of(std::vector<std::string> const& all, std::string const& sql) {
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [&](std::string const& one) { return one.find(sql) != one.npos; }));
}

} // namespace

/// A client's connection and its connection to the server, with a thread for each direction. The
/// descriptors are closed when both threads have ended, never before.
struct proxy::link {
    struct open_request {
        std::string sql;
        verdict decided;
    };

    explicit link(int client) : to_client{client}, to_server{new_socket()} {}
    link(link const&) = delete;
    link& operator=(link const&) = delete;
    ~link() {
        if (requests.joinable()) requests.join();
        if (replies.joinable()) replies.join();
        ::close(to_client);
        ::close(to_server);
    }
    void cut() const {
        ::shutdown(to_client, SHUT_RDWR);
        ::shutdown(to_server, SHUT_RDWR);
    }

    int const to_client;
    int const to_server;
    std::deque<open_request> waiting; ///< requests without a reply; under proxy's mutex
    std::atomic<int> ended = 0;       ///< how many of the two threads
    std::thread requests;
    std::thread replies;
};

proxy::proxy(int server_port) : server_port_{server_port}, listener_{new_socket()} {
    port_ = ntohs(bind_to_free_port(listener_).sin_port);
    if (::listen(listener_, 128) != 0) {
        int const code = errno;
        ::close(listener_);
        throw std::system_error{code, std::generic_category(), "proxy"};
    }
    acceptor_ = std::thread{[this] { accept_clients(); }};
}

proxy::~proxy() {
    {
        std::lock_guard const lock{mutex_};
        ending_ = true;
        for (auto const& one : links_) one->cut();
    }
    changed_.notify_all();
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    links_.clear();
}

void proxy::accept_clients() {
    for (;;) {
        int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (client < 0) return;
        remove_ended();
        auto const one = std::make_shared<link>(client);
        {
            std::lock_guard const lock{mutex_};
            if (ending_ || refusing_) continue;
        }
        auto const address = loopback(server_port_);
        auto const* const native = reinterpret_cast<sockaddr const*>(&address);
        if (::connect(one->to_server, native, sizeof address) != 0) continue;
        send_at_once(one->to_client);
        send_at_once(one->to_server);
        std::lock_guard const lock{mutex_};
        if (ending_ || refusing_) continue;
        links_.push_back(one);
        // A link's destructor joins its threads, so the threads must not own the link.
        auto* const raw = one.get();
        one->requests = std::thread{[this, raw] {
            pass_requests(*raw);
            ++raw->ended;
        }};
        one->replies = std::thread{[this, raw] {
            pass_replies(*raw);
            ++raw->ended;
        }};
    }
}

/// A test that reconnects a thousand times must not keep two thousand threads.
void proxy::remove_ended() {
    std::list<std::shared_ptr<link>> ended;
    std::lock_guard const lock{mutex_};
    for (auto one = links_.begin(); one != links_.end();) {
        auto const next = std::next(one);
        if ((*one)->ended == 2) ended.splice(ended.end(), links_, one);
        one = next;
    }
}

void proxy::pass_requests(link& one) {
    request_reader reader{one.to_client};
    std::string sql;
    while (auto const bytes = reader.next(sql)) {
        auto const decided = decide(sql);
        if (decided.hit && decided.what == fault::drop_request) break;
        if (!pause(decided, fault::delay_request, fault::hold_request)) break;
        {
            std::lock_guard const lock{mutex_};
            requests_.push_back(sql);
            if (!reader.is_goodbye()) one.waiting.push_back({sql, decided});
        }
        if (!send_all(one.to_server, *bytes)) break;
    }
    // A late request must also take effect.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, 10s, [&] { return ending_ || one.waiting.empty(); });
    lock.unlock();
    one.cut();
}

void proxy::pass_replies(link& one) {
    reply_reader reader{one.to_server};
    bool client_listens = true;
    while (auto const bytes = reader.next()) {
        verdict decided;
        if (reader.answers_request()) {
            std::lock_guard const lock{mutex_};
            if (!one.waiting.empty()) {
                decided = one.waiting.front().decided;
                replies_.push_back(std::move(one.waiting.front().sql));
                one.waiting.pop_front();
            }
            changed_.notify_all();
        }
        // Once the client is cut off, replies are only waited for.
        if (!client_listens) continue;
        bool const drops = decided.hit && decided.what == fault::drop_reply;
        bool const cuts = decided.hit && decided.what == fault::cut_reply;
        bool const passes =
            !drops && pause(decided, fault::delay_reply, fault::hold_reply) &&
            send_all(one.to_client, cuts ? bytes->substr(0, bytes->size() / 2) : *bytes);
        if (passes && !cuts) continue;
        client_listens = false;
        ::shutdown(one.to_client, SHUT_RDWR);
    }
    std::lock_guard const lock{mutex_};
    one.waiting.clear();
    changed_.notify_all();
    one.cut();
}

/// Counts a request and finds the first rule that matches it.
proxy::verdict proxy::decide(std::string const& sql) {
    verdict decided;
    std::lock_guard const lock{mutex_};
    for (auto& [pattern, seen] : rules_) {
        if (sql.find(pattern.sql) == sql.npos) continue;
        ++seen;
        if (decided.hit || seen < pattern.nth || seen >= pattern.nth + pattern.times) continue;
        decided = {true, pattern.what, pattern.time, releases_};
    }
    return decided;
}

/// Waits for as long as a message is to wait; false when the proxy ends.
bool proxy::pause(verdict const& by, fault delay, fault hold) {
    std::unique_lock lock{mutex_};
    if (by.hit && by.what == delay) changed_.wait_for(lock, by.time, [&] { return ending_; });
    if (by.hit && by.what == hold) {
        changed_.wait(lock, [&] { return ending_ || releases_ > by.releases; });
    }
    changed_.wait(lock, [&] { return ending_ || !gate_closed_; });
    return !ending_;
}

void proxy::add(rule one) {
    std::lock_guard const lock{mutex_};
    rules_.push_back({std::move(one)});
}

void proxy::clear_rules() {
    std::lock_guard const lock{mutex_};
    rules_.clear();
}

void proxy::release() {
    std::lock_guard const lock{mutex_};
    ++releases_;
    changed_.notify_all();
}

void proxy::black_hole(bool on) {
    std::lock_guard const lock{mutex_};
    gate_closed_ = on;
    changed_.notify_all();
}

void proxy::refuse(bool on) {
    std::lock_guard const lock{mutex_};
    refusing_ = on;
}

void proxy::cut_connections() {
    std::lock_guard const lock{mutex_};
    for (auto const& one : links_) one->cut();
}

int proxy::requests(std::string const& sql) const {
    std::lock_guard const lock{mutex_};
    return count_of(requests_, sql);
}

int proxy::replies(std::string const& sql) const {
    std::lock_guard const lock{mutex_};
    return count_of(replies_, sql);
}

void proxy::reset_counts() {
    std::lock_guard const lock{mutex_};
    requests_.clear();
    replies_.clear();
}

bool proxy::wait_for_replies(std::string const& sql, int count, milliseconds limit) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return count_of(replies_, sql) >= count; });
}

} // namespace settle_test
