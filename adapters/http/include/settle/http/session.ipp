// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session.hpp declares.
#pragma once

#include <settle/http/session.hpp>

#include <settle/http/wire.hpp>

#include <algorithm>
#include <climits>
#include <csignal>
#include <ctime>
#include <iterator>
#include <new>
#include <utility>

SETTLE_BEGIN
namespace http::detail {

/// Keeps SIGPIPE from this thread. With CURLOPT_NOSIGNAL, libcurl leaves this to its user: the
/// system may raise it when a server has gone.
class without_sigpipe {
public:
    without_sigpipe() noexcept {
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    without_sigpipe(without_sigpipe const&) = delete;
    without_sigpipe& operator=(without_sigpipe const&) = delete;
    ~without_sigpipe() {
        // Removes the signal if it was raised.
        std::timespec const now{};
        if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t pipe_;
    sigset_t before_;
    bool was_pending_ = false;
};

SETTLE_FUNCTION void header_list::append(std::string_view name, std::string_view value) {
    starts_.push_back(lines_.size());
    lines_.append(name);
    // libcurl's own form of a header without a value.
    if (value.empty()) lines_ += ';';
    else lines_.append(": ").append(value);
    lines_ += '\0';
}

SETTLE_FUNCTION void header_list::clear() noexcept {
    lines_.resize(kept_.first);
    starts_.resize(kept_.second);
}

SETTLE_FUNCTION curl_slist* header_list::get() {
    list_.resize(starts_.size());
    for (std::size_t at = 0; at < list_.size(); ++at) {
        list_[at] = {lines_.data() + starts_[at], at + 1 < list_.size() ? &list_[at + 1] : nullptr};
    }
    return list_.data();
}

template <typename Value>
void transfer::set(CURLoption option, Value value) {
    require(curl_easy_setopt(easy_.get(), option, value));
}

SETTLE_FUNCTION transfer::transfer(CURLM* multi, destination const& to, wave_values const& wave)
    : multi_(multi), to_(to), wave_(wave), easy_(curl_easy_init()) {
    if (easy_ == nullptr) throw std::bad_alloc{};
    set(CURLOPT_PRIVATE, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, problem_);
    set(CURLOPT_WRITEFUNCTION, &transfer::take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_PREREQFUNCTION, &transfer::before_request);
    set(CURLOPT_PREREQDATA, static_cast<void*>(this));
    set(CURLOPT_NOSIGNAL, 1L);
    // A call that has timed out does not wait for the thread that looks up its host.
    set(CURLOPT_QUICK_EXIT, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // Every encoding that libcurl was built with: some services send gzip to everybody.
    set(CURLOPT_ACCEPT_ENCODING, "");
    // Without HTTP/2 in libcurl, this option is refused, and HTTP/1.1 is used.
    curl_easy_setopt(easy_.get(), CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
    // A call over TLS waits to share a connection, which HTTP/2 can.
    if (begins_like(to_.base, "https:")) set(CURLOPT_PIPEWAIT, 1L);
    set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
    if (!to_.settings.ca_file.empty()) set(CURLOPT_CAINFO, to_.settings.ca_file.c_str());
    if (!to_.settings.certificate_file.empty()) {
        set(CURLOPT_SSLCERT, to_.settings.certificate_file.c_str());
        set(CURLOPT_SSLKEY, to_.settings.key_file.c_str());
        // Without it, OpenSSL asks the terminal for the password of a key that has one.
        set(CURLOPT_KEYPASSWD, "");
    }
    if (to_.settings.proxy) set(CURLOPT_PROXY, to_.settings.proxy->c_str());
    else if (to_.loopback) set(CURLOPT_PROXY, "");
    set(CURLOPT_CONNECTTIMEOUT_MS, curl_milliseconds(to_.settings.connect_timeout));
    auto const version = std::to_string(SETTLE_VERSION / 10000) + '.' +
                         std::to_string(SETTLE_VERSION / 100 % 100) + '.' +
                         std::to_string(SETTLE_VERSION % 100);
    set(CURLOPT_USERAGENT, ("settle/" + version).c_str());
    for (auto const& [name, value] : to_.settings.headers) headers_.append(name, value);
    headers_.append("Content-Type", "application/json");
    headers_.append("Accept", "application/json");
    headers_.keep();
}

SETTLE_FUNCTION transfer::~transfer() {
    if (under_way_) curl_multi_remove_handle(multi_, easy_.get());
}

SETTLE_FUNCTION transfer& transfer::of(CURL* easy) {
    char* self = nullptr;
    require(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self));
    return *reinterpret_cast<transfer*>(self);
}

SETTLE_FUNCTION void transfer::begin(service_call const& call, service_answer& answer,
                                     std::chrono::milliseconds limit) {
    call_ = &call;
    answer_ = &answer;
    cut_ = false;
    sent_ = sent_twice_ = false;
    problem_[0] = '\0';
    body_.clear();
    url_.assign(to_.base).append("/").append(name_of(call.operation));
    write_body(request_, call, to_.settings);
    headers_.clear();
    for (auto const& [name, value] : wave_.headers) headers_.append(name, value);
    auto const append = [this](std::string_view name, std::string_view value) {
        headers_.append(name, value);
    };
    for_each_header(call, append, to_.settings);
    set(CURLOPT_URL, url_.c_str());
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_POSTFIELDS, request_.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.size()));
    set(CURLOPT_TIMEOUT_MS, curl_milliseconds(limit));
    require(curl_multi_add_handle(multi_, easy_.get()));
    under_way_ = true;
}

SETTLE_FUNCTION std::size_t transfer::take_body(char* bytes, std::size_t, std::size_t count,
                                                void* self) noexcept {
    auto& to = *static_cast<transfer*>(self);
    if (count > to.to_.settings.longest_answer - to.body_.size()) {
        to.cut_ = true;
        return 0;
    }
    try {
        to.body_.append(bytes, count);
        return count;
    } catch (std::bad_alloc const&) {
        return 0;
    }
}

SETTLE_FUNCTION int transfer::before_request(void* self, char*, char*, int, int) noexcept {
    auto& of = *static_cast<transfer*>(self);
    of.sent_twice_ = std::exchange(of.sent_, true);
    return CURL_PREREQFUNC_OK;
}

SETTLE_FUNCTION http_answer transfer::received() const {
    http_answer answer;
    long status = 0;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status));
    answer.status = static_cast<int>(status);
    answer.body = body_;
    char const* type = nullptr;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type));
    if (type != nullptr) answer.content_type = type;
    curl_header* header = nullptr;
    auto const has_header = [&](char const* name) {
        return curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
    };
    if (has_header(std::string{key_and_operation}.c_str())) answer.key = header->value;
    answer.asks_again = has_header("Retry-After");
    answer.sent_twice = sent_twice_;
    curl_off_t seconds = 0;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds));
    // A longer time is shortened later in any case.
    constexpr curl_off_t longest = INT_MAX;
    if (seconds > 0) answer.retry_after = std::chrono::seconds{std::min(seconds, longest)};
    return answer;
}

