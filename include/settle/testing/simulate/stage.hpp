// SPDX-License-Identifier: BSL-1.0
// The time, the network and the mishaps in which the workers of a simulation live.
#pragma once

#include <settle/store/environment.hpp>
#include <settle/testing/faults.hpp>
#include <settle/testing/simulate/limits.hpp>
#include <settle/testing/simulate/schedule.hpp>
#include <settle/testing/simulate/witness.hpp>

SETTLE_BEGIN
namespace testing::detail {

/// Everything that the workers share. Only the worker whose turn it is may touch it.
class stage {
public:
    using time = std::chrono::nanoseconds;

    stage(simulation_limits const& limits, witness& seen, std::function<void()> look)
        : limits_(limits), witness_(seen), look_(std::move(look)), chance_(limits.seed),
          turns_(limits.workers), players_(limits.workers), working_(limits.workers) {
        report_.seed = limits.seed;
    }

    [[nodiscard]] simulation_limits const& limits() const { return limits_; }
    [[nodiscard]] dice& chance() { return chance_; }
    [[nodiscard]] witness& seen() { return witness_; }
    [[nodiscard]] schedule& turns() { return turns_; }
    [[nodiscard]] simulation_report& report() { return report_; }
    [[nodiscard]] time now() const { return now_; }

    // ------------------------------------------------------------------------------ what time does

    /// Lets a worker's time pass, and everybody else's whose time comes before.
    void pass(std::size_t worker, time duration) {
        turns_.advance(worker, duration);
        std::size_t const next = turns_.earliest();
        deliver_until(turns_.time_of(next));
        turns_.hand_over(worker, next);
        now_ = turns_.time_of(worker);
    }

    [[nodiscard]] timestamp clock_of(std::size_t worker) const {
        using std::chrono::milliseconds;
        return timestamp{milliseconds{1'800'000'000'000}} +
               std::chrono::duration_cast<milliseconds>(now_ + players_[worker].skew);
    }

    // ----------------------------------------------------------------------- what becomes of calls

    /// Which database this is, for those that several collections live in.
    std::size_t number_of(void const* database) {
        auto const found = std::find(databases_.begin(), databases_.end(), database);
        auto const number = static_cast<std::size_t>(found - databases_.begin());
        if (found == databases_.end()) {
            databases_.push_back(database);
            away_until_.push_back({});
        }
        return number;
    }

    /// The fault plan of every worker.
    fault answer(std::size_t worker, std::size_t database, fault_desk& desk, call const& asked) {
        // Most calls are quick, so that a worker often goes on without a change of threads.
        pass(worker, chance_.up_to(limits_.longest_call));
        fault_rates const& rates = limits_.faults;
        if (!calm_ && chance_.in_a_million(rates.pause)) {
            pass(worker, chance_.up_to(limits_.longest_pause));
        }
        if (!calm_ && now_ >= calm_from_) calm_down();
        fault const wanted = halted() || calm_ ? fault{} : draw(worker, database, asked);
        note_step(worker, database, asked, wanted);
        if (halted()) throw crash{};
        if (wanted.kind == fault_kind::late) {
            on_their_way_.push_back({now_ + chance_.up_to(limits_.longest_late), &desk});
        }
        return wanted;
    }

    // ------------------------------------------------------------------------------ how it goes on

    /// The number of a new transaction; none when enough have begun.
    std::optional<std::uint64_t> begin_one() {
        if (report_.begun == limits_.transactions) return std::nullopt;
        if (++report_.begun == limits_.transactions) {
            calm_from_ = now_ + std::chrono::milliseconds{200};
        }
        return report_.begun;
    }
    [[nodiscard]] bool all_begun() const { return report_.begun == limits_.transactions; }

    /// True when nothing goes wrong any more.
    [[nodiscard]] bool calm() const { return calm_; }
    /// True when there is nothing left to do, or no sense in it.
    [[nodiscard]] bool over() const { return over_ || halted(); }
    [[nodiscard]] bool halted() const { return !witness_.content(); }
    /// True when no worker is within a call of its own, no write is late and no entry is open.
    [[nodiscard]] bool quiet() const {
        return calm_ && working_ == 0 && on_their_way_.empty() && witness_.open() == 0;
    }
    void end() {
        over_ = true;
        report_.settling = now_ - calm_since_;
    }
    /// A worker begins nothing any more; it may still help the others.
    void retire() { --working_; }

    void note_crash() { ++report_.crashes; }

