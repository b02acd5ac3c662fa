// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session.hpp declares.
#pragma once

#include <settle/base/process.hpp>
#include <settle/http/session.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <exception>
#include <limits>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

SETTLE_BEGIN
namespace http::detail {

SETTLE_FUNCTION descriptor::descriptor(int number, char const* what) : number_(number) {
    if (number < 0) throw std::system_error{errno, std::system_category(), what};
}
SETTLE_FUNCTION descriptor::~descriptor() { ::close(number_); }

// ------------------------------------------------------------------------------ groups of
// transfers

SETTLE_FUNCTION transfer_group::transfer_group(int epoll, std::size_t number, std::size_t most,
                                               CURLSH* share)
    : epoll_(epoll), number_(std::uint64_t{number} << 32U), most_(most), share_(share),
      multi_(curl_multi_init()) {
    if (multi_ == nullptr) throw std::bad_alloc{};
    auto const set = [this](CURLMoption option, auto value) {
        require(curl_multi_setopt(multi_.get(), option, value));
    };
    set(CURLMOPT_MAXCONNECTS, static_cast<long>(most));
    // An idle connection of another host is closed before there are more.
    set(CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(most));
    set(CURLMOPT_SOCKETFUNCTION, &transfer_group::watch);
    set(CURLMOPT_SOCKETDATA, static_cast<void*>(this));
    set(CURLMOPT_TIMERFUNCTION, &transfer_group::set_timer);
    set(CURLMOPT_TIMERDATA, static_cast<void*>(this));
}

SETTLE_FUNCTION transfer& transfer_group::add() {
    return *transfers_.emplace_back(std::make_unique<transfer>(multi_.get(), share_));
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

/// The session of a process. A child of fork() makes another one.
struct process_session {
    process_stamp made_in{};
    std::mutex lock{};
    std::weak_ptr<session> held{};
};

SETTLE_FUNCTION std::shared_ptr<session> session::of_process() {
    static std::atomic<process_session*> known = nullptr;
    process_session* mine = known.load();
    while (mine == nullptr || !mine->made_in.is_here()) {
        auto made = std::make_unique<process_session>();
        if (known.compare_exchange_strong(mine, made.get())) mine = made.release();
    }
    std::scoped_lock const guard{mine->lock};
    auto held = mine->held.lock();
    if (held == nullptr) {
        held = std::make_shared<session>();
        mine->held = held;
    }
    return held;
}

SETTLE_FUNCTION session::session()
    : most_(bounded_by_files(std::numeric_limits<std::size_t>::max())),
      epoll_(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
      wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"), share_(curl_share_init()) {
    if (share_ == nullptr) throw std::bad_alloc{};
    // One thread uses it, so it needs no lock.
    curl_share_setopt(share_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
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
    wake();
    thread_.join();
}

SETTLE_FUNCTION void session::wake() {
    std::uint64_t const one = 1;
    std::ignore = ::write(wakes_.get(), &one, sizeof one);
}

/// The values of calls that are started now.
[[nodiscard]] inline std::shared_ptr<wave_values const> wave_of(client_calls const& client) {
    options const& settings = client.to.settings;
    if (!settings.headers_of_wave) return client.plain_wave;
    auto wave = std::make_shared<wave_values>(*client.plain_wave);
    try {
        wave->headers = settings.headers_of_wave();
        wave->reader.hide(wave->headers);
        for (auto const& [name, value] : wave->headers) check_header(name, value);
    } catch (std::exception const& thrown) {
        wave->problem = std::string{"options::headers_of_wave failed: "} + thrown.what();
    } catch (...) {
        wave->problem = "options::headers_of_wave failed";
    }
    return wave;
}

SETTLE_FUNCTION void session::start(std::shared_ptr<client_calls> const& client,
                                    calls_to_start calls) {
    auto const wave = wave_of(*client);
    if (!wave->problem.empty()) {
        for (auto const& call : calls)
            call->answer(wave->reader.missing(call->call(), false, wave->problem));
        return;
    }
    using std::chrono::milliseconds;
    auto const limit =
        std::min<milliseconds>(client->to.settings.wave_timeout, milliseconds{INT_MAX});
    auto const begin = std::chrono::steady_clock::now();
    std::scoped_lock const guard{lock_};
    if (!thread_.joinable()) run_thread();
    started_.reserve(started_.size() + calls.size());
    for (auto const& call : calls) started_.push_back({client, call, wave, begin, begin + limit});
    wake();
}

SETTLE_FUNCTION void session::end_client() {
    --clients_;
    std::scoped_lock const guard{lock_};
    closes_ = true;
    if (thread_.joinable()) wake();
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
    for (queued_call& started : started_) {
        if (!std::exchange(started.client->is_active, true)) active_.push_back(started.client);
        client_calls& client = *started.client;
        client.queue.push_back(std::move(started));
    }
    started_.clear();
    if (std::exchange(closes_, false)) last_look_ = {};
    return !ends_;
}

SETTLE_FUNCTION void session::round() {
    expire();
    begin_calls();
    wait();
    for (auto const& group : groups_)
        group->end_transfers([this](transfer& ended) { put_back(ended); });
}

SETTLE_FUNCTION void session::put_back(transfer& ended) {
    --ended.client().under_way;
    if (ended.client().is_closed) ended.forget_client();
    idle_.push_back(&ended);
}

SETTLE_FUNCTION void session::expire() {
    auto const now = std::chrono::steady_clock::now();
    // libcurl may end a call a moment before our clock shows the end of its time. A call that is
    // sent for that moment alone would be lost.
    constexpr std::chrono::milliseconds least{10};
    // Transactions that wait for a failing service rest meanwhile.
    constexpr std::chrono::seconds longest_at_failing{1};
    for (auto const& client : active_) {
        auto& queue = client->queue;
        auto const is_over = [&](queued_call const& call) {
            bool const is_late = call.end - now <= least;
            return client->is_closed || is_late ||
                   (client->pace.is_failing() && now - call.begin >= longest_at_failing);
        };
        while (!queue.empty() && is_over(queue.front())) {
            queued_call const late = std::move(queue.front());
            queue.pop_front();
            char const* const why =
                client->pace.is_failing() ? "the service fails, and gets few calls until it answers"
                : client->own_part_of(1, now) == 0
                    ? "this process has no part of the client's limits yet, or "
                      "could not say in the log that it goes on"
                    : "the time of options::wave_timeout is over before the client's "
                      "limits gave it a turn";
            late.call->answer(late.wave->reader.unsent(late.call->call(), why));
        }
    }
    end_forgotten();
}

SETTLE_FUNCTION void session::end_forgotten() {
    auto const now = std::chrono::steady_clock::now();
    constexpr std::chrono::milliseconds pause{50};
    if (now - last_look_ < pause) return;
    last_look_ = now;
    for (auto const& group : groups_) {
        for (auto const& each : group->transfers()) {
            bool const is_overdue = each->is_overdue(now);
            if (!is_overdue && !each->is_forgotten()) continue;
            each->give_up(is_overdue ? "its time is over" : "nobody waits for it",
                          is_overdue || each->is_slow(now));
            put_back(*each);
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
    if (groups_.empty() || groups_.back()->full()) {
        std::size_t const room = std::min(transfer_group::largest, most_ - transfers_);
        groups_.push_back(
            std::make_unique<transfer_group>(epoll_.get(), groups_.size(), room, share_.get()));
    }
    ++transfers_;
    return &groups_.back()->add();
}

SETTLE_FUNCTION void session::begin_calls() {
    // Another client is the first each time: there may not be a transfer for all.
    if (active_.size() > 1) std::rotate(active_.begin(), active_.begin() + 1, active_.end());
    for (auto const& client : active_) begin_calls_of(*client);
    std::erase_if(active_, [](auto const& client) {
        client->is_active = !client->queue.empty();
        return !client->is_active;
    });
}

SETTLE_FUNCTION std::size_t client_calls::room(std::chrono::steady_clock::time_point now) const {
    constexpr std::size_t scouts = 16;
    if (!found_at || pace.is_failing()) return std::min(most, scouts);
    if (has_worked) return most;
    constexpr std::chrono::milliseconds doubles_in{50};
    constexpr std::int64_t most_doublings = 20;
    auto const doublings = std::min<std::int64_t>((now - *found_at) / doubles_in, most_doublings);
    return std::min(most, scouts << doublings);
}

SETTLE_FUNCTION bool session::may_begin(client_calls const& client) const {
    auto const now = std::chrono::steady_clock::now();
    if (client.under_way >= client.own_part_of(client.room(now), now)) return false;
    if (client.pace.next() > now) return false;
    // A service that hangs leaves transfers to the others: beyond its share, a client takes none of
    // the last eighth.
    std::size_t const share = most_ / std::max<std::size_t>(1, clients_);
    std::size_t const free = most_ - transfers_ + idle_.size();
    return client.under_way < share || free > most_ / 8;
}

SETTLE_FUNCTION void session::begin_calls_of(client_calls& client) {
    while (!client.queue.empty() && may_begin(client)) {
        transfer* const free = idle_transfer();
        if (free == nullptr) return;
        queued_call call = std::move(client.queue.front());
        client.queue.pop_front();
        if (!call.call->begin()) {
            idle_.push_back(free);
            continue;
        }
        using std::chrono::milliseconds;
        auto const now = std::chrono::steady_clock::now();
        auto const left = std::chrono::ceil<milliseconds>(call.end - now);
        client.pace.note_call(now, client.processes);
        free->begin(std::move(call), std::min<milliseconds>(client.to.settings.call_timeout, left));
        ++client.under_way;
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
    // Calls wait for a transfer: one may be forgotten. And libcurl may miss the end of a call.
    if (!active_.empty()) until(now + milliseconds{50});
    if (idle_.size() != transfers_) until(now + milliseconds{500});
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
        for (auto const& each : group->transfers()) {
            // A transfer that has failed is under way no more, and yet was not put back.
            if (each->has_client()) each->client().under_way = 0;
            if (each->is_under_way()) each->give_up(why, false);
        }
    }
    groups_.clear();
    idle_.clear();
    transfers_ = 0;
    for (auto const& client : std::exchange(active_, {})) {
        for (queued_call const& call : std::exchange(client->queue, {}))
            call.call->answer(call.wave->reader.unsent(call.call->call(), why));
        client->is_active = false;
    }
}

} // namespace http::detail
SETTLE_END
