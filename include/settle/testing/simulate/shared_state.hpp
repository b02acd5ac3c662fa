// SPDX-License-Identifier: BSL-1.0
// The shared state of a simulation's workers: virtual time, late writes and faults.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/testing/faults.hpp>
#include <settle/testing/simulate/limits.hpp>
#include <settle/testing/simulate/receiver.hpp>
#include <settle/testing/simulate/schedule.hpp>
#include <settle/testing/simulate/witness.hpp>

SETTLE_BEGIN
namespace testing::detail {

/// The state that the workers share. Only the running worker may access it.
class shared_state {
public:
    using time = std::chrono::nanoseconds;

    shared_state(simulation_limits const& limits, witness& seen, std::function<void()> look)
        : limits_(limits), witness_(seen), look_(std::move(look)), chance_(limits.seed),
          turns_(limits.workers), players_(limits.workers), working_(limits.workers) {
        report_.seed = limits.seed;
    }
    shared_state(shared_state const&) = delete;
    shared_state& operator=(shared_state const&) = delete;
    ~shared_state() {
        for (auto const& each : disturbed_) {
            if (each.receiver != nullptr) each.receiver->enter({});
        }
    }

    [[nodiscard]] simulation_limits const& limits() const { return limits_; }
    [[nodiscard]] dice& chance() { return chance_; }
    [[nodiscard]] witness& seen() { return witness_; }
    [[nodiscard]] schedule& turns() { return turns_; }
    [[nodiscard]] simulation_report& report() { return report_; }
    [[nodiscard]] time now() const { return now_; }

    // -------------------------------------------------------------------------------- virtual time

    /// Advances a worker's time, and first runs every worker whose time is earlier.
    void pass(std::size_t worker, time duration) {
        turns_.advance(worker, duration);
        std::size_t const next = turns_.earliest();
        deliver_until(turns_.time_of(next));
        turns_.hand_over(worker, next);
        now_ = turns_.time_of(worker);
    }

    [[nodiscard]] timestamp clock_of(std::size_t worker) const {
        return simulated_time(now_ + players_[worker].skew);
    }

    // ----------------------------------------------------------------------------- faults of calls

    /// The number of a database or a client; collections in one database share it.
    std::size_t number_of(void const* database) {
        auto const found = std::find(databases_.begin(), databases_.end(), database);
        auto const number = static_cast<std::size_t>(found - databases_.begin());
        if (found == databases_.end()) {
            databases_.push_back(database);
            disturbed_.push_back({});
        }
        return number;
    }
    /// Notes that a number is the client of a service.
    /// Shape:   receiver - null if the service keeps no books
    void note_service(std::size_t number, simulated_receiver* receiver) {
        disturbed_[number].is_service = true;
        disturbed_[number].receiver = receiver;
        if (receiver == nullptr) return;
        receiver->enter({[this] { return now_; }, &chance_, limits_.engine.clocks});
    }

    /// The fault plan of every worker.
    fault answer(std::size_t worker, std::size_t database, fault_source& source,
                 call const& current) {
        // Most calls are quick, so that a worker often continues without a thread switch.
        bool const to_service = disturbed_[database].is_service;
        pass(worker,
             chance_.up_to(to_service ? limits_.services.longest_call : limits_.longest_call));
        fault_rates const& rates = limits_.faults;
        if (!calm_ && chance_.in_a_million(rates.pause)) {
            pass(worker, chance_.up_to(limits_.longest_pause));
        }
        if (!calm_ && now_ >= calm_from_) calm_down();
        fault drawn;
        if (to_service) {
            ++report_.service_calls;
            if (!halted() && !calm_) disturb_service(disturbed_[database]);
        }
        if (!halted() && !calm_) drawn = draw(worker, database, current);
        note_step(worker, database, current, drawn);
        if (halted()) throw crash{};
        if (drawn.kind == fault_kind::late) {
            on_their_way_.push_back({now_ + chance_.up_to(limits_.longest_late), &source});
        }
        return drawn;
    }
    /// True if the answer of a service is wrong on its way to the worker.
    bool garbles() { return !calm_ && chance_.in_a_million(limits_.faults.garbled); }

    // ------------------------------------------------------------------------ progress of the run

