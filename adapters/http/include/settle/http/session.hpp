// SPDX-License-Identifier: BSL-1.0
// The connections of one thread that sends, and the calls that are under way on them.
#pragma once

#include <settle/http/answer.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <curl/curl.h>

SETTLE_BEGIN
namespace http::detail {

/// A service as all sessions of a client use it.
struct destination {
    /// Errors:  throws settle::failure for a wrong address or option
    destination(std::string_view address, options given);
    destination(destination const&) = delete;
    destination& operator=(destination const&) = delete;

    options settings;
    std::string base; ///< the address without a slash at its end
    bool loopback = false;
    answer_reader reader;
};

struct easy_destroyer {
    void operator()(CURL* held) const noexcept { curl_easy_cleanup(held); }
};
struct multi_destroyer {
    void operator()(CURLM* held) const noexcept { curl_multi_cleanup(held); }
};
struct list_destroyer {
    void operator()(curl_slist* held) const noexcept { curl_slist_free_all(held); }
};

/// One call under way, and its room for the next one.
class transfer {
public:
    /// Errors:  throws std::bad_alloc
    transfer(CURLM* multi, destination const& to);
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;
    ~transfer();

    /// Begins a call.
    /// Shape:   call, answer - outlive the call
    ///          limit - the time of the whole call
    void begin(service_call const& call, service_answer& answer, std::chrono::milliseconds limit);
    /// Sets the answer of the call that has ended.
    void end(CURLcode how);

    [[nodiscard]] static transfer& of(CURL* easy);

private:
    template <typename Value>
    void set(CURLoption option, Value value);
    void add_header(std::string_view name, std::string_view value);
    [[nodiscard]] http_answer received() const;

    static std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept;
    static int before_request(void* self, char*, char*, int, int) noexcept;

    CURLM* multi_;
    destination const& to_;
    std::unique_ptr<CURL, easy_destroyer> easy_;
    std::unique_ptr<curl_slist, list_destroyer> headers_;
    char problem_[CURL_ERROR_SIZE] = "";
    std::string url_;
    std::string request_;
    std::string body_;
    bool under_way_ = false;
    /// The body is longer than options::longest_answer, or no memory is left for it.
    bool cut_ = false;
    /// A byte of the request may have been sent, on this or on an earlier connection.
    bool sent_ = false;
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

    /// Errors:  throws std::bad_alloc; the session is then of no further use
    void send(std::span<service_call const> calls, std::span<service_answer> answers);

private:
    destination const& to_;
    std::unique_ptr<CURLM, multi_destroyer> multi_;
    std::vector<std::unique_ptr<transfer>> transfers_; ///< before the handle that they are in
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#    include <settle/http/session.ipp>
#endif
