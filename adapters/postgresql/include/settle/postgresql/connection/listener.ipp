// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that listener.hpp declares.
#pragma once

#include <settle/postgresql/connection/listener.hpp>

#include <array>
#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

SETTLE_BEGIN
namespace postgresql::detail {

/// A descriptor that becomes readable when a stop is requested.
class stop_event {
public:
    stop_event() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
    }
    stop_event(stop_event const&) = delete;
    stop_event& operator=(stop_event const&) = delete;
    ~stop_event() { ::close(descriptor_); }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    void signal() const noexcept {
        // It fails only if it is readable already.
        static_cast<void>(::eventfd_write(descriptor_, 1));
    }

private:
    int descriptor_;
};

SETTLE_FUNCTION std::string work_channel(pool const& pool) {
    return "settle work " + pool.server().schema;
}

SETTLE_FUNCTION std::string notify_sql(std::string_view channel) {
    // The server cuts long names here and in LISTEN alike.
    return "NOTIFY " + quoted_name(channel);
}

} // namespace postgresql::detail
namespace postgresql {

SETTLE_FUNCTION listener::listener(detail::pool& pool, std::string channel)
    : with_(&pool), channel_(std::move(channel)) {
    connect({});
}

SETTLE_FUNCTION void listener::connect(std::stop_token const& stop) {
    auto new_connection = with_->connect(stop);
    new_connection->send_sql("LISTEN " + detail::quoted_name(channel_), "listen");
    new_connection->sync();
    held_ = std::move(new_connection);
}

SETTLE_FUNCTION bool listener::take_notifications() noexcept {
    bool any = false;
    while (PGnotify* const one = PQnotifies(held_->native())) {
        PQfreemem(one);
        any = true;
    }
    return any;
}

SETTLE_FUNCTION result<bool> listener::wait(time_limit longest, std::stop_token const& stop) {
    auto const until = settle::detail::deadline_after(longest);
    detail::stop_event const stopped;
    std::stop_callback const on_stop{stop, [&] { stopped.signal(); }};
    for (;;) {
        if (!held_ || !held_->alive()) {
            held_.reset();
            if (stop.stop_requested()) return false;
            try {
                connect(stop);
                return true;
            } catch (failure const& caught) {
                if (stop.stop_requested()) return false;
                return caught.problem();
            }
        }
        if (take_notifications()) return true;
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (stop.stop_requested() || left.count() <= 0) return false;
        std::array waits{pollfd{PQsocket(held_->native()), POLLIN, 0},
                         pollfd{stopped.descriptor(), POLLIN, 0}};
        // It looks again from time to time, also where poll() cannot wait so long.
        constexpr std::chrono::milliseconds most = std::chrono::hours{1};
        ::poll(waits.data(), waits.size(), static_cast<int>(std::min(left, most).count()));
    }
}

} // namespace postgresql
SETTLE_END
