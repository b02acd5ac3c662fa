// SPDX-License-Identifier: BSL-1.0
// Sessions without their types, as the driver calls them.
#pragma once

#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace detail {

class log_port {
public:
    log_port() = default;
    log_port(log_port const&) = delete;
    log_port& operator=(log_port const&) = delete;
    virtual ~log_port() = default;

    virtual void write(std::span<entry_write const> writes, std::span<write_result> results,
                       write_context const& context) = 0;
    virtual void look_up(std::span<read_request const> requests, found_function found) = 0;
    virtual result<std::optional<entry>> read(transaction_id const& id) = 0;
};

template <LogSession Session>
class port_of_log final : public log_port {
public:
    explicit port_of_log(Session& session) : session_(session) {}

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& at) override {
        session_.write(writes, results, at);
    }
    void look_up(std::span<read_request const> requests, found_function found) override {
        session_.look_up(requests, found);
    }
    result<std::optional<entry>> read(transaction_id const& id) override {
        return session_.read(id);
    }

private:
    Session& session_;
};

class store_port {
public:
    store_port() = default;
    store_port(store_port const&) = delete;
    store_port& operator=(store_port const&) = delete;
    virtual ~store_port() = default;

    /// True if the store's waves can be under way while other stores have theirs.
    [[nodiscard]] virtual bool overlaps() const noexcept = 0;
    /// Begins a wave. A store that does not overlap others has set the results on return.
    virtual void start(std::span<part_request const> requests, std::span<part_result> results) = 0;
    virtual void finish(std::span<part_result> results) = 0;
    virtual void abandon(std::span<part_result> results) noexcept = 0;
    /// Shape:   the log of the port's engine is of the same database
    virtual void one_phase(std::span<one_phase_request> requests, write_context const& context,
                           one_phase_decider& decider) = 0;
};

/// Shape:   Log - the session of the engine's log
template <StoreSession Session, typename Log>
class port_of_store final : public store_port {
public:
    port_of_store(Session& session, Log& log) : session_(session), log_(log) {}

    [[nodiscard]] bool overlaps() const noexcept override {
        return capabilities<Session>.overlaps_others;
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        if constexpr (capabilities<Session>.overlaps_others) session_.start(requests, results);
        else session_.execute(requests, results);
    }
    void finish([[maybe_unused]] std::span<part_result> results) override {
        if constexpr (capabilities<Session>.overlaps_others) session_.finish(results);
    }
    void abandon([[maybe_unused]] std::span<part_result> results) noexcept override {
        if constexpr (capabilities<Session>.overlaps_others) session_.abandon(results);
    }
    void one_phase([[maybe_unused]] std::span<one_phase_request> requests,
                   [[maybe_unused]] write_context const& context,
                   [[maybe_unused]] one_phase_decider& decider) override {
        constexpr bool can = requires { session_.one_phase(requests, log_, context, decider); };
        if constexpr (capabilities<Session>.settles_in_one_phase && can) {
            session_.one_phase(requests, log_, context, decider);
        }
    }

private:
    Session& session_;
    Log& log_;
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
};

} // namespace detail
SETTLE_END