SETTLE_FUNCTION void transfer::end(CURLcode how) {
    under_way_ = false;
    require(curl_multi_remove_handle(multi_, easy_.get()));
    if (how == CURLE_OK) {
        *answer_ = wave_.reader.read(*call_, received());
    } else if (cut_) {
        *answer_ = wave_.reader.missing(*call_, sent_,
                                        "the answer is longer than options::longest_answer, " +
                                            std::to_string(to_.settings.longest_answer) + " bytes");
    } else {
        *answer_ = wave_.reader.missing(*call_, sent_,
                                        problem_[0] != '\0' ? problem_ : curl_easy_strerror(how));
    }
}

SETTLE_FUNCTION void transfer::give_up(std::string_view why) {
    if (!std::exchange(under_way_, false)) return;
    require(curl_multi_remove_handle(multi_, easy_.get()));
    *answer_ = wave_.reader.missing(*call_, sent_, why);
}

SETTLE_FUNCTION session::session(destination const& to)
    : to_(to), wave_{{}, {to.base, to.settings}}, multi_(curl_multi_init()) {
    if (multi_ == nullptr) throw std::bad_alloc{};
    auto const set = [this](CURLMoption option, auto value) {
        require(curl_multi_setopt(multi_.get(), option, value));
    };
    auto const most = std::min<std::size_t>(to.settings.calls_at_once, INT_MAX);
    set(CURLMOPT_MAXCONNECTS, static_cast<long>(most));
    set(CURLMOPT_SOCKETFUNCTION, &session::watch);
    set(CURLMOPT_SOCKETDATA, static_cast<void*>(this));
    set(CURLMOPT_TIMERFUNCTION, &session::set_timer);
    set(CURLMOPT_TIMERDATA, static_cast<void*>(this));
}

SETTLE_FUNCTION session::~session() {
    without_sigpipe const guard;
    transfers_.clear();
    multi_.reset();
}

SETTLE_FUNCTION int session::watch(CURL*, curl_socket_t socket, int action, void* self,
                                   void*) noexcept {
    auto& watched = static_cast<session*>(self)->watched_;
    auto position = std::find_if(watched.begin(), watched.end(),
                                 [&](pollfd const& polled) { return polled.fd == socket; });
    if (action == CURL_POLL_REMOVE) {
        if (position != watched.end()) {
            *position = watched.back();
            watched.pop_back();
        }
        return 0;
    }
    try {
        if (position == watched.end()) position = watched.insert(position, {socket, 0, 0});
    } catch (std::bad_alloc const&) {
        return -1;
    }
    int const events = action == CURL_POLL_IN    ? POLLIN
                       : action == CURL_POLL_OUT ? POLLOUT
                                                 : POLLIN | POLLOUT;
    position->events = static_cast<short>(events);
    return 0;
}

