// SPDX-License-Identifier: BSL-1.0
// The options of a client.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/http/status_table.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace http {

/// Names and values of headers.
using header_values = std::vector<std::pair<std::string, std::string>>;

/// The form of the header Idempotency-Key. It must stay the same as long as a transaction may be
/// unfinished: another form is another key to the service.
enum class key_form : std::uint8_t {
    whole, ///< the key and the operation: `bank.db/trip-1/2/apply`
    digest ///< 32 hexadecimal digits, for a service that limits the length or the characters
};

/// Errors:  the client's constructor throws errc::bad_option for a value that makes no sense
struct options {
    /// The time limit of a connect, with TLS.
    time_limit connect_timeout = std::chrono::seconds{5};
    /// The time limit of one call, from its begin to the end of its answer.
    time_limit call_timeout = std::chrono::seconds{30};
    /// The time limit of a call from its start by the engine, also while it waits for its turn. A
    /// call that has not begun by then is `unavailable`, and is no try.
    time_limit wave_timeout = std::chrono::seconds{60};
    /// The limit of the calls that the client has under way, for all threads and engines. All
    /// clients of a process share 15/16 of its limit of open files.
    std::size_t calls_at_once = 1000;
    /// The limit of the calls that the client begins in a second; 0 for none.
    std::size_t calls_per_second = 0;
    /// The same while the service fails: after 20 answers in a row that are `unavailable` or
    /// `unknown`, until another answer. Then at most 16 calls are under way, too. 0 for no limit.
    std::size_t calls_per_second_while_failing = 10;
    /// The size limit of an answer in bytes. A longer answer is not read to its end, and is
    /// `unknown`.
    std::size_t longest_answer = 1U << 20U;
    /// The limit of Retry-After: a longer time is shortened to it.
    time_limit longest_retry_after = std::chrono::hours{1};
    /// More headers for each call, for example credentials. Their values appear in no message.
    header_values headers{};
    /// Gives more headers for calls that start together, such as a token that ends. Threads may
    /// call it at the same time. If it throws, the calls are `unavailable`.
    std::function<header_values()> headers_of_wave{};
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
    key_form key = key_form::whole;
    /// Idempotency-Key in double quotes, as the IETF's draft writes it.
    bool quoted_key = false;
    /// A call without a result is `ok` at every 2xx, whatever its body: also at 202 and 206.
    bool any_success = false;
    /// Whole numbers beyond 2^53 are sent as texts, for services that keep numbers as doubles.
    bool large_numbers_as_text = false;
};

} // namespace http
SETTLE_END
