// SPDX-License-Identifier: BSL-1.0
// One call of a service by libcurl.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/http/answer.hpp>
#include <settle/http/destination.hpp>
#include <settle/kinds/services/call_pace.hpp>
#include <settle/kinds/services/call_under_way.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <curl/curl.h>

SETTLE_BEGIN
namespace http::detail {

struct easy_destroyer {
    void operator()(CURL* held) const noexcept { curl_easy_cleanup(held); }
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

/// The values of calls that were started together.
struct wave_values {
    header_values headers; ///< of options::headers_of_wave
    answer_reader reader;
    std::string problem{}; ///< why there are no headers, as a clause
};

struct client_calls;

/// A call that has not begun.
struct queued_call {
    std::shared_ptr<client_calls> client;
    std::shared_ptr<call_under_way> call;
    std::shared_ptr<wave_values const> wave;
    std::chrono::steady_clock::time_point begin; ///< when it was started
    std::chrono::steady_clock::time_point end;   ///< the call must be over then
};

/// The number of calls at once that the files of the process allow: each call needs a descriptor,
/// and the program needs others.
[[nodiscard]] std::size_t bounded_by_files(std::size_t calls);

/// A client, as its session sees it.
struct client_calls {
    client_calls(std::string_view address, options settings);

    destination const to;
    std::size_t const most; ///< calls at once
    /// Of calls without options::headers_of_wave.
    std::shared_ptr<wave_values const> const plain_wave;
    std::atomic<bool> is_closed = false; ///< the client is gone
    /// Of client::share(): the limits are for so many processes, until a moment.
    std::atomic<std::size_t> processes = 1;
    std::atomic<std::chrono::steady_clock::time_point> shared_until =
        std::chrono::steady_clock::time_point::max();
    /// The part of a limit that is for this process.
    [[nodiscard]] std::size_t own_part_of(std::size_t limit,
                                          std::chrono::steady_clock::time_point now) const {
        std::size_t const sharing = processes;
        if (sharing == 0 || now >= shared_until.load()) return 0;
        return std::max<std::size_t>(1, limit / sharing);
    }

    // For the thread of the session.
    /// How many calls the client may have under way now, all processes together. Before a call has
    /// found the service they are few: each may look up the host. From then on they grow, so that a
    /// service that fails at once has few of them.
    [[nodiscard]] std::size_t room(std::chrono::steady_clock::time_point now) const;

    /// When a call has found the service.
    std::optional<std::chrono::steady_clock::time_point> found_at{};
    bool has_worked = false; ///< a call was not a failure
    call_pace pace{{to.settings.calls_per_second, to.settings.calls_per_second_while_failing}};
    std::deque<queued_call> queue{};
    std::size_t under_way = 0;
    bool is_active = false; ///< the session knows that its queue is not empty
};

/// One call under way. Its memory is reused for the next call, of any client.
class transfer {
public:
    /// Shape:   share - what transfers of all groups share
    transfer(CURLM* multi, CURLSH* share);
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;
    ~transfer();

    /// Begins a call.
    /// Shape:   limit - the time of the whole call
    /// Errors:  throws std::bad_alloc, or settle::failure when libcurl refuses the request
    void begin(queued_call&& call, std::chrono::milliseconds limit);
    /// Sets the answer of the call that has ended.
    void end(CURLcode how);
    /// Ends the call that is under way.
    /// Shape:   why - the text of its answer; is_of_service - the service took too long
    void give_up(std::string_view why, bool is_of_service);
    /// True if a call is under way whose caller waits no longer.
    [[nodiscard]] bool is_forgotten() const {
        return under_way_ && (client_->is_closed || !call_.call->is_awaited());
    }
    /// True if the call has no time left: libcurl can miss the end of its time.
    [[nodiscard]] bool is_overdue(std::chrono::steady_clock::time_point now) const {
        constexpr std::chrono::milliseconds grace{100};
        return under_way_ && now > end_ + grace;
    }
    /// True if the call has been under way for so long that its service counts as slow.
    [[nodiscard]] bool is_slow(std::chrono::steady_clock::time_point now) const {
        constexpr std::chrono::seconds usual{1};
        return now - begun_ > usual;
    }
    /// Lets go of the client of the last call.
    void forget_client() noexcept {
        easy_.reset();
        client_.reset();
    }
    [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }
    [[nodiscard]] bool has_client() const noexcept { return client_ != nullptr; }
    /// The client of the last call.
    [[nodiscard]] client_calls& client() const { return *client_; }

    [[nodiscard]] static transfer& of(CURL* easy);

private:
    template <typename Value>
    void set(CURLoption option, Value value);
    void set_up(destination const& to);
    [[nodiscard]] http_answer received() const;
    /// Shape:   is_of_service - false if the caller gave the call up
    void answer(service_answer&& call_answer, bool is_of_service = true);

    static std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept;
    static int before_request(void* self, char*, char*, int, int) noexcept;

    CURLM* multi_;
    CURLSH* share_;
    std::shared_ptr<client_calls> client_;
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
    queued_call call_{};
    std::chrono::steady_clock::time_point begun_{};
    std::chrono::steady_clock::time_point end_{}; ///< of the call's time
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/transfer.ipp>
#endif
