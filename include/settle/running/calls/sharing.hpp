// SPDX-License-Identifier: BSL-1.0
// A thread that shares the limits of clients with the other processes of a log.
#pragma once

#include <settle/base/process.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/engine.hpp>

#include <map>
#include <thread>

SETTLE_BEGIN
namespace detail {

/// The processes that share the limits of their clients, as one of them sees them. Each says in
/// the log's metadata that it goes on. It makes calls only as long as all others count it, by their
/// own clocks.
class process_shares {
public:
    using moment = std::chrono::steady_clock::time_point;

    /// A process that could not say for so long that it goes on makes no call. So a process waits
    /// as long before its first call: then the others count it, or make none.
    static constexpr std::chrono::seconds holds_for{5};
    /// A process that has said nothing for so long has ended.
    static constexpr std::chrono::seconds ends_after{2 * holds_for};

    /// Shape:   id - of this process, at most 50 bytes
    explicit process_shares(std::string_view id);
    /// Says that this process goes on, and looks at the others.
    result<void> say(log_port& log, function_view<moment()> now);
    /// How many processes share the limits; 0 if this one must not make a call yet.
    [[nodiscard]] std::size_t count(moment now) const;
    /// The end of that number.
    [[nodiscard]] moment until() const { return said_ + holds_for; }

private:
    struct other {
        std::string said;
        moment since; ///< when this process has first seen that text
    };
    [[nodiscard]] result<void> forget_ended(log_port& log, moment now);

    std::string own_;
    std::uint64_t times_ = 0;
    std::map<std::string, other> others_{};
    moment begun_ = moment::max(); ///< the others have counted this process since, or soon do
    moment sent_{};                ///< when the last word was sent
    moment said_{};                ///< when the last word was sent that the log has shown
};

/// The log of an engine, for a process that says that it goes on.
struct sharing_access {
    template <typename Engine>
    static result<void> say(Engine& engine, process_shares& shares, call_options const& call) {
        if (!engine.gate_.is_open(call)) return engine.gate_.why();
        caller_wait const within{limits_of(call)};
        return shares.say(engine.assembly_.seam().ports.log,
                          [] { return std::chrono::steady_clock::now(); });
    }
};

} // namespace detail

/// A client whose limits are for all processes that share them.
/// Shape:   share(processes, until) - from now on until a moment it keeps to 1/processes of its
///          limits; with 0, and after that moment, it begins no call
template <typename Client>
concept SharingClient = requires(Client& client, std::chrono::steady_clock::time_point until) {
    client.share(std::size_t{}, until);
};

/// Shares the limits of clients with every process that does so in the same log. A process begins
/// calls 5 s after its thread; those that ended leave their share after 10 s.
/// Shape:   engine, clients - outlive this object. After it the clients begin no call
/// Cost:    a read and a write of the log's metadata each second
template <typename Engine, SharingClient... Clients>
class sharing_thread {
public:
    explicit sharing_thread(Engine& engine, Clients&... clients) {
        auto const share = [&clients...](std::size_t processes,
                                         detail::process_shares::moment until) {
            (clients.share(processes, until), ...);
        };
        auto const go_on = [&engine, share](std::stop_token const& stop) {
            detail::process_shares shares{fresh_id(system_environment{})};
            while (!stop.stop_requested()) {
                constexpr time_limit soon = detail::process_shares::holds_for / 2;
                try {
                    std::ignore = detail::sharing_access::say(engine, shares, {soon, stop});
                } catch (...) {
                    // As for a log that cannot be reached: the share ends.
                }
                share(shares.count(std::chrono::steady_clock::now()), shares.until());
                detail::pause_for(std::chrono::seconds{1}, stop);
            }
            share(0, {});
        };
        share(0, {});
        try {
            thread_ = std::make_unique<std::jthread>(go_on);
        } catch (...) {
            share(1, detail::process_shares::moment::max());
            throw;
        }
    }
    sharing_thread(sharing_thread const&) = delete;
    sharing_thread& operator=(sharing_thread const&) = delete;
    ~sharing_thread() {
        // A forked child does not have the thread, and joining it would take for ever.
        if (!made_in_.is_here()) static_cast<void>(thread_.release());
    }

private:
    process_stamp made_in_{};
    std::unique_ptr<std::jthread> thread_{};
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/sharing.ipp>
#endif
