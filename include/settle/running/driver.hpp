// SPDX-License-Identifier: BSL-1.0
// Drives one coordinator to its end against a log and the sessions of its stores.
#pragma once

#include <settle/running/options.hpp>
#include <settle/running/outcome.hpp>
#include <settle/store/observer.hpp>
#include <settle/store/owner.hpp>
#include <settle/store/wave.hpp>

#include <tuple>

SETTLE_BEGIN

/// What ended a drive before the coordinator's own end.
enum class interruption : std::uint8_t {
    none,
    stopped,    ///< deadline or stop token
    elsewhere,  ///< another owner is at work, and the caller does not wait for it
    mismatch,   ///< the id is in use by another transaction
    redefined,  ///< the entry is unfinished and was made by another definition
    described,  ///< the entry is unfinished and has a type, which alone knows its records
    failed      ///< the log holds something that cannot be read
};

/// Shape:   Log - a log's session; Sessions - a std::tuple of record sessions
/// Cost:    an insert, an apply wave, a commit, a confirm wave and a close on the usual way
template <typename Log, typename Sessions, typename Environment, typename Observer>
class driver {
public:
    driver(Log& log, Sessions& sessions, Environment const& environment, Observer& observer,
           options const& limits, std::string const& owner, call_options const& call)
        : log_(log), sessions_(sessions), environment_(environment), observer_(observer),
          limits_(limits), owner_(owner), call_(call), now_(environment.now()) {
        if (call.deadline) deadline_ = after(environment.elapsed(), *call.deadline);
    }

    /// The time that the next steps carry. A clock is read once, and again after every wait and
    /// whenever the age of an entry decides.
    [[nodiscard]] timestamp time() const { return now_; }

    /// Says that the id was drawn for this call: one that is taken was drawn twice, by whomever,
    /// and is a mismatch, though the parameters be the same.
    void expect_new_id() { new_id_ = true; }

    /// Brings the work to its end, or as far as it gets.
    /// Shape:   follows - wait for another owner (a caller does, a recovery does not)
    template <typename Direction>
    interruption drive(job<Direction>& work, bool follows) {
        auto& c = work.coordinator;
        while (c.next() != step::end) {
            step const taken = c.next();
            if (taken == step::wait && !follows) return interruption::elsewhere;
            interruption const cut = take(taken, work);
            observe(taken, work);
            if (cut != interruption::none) return cut;
            // A log that answers `unknown` may go on doing so: it is given time, too.
            bool const stalled =
                c.next() == taken || (asks_log(taken) && work.said == log_answer::unknown);
            if (stalled && c.next() != step::end && !rest(work)) return interruption::stopped;
        }
        return interruption::none;
    }

    /// The entry as it was last read, when it was read at all.
    [[nodiscard]] std::optional<entry> const& seen() const { return seen_; }

private:
    static constexpr bool asks_log(step taken) {
        return taken == step::insert || taken == step::claim || taken == step::commit ||
               taken == step::close || taken == step::cancel;
    }

    template <typename Direction>
    interruption take(step taken, job<Direction>& work) {
        auto& c = work.coordinator;
        std::span<job<Direction>> const wave{&work, 1};
        switch (taken) {
        case step::insert:
            log_.insert(wave, now());
            now_ = environment_.now();
            // After an unknown insert, what is there is taken for that one.
            if (new_id_ && work.said == log_answer::conflict) return interruption::mismatch;
            new_id_ = new_id_ && work.said != log_answer::unknown;
            c.inserted(work.said, expired(work));
            break;
        case step::read: return read(work);
        case step::claim:
            log_.template change<step::claim>(wave, now());
            now_ = environment_.now();
            c.claimed(work.said, expired(work));
            break;
        case step::commit:
            log_.template change<step::commit>(wave, now());
            c.committed(work.said);
            break;
        case step::close:
            log_.template change<step::close>(wave, now());
            c.closed(work.said);
            break;
        case step::cancel:
            log_.template change<step::cancel>(wave, now());
            c.canceled(work.said);
            break;
        case step::apply: run_wave<step::apply>(work); break;
        case step::confirm: run_wave<step::confirm>(work); break;
        case step::compensate: run_wave<step::compensate>(work); break;
        case step::give_way: run_wave<step::give_way>(work); break;
        case step::pause:
            if (!rest(work)) return interruption::stopped;
            c.resume();
            break;
        case step::wait:
            if (!rest(work)) return interruption::stopped;
            c.look_again();
            break;
        case step::end: break;
        }
        return interruption::none;
    }

    occasion now() const { return {now_, owner_}; }

    template <typename Direction>
    bool expired(job<Direction> const& work) const {
        return now_ - work.created > limits_.lifetime;
    }

