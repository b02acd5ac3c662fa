// SPDX-License-Identifier: BSL-1.0
#include "fault_proxy.hpp"
#include "sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <netinet/tcp.h>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

/// Disables Nagle's algorithm: the messages of both directions are small, and wait for each other.
void send_at_once(int fd) {
    int const on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool connect_to(int fd, int port) {
    auto const address = loopback(port);
    return ::connect(fd, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
}

} // namespace

fault_proxy::link::link(int client) : to_client{client}, to_server{new_socket()} {}

fault_proxy::link::~link() {
    if (requests.joinable()) requests.join();
    if (replies.joinable()) replies.join();
    ::close(to_client);
    ::close(to_server);
}

void fault_proxy::link::cut() const {
    ::shutdown(to_client, SHUT_RDWR);
    ::shutdown(to_server, SHUT_RDWR);
}

fault_proxy::fault_proxy(int server_port) : server_port_{server_port}, listener_{new_socket()} {
    port_ = ntohs(bind_to_free_port(listener_).sin_port);
    if (::listen(listener_, 128) != 0) {
        int const code = errno;
        ::close(listener_);
        throw std::system_error{code, std::generic_category(), "proxy"};
    }
}

void fault_proxy::start() {
    acceptor_ = std::thread{[this] { accept_clients(); }};
}

void fault_proxy::stop() {
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

void fault_proxy::accept_clients() {
    for (;;) {
        int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (client < 0) return;
        remove_ended();
        auto const new_link = std::make_shared<link>(client);
        {
            std::lock_guard const lock{mutex_};
            if (ending_ || refusing_) continue;
        }
        if (!connect_to(new_link->to_server, server_port_)) continue;
        send_at_once(new_link->to_client);
        send_at_once(new_link->to_server);
        std::lock_guard const lock{mutex_};
        if (ending_ || refusing_) continue;
        links_.push_back(new_link);
        // A link's destructor joins its threads, so the threads must not own the link.
        auto* const raw = new_link.get();
        new_link->requests = std::thread{[this, raw] {
            pass_requests(*raw);
            ++raw->ended;
        }};
        new_link->replies = std::thread{[this, raw] {
            pass_replies(*raw);
            ++raw->ended;
        }};
    }
}

/// A test that reconnects a thousand times must not keep two thousand threads.
void fault_proxy::remove_ended() {
    std::list<std::shared_ptr<link>> ended;
    std::lock_guard const lock{mutex_};
    for (auto current = links_.begin(); current != links_.end();) {
        auto const next = std::next(current);
        if ((*current)->ended == 2) ended.splice(ended.end(), links_, current);
        current = next;
    }
}

void fault_proxy::end_requests(link& ended) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, 60s, [&] { return ending_ || ended.waiting.empty(); });
    lock.unlock();
    ended.cut();
}

void fault_proxy::end_replies(link& ended) {
    std::lock_guard const lock{mutex_};
    ended.waiting.clear();
    changed_.notify_all();
    ended.cut();
}

bool fault_proxy::pause(verdict const& by, fault delay, fault hold) {
    std::unique_lock lock{mutex_};
    if (by.hit && by.what == delay) changed_.wait_for(lock, by.time, [&] { return ending_; });
    if (by.hit && by.what == hold) {
        changed_.wait(lock, [&] { return ending_ || releases_ > by.releases; });
    }
    changed_.wait(lock, [&] { return ending_ || !gate_closed_; });
    return !ending_;
}

void fault_proxy::release() {
    std::lock_guard const lock{mutex_};
    ++releases_;
    changed_.notify_all();
}

void fault_proxy::black_hole(bool on) {
    std::lock_guard const lock{mutex_};
    gate_closed_ = on;
    changed_.notify_all();
}

void fault_proxy::refuse(bool on) {
    std::lock_guard const lock{mutex_};
    refusing_ = on;
}

int fault_proxy::hits() const {
    std::lock_guard const lock{mutex_};
    return hits_;
}

bool fault_proxy::wait_for_landing(milliseconds limit) {
    std::unique_lock lock{mutex_};
    auto const is_idle = [](auto const& one) {
        return std::none_of(one->waiting.begin(), one->waiting.end(),
                            [](auto const& request) { return request.second.decided.hit; });
    };
    return changed_.wait_for(lock, limit,
                             [&] { return std::all_of(links_.begin(), links_.end(), is_idle); });
}

void fault_proxy::cut_connections() {
    std::lock_guard const lock{mutex_};
    for (auto const& one : links_) one->cut();
}

} // namespace settle_test
