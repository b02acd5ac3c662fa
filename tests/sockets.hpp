// SPDX-License-Identifier: BSL-1.0
// Sockets of this machine alone.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace settle_test {

[[nodiscard]] inline int new_socket() {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::system_error{errno, std::generic_category(), "socket"};
    return fd;
}

[[nodiscard]] inline sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

/// Binds a socket to a port of its own.
[[nodiscard]] inline sockaddr_in bind_to_free_port(int fd) {
    auto address = loopback(0);
    socklen_t size = sizeof address;
    auto* const native = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd, native, size) != 0 || ::getsockname(fd, native, &size) != 0) {
        throw std::system_error{errno, std::generic_category(), "bind"};
    }
    return address;
}

/// Keeps the port of a bound socket that never listens, until this process ends: other programs
/// cannot have it, and a server that sets the same option can. Without a server a connection is
/// refused.
inline void hold_port_of(int fd) {
    int const on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

/// A port at which nothing listens but a server of this process's, until the process ends.
[[nodiscard]] inline int unused_port() {
    int const fd = new_socket();
    auto const address = bind_to_free_port(fd);
    hold_port_of(fd);
    return ntohs(address.sin_port);
}

inline bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        auto const sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Appends so many bytes; false at the end of the stream.
inline bool receive_all(int socket, std::string& to, std::size_t count) {
    auto offset = to.size();
    to.resize(offset + count);
    while (offset < to.size()) {
        auto const got = ::recv(socket, to.data() + offset, to.size() - offset, 0);
        if (got <= 0) {
            to.resize(offset);
            return false;
        }
        offset += static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace settle_test
