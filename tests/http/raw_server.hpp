// SPDX-License-Identifier: BSL-1.0
// A server that sends any bytes, for answers that no HTTP library would give.
#pragma once

#include "sockets.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <unistd.h>

namespace settle_test {

class raw_connection {
public:
    explicit raw_connection(int fd) : fd_(fd) {}

    /// The head and the body of the next request; empty at the end.
    std::string read_request() {
        std::size_t head = 0;
        while ((head = received_.find("\r\n\r\n")) == std::string::npos) {
            if (!receive()) return {};
        }
        head += 4;
        auto const length = content_length(std::string_view{received_}.substr(0, head));
        while (received_.size() < head + length) {
            if (!receive()) return {};
        }
        auto request = received_.substr(0, head + length);
        received_.erase(0, head + length);
        return request;
    }

    /// False when the peer has closed.
    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            auto const sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool send_json(std::string_view body) const {
        return send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + std::string{body});
    }

    /// Waits until the peer closes.
    void wait_for_end() {
        while (receive()) received_.clear();
    }
    void close() const { ::shutdown(fd_, SHUT_RDWR); }
    /// Ends the connection with a reset.
    void reset() const {
        // The system then discards the unsent data of this connection.
        sockaddr address{};
        address.sa_family = AF_UNSPEC;
        ::connect(fd_, &address, sizeof address);
    }

private:
    static std::size_t content_length(std::string_view head) {
        constexpr std::string_view name = "Content-Length: ";
        auto const position = head.find(name);
        return position == std::string_view::npos
                   ? 0
                   : std::stoul(std::string{head.substr(position + name.size(), 12)});
    }
    bool receive() {
        char bytes[4096];
        auto const count = ::recv(fd_, bytes, sizeof bytes, 0);
        if (count <= 0) return false;
        received_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }

    int fd_;
    std::string received_;
};

/// Calls a function for each connection, in a thread of its own.
class raw_server {
public:
    using function = std::function<void(raw_connection&)>;

    explicit raw_server(function serve, int port = 0)
        : serve_(std::move(serve)), listener_(new_socket()) {
        int const on = 1;
        ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        auto address = loopback(port);
        socklen_t size = sizeof address;
        auto* const native = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, native, size) != 0 || ::listen(listener_, 128) != 0 ||
            ::getsockname(listener_, native, &size) != 0) {
            throw std::system_error{errno, std::generic_category(), "raw_server"};
        }
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { accept(); }};
    }
    raw_server(raw_server const&) = delete;
    raw_server& operator=(raw_server const&) = delete;
    ~raw_server() {
        stop_listening();
        thread_.join();
        {
            std::lock_guard const guard{lock_};
            for (auto const& each : links_) ::shutdown(each.fd, SHUT_RDWR);
        }
        for (auto& each : links_) {
            each.thread.join();
            ::close(each.fd);
        }
        ::close(listener_);
    }

    /// From then on, new connections are refused. Existing connections stay.
    void stop_listening() { ::shutdown(listener_, SHUT_RDWR); }

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string address() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/airline";
    }
    [[nodiscard]] int connections() const { return connections_; }

private:
    struct link {
        int fd;
        std::thread thread;
    };

    void accept() {
        for (int fd = -1; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
            ++connections_;
            std::lock_guard const guard{lock_};
            auto& mine = links_.emplace_back(link{fd, {}});
            mine.thread = std::thread{[this, fd] {
                raw_connection connection{fd};
                serve_(connection);
                connection.close();
            }};
        }
    }

    function serve_;
    int listener_;
    int port_ = 0;
    std::atomic<int> connections_ = 0;
    std::mutex lock_;
    std::list<link> links_;
    std::thread thread_;
};

/// Answers every request of a connection with one JSON body.
inline raw_server::function answers_with(std::string body) {
    return [body = std::move(body)](raw_connection& connection) {
        while (!connection.read_request().empty()) connection.send_json(body);
    };
}

/// Sends bytes once a request has arrived, and closes the connection.
inline raw_server::function sends_and_closes(std::string bytes) {
    return [bytes = std::move(bytes)](raw_connection& connection) {
        if (!connection.read_request().empty()) connection.send(bytes);
    };
}

} // namespace settle_test
