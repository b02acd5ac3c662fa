// SPDX-License-Identifier: BSL-1.0
// A server on a loopback port that is not MongoDB.
#pragma once

#include "wire.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace settle_test {

/// Sends the same text to every client, and reads nothing.
class strange_server {
public:
    /// Shape:   closes - ends each connection when it has spoken
    strange_server(std::string reply, bool closes)
        : reply_{std::move(reply)}, closes_{closes}, listener_{::socket(AF_INET, SOCK_STREAM, 0)} {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof name;
        auto* const address = reinterpret_cast<sockaddr*>(&name);
        if (::bind(listener_, address, sizeof name) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, address, &length) != 0) {
            throw std::runtime_error{"there is no free port"};
        }
        port_ = ntohs(name.sin_port);
        speaker_ = std::thread{[this] { speak(); }};
    }
    strange_server(strange_server const&) = delete;
    strange_server& operator=(strange_server const&) = delete;
    ~strange_server() {
        ending_ = true;
        speaker_.join();
        ::close(listener_);
    }

    [[nodiscard]] int port() const { return port_; }

private:
    void speak() {
        std::vector<int> open;
        while (!ending_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) <= 0) continue;
            int const client = ::accept(listener_, nullptr, nullptr);
            if (client < 0) continue;
            send_all(client, reinterpret_cast<std::uint8_t const*>(reply_.data()), reply_.size());
            if (closes_) ::close(client);
            else open.push_back(client);
        }
        for (int const client : open) ::close(client);
    }

    std::string reply_;
    bool closes_;
    int listener_;
    int port_ = 0;
    std::atomic<bool> ending_ = false;
    std::thread speaker_;
};

} // namespace settle_test
