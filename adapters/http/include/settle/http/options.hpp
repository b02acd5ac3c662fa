// SPDX-License-Identifier: BSL-1.0
// The options of a client.
#pragma once

#include <settle/http/status_table.hpp>
#include <settle/store/saturating.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace http {

/// Errors:  the client's constructor throws errc::bad_option for a value that makes no sense
struct options {
    /// The time limit of a connect, with TLS.
    time_limit connect_timeout = std::chrono::seconds{5};
    /// The time limit of one call, from its begin to the end of its answer.
    time_limit call_timeout = std::chrono::seconds{30};
    /// The time limit of all calls of one send(). A call that has not begun by then is
    /// `unavailable`.
    time_limit wave_timeout = std::chrono::seconds{60};
    /// The limit of the calls that one send() has under way, and so of its connections. It applies
    /// to each thread that sends.
    std::size_t calls_at_once = 100;
    /// The size limit of an answer in bytes. A longer answer is not read to its end, and is
    /// `unknown`.
    std::size_t longest_answer = 1U << 20U;
    /// The limit of Retry-After: a longer time is shortened to it.
    time_limit longest_retry_after = std::chrono::hours{1};
    /// More headers for each call, for example credentials. Their values appear in no message.
    std::vector<std::pair<std::string, std::string>> headers{};
    /// A file of certificates (PEM) of authorities that may sign the service's certificate, instead
    /// of the system's.
    std::string ca_file{};
    /// Files of the client's own certificate and of its key without a password (PEM), for a service
    /// that demands a certificate. Both or none.
    std::string certificate_file{};
    std::string key_file{};
    /// The address of a proxy; empty for none. Without a value, the variables of the environment
    /// choose it (http_proxy, https_proxy, all_proxy, no_proxy), except for a loopback address,
    /// which has none.
    std::optional<std::string> proxy{};
    status_table statuses{};
};

} // namespace http
SETTLE_END
