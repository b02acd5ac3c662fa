// SPDX-License-Identifier: BSL-1.0
// Sessions without their types, as the driver calls them.
#pragma once

#include <settle/base/process.hpp>
#include <settle/running/driving/call_pauses.hpp>
#include <settle/running/driving/call_watch.hpp>
#include <settle/store/look.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>

SETTLE_BEGIN
namespace detail {

class store_port {
public:
    store_port() = default;
    store_port(store_port const&) = delete;
    store_port& operator=(store_port const&) = delete;
    virtual ~store_port() = default;

    [[nodiscard]] virtual session_capabilities const& capabilities() const noexcept = 0;
    virtual void execute(std::span<part_request const> requests,
                         std::span<part_result> results) = 0;
    /// Begins a wave beside waves of other stores. A store that does not overlap others has set the
    /// results on return.
    virtual void start(std::span<part_request const> requests, std::span<part_result> results) = 0;
    virtual void finish(std::span<part_result> results) = 0;
    /// As finish_by() of the seam; a wave of a store without it is over.
    [[nodiscard]] virtual bool finish_by(std::span<part_result> results,
                                         std::chrono::steady_clock::time_point until,
                                         wave_end const& over) = 0;
    virtual void abandon(std::span<part_result> results) noexcept = 0;
    /// Begins the parts of one job, and starts what jobs have begun. Called only if the store
    /// answers later.
    virtual std::unique_ptr<parts_under_way> begin(std::span<part_request const> requests,
                                                   std::span<part_result> results) = 0;
    virtual void start(started_parts& started) = 0;
    /// Shape:   the log of the port's engine is of the same database
    virtual void one_phase(std::span<one_phase_request> requests, write_context const& context,
                           one_phase_decider& decider) = 0;
    virtual result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                                    std::size_t limit) = 0;
    virtual result<answer> resolve(mark_locator const& locator, bool confirms) = 0;
    /// Called only if the session has it, which read_committed() checks.
    virtual result<store_look> look(look_request const& request) = 0;

    // Called only if the capabilities of the session have it.

    [[nodiscard]] virtual std::size_t longest_id() const = 0;
    virtual result<std::uint64_t> forget(timestamp before, std::size_t limit) = 0;
    virtual result<timestamp> time() = 0;
    [[nodiscard]] virtual bool force(session_moment since) = 0;
};

/// Shape:   Log - the session of the engine's log
template <StoreSession Session, typename Log>
class port_of_store final : public store_port {
public:
    port_of_store(Session& session, Log& log)
        : session_(session), log_(log), can_here_(here(session)) {}

    [[nodiscard]] session_capabilities const& capabilities() const noexcept override {
        return can_here_;
    }
    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        session_.execute(requests, results);
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        if constexpr (can.overlaps_others) session_.start(requests, results);
        else session_.execute(requests, results);
    }
    void finish([[maybe_unused]] std::span<part_result> results) override {
        if constexpr (can.overlaps_others) session_.finish(results);
    }
    [[nodiscard]] bool finish_by([[maybe_unused]] std::span<part_result> results,
                                 [[maybe_unused]] std::chrono::steady_clock::time_point until,
                                 [[maybe_unused]] wave_end const& over) override {
        if constexpr (can.waves_go_on) {
            return session_.finish_by(results, until, over);
        } else {
            finish(results);
            return true;
        }
    }
    void abandon([[maybe_unused]] std::span<part_result> results) noexcept override {
        if constexpr (can.overlaps_others) session_.abandon(results);
    }
    std::unique_ptr<parts_under_way>
    begin([[maybe_unused]] std::span<part_request const> requests,
          [[maybe_unused]] std::span<part_result> results) override {
        if constexpr (can.answers_later) return session_.begin(requests, results);
        else return nullptr;
    }
    void start([[maybe_unused]] started_parts& started) override {
        if constexpr (can.answers_later) session_.start(started);
    }
    void one_phase([[maybe_unused]] std::span<one_phase_request> requests,
                   [[maybe_unused]] write_context const& context,
                   [[maybe_unused]] one_phase_decider& decider) override {
        constexpr bool has = requires { session_.one_phase(requests, log_, context, decider); };
        if constexpr (can.settles_in_one_phase && has) {
            session_.one_phase(requests, log_, context, decider);
        }
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        return session_.marks(after, limit);
    }
    result<answer> resolve(mark_locator const& locator, bool confirms) override {
        return session_.resolve(locator, confirms);
    }
    result<store_look> look([[maybe_unused]] look_request const& request) override {
        if constexpr (requires { session_.look(request, log_); }) {
            return session_.look(request, log_);
        } else if constexpr (requires { session_.look(request); }) {
            return session_.look(request);
        } else {
            return store_look{};
        }
    }
    [[nodiscard]] std::size_t longest_id() const override {
        if constexpr (can.limits_ids) return session_.longest_id();
        else return 0;
    }
    result<std::uint64_t> forget([[maybe_unused]] timestamp before,
                                 [[maybe_unused]] std::size_t limit) override {
        if constexpr (can.forgets) return session_.forget(before, limit);
        else return 0;
    }
    result<timestamp> time() override {
        if constexpr (can.compares_clocks) return session_.time();
        else return timestamp{};
    }

    [[nodiscard]] bool force([[maybe_unused]] session_moment since) override {
        if constexpr (can.confirms_lazily) return session_.force(since);
        else return true;
    }

private:
    static constexpr session_capabilities const& can = detail::capabilities<Session>;

    /// A session around another one may have the other's capabilities, but not its force().
    [[nodiscard]] static session_capabilities here(Session const& session) {
        auto own = capabilities_here(session);
        own.confirms_lazily = own.confirms_lazily && can.confirms_lazily;
        return own;
    }

    Session& session_;
    Log& log_;
    session_capabilities const can_here_;
};

/// Counts the waves that go on without their jobs. The destructor waits for their ends.
class left_waves {
public:
    left_waves() = default;
    left_waves(left_waves const&) = delete;
    left_waves& operator=(left_waves const&) = delete;
    ~left_waves();

    void begin();
    void end() noexcept;

private:
    process_stamp made_in_; // a forked child has none of the waves
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t count_ = 0;
};

/// The store that executes the parts of a target.
struct target_binding {
    void const* target; ///< part_descriptor::target
    std::size_t store;  ///< an index into the engine's stores
};

/// The log and the stores of an engine, as the driver sees them.
struct engine_ports {
    log_port& log;
    std::span<store_port* const> stores;
    std::span<target_binding const> targets;
    call_pauses& pauses;
    left_waves& left;
    call_watch watch{};
    std::span<std::string const> names{}; ///< of the stores, for the watch
    /// The store whose parts a commit joins: it is in the log's own database, and settles in native
    /// transactions. no_store: there is none, or the engine's caller has asked for two phases.
    std::size_t own_store = no_store;
    static constexpr std::size_t no_store = ~std::size_t{0};

    /// The reason why a store of the direction's targets cannot use an id; empty if all can.
    [[nodiscard]] error fault_of(transaction_id const& id,
                                 transaction_descriptor const& direction) const;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/ports.ipp>
#endif
