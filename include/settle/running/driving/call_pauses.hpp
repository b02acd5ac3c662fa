// SPDX-License-Identifier: BSL-1.0
// The calls that a person has paused. The log keeps the pauses, so that they hold for all workers
// and survive a restart.
#pragma once

#include <settle/running/construction/any_environment.hpp>
#include <settle/store/log_port.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

SETTLE_BEGIN

/// Which calls a pause holds back.
enum class pause_scope : std::uint8_t {
    service,     ///< all calls of a service
    type,        ///< all calls of the transactions of a type
    transaction, ///< all calls of one transaction
};

inline constexpr std::array all_pause_scopes{pause_scope::service, pause_scope::type,
                                             pause_scope::transaction};

[[nodiscard]] std::string_view name_of(pause_scope scope) noexcept;

/// A pause, as a person has asked for it.
struct call_pause {
    pause_scope scope = pause_scope::service;
    std::string name{}; ///< of the service or the type, or the id of the transaction
    std::string why{};
    timestamp since{};

    friend bool operator==(call_pause const&, call_pause const&) = default;
};

namespace detail {

/// Changes the list of pauses in a log.
/// Shape:   change(pauses) - changes the list; false if nothing is to be changed; is called again
///          after another program has changed the list
/// Returns: whether the list was changed
/// Errors:  errc::damaged if the list cannot be read
[[nodiscard]] result<bool> change_pauses(log_port& log,
                                         function_view<bool(std::vector<call_pause>&)> change);

[[nodiscard]] result<std::vector<call_pause>> read_pauses(log_port& log);

/// The pauses that an engine knows. Threads may share an object.
class call_pauses {
public:
    /// How long an engine does not notice that calls are paused or resumed.
    static constexpr std::chrono::seconds look_every{1};

    /// Shape:   log, environment - outlive the object
    call_pauses(log_port& log, environment_view const& environment)
        : log_(log), environment_(environment) {}

    /// Reads the pauses, unless that was done less than `look_every` ago.
    void look();
    /// Has the next look read the pauses.
    void forget() noexcept { looked_at_.store(never, std::memory_order_relaxed); }

    /// Why a call of a transaction is not made now; empty if it is made. No call is made before the
    /// pauses could be read.
    [[nodiscard]] error why_not(std::string_view service, std::string_view type,
                                transaction_id const& id) const;
    /// True if a type or a transaction is paused, as far as is known.
    [[nodiscard]] bool holds(std::string_view type, transaction_id const& id) const;

private:
    struct last_look {
        std::vector<call_pause> pauses{};
        error problem{};
    };

    [[nodiscard]] std::shared_ptr<last_look const> last() const {
        std::lock_guard const guard{mutex_};
        return known_;
    }

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

    log_port& log_;
    environment_view const& environment_;
    std::atomic<std::int64_t> looked_at_{never}; ///< in nanoseconds of the environment
    mutable std::mutex mutex_;
    std::shared_ptr<last_look const> known_{}; ///< null before the first look
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/call_pauses.ipp>
#endif
