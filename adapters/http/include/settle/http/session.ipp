// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session.hpp declares.
#pragma once

#include <settle/http/session.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <exception>
#include <iterator>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

SETTLE_BEGIN
namespace http::detail {

SETTLE_FUNCTION descriptor::descriptor(int number, char const* what) : number_(number) {
    if (number < 0) throw std::system_error{errno, std::system_category(), what};
}
SETTLE_FUNCTION descriptor::~descriptor() { ::close(number_); }

// ------------------------------------------------------------------------------ groups of transfers

SETTLE_FUNCTION transfer_group::transfer_group(destination const& to, int epoll, std::size_t number)
    : to_(to), epoll_(epoll), number_(std::uint64_t{number} << 32U), multi_(curl_multi_init()) {
    if (multi_ == nullptr) throw std::bad_alloc{};
    auto const set = [this](CURLMoption option, auto value) {
        require(curl_multi_setopt(multi_.get(), option, value));
    };
    set(CURLMOPT_MAXCONNECTS, static_cast<long>(largest));
    set(CURLMOPT_SOCKETFUNCTION, &transfer_group::watch);
    set(CURLMOPT_SOCKETDATA, static_cast<void*>(this));
    set(CURLMOPT_TIMERFUNCTION, &transfer_group::set_timer);
    set(CURLMOPT_TIMERDATA, static_cast<void*>(this));
}

SETTLE_FUNCTION transfer& transfer_group::add() {
    return *transfers_.emplace_back(std::make_unique<transfer>(multi_.get(), to_));
}

SETTLE_FUNCTION int transfer_group::watch(CURL*, curl_socket_t socket, int action, void* self,
                                          void* known) noexcept {
    auto const& group = *static_cast<transfer_group*>(self);
    if (action == CURL_POLL_REMOVE) {
        ::epoll_ctl(group.epoll_, EPOLL_CTL_DEL, socket, nullptr);
        return 0;
    }
    epoll_event watched{};
    if (action != CURL_POLL_OUT) watched.events |= EPOLLIN;
    if (action != CURL_POLL_IN) watched.events |= EPOLLOUT;
    watched.data.u64 = group.number_ | static_cast<std::uint32_t>(socket);
    int const operation = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (::epoll_ctl(group.epoll_, operation, socket, &watched) != 0) return -1;
    curl_multi_assign(group.multi_.get(), socket, self);
    return 0;
}

SETTLE_FUNCTION int transfer_group::set_timer(CURLM*, long milliseconds, void* self) noexcept {
    auto& timer = static_cast<transfer_group*>(self)->timer_;
    if (milliseconds < 0) timer.reset();
    else timer = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    return 0;
}

SETTLE_FUNCTION void transfer_group::go_on(curl_socket_t socket, int events) {
    int running = 0;
    require(curl_multi_socket_action(multi_.get(), socket, events, &running));
}

SETTLE_FUNCTION void transfer_group::go_on_in_time(moment now) {
    if (!timer_ || *timer_ > now) return;
    timer_.reset();
    go_on(CURL_SOCKET_TIMEOUT, 0);
}

template <typename Function>
void transfer_group::end_transfers(Function&& function) {
    int left = 0;
    while (CURLMsg const* const message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        auto const how = message->data.result;
        auto& ended = transfer::of(message->easy_handle);
        ended.end(how);
        function(ended);
    }
}

// ------------------------------------------------------------------------------------- the session

/// The calls that a client has at once: each needs a file descriptor, and the program needs others.
[[nodiscard]] inline std::size_t bounded_by_files(std::size_t calls) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return calls;
    auto const room = static_cast<std::size_t>(files.rlim_cur - files.rlim_cur / 16);
    return std::clamp<std::size_t>(calls, 1, std::max<std::size_t>(1, room));
}

SETTLE_FUNCTION session::session(destination const& to)
    : to_(to), plain_wave_(std::make_shared<wave_values>(
                   wave_values{{}, answer_reader{to.base, to.settings}})),
      most_(bounded_by_files(to.settings.calls_at_once)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
      wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd") {
    epoll_event watched{};
    watched.events = EPOLLIN;
    watched.data.u64 = ~std::uint64_t{0};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakes_.get(), &watched);
}

SETTLE_FUNCTION session::~session() {
    {
        std::scoped_lock const guard{lock_};
        ends_ = true;
    }
    if (!thread_.joinable()) return;
    std::uint64_t const one = 1;
    std::ignore = ::write(wakes_.get(), &one, sizeof one);
    thread_.join();
}

SETTLE_FUNCTION std::shared_ptr<wave_values const> session::new_wave() const {
    if (!to_.settings.headers_of_wave) return plain_wave_;
    auto wave = std::make_shared<wave_values>(*plain_wave_);
    try {
        wave->headers = to_.settings.headers_of_wave();
        wave->reader.hide(wave->headers);
        for (auto const& [name, value] : wave->headers) check_header(name, value);
    } catch (std::exception const& thrown) {
        wave->problem = std::string{"options::headers_of_wave failed: "} + thrown.what();
    } catch (...) {
        wave->problem = "options::headers_of_wave failed";
    }
    return wave;
}

