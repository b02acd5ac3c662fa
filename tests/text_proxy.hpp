// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one server of any protocol without TLS: it loses or delays the
// request in which a text stands.
#pragma once

#include "sockets.hpp"

#include <array>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <poll.h>

namespace settle_test {

enum class text_fault {
    drop_request, ///< the server never receives it; both connections are closed
    drop_reply,   ///< the server executes it; the client's connection is closed without an answer
    hold_request, ///< the client's connection is closed; the server receives it after release()
};

class text_proxy {
public:
    explicit text_proxy(int server_port) : server_port_{server_port}, listener_{new_socket()} {
        port_ = ntohs(bind_to_free_port(listener_).sin_port);
        ::listen(listener_, 64);
        acceptor_ = std::thread{[this] { accept_clients(); }};
    }
    text_proxy(text_proxy const&) = delete;
    text_proxy& operator=(text_proxy const&) = delete;
    ~text_proxy() {
        {
            std::lock_guard const guard{mutex_};
            ending_ = true;
        }
        release();
        acceptor_.join();
        for (auto& one : links_) one.join();
        ::close(listener_);
    }

    [[nodiscard]] int port() const { return port_; }

    /// Disturbs the next request with this text, once.
    void disturb(std::string text, text_fault what) {
        std::lock_guard const guard{mutex_};
        rule_ = rule{std::move(text), what};
    }
    /// True if the rule of the last disturb() has hit its request.
    [[nodiscard]] bool has_struck() {
        std::lock_guard const guard{mutex_};
        return !rule_;
    }
    /// Lets the held request pass. Later requests are not held any more.
    void release() {
        std::lock_guard const guard{mutex_};
        released_ = true;
        changed_.notify_all();
    }
    /// Closes all connections.
    void cut() {
        std::lock_guard const guard{mutex_};
        ++cuts_;
    }

private:
    struct rule {
        std::string text;
        text_fault what;
    };
    using bytes = std::array<char, 65536>;

    [[nodiscard]] bool is_ending(int cuts) {
        std::lock_guard const guard{mutex_};
        return ending_ || cuts_ != cuts;
    }

    void accept_clients() {
        for (;;) {
            pollfd watched{listener_, POLLIN, 0};
            int const ready = ::poll(&watched, 1, 20);
            std::lock_guard const guard{mutex_};
            if (ending_) return;
            if (ready <= 0) continue;
            int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            links_.emplace_back([this, client, cuts = cuts_] { serve(client, cuts); });
        }
    }

    static bool send_all(int to, std::string_view data) {
        while (!data.empty()) {
            auto const sent = ::send(to, data.data(), data.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            data.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    std::optional<text_fault> decide(std::string_view data) {
        std::lock_guard const guard{mutex_};
        if (!rule_ || data.find(rule_->text) == data.npos) return std::nullopt;
        auto const what = rule_->what;
        rule_.reset();
        return what;
    }

    void serve(int client, int cuts) {
        int const server = new_socket();
        auto const address = loopback(server_port_);
        if (::connect(server, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0) {
            client = pass(client, server, cuts);
        }
        if (client >= 0) ::close(client);
        ::close(server);
    }

    /// Returns the client's socket, or -1 if it is closed.
    int pass(int client, int server, int cuts) {
        auto const data = std::make_unique<bytes>();
        while (!is_ending(cuts)) {
            std::array<pollfd, 2> both{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
            if (::poll(both.data(), 2, 20) <= 0) continue;
            for (std::size_t side = 0; side < 2; ++side) {
                if (both[side].revents == 0) continue;
                auto const got = ::recv(both[side].fd, data->data(), data->size(), 0);
                if (got <= 0) return client;
                std::string_view const text{data->data(), static_cast<std::size_t>(got)};
                auto const fault = side == 0 ? decide(text) : std::nullopt;
                if (!fault) {
                    if (!send_all(both[1 - side].fd, text)) return client;
                    continue;
                }
                if (*fault == text_fault::drop_request) return client;
                if (*fault == text_fault::hold_request) {
                    ::close(client);
                    client = -1;
                    std::unique_lock guard{mutex_};
                    changed_.wait(guard, [this] { return released_; });
                }
                send_all(server, text);
                // The server's answer is discarded.
                static_cast<void>(::recv(server, data->data(), data->size(), 0));
                return client;
            }
        }
        return client;
    }

    int server_port_;
    int listener_;
    int port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<rule> rule_;
    bool released_ = false;
    bool ending_ = false;
    int cuts_ = 0;
    std::list<std::thread> links_;
    std::thread acceptor_;
};

} // namespace settle_test
