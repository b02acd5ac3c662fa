// SPDX-License-Identifier: BSL-1.0
// The connections of one thread that sends, and the calls that are under way on them.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/http/answer.hpp>
#include <settle/http/destination.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <curl/curl.h>
#include <poll.h>

SETTLE_BEGIN
namespace http::detail {

struct easy_destroyer {
    void operator()(CURL* held) const noexcept { curl_easy_cleanup(held); }
};
struct multi_destroyer {
    void operator()(CURLM* held) const noexcept { curl_multi_cleanup(held); }
};

/// Headers in libcurl's form. Their memory is reused for each call.
class header_list {
public:
    void append(std::string_view name, std::string_view value);
    /// The headers so far are part of each list.
    void keep() noexcept { kept_ = {lines_.size(), starts_.size()}; }
    /// Removes the headers after the kept headers.
    void clear() noexcept;
    /// Shape:   valid until the next change
    [[nodiscard]] curl_slist* get();

private:
    std::string lines_; ///< each with a NUL at its end
    std::vector<std::size_t> starts_;
    std::pair<std::size_t, std::size_t> kept_{0, 0}; ///< the sizes of lines_ and starts_
    std::vector<curl_slist> list_;
};

/// The values that are new for each wave of a session.
struct wave_values {
    header_values headers; ///< of options::headers_of_wave
    answer_reader reader;
};

/// One call under way. Its memory is reused for the next call.
class transfer {
public:
    /// Errors:  throws std::bad_alloc
    transfer(CURLM* multi, destination const& to, wave_values const& wave);
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;
    ~transfer();

    /// Begins a call.
    /// Shape:   call, answer - outlive the call
    ///          limit - the time of the whole call
    void begin(service_call const& call, service_answer& answer, std::chrono::milliseconds limit);
    /// Sets the answer of the call that has ended.
    void end(CURLcode how);
    /// Ends the call, if one is under way.
    /// Shape:   why - the text of its answer
    void give_up(std::string_view why);

    [[nodiscard]] static transfer& of(CURL* easy);

private:
    template <typename Value>
    void set(CURLoption option, Value value);
    [[nodiscard]] http_answer received() const;

    static std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept;
    static int before_request(void* self, char*, char*, int, int) noexcept;

    CURLM* multi_;
    destination const& to_;
    wave_values const& wave_;
    std::unique_ptr<CURL, easy_destroyer> easy_;
    header_list headers_;
    char problem_[CURL_ERROR_SIZE] = "";
    std::string url_;
    std::string request_;
    std::string body_;
    bool under_way_ = false;
    /// The body is longer than options::longest_answer.
    bool cut_ = false;
    /// A byte of the request may have been sent, on this or on an earlier connection.
    bool sent_ = false;
    bool sent_twice_ = false;
    service_call const* call_ = nullptr;
    service_answer* answer_ = nullptr;
};

/// For one thread at a time. Connections stay open for the next wave.
class session {
public:
    explicit session(destination const& to);
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session();

    /// Errors:  throws std::bad_alloc, or settle::failure when libcurl refuses a request; the
    ///          session is then unusable, and the outcome of each call is unknown
    void send(std::span<service_call const> calls, std::span<service_answer> answers,
              wait_limits const& limits);

private:
    using moment = std::chrono::steady_clock::time_point;

    static int watch(CURL*, curl_socket_t socket, int action, void* self, void*) noexcept;
    static int set_timer(CURLM*, long milliseconds, void* self) noexcept;

    /// Asks for the headers of a wave.
    /// Errors:  a text; empty if there is none
    [[nodiscard]] std::string take_headers();

    /// Lets libcurl continue: on a socket, or after the time that libcurl has set.
    void go_on(curl_socket_t socket, int events);
    void go_on_in_time();
    /// Waits until a socket is ready, libcurl's time is over or the limits may be over, and lets
    /// libcurl continue.
    void wait(wait_limits const& limits);

    destination const& to_;
    wave_values wave_;
    std::vector<pollfd> watched_; ///< the sockets that libcurl waits for
    std::vector<pollfd> ready_;
    std::optional<moment> timer_; ///< when libcurl is to be called at the latest
    std::unique_ptr<CURLM, multi_destroyer> multi_;
    std::vector<std::unique_ptr<transfer>> transfers_; ///< destroyed before multi_
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/session.ipp>
#endif