SETTLE_FUNCTION void session::start(calls_to_start calls) {
    auto const wave = new_wave();
    if (!wave->problem.empty()) {
        for (auto const& call : calls)
            call->answer(wave->reader.missing(call->call(), false, wave->problem));
        return;
    }
    using std::chrono::milliseconds;
    auto const limit = std::min<milliseconds>(to_.settings.wave_timeout, milliseconds{INT_MAX});
    auto const end = std::chrono::steady_clock::now() + limit;
    std::scoped_lock const guard{lock_};
    if (!thread_.joinable()) run_thread();
    started_.reserve(started_.size() + calls.size());
    for (auto const& call : calls) started_.push_back({call, wave, end});
    std::uint64_t const one = 1;
    std::ignore = ::write(wakes_.get(), &one, sizeof one);
}

SETTLE_FUNCTION void session::run_thread() {
    // Signals are for the program's own threads. SIGPIPE would come when a server has gone.
    sigset_t every;
    sigset_t before;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SETTLE_FUNCTION void session::run() {
    while (true) {
        try {
            if (!take_calls()) return end_all("the client ends");
            round();
        } catch (std::exception const& problem) {
            // libcurl has refused a request, or there is no memory: the connections are unusable.
            end_all(problem.what());
        }
    }
}

SETTLE_FUNCTION bool session::take_calls() {
    std::scoped_lock const guard{lock_};
    std::move(started_.begin(), started_.end(), std::back_inserter(queue_));
    started_.clear();
    return !ends_;
}

SETTLE_FUNCTION void session::round() {
    expire();
    begin_calls();
    wait();
    for (auto const& group : groups_)
        group->end_transfers([this](transfer& ended) { idle_.push_back(&ended); });
}

SETTLE_FUNCTION void session::expire() {
    auto const now = std::chrono::steady_clock::now();
    // libcurl may end a call a moment before our clock shows the end of its time. A call that is
    // sent for that moment alone would be lost.
    constexpr std::chrono::milliseconds least{10};
    while (!queue_.empty() && queue_.front().end - now <= least) {
        queued_call const late = std::move(queue_.front());
        queue_.pop_front();
        late.call->answer(late.wave->reader.unsent(late.call->call(),
                                                   "the time of options::wave_timeout is over"));
    }
    constexpr std::chrono::milliseconds pause{50};
    if (queue_.empty() || now - last_look_ < pause) return;
    last_look_ = now;
    for (auto const& group : groups_) {
        for (auto const& each : group->transfers()) {
            if (!each->is_forgotten()) continue;
            each->give_up("nobody waits for it");
            idle_.push_back(each.get());
        }
    }
}

SETTLE_FUNCTION transfer* session::idle_transfer() {
    if (!idle_.empty()) {
        transfer* const last = idle_.back();
        idle_.pop_back();
        return last;
    }
    if (transfers_ == most_) return nullptr;
    if (groups_.empty() || groups_.back()->full())
        groups_.push_back(std::make_unique<transfer_group>(to_, epoll_.get(), groups_.size()));
    ++transfers_;
    return &groups_.back()->add();
}

SETTLE_FUNCTION void session::begin_calls() {
    while (!queue_.empty()) {
        transfer* const free = idle_transfer();
        if (free == nullptr) return;
        queued_call call = std::move(queue_.front());
        queue_.pop_front();
        if (!call.call->begin()) {
            idle_.push_back(free);
            continue;
        }
        using std::chrono::milliseconds;
        auto const now = std::chrono::steady_clock::now();
        auto const left = std::chrono::ceil<milliseconds>(call.end - now);
        free->begin(std::move(call), std::min<milliseconds>(to_.settings.call_timeout, left));
        // The service has the first requests while the others are made.
        for (auto const& group : groups_) group->go_on_in_time(now);
    }
}

SETTLE_FUNCTION void session::wait() {
    using std::chrono::milliseconds;
    auto const now = std::chrono::steady_clock::now();
    milliseconds limit{60'000};
    auto const until = [&](moment end) {
        limit = std::clamp(std::chrono::ceil<milliseconds>(end - now), milliseconds{0}, limit);
    };
    for (auto const& group : groups_) {
        if (group->timer()) until(*group->timer());
    }
    // Calls wait for a transfer: one may be forgotten.
    if (!queue_.empty()) until(now + milliseconds{50});
    std::array<epoll_event, 256> ready{};
    int const count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()),
                                   static_cast<int>(limit.count()));
    for (int index = 0; index < count; ++index) {
        epoll_event const& event = ready[static_cast<std::size_t>(index)];
        std::uint64_t const data = event.data.u64;
        if (data == ~std::uint64_t{0}) {
            std::uint64_t written = 0;
            std::ignore = ::read(wakes_.get(), &written, sizeof written);
            continue;
        }
        // The native error of a broken socket comes from its next read or write.
        bool const broken = (event.events & ~(EPOLLIN | EPOLLOUT)) != 0;
        int events = 0;
        if (broken || (event.events & EPOLLIN) != 0) events |= CURL_CSELECT_IN;
        if (broken || (event.events & EPOLLOUT) != 0) events |= CURL_CSELECT_OUT;
        groups_[data >> 32U]->go_on(static_cast<curl_socket_t>(data & 0xffff'ffffU), events);
    }
    auto const then = std::chrono::steady_clock::now();
    for (auto const& group : groups_) group->go_on_in_time(then);
}

SETTLE_FUNCTION void session::end_all(std::string_view why) {
    for (auto const& group : groups_) {
        for (auto const& each : group->transfers()) each->give_up(why);
    }
    groups_.clear();
    idle_.clear();
    transfers_ = 0;
    for (queued_call const& call : std::exchange(queue_, {}))
        call.call->answer(call.wave->reader.unsent(call.call->call(), why));
}

} // namespace http::detail
SETTLE_END
