// SPDX-License-Identifier: BSL-1.0
// A server that passes calls to a function, for tests and samples. It needs cpp-httplib.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/error.hpp>
#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>
#include <settle/http/wire.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <httplib.h>

SETTLE_BEGIN
namespace http {

/// Answers one call. Threads call it at the same time.
/// Errors:  an exception is answered as `unknown`
using receiver_function = std::function<service_answer(service_call const&)>;

namespace detail {

/// True if this version of cpp-httplib has decoded each %XX in the values of headers.
[[nodiscard]] constexpr bool decodes_headers(std::string_view version) {
    // From 0.44 on, values stay as they were sent.
    int number = 0;
    int numbers[2]{};
    for (char const each : version) {
        if (each >= '0' && each <= '9') numbers[number] = numbers[number] * 10 + (each - '0');
        else if (++number == 2) break;
    }
    return numbers[0] == 0 && numbers[1] < 44;
}

inline void answer_with_reason(httplib::Response& to, int status, std::string reason) {
    std::replace(reason.begin(), reason.end(), '\0', ' ');
    std::string body{"{\"reason\":"};
    append_json_text(body, is_utf8(reason) ? reason : "a text that is not UTF-8");
    to.status = status;
    to.set_content(body.append("}"), "application/json");
}

inline void write_answer(httplib::Response& to, service_answer const& answer) {
    switch (answer.status) {
    case call_status::ok:
        to.status = answer.text.empty() ? 204 : 200;
        if (!answer.text.empty()) to.set_content(answer.text, "application/json");
        break;
    case call_status::refused: answer_with_reason(to, 422, answer.text); break;
    case call_status::unavailable: answer_with_reason(to, 503, answer.text); break;
    case call_status::unknown: answer_with_reason(to, 500, answer.text); break;
    }
    if (answer.retry_after) {
        auto const whole = std::chrono::ceil<std::chrono::seconds>(*answer.retry_after);
        to.set_header("Retry-After", std::to_string(whole.count()));
    }
}

inline void answer_request(httplib::Request const& from, httplib::Response& to,
                           receiver_function const& function) {
    auto const header = [&](std::string_view name) -> std::optional<std::string> {
        auto const found = from.headers.find(std::string{name});
        if (found == from.headers.end()) return std::nullopt;
        return decodes_headers(CPPHTTPLIB_VERSION) ? found->second : text_of_header(found->second);
    };
    try {
        auto const operation = from.path.substr(from.path.rfind('/') + 1);
        received_call const received{header, operation, from.body};
        to.set_header(std::string{key_and_operation}, received.idempotency_key());
        try {
            write_answer(to, function(received.call()));
        } catch (std::exception const& problem) {
            answer_with_reason(to, 500, problem.what());
        }
    } catch (failure const& problem) {
        answer_with_reason(to, 400, problem.problem().text);
    }
}

} // namespace detail

/// Adds a receiver to a server of the user's, which may have TLS, other paths and other receivers.
/// Shape:   path - of a client's address: `/airline`; letters, digits and -._~/
///          function - copied
inline void add_receiver(httplib::Server& server, std::string const& path,
                         receiver_function function) {
    std::string pattern;
    for (char const each : path) {
        if (each == '.') pattern += '\\';
        pattern += each;
    }
    server.Post(
        pattern + "/(apply|confirm|compensate|query)",
        [function = std::move(function)](httplib::Request const& from, httplib::Response& to) {
            detail::answer_request(from, to, function);
        });
}

struct server_options {
    std::string host = "127.0.0.1";
    int port = 0; ///< 0 for a free port
    /// How many calls are answered at once. Each connection that a client keeps open occupies a
    /// thread. While others wait for one, the server asks clients to close theirs.
    std::size_t threads = 128;
    std::chrono::seconds keep_alive{5};
    std::size_t longest_call = 1U << 20U; ///< in bytes; a longer call is answered with 413
};

namespace detail {

/// A pool that counts the connections that wait for a thread.
class counted_pool : public httplib::ThreadPool {
public:
    counted_pool(std::size_t threads, std::shared_ptr<std::atomic<std::size_t>> waiting)
        : ThreadPool(threads), waiting_(std::move(waiting)) {}

