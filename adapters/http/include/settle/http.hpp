// SPDX-License-Identifier: BSL-1.0
// A client of services over HTTP.
#pragma once

#include <settle/http/options.hpp>
#include <settle/kinds/services/call_under_way.hpp>

#include <memory>
#include <span>
#include <string_view>

SETTLE_BEGIN
namespace http {

/// A client of one service, or of several at one address. Threads and engines may share it.
/// Shape:   address - `http://host[:port][/path]`, or https. A call is a POST to
///          address/apply, address/confirm, address/compensate or address/query
/// Errors:  the constructor throws settle::failure for a wrong address or option. It does not
///          connect
/// Cost:    one thread for all clients of the process. Calls are under way at the same time, up to
///          options::calls_at_once. Their connections stay open for the next calls
/// Source:  http#wire-form
class client {
public:
    explicit client(std::string_view address, options settings = {});
    client(client const&) = delete;
    client& operator=(client const&) = delete;
    ~client();

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<client>> open(std::string_view address, options settings = {});

    /// Begins calls. Each is answered after options::wave_timeout at the latest.
    /// Errors:  in a child that was forked since, every call is `unavailable`
    void start(calls_to_start calls);

    /// The client's limits are for so many processes, and it keeps to its part of them: to at least
    /// one call at a time. It begins none with 0 processes, and from `until` on. For
    /// settle::sharing_thread. Any thread may call it.
    void share(std::size_t processes, std::chrono::steady_clock::time_point until) noexcept;

    /// Makes the calls, and returns when all are answered or the limits are over.
    /// Shape:   answers - one for each call
    void send(std::span<service_call const> calls, std::span<service_answer> answers,
              wait_limits const& limits = {});

private:
    struct state;
    std::unique_ptr<state> state_;
};

static_assert(ServiceClient<client> && StartingClient<client>);

} // namespace http
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http.ipp>
#endif
