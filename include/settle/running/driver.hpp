// SPDX-License-Identifier: BSL-1.0
// Drives coordinators to their ends against a log and the sessions of its stores: one, or thousands
// side by side.
#pragma once

#include <settle/running/at_once.hpp>
#include <settle/running/options.hpp>
#include <settle/running/order.hpp>
#include <settle/running/outcome.hpp>
#include <settle/store/observer.hpp>
#include <settle/store/owner.hpp>
#include <settle/store/wave.hpp>

#include <memory>
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

/// What a driver remembers of a job, beside what the stores and the log look at.
struct course {
    std::optional<entry> seen{}; ///< the entry as it was last read, when it was read at all
    interruption cut = interruption::none;
    bool over = false;
    /// The id was drawn for this call: one that is taken was drawn twice, by whomever, and is a
    /// mismatch, though the parameters be the same.
    bool new_id = false;
    bool takes_part = false;     ///< in the step that is under way
    bool kept_back = false;      ///< by the order of its window
    answer met = answer::none;   ///< the first answer of a wave that was not a plain yes
    std::uint32_t rests = 0;
    std::uint32_t yields = 0;    ///< how often it fell back behind its own window
    std::chrono::nanoseconds wakes{}; ///< the end of its rest, on the clock of elapsed()
    std::optional<std::chrono::nanoseconds> deadline{};
    std::optional<std::chrono::nanoseconds> still_since{};
};

/// Shape:   Log - a log's session; Sessions - a std::tuple of record sessions; How - whether the
///          only session settles transactions at once
/// Cost:    a round of a whole window is an insert, an apply wave, a commit, a confirm wave and a
///          close, each one call, when nothing stands in the way; in one phase one call
template <typename Log, typename Sessions, typename Environment, typename Observer, phases How>
class driver {
public:
    static constexpr phases how = How;

    driver(Log& log, Sessions& sessions, Environment const& environment, Observer& observer,
           options const& limits, std::string const& owner, call_options const& call)
        : log_(log), sessions_(sessions), environment_(environment), observer_(observer),
          limits_(limits), owner_(owner), call_(call), now_(environment.now()) {
        if (call.deadline) deadline_ = after(environment.elapsed(), *call.deadline);
    }

    /// The time that the next steps carry. A clock is read once a wave, and again after every wait
    /// and whenever the age of an entry decides.
    [[nodiscard]] timestamp time() const { return now_; }

    /// Brings one job to its end, or as far as it gets.
    /// Shape:   follows - wait for another owner (a caller does, a recovery does not)
    template <typename Direction>
    interruption drive(job<Direction>& work, course& way, bool follows) {
        // Compiled for one job alone only where a call costs less than what that spares.
        constexpr std::size_t count =
            is_usual<Direction> && detail::wave_of<Log> == 1 ? 1 : std::dynamic_extent;
        while (!way.over) {
            round(std::span<job<Direction>, count>{&work, 1}, std::span<course, count>{&way, 1},
                  follows);
        }
        return way.cut;
    }

    /// Looks at the clock before a new job, when the last one ended a while ago.
    void look_at_clock() { now_ = environment_.now(); }

    /// Takes every step once, in the order of the protocol, for the jobs that it is due for: who
    /// meets nothing in the way gets from insert to end. When all of them rest, it waits first.
    /// Shape:   work on one record keeps the order of the span; one that is known to hold one job
    ///          (Count) spares it what only several need
    template <typename Direction, std::size_t Count>
    void round(std::span<job<Direction>, Count> jobs, std::span<course, Count> ways,
               bool follows) {
        wake(jobs, ways);
        window<Direction, Count> const all{jobs, ways, follows};
        if constexpr (How == phases::one && !std::is_same_v<Direction, undescribed>) {
            take<step::at_once>(all);
        }
        take<step::insert>(all);
        take<step::read>(all);
        take<step::claim>(all);
        take<step::apply>(all);
        take<step::give_way>(all);
        take<step::commit>(all);
        take<step::cancel>(all);
        take<step::confirm>(all);
        take<step::compensate>(all);
        take<step::close>(all);
    }

private:
    template <typename Direction, std::size_t Count>
    struct window {
        std::span<job<Direction>, Count> jobs;
        std::span<course, Count> ways;
        bool follows;
    };

