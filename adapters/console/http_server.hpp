// SPDX-License-Identifier: BSL-1.0
// The HTTP of a console: one thread has all connections, a second one asks the engine.
#pragma once

#include "request.hpp"

#include <chrono>
#include <functional>
#include <memory>

SETTLE_BEGIN
namespace detail {

/// What a server serves.
class console_handler {
public:
    console_handler() = default;
    console_handler(console_handler const&) = delete;
    console_handler& operator=(console_handler const&) = delete;
    virtual ~console_handler() = default;

    /// Answers a request that needs no store, or makes a question of it. Called by the thread of
    /// the connections.
    virtual std::optional<console_answer> at_once(received_request const& request,
                                                  console_question& question) = 0;
    /// Answers a question. Called by the second thread.
    virtual console_answer ask(console_question const& question) = 0;
    /// Does a part of what goes on between questions; gives the time until the next part. Called by
    /// the second thread, also after each question.
    virtual std::chrono::milliseconds work() = 0;
};

struct server_limits {
    /// With more connections, the connection that waits longest for its request is closed.
    static constexpr std::size_t connections = 256;
    static constexpr std::uint32_t header_bytes = 16 * 1024;
    static constexpr std::uint64_t body_bytes = 16'384;
    std::chrono::milliseconds client{}; ///< for a request, and for its answer
};

class http_server {
public:
    /// Shape:   handler - outlives the object; name_header - or empty
    /// Errors:  throws settle::failure if it cannot listen
    http_server(std::string const& address, std::uint16_t port, std::string name_header,
                server_limits const& limits, console_handler& handler);
    http_server(http_server const&) = delete;
    http_server& operator=(http_server const&) = delete;
    /// Closes the connections, waits for the answer that the second thread makes, and ends both.
    ~http_server();

    [[nodiscard]] std::uint16_t port() const noexcept;

private:
    class connection;
    struct state;

    std::unique_ptr<state> state_;
};

/// True if an address is one of this machine's loopback addresses.
/// Errors:  throws settle::failure if it is no address
[[nodiscard]] bool is_loopback(std::string const& address);

} // namespace detail
SETTLE_END