    template <step Step, typename Direction>
    void run_wave(job<Direction>& work) {
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            std::span<job<Direction>> const wave{&work, 1};
            std::apply([&](auto&... session) { (session.template start<Step>(wave), ...); },
                       sessions_);
            std::apply([&](auto&... session) { (session.template finish<Step>(wave), ...); },
                       sessions_);
        }
        note_answers(work);
        work.coordinator.decide(limits_.attempts);
    }

    template <typename Direction>
    interruption read(job<Direction>& work) {
        now_ = environment_.now();
        auto found = log_.read(work.id);
        if (!found.has_value()) {
            work.problem = found.problem();
            return found.problem().code == condition::permanent ? interruption::failed
                                                                : interruption::none;
        }
        view_of_entry view;
        view.fresh = fresh_epoch(environment_);
        if (!found.value()) {
            // An insert made again is as old as the call: one that slept too long may follow what
            // was settled and purged meanwhile.
            work.coordinator.found_nothing(view);
            return interruption::none;
        }
        entry const& here = *found.value();
        if (interruption const unfit = compare(work, here); unfit != interruption::none) {
            seen_ = std::move(found).value();
            return unfit;
        }
        view.mine = here.owner == owner_;
        view.abandoned = here.state == state::initial || is_gone(here.owner) || stands_still(here);
        work.created = here.created;
        work.coordinator.found(standing_of(here), view);
        seen_ = std::move(found).value();
        return interruption::none;
    }

    /// An entry without a type was inserted by a cancel or a sweep, and fits any transaction. What
    /// has no type itself knows no records to compensate, so it leaves a typed entry alone.
    template <typename Direction>
    static interruption compare(job<Direction> const& work, entry const& here) {
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            if (here.type.empty()) return interruption::none;
            if (here.type != Direction::name() || !same_parameters(work, here)) {
                return interruption::mismatch;
            }
            // What another definition began has other parts: only that one can bring it to an end.
            if (!is_final(here.state) && here.definition != Direction::definition()) {
                return interruption::redefined;
            }
        } else {
            static_cast<void>(work);
            if (!here.type.empty() && !is_final(here.state)) return interruption::described;
        }
        return interruption::none;
    }

    template <typename Direction>
    static bool same_parameters(job<Direction> const& work, entry const& here) {
        std::string const ours = encode_json(*work.parameters);
        if (ours == here.parameters) return true;
        // A log may write the members in another order, so the values decide.
        auto const theirs = decode_json<typename Direction::parameters>(here.parameters);
        return theirs.has_value() && encode_json(theirs.value()) == ours;
    }

    /// True when the entry has not moved for `takeover`, by this process's own clock.
    bool stands_still(entry const& here) {
        auto const elapsed = environment_.elapsed();
        bool const moved = !seen_ || seen_->state != here.state ||
                           seen_->epoch_number != here.epoch_number ||
                           seen_->attempts != here.attempts || seen_->modified != here.modified;
        if (moved || !still_since_) still_since_ = elapsed;
        using std::chrono::milliseconds;
        return std::chrono::duration_cast<milliseconds>(elapsed - *still_since_) >=
               limits_.takeover;
    }

    /// A point in time, or the last one there is: "for ever" in milliseconds is more than
    /// nanoseconds can count.
    static std::chrono::nanoseconds after(std::chrono::nanoseconds from,
                                          std::chrono::milliseconds wait) {
        using std::chrono::nanoseconds;
        auto const room =
            std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds::max() - from);
        return wait >= room ? nanoseconds::max() : from + wait;
    }

    /// Waits a little, longer each time. False when the deadline or a stop ends the waiting.
    template <typename Direction>
    bool rest(job<Direction>& work) {
        auto const elapsed = environment_.elapsed();
        if (!deadline_) deadline_ = after(elapsed, limits_.patience);
        if (elapsed >= *deadline_ || call_.stop.stop_requested()) {
            if (work.problem.empty()) {
                work.problem = {make_error_code(errc::stopped),
                                "settle: the deadline or a stop request ended the call before the "
                                "outcome was known. Ask again with the same id, or let recovery "
                                "settle it. README#undecided"};
            }
            return false;
        }
        auto const doubled = limits_.first_pause * (std::int64_t{1} << std::min(rests_, 20U));
        auto const most = std::min<std::chrono::nanoseconds>(doubled, limits_.longest_pause);
        // Half of the pause is chance, so that two workers that met do not meet again in step.
        auto const half = static_cast<std::uint64_t>(most.count()) / 2 + 1;
        std::chrono::nanoseconds const chosen{
            static_cast<std::int64_t>(half + environment_.random() % half)};
        environment_.pause(std::min<std::chrono::nanoseconds>(chosen, *deadline_ - elapsed),
                           call_.stop);
        now_ = environment_.now();
        ++rests_;
        return true;
    }

    template <typename Direction>
    void observe(step taken, job<Direction> const& work) {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            auto const& c = work.coordinator;
            event seen{work.id, Direction::name(), taken,  c.state(),         c.attempts(),
                       met_,    c.why(),           work.problem.text, nullptr, nullptr};
            if constexpr (!std::is_same_v<Direction, undescribed>) {
                seen.shown = work.parameters;
                seen.show = [](void const* parameters) {
                    // The images of a reversal are native text, which nothing could redact.
                    return encode_json_redacted(Direction::user(
                        *static_cast<typename Direction::parameters const*>(parameters)));
                };
            }
            observer_(static_cast<event const&>(seen));
            met_ = answer::none;
        } else {
            static_cast<void>(taken);
            static_cast<void>(work);
        }
    }

    /// Decisions clear the answers, so what an observer is told is looked up before.
    template <typename Direction>
    void note_answers(job<Direction> const& work) {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
                answer const said = work.coordinator.answer_of(part);
                bool const fine = said == answer::applied || said == answer::nothing ||
                                  said == answer::none;
                if (met_ == answer::none && !fine) met_ = said;
            }
        } else {
            static_cast<void>(work);
        }
    }

    Log& log_;
    Sessions& sessions_;
    Environment const& environment_;
    Observer& observer_;
    options const& limits_;
    std::string const& owner_;
    call_options const& call_;
    timestamp now_;
    /// The caller's, from the call; without one, the engine's patience from the first wait.
    std::optional<std::chrono::nanoseconds> deadline_;
    std::optional<entry> seen_;
    std::optional<std::chrono::nanoseconds> still_since_;
    unsigned rests_ = 0;
    bool new_id_ = false;
    answer met_ = answer::none;
};

SETTLE_END