    template <typename Direction>
    static constexpr bool is_usual = [] {
        if constexpr (std::is_same_v<Direction, undescribed>) return false;
        else return !Direction::is_reverse;
    }();

    static constexpr bool asks_log(step taken) {
        return taken == step::insert || taken == step::claim || taken == step::commit ||
               taken == step::close || taken == step::cancel || taken == step::at_once;
    }

    template <step Step, typename Direction, std::size_t Count>
    [[gnu::always_inline]] void take(window<Direction, Count> const& all) {
        bool any = false;
        for (std::size_t i = 0; i < all.jobs.size(); ++i) {
            all.ways[i].takes_part = all.jobs[i].takes(Step);
            any = any || all.ways[i].takes_part;
        }
        if (!any) return;
        if constexpr (Step == step::apply) {
            if (all.jobs.size() > 1) any = keep_order(all);
        }
        if (any) perform<Step>(std::span<job<Direction>>{all.jobs});
        idle_ = idle_ && !any;
        if constexpr (Step == step::apply) {
            if (all.jobs.size() > 1) yield_to_earlier(all);
        }
        for (std::size_t i = 0; i < all.jobs.size(); ++i) {
            course& way = all.ways[i];
            if (!way.takes_part) continue;
            job<Direction>& work = all.jobs[i];
            way.cut = hear<Step>(work, way);
            observe(Step, work, way);
            go_on(Step, work, way, all.follows);
        }
    }

    /// Hands the wave of one step over.
    template <step Step, typename Direction>
    void perform(std::span<job<Direction>> jobs) {
        if constexpr (Step == step::insert) {
            log_.insert(jobs, now());
            now_ = environment_.now();
        } else if constexpr (Step == step::at_once) {
            detail::judge_at_once<Environment> const judge{&environment_, limits_};
            std::get<0>(sessions_).at_once(jobs, log_, now(), judge);
            now_ = environment_.now();
        } else if constexpr (Step == step::claim) {
            log_.template change<step::claim>(jobs, now());
            now_ = environment_.now();
        } else if constexpr (asks_log(Step)) {
            log_.template change<Step>(jobs, now());
        } else if constexpr (Step != step::read && !std::is_same_v<Direction, undescribed>) {
            std::apply([&](auto&... session) { (session.template start<Step>(jobs), ...); },
                       sessions_);
            std::apply([&](auto&... session) { (session.template finish<Step>(jobs), ...); },
                       sessions_);
        }
    }

    /// Tells the coordinator what the wave answered.
    template <step Step, typename Direction>
    interruption hear(job<Direction>& work, course& way) {
        auto& c = work.coordinator;
        if constexpr (Step == step::insert) {
            // After an unknown insert, what is there is taken for that one.
            if (way.new_id && work.said == log_answer::conflict) return interruption::mismatch;
            way.new_id = way.new_id && work.said != log_answer::unknown;
            c.inserted(work.said, expired(work));
        } else if constexpr (Step == step::at_once) {
            if (way.new_id && work.said == log_answer::conflict) return interruption::mismatch;
            way.new_id = way.new_id && work.said != log_answer::unknown;
            note_answers(work, way);
            c.settled(work.said);
        } else if constexpr (Step == step::read) {
            return read(work, way);
        } else if constexpr (Step == step::claim) {
            c.claimed(work.said, expired(work));
        } else if constexpr (Step == step::commit) {
            c.committed(work.said);
        } else if constexpr (Step == step::close) {
            c.closed(work.said);
        } else if constexpr (Step == step::cancel) {
            c.canceled(work.said);
        } else {
            note_answers(work, way);
            if (std::exchange(way.kept_back, false)) c.yield();
            else c.decide(limits_.attempts + way.yields);
        }
        return interruption::none;
    }

    /// What comes after a step: its end, a rest, or the next step.
    template <typename Direction>
    [[gnu::always_inline]] void go_on(step taken, job<Direction>& work, course& way, bool follows) {
        step const next = work.coordinator.next();
        if (way.cut == interruption::none && next == step::wait && !follows) {
            way.cut = interruption::elsewhere;
        }
        if (way.cut != interruption::none || next == step::end) return end(work, way);
        // A log that answers `unknown` may go on doing so: it is given time, too.
        bool const stalled =
            next == taken || (asks_log(taken) && work.said == log_answer::unknown);
        if (stalled || next == step::pause || next == step::wait) rest(work, way);
    }

