// SPDX-License-Identifier: BSL-1.0
// A small HTTP client over a socket, so that tests decide each byte that a console gets.
#pragma once

#include <sockets.hpp>

#include <settle/console.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

#include <poll.h>

namespace settle_test {

struct http_answer {
    int status = 0; ///< 0: the connection was closed without an answer
    std::string head;
    std::string body;

    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
};

/// The port of a console of this process, or of any server of this machine.
struct console_port {
    console_port(settle::console const& console) : number(console.port()) {}
    console_port(int given) : number(given) {}

    int number;
};

/// A connection to a console, or to another server of this machine.
class console_client {
public:
    explicit console_client(console_port console) : socket_(new_socket()) {
        auto const address = loopback(console.number);
        if (::connect(socket_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
            throw std::system_error{errno, std::generic_category(), "connect"};
    }
    console_client(console_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    console_client& operator=(console_client&&) = delete;
    ~console_client() {
        if (socket_ >= 0) ::close(socket_);
    }

    bool send(std::string_view bytes) { return send_all(socket_, bytes); }

    /// True if the console closes the connection within a time, without an answer.
    [[nodiscard]] bool is_closed_within(std::chrono::milliseconds limit) {
        pollfd waited{socket_, POLLIN, 0};
        char byte = 0;
        return ::poll(&waited, 1, static_cast<int>(limit.count())) == 1 &&
               ::recv(socket_, &byte, 1, 0) <= 0;
    }

    [[nodiscard]] http_answer receive() {
        http_answer answer;
        while (!answer.head.ends_with("\r\n\r\n")) {
            if (!receive_all(socket_, answer.head, 1)) return answer;
        }
        answer.status = std::stoi(answer.head.substr(9, 3));
        auto const length = answer.head.find("Content-Length:");
        auto const size = std::stoul(answer.head.substr(length + 15));
        if (!receive_all(socket_, answer.body, size)) answer.status = 0;
        return answer;
    }

private:
    int socket_;
};

/// Sends one request on a connection of its own.
/// Shape:   headers - more lines, each with its end
inline http_answer request(console_port console, std::string_view method, std::string_view target,
                           std::string_view headers = {}, std::string_view body = {}) {
    console_client client{console};
    std::string text{method};
    text.append(" ").append(target).append(" HTTP/1.1\r\nConnection: close\r\n").append(headers);
    if (headers.find("Host:") == headers.npos)
        text += "Host: 127.0.0.1:" + std::to_string(console.number) + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    client.send(text.append(body));
    return client.receive();
}

inline constexpr std::string_view as_json = "Accept: application/json\r\n";

inline http_answer get_json(console_port console, std::string_view target) {
    return request(console, "GET", target, as_json);
}

/// Sends an action as the console's page does.
inline http_answer post(console_port console, std::string_view target, std::string_view form,
                        std::string_view headers = {}) {
    std::string all{as_json};
    all.append("Settle-Console: 1\r\n").append(headers);
    return request(console, "POST", target, all, form);
}

/// Waits until an action on all has handled so many entries, or has ended.
inline nlohmann::json wait_for_progress(console_port console, std::string const& path,
                                        std::uint64_t handled) {
    for (;;) {
        auto seen = get_json(console, path).json();
        bool const goes_on = seen["state"] == "running" || seen["state"] == "stopping";
        if (!goes_on || seen["handled"] >= handled) return seen;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}
inline nlohmann::json wait_for_end(console_port console, std::string const& path) {
    return wait_for_progress(console, path, ~std::uint64_t{0});
}

} // namespace settle_test