    /// Sibling threads of one process share an owner. The others own what is theirs, and are
    /// strangers to it after a crash.
    [[nodiscard]] std::string owner_of(std::size_t worker) const {
        if (worker % 2 == 0) return "shared";
        return "worker-" + std::to_string(worker) + '-' +
               std::to_string(players_[worker].lives);
    }
    void begin_life(std::size_t worker) { ++players_[worker].lives; }

private:
    struct player {
        time skew{};            ///< of its wall clock
        std::uint64_t lives = 0;
    };
    struct late_write {
        time due{};
        fault_desk* desk = nullptr;
    };

    /// What goes wrong with a call, now that its time has come.
    fault draw(std::size_t worker, std::size_t database, call const& asked) {
        fault_rates const& rates = limits_.faults;
        if (chance_.in_a_million(rates.jump)) {
            auto const most = limits_.longest_jump.count();
            players_[worker].skew = time{chance_.between(-most, most)};
        }
        if (chance_.in_a_million(rates.away)) {
            away_until_[database] = now_ + chance_.up_to(limits_.longest_away);
        }
        fault wanted;
        std::uint64_t const chosen = chance_.draw();
        std::uint64_t const drawn = chance_.draw() % 1'000'000;
        std::uint64_t edge = 0;
        auto const falls = [&](std::uint64_t rate) { return drawn < (edge += rate); };
        if (now_ < away_until_[database]) {
            wanted.kind = chosen % 4 == 0 ? fault_kind::unknown_before : fault_kind::unavailable;
        } else if (falls(rates.crash)) {
            wanted.kind = chosen % 2 == 0 ? fault_kind::crash_before : fault_kind::crash_after;
        } else if (falls(rates.unavailable)) {
            wanted.kind = fault_kind::unavailable;
        } else if (falls(rates.unknown)) {
            wanted.kind = chosen % 2 == 0 ? fault_kind::unknown_before : fault_kind::unknown_after;
        } else if (falls(rates.late)) {
            wanted.kind =
                asked.only_answers() ? fault_kind::unavailable : fault_kind::late;
        }
        // Half of the time some operations of a wave go as usual.
        if (chosen % 8 < 4) wanted.operations = hash_mix(3, chosen);
        return wanted;
    }

    void note_step(std::size_t worker, std::size_t database, call const& asked,
                   fault const& wanted) {
        ++report_.steps;
        report_.lasted = now_;
        bool const lost = wanted.kind == fault_kind::late ||
                          wanted.kind == fault_kind::unknown_before ||
                          wanted.kind == fault_kind::unknown_after;
        if (lost) ++report_.lost;
        mix(static_cast<std::uint64_t>(now_.count()));
        mix(worker << 32U | database << 16U | static_cast<std::uint64_t>(wanted.kind) << 8U |
            (asked.to_log ? 1U : 0U));
        for (char const one : asked.what) mix(static_cast<std::uint64_t>(one));
        mix(asked.operations);
        if (report_.steps % limits_.look_every == 0) look_();
        if (report_.steps / limits_.calls_each > limits_.transactions) {
            witness_.complain("the calls come to no end");
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
        for (auto const& [id, known] : witness_.entries()) {
            if (is_final(known.state)) continue;
            witness_.complain(id + " is still " + std::string{name_of(known.state)});
            return;
        }
    }

    void calm_down() {
        calm_ = true;
        calm_since_ = now_;
        for (auto& one : players_) one.skew = {};
        for (auto& one : on_their_way_) {
            one.due = std::min(one.due, now_ + chance_.up_to(limits_.longest_late));
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
            // A desk keeps its writes in the order in which they were sent.
            auto const before = std::count_if(on_their_way_.begin(), next, [&](auto const& one) {
                return one.desk == next->desk;
            });
            fault_desk& desk = *next->desk;
            on_their_way_.erase(next);
            mix(static_cast<std::uint64_t>(now_.count()));
            ++report_.late;
            if (!desk.deliver_one(static_cast<std::size_t>(before))) {
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
    std::vector<time> away_until_;
    time now_{};
    time calm_from_ = time::max();
    time calm_since_{};
    std::size_t working_; ///< workers that have not retired
    bool calm_ = false;
    bool over_ = false;
};

/// Clock, chance and pauses of one worker.
class stage_environment {
public:
    stage_environment(stage& shared, std::size_t worker) : stage_(&shared), worker_(worker) {}

    [[nodiscard]] timestamp now() const { return stage_->clock_of(worker_); }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return stage_->now(); }
    [[nodiscard]] std::uint64_t random() const { return stage_->chance().draw(); }
    void pause(std::chrono::nanoseconds duration, std::stop_token const&) const {
        stage_->pass(worker_, duration);
    }
    [[nodiscard]] std::string owner() const { return stage_->owner_of(worker_); }

private:
    stage* stage_;
    std::size_t worker_;
};

} // namespace testing::detail
SETTLE_END