    /// No wave has anything to do for it any more.
    template <typename Direction>
    static void end(job<Direction>& work, course& way) {
        way.over = true;
        work.resting = true;
    }

    // --------------------------------------------------------------------------- order of a window

    /// Who shares a record on which an earlier one of the window had to be waited for, waits too.
    /// False when nobody is left to ask.
    template <typename Direction, std::size_t Count>
    bool keep_order(window<Direction, Count> const& all) {
        bool any = false;
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            if (!order_) order_ = std::make_unique<detail::record_order>();
            order_->begin();
            for (std::size_t i = 0; i < all.jobs.size(); ++i) {
                if (all.ways[i].over) continue;
                bool const waits = order_->stands_behind(all.jobs[i]);
                if (!all.ways[i].takes_part) continue;
                any = any || !waits;
                if (!waits) continue;
                all.ways[i].takes_part = false;
                all.ways[i].kept_back = true;
                all.jobs[i].resting = true;
            }
        }
        return any;
    }

    /// What failed beside an earlier one of its window may succeed behind it; and who comes after
    /// one that falls back, on a record of its, falls back with it.
    template <typename Direction, std::size_t Count>
    void yield_to_earlier(window<Direction, Count> const& all) {
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            order_->begin_answers();
            for (std::size_t i = 0; i < all.jobs.size(); ++i) {
                course& way = all.ways[i];
                if (way.over) continue;
                if (std::exchange(way.kept_back, false)) all.jobs[i].resting = false;
                if (!order_->falls_back(all.jobs[i], way.takes_part)) continue;
                way.kept_back = true;
                ++way.yields;
            }
        }
    }

    occasion now() const { return {now_, owner_}; }

    template <typename Direction>
    bool expired(job<Direction> const& work) const {
        return now_ - work.created > limits_.lifetime;
    }

    template <typename Direction>
    [[gnu::noinline]] interruption read(job<Direction>& work, course& way) {
        now_ = environment_.now();
        auto found = log_.read(work.id);
        if (!found.has_value()) {
            work.problem = found.problem();
            return found.problem().code == condition::permanent ? interruption::failed
                                                                : interruption::none;
        }
        view_of_entry view;
        view.fresh = fresh_epoch(environment_, now_);
        if (!found.value()) {
            // An insert made again is as old as the call: one that slept too long may follow what
            // was settled and purged meanwhile.
            work.coordinator.found_nothing(view);
            return interruption::none;
        }
        entry const& here = *found.value();
        if (interruption const unfit = compare(work, here); unfit != interruption::none) {
            way.seen = std::move(found).value();
            return unfit;
        }
        view.mine = here.owner == owner_;
        view.abandoned = here.state == state::initial || is_gone(here.owner) ||
                         stands_still(here, way);
        work.created = here.created;
        work.coordinator.found(standing_of(here), view);
        way.seen = std::move(found).value();
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
    bool stands_still(entry const& here, course& way) {
        auto const elapsed = environment_.elapsed();
        auto const& seen = way.seen;
        bool const moved = !seen || seen->state != here.state ||
                           seen->epoch_number != here.epoch_number ||
                           seen->attempts != here.attempts || seen->modified != here.modified;
        if (moved || !way.still_since) way.still_since = elapsed;
        using std::chrono::milliseconds;
        return std::chrono::duration_cast<milliseconds>(elapsed - *way.still_since) >=
               limits_.takeover;
    }

    // ------------------------------------------------------------------------------------- resting

    /// A point in time, or the last one there is: "for ever" in milliseconds is more than
    /// nanoseconds can count.
    static std::chrono::nanoseconds after(std::chrono::nanoseconds from,
                                          std::chrono::milliseconds wait) {
        using std::chrono::nanoseconds;
        auto const room =
            std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds::max() - from);
        return wait >= room ? nanoseconds::max() : from + wait;
    }

    /// Lets a job rest a little, longer each time; its end when the deadline or a stop says so.
    template <typename Direction>
    [[gnu::cold, gnu::noinline]] void rest(job<Direction>& work, course& way) {
        auto const elapsed = environment_.elapsed();
        if (!way.deadline) {
            way.deadline = deadline_ ? *deadline_ : after(elapsed, limits_.patience);
        }
        if (elapsed >= *way.deadline || call_.stop.stop_requested()) {
            if (work.problem.empty()) {
                work.problem = {make_error_code(errc::stopped),
                                "settle: the deadline or a stop request ended the call before the "
                                "outcome was known. Ask again with the same id, or let recovery "
                                "settle it. README#undecided"};
            }
            way.cut = interruption::stopped;
            return end(work, way);
        }
        auto const doubled = limits_.first_pause * (std::int64_t{1} << std::min(way.rests, 20U));
        auto const most = std::min<std::chrono::nanoseconds>(doubled, limits_.longest_pause);
        // Half of the pause is chance, so that two workers that met do not meet again in step.
        auto const half = static_cast<std::uint64_t>(most.count()) / 2 + 1;
        std::chrono::nanoseconds const chosen{
            static_cast<std::int64_t>(half + environment_.random() % half)};
        way.wakes = std::min(elapsed + chosen, *way.deadline);
        ++way.rests;
        work.resting = true;
    }

    /// Wakes whose rest is over; when nobody else has anything to do, waits for the first of them.
    template <typename Direction, std::size_t Count>
    [[gnu::always_inline]] void wake(std::span<job<Direction>, Count> jobs,
                                     std::span<course, Count> ways) {
        auto first = std::chrono::nanoseconds::max();
        bool any_awake = false;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (ways[i].over) continue;
            if (jobs[i].resting) first = std::min(first, ways[i].wakes);
            else any_awake = true;
        }
        // Who is awake and has nothing to do waits for one that rests.
        bool const was_idle = std::exchange(idle_, true);
        bool const all_wait = !any_awake || was_idle;
        if (first == std::chrono::nanoseconds::max()) return;
        auto elapsed = environment_.elapsed();
        if (all_wait) {
            if (first > elapsed) environment_.pause(first - elapsed, call_.stop);
            // A stop ends a pause early, and every job then finds it out at its next rest.
            elapsed = call_.stop.stop_requested() ? std::chrono::nanoseconds::max()
                                                  : std::max(first, environment_.elapsed());
            now_ = environment_.now();
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (ways[i].over || !jobs[i].resting || ways[i].wakes > elapsed) continue;
            jobs[i].resting = false;
            auto& c = jobs[i].coordinator;
            step const taken = c.next();
            if (taken == step::pause) c.resume();
            else if (taken == step::wait) c.look_again();
            else continue;
            observe(taken, jobs[i], ways[i]);
        }
    }

    template <typename Direction>
    void observe(step taken, job<Direction> const& work, course& way) {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            auto const& c = work.coordinator;
            event seen{work.id, Direction::name(), taken,  c.state(),         c.attempts(),
                       way.met, c.why(),           work.problem.text, nullptr, nullptr};
            if constexpr (!std::is_same_v<Direction, undescribed>) {
                seen.shown = work.parameters;
                seen.show = [](void const* parameters) {
                    // The images of a reversal are native text, which nothing could redact.
                    return encode_json_redacted(Direction::user(
                        *static_cast<typename Direction::parameters const*>(parameters)));
                };
            }
            observer_(static_cast<event const&>(seen));
            way.met = answer::none;
        } else {
            static_cast<void>(taken);
            static_cast<void>(work);
            static_cast<void>(way);
        }
    }

    /// Decisions clear the answers, so what an observer is told is looked up before.
    template <typename Direction>
    void note_answers(job<Direction> const& work, course& way) {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
                answer const said = work.coordinator.answer_of(part);
                bool const fine = said == answer::applied || said == answer::nothing ||
                                  said == answer::none;
                if (way.met == answer::none && !fine) way.met = said;
            }
        } else {
            static_cast<void>(work);
            static_cast<void>(way);
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
    /// The caller's, from the call; without one, each job has the engine's patience from its first
    /// rest on.
    std::optional<std::chrono::nanoseconds> deadline_;
    bool idle_ = false; ///< nobody had anything to do in the last round
    std::unique_ptr<detail::record_order> order_; ///< only where several are under way
};

SETTLE_END