    /// The number of a new transaction; none when all transactions have begun.
    std::optional<std::uint64_t> begin_one() {
        if (report_.begun == limits_.transactions) return std::nullopt;
        if (++report_.begun == limits_.transactions) {
            calm_from_ = now_ + std::chrono::milliseconds{200};
        }
        return report_.begun;
    }
    [[nodiscard]] bool all_begun() const { return report_.begun == limits_.transactions; }

    /// True when no more faults are injected.
    [[nodiscard]] bool calm() const { return calm_; }
    /// True when the run has ended or a problem was found.
    [[nodiscard]] bool over() const { return over_ || halted(); }
    [[nodiscard]] bool halted() const { return !witness_.content(); }
    /// True when every worker has retired, no write is late and no entry is unfinished.
    [[nodiscard]] bool quiet() const {
        return calm_ && working_ == 0 && on_their_way_.empty() && witness_.open() == 0;
    }
    void end() {
        over_ = true;
        report_.settling = now_ - calm_since_;
    }
    /// A retired worker begins no transaction, but may still recover and sweep.
    void retire() { --working_; }

    void note_crash() { ++report_.crashes; }

    /// Workers with even numbers share one owner, like threads of one process. Each other worker
    /// has its own owner, and a new owner after each crash.
    [[nodiscard]] std::string owner_of(std::size_t worker) const {
        if (worker % 2 == 0) return "shared";
        return "worker-" + std::to_string(worker) + '-' + std::to_string(players_[worker].lives);
    }
    void begin_life(std::size_t worker) { ++players_[worker].lives; }

private:
    struct player {
        time skew{}; ///< of the worker's wall clock
        std::uint64_t lives = 0;
    };
    struct late_write {
        time due{};
        fault_source* source = nullptr;
    };
    /// A database, or the client of a service.
    struct disturbed {
        time away_until{};
        time slow_until{};
        bool is_service = false;
        simulated_receiver* receiver = nullptr;
    };

    /// Draws the fault of a call that happens now.
    fault draw(std::size_t worker, std::size_t database, call const& current) {
        fault_rates const& rates = limits_.faults;
        if (chance_.in_a_million(rates.jump)) {
            auto const most = limits_.longest_jump.count();
            players_[worker].skew = time{chance_.between(-most, most)};
        }
        disturbed& other = disturbed_[database];
        if (chance_.in_a_million(rates.away)) {
            other.away_until = now_ + chance_.up_to(other.is_service ? limits_.services.longest_away
                                                                     : limits_.longest_away);
            if (other.is_service) ++report_.service_faults;
        }
        fault drawn;
        std::uint64_t const chosen = chance_.draw();
        std::uint64_t const number = chance_.draw() % 1'000'000;
        std::uint64_t edge = 0;
        auto const falls = [&](std::uint64_t rate) { return number < (edge += rate); };
        if (now_ < other.away_until) {
            drawn.kind = chosen % 4 == 0 ? fault_kind::unknown_before : fault_kind::unavailable;
        } else if (now_ < other.slow_until) {
            drawn.kind = fault_kind::late;
        } else if (falls(rates.crash)) {
            drawn.kind = chosen % 2 == 0 ? fault_kind::crash_before : fault_kind::crash_after;
        } else if (falls(rates.unavailable)) {
            drawn.kind = fault_kind::unavailable;
        } else if (falls(rates.unknown)) {
            drawn.kind = chosen % 2 == 0 ? fault_kind::unknown_before : fault_kind::unknown_after;
        } else if (falls(rates.late)) {
            drawn.kind = current.only_answers() ? fault_kind::unavailable : fault_kind::late;
        }
        // In half of the cases the fault hits only some operations of the wave.
        if (chosen % 8 < 4) {
            drawn.operations = some_of(current.operations, hash_mix(3, chosen));
        }
        return drawn;
    }