SETTLE_FUNCTION int session::set_timer(CURLM*, long milliseconds, void* self) noexcept {
    auto& timer = static_cast<session*>(self)->timer_;
    if (milliseconds < 0) timer.reset();
    else timer = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    return 0;
}

SETTLE_FUNCTION void session::go_on(curl_socket_t socket, int events) {
    int running = 0;
    require(curl_multi_socket_action(multi_.get(), socket, events, &running));
}

SETTLE_FUNCTION void session::go_on_in_time() {
    if (!timer_ || *timer_ > std::chrono::steady_clock::now()) return;
    timer_.reset();
    go_on(CURL_SOCKET_TIMEOUT, 0);
}

SETTLE_FUNCTION void session::wait(wait_limits const& limits) {
    using std::chrono::milliseconds;
    milliseconds limit{1000};
    // A stop request wakes nobody.
    if (limits.stop.stop_possible()) limit = milliseconds{30};
    for (auto const& end : {timer_, limits.deadline}) {
        if (!end) continue;
        auto const left = std::chrono::ceil<milliseconds>(*end - std::chrono::steady_clock::now());
        limit = std::clamp(left, milliseconds{0}, limit);
    }
    ready_.clear();
    if (::poll(watched_.data(), watched_.size(), static_cast<int>(limit.count())) > 0) {
        // libcurl changes the watched sockets.
        std::copy_if(watched_.begin(), watched_.end(), std::back_inserter(ready_),
                     [](pollfd const& polled) { return polled.revents != 0; });
    }
    for (pollfd const& descriptor : ready_) {
        // The native error of a broken socket comes from its next read or write.
        bool const broken = (descriptor.revents & ~(POLLIN | POLLOUT)) != 0;
        int const events = broken ? descriptor.events : descriptor.events & descriptor.revents;
        go_on(descriptor.fd, ((events & POLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                                 ((events & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0));
    }
    go_on_in_time();
}

SETTLE_FUNCTION std::string session::take_headers() {
    if (!to_.settings.headers_of_wave) return {};
    try {
        wave_.headers = to_.settings.headers_of_wave();
        wave_.reader.hide(wave_.headers);
        for (auto const& [name, value] : wave_.headers) check_header(name, value);
        return {};
    } catch (std::exception const& thrown) {
        return std::string{"options::headers_of_wave failed: "} + thrown.what();
    } catch (...) {
        return "options::headers_of_wave failed";
    }
}

/// Why a call has no answer, once the limits are over.
[[nodiscard]] inline std::string ended_by(wait_limits const& limits) {
    return std::string{limits.name()} + " ended the wait";
}

SETTLE_FUNCTION void session::send(std::span<service_call const> calls,
                                   std::span<service_answer> answers, wait_limits const& limits) {
    using std::chrono::steady_clock, std::chrono::milliseconds;
    without_sigpipe const guard;
    constexpr milliseconds longest{INT_MAX};
    auto const limit = std::min<milliseconds>(to_.settings.wave_timeout, longest);
    auto const end = steady_clock::now() + limit;
    // libcurl may end a call a moment before our clock shows the end of the wave. The next call
    // would be sent for that moment alone.
    constexpr milliseconds least{10};
    if (auto const problem = take_headers(); !problem.empty()) {
        for (std::size_t at = 0; at < calls.size(); ++at) {
            answers[at] = wave_.reader.missing(calls[at], false, problem);
        }
        return;
    }
    std::size_t next = 0;
    std::size_t under_way = 0;
    auto const begin_next = [&](transfer& transfer) {
        for (; next < calls.size(); ++next) {
            if (limits.are_over()) {
                answers[next] = wave_.reader.unsent(calls[next], ended_by(limits));
                continue;
            }
            auto const left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
            if (left > least) {
                auto const index = next++;
                transfer.begin(calls[index], answers[index],
                               std::min<milliseconds>(to_.settings.call_timeout, left));
                ++under_way;
                return;
            }
            answers[next] =
                wave_.reader.unsent(calls[next], "the time of options::wave_timeout is over");
        }
    };
    while (transfers_.size() < std::min(calls.size(), to_.settings.calls_at_once)) {
        transfers_.push_back(std::make_unique<transfer>(multi_.get(), to_, wave_));
    }
    for (auto const& each : transfers_) {
        begin_next(*each);
        // The service has the first requests while the others are made.
        go_on_in_time();
    }
    while (true) {
        int left = 0;
        while (CURLMsg const* const message = curl_multi_info_read(multi_.get(), &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            auto const how = message->data.result;
            auto& ended = transfer::of(message->easy_handle);
            ended.end(how);
            --under_way;
            begin_next(ended);
        }
        if (under_way == 0) return;
        if (limits.are_over()) {
            for (auto const& each : transfers_) each->give_up(ended_by(limits));
            return begin_next(*transfers_.front()); // answers the calls that have not begun
        }
        wait(limits);
    }
}

} // namespace http::detail
SETTLE_END