    // The result's type depends on the version of cpp-httplib.
    auto enqueue(std::function<void()> serve)
        -> decltype(std::declval<ThreadPool&>().enqueue(std::function<void()>{})) override {
        ++*waiting_;
        return ThreadPool::enqueue([serve = std::move(serve), waiting = waiting_] {
            --*waiting;
            serve();
        });
    }

private:
    std::shared_ptr<std::atomic<std::size_t>> waiting_;
};

} // namespace detail

/// Sets the limits of a server, its socket options for many calls, and its post-routing handler.
inline void set_limits(httplib::Server& server, server_options const& settings) {
    auto const waiting = std::make_shared<std::atomic<std::size_t>>(0);
    server.new_task_queue = [threads = settings.threads, waiting] {
        return new detail::counted_pool(threads, waiting);
    };
    server.set_post_routing_handler([waiting](httplib::Request const&, httplib::Response& answer) {
        if (*waiting != 0) answer.set_header("Connection", "close");
    });
    server.set_keep_alive_max_count(static_cast<std::size_t>(-1));
    server.set_keep_alive_timeout(settings.keep_alive.count());
    server.set_payload_max_length(settings.longest_call);
    // Not SO_REUSEPORT, which httplib sets: two programs would share a port, and its calls.
    server.set_socket_options([](socket_t socket) {
        int const on = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    // Head and body of an answer are two writes: the second would wait for the client's system.
    server.set_tcp_nodelay(true);
}

namespace detail {

/// httplib's queue of connections that are not accepted yet holds 5. A wave opens its connections
/// together, and the system would delay the others for seconds.
class patient_server : public httplib::Server {
public:
    /// Shape:   after bind_to_port() or bind_to_any_port()
    void lengthen_queue() {
        constexpr int length = 1024;
        ::listen(svr_sock_, length);
    }
};

/// An address of IPv6 as the system takes it: an address of HTTP has it in brackets.
[[nodiscard]] inline std::string without_brackets(std::string const& host) {
    bool const has_brackets = host.starts_with('[') && host.ends_with(']');
    return has_brackets ? host.substr(1, host.size() - 2) : host;
}

} // namespace detail

/// One service in a thread of its own, until the object ends.
/// Errors:  the constructor throws settle::failure when the port is not available
class receiver_server {
public:
    /// Shape:   path, function - as of add_receiver()
    receiver_server(std::string const& path, receiver_function function,
                    server_options const& settings = {})
        : path_(path), host_(detail::without_brackets(settings.host)) {
        add_receiver(server_, path, std::move(function));
        set_limits(server_, settings);
        port_ = settings.port;
        int const bound = port_ == 0                           ? server_.bind_to_any_port(host_)
                          : server_.bind_to_port(host_, port_) ? port_
                                                               : 0;
        if (bound <= 0) {
            throw failure({make_error_code(errc::store_unreachable),
                           "settle: the server cannot listen at " + address() +
                               ". Check server_options::host. Choose another port, or end the "
                               "program that has it. See http#receivers"});
        }
        port_ = bound;
        server_.lengthen_queue();
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        // A stop() before the server runs would have no effect.
        while (!server_.is_running()) std::this_thread::yield();
    }
    receiver_server(receiver_server const&) = delete;
    receiver_server& operator=(receiver_server const&) = delete;
    /// Waits until the calls that are under way are answered.
    ~receiver_server() {
        server_.stop();
        thread_.join();
    }

    [[nodiscard]] int port() const noexcept { return port_; }
    /// The address for a client.
    [[nodiscard]] std::string address() const {
        // An address of IPv6 stands in brackets.
        bool const is_ipv6 = host_.find(':') != std::string::npos;
        return "http://" + (is_ipv6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(port_) +
               path_;
    }

private:
    detail::patient_server server_;
    std::string path_;
    std::string host_;
    int port_ = 0;
    std::thread thread_;
};

} // namespace http
SETTLE_END