    void disturb_service(disturbed& service) {
        fault_rates const& rates = limits_.faults;
        if (chance_.in_a_million(rates.slow)) {
            service.slow_until = now_ + chance_.up_to(limits_.services.longest_slow);
            ++report_.service_faults;
        }
        if (service.receiver == nullptr) return;
        if (chance_.in_a_million(rates.jump)) {
            auto const most = limits_.longest_jump.count();
            service.receiver->set_clock(time{chance_.between(-most, most)});
        }
        if (limits_.purges && chance_.in_a_million(20'000)) service.receiver->purge();
        bool const restarts = chance_.in_a_million(rates.restart);
        bool const restores = chance_.in_a_million(rates.restore);
        if (restarts) service.receiver->restart();
        if (restores) {
            auto const age = chance_.up_to(limits_.services.oldest_backup);
            service.receiver->restore(std::max(time{}, now_ - age));
            ++report_.restores;
        }
        if (!restarts && !restores) return;
        // The service is away while it starts.
        service.away_until = now_ + chance_.up_to(std::chrono::minutes{1});
        ++report_.service_faults;
    }

    void note_step(std::size_t worker, std::size_t database, call const& current,
                   fault const& drawn) {
        ++report_.steps;
        report_.lasted = now_;
        bool const lost = drawn.kind == fault_kind::late ||
                          drawn.kind == fault_kind::unknown_before ||
                          drawn.kind == fault_kind::unknown_after;
        if (lost) ++report_.lost;
        mix(static_cast<std::uint64_t>(now_.count()));
        mix(worker << 32U | database << 16U | static_cast<std::uint64_t>(drawn.kind) << 8U |
            (current.to_log ? 1U : 0U));
        for (char const one : current.what) mix(static_cast<std::uint64_t>(one));
        mix(current.operations);
        if (report_.steps % limits_.look_every == 0) look_();
        if (report_.steps / limits_.calls_each > limits_.transactions) {
            witness_.complain("the calls do not end");
        }
        if (calm_ && now_ > calm_since_ + limits_.settles_within) complain_of_open();
    }

    void complain_of_open() {
        std::string const text = "not settled in time after the faults ended: ";
        if (witness_.open() == 0) {
            witness_.complain(text + "marks are left that no sweep undoes");
            return;
        }
        witness_.complain(text + std::to_string(witness_.open()) + " entries are open");
        for (auto const& [id, observed] : witness_.entries()) {
            if (is_final(observed.state)) continue;
            witness_.complain(id + " is still " + std::string{name_of(observed.state)});
            return;
        }
    }

    void calm_down() {
        calm_ = true;
        calm_since_ = now_;
        for (auto& each : players_) each.skew = {};
        for (auto& each : disturbed_) {
            if (each.receiver != nullptr) each.receiver->set_clock({});
        }
        for (auto& write : on_their_way_) {
            write.due = std::min(write.due, now_ + chance_.up_to(limits_.longest_late));
        }
    }

    /// Performs the late writes that are due, in the order of their times.
    void deliver_until(time end) {
        for (;;) {
            auto const next = std::min_element(
                on_their_way_.begin(), on_their_way_.end(),
                [](auto const& left, auto const& right) { return left.due < right.due; });
            if (next == on_their_way_.end() || next->due > end) return;
            now_ = std::max(now_, next->due);
            // `deliver_one` takes an index into this source's own late writes.
            auto const before = std::count_if(on_their_way_.begin(), next, [&](auto const& one) {
                return one.source == next->source;
            });
            fault_source& source = *next->source;
            on_their_way_.erase(next);
            mix(static_cast<std::uint64_t>(now_.count()));
            ++report_.late;
            if (!source.deliver_one(static_cast<std::size_t>(before))) {
                witness_.complain("a late write is lost");
            }
        }
    }

    void mix(std::uint64_t value) { report_.trace = hash_mix(report_.trace, value); }

    simulation_limits const& limits_;
    witness& witness_;
    std::function<void()> look_;
    dice chance_;
    schedule turns_;
    simulation_report report_;
    std::vector<player> players_;
    std::vector<late_write> on_their_way_; ///< in the order in which they were sent
    std::vector<void const*> databases_;
    std::vector<disturbed> disturbed_; ///< by the number in databases_
    time now_{};
    time calm_from_ = time::max();
    time calm_since_{};
    std::size_t working_; ///< workers that have not retired
    bool calm_ = false;
    bool over_ = false;
};

/// The environment of one worker.
class simulated_environment {
public:
    simulated_environment(shared_state& shared, std::size_t worker)
        : shared_(&shared), worker_(worker) {}

    [[nodiscard]] timestamp now() const { return shared_->clock_of(worker_); }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return shared_->now(); }
    [[nodiscard]] std::uint64_t random() const { return shared_->chance().draw(); }
    void pause(std::chrono::nanoseconds duration, std::stop_token const&) const {
        shared_->pass(worker_, duration);
    }
    [[nodiscard]] std::string owner() const { return shared_->owner_of(worker_); }

private:
    shared_state* shared_;
    std::size_t worker_;
};

} // namespace testing::detail
SETTLE_END
