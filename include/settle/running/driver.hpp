// SPDX-License-Identifier: BSL-1.0
// Drives jobs to their ends against a log and the sessions of its stores, one or thousands side by
// side. A job is a transaction with its coordinator, which chooses the next step of the protocol.
#pragma once

#include <settle/running/progress.hpp>
#include <settle/store/operation.hpp>

#include <tuple>

SETTLE_BEGIN

/// Shape:   Log - a log's session; Sessions - a std::tuple of record sessions; OnePhase - whether
///          the only session can run transactions in one phase
/// Cost:    a round of a whole window is an insert, an apply wave, a commit, a confirm wave and a
///          close, each a single call, without contention or failures; in one phase it is one call
template <typename Log, typename Sessions, typename Environment, typename Observer, bool OnePhase>
class driver {
public:
    driver(Log& log, Sessions& sessions, Environment const& environment, Observer& observer,
           options const& limits, std::string const& owner, call_options const& call, phases how)
        : log_(log), sessions_(sessions), how_(how),
          progress_(log, environment, observer, limits, owner, call) {}

    /// One phase or two, for transactions that begin here.
    [[nodiscard]] phases how() const { return how_; }
    [[nodiscard]] timestamp time() const { return progress_.time(); }
    /// Reads the clock before a new job, when the last job ended a while ago.
    void look_at_clock() { progress_.look_at_clock(); }
    [[nodiscard]] bool late() const { return progress_.late(); }
    /// The observer's first exception; the transactions go on to their ends.
    [[nodiscard]] std::exception_ptr const& thrown() const noexcept { return progress_.thrown(); }
    /// Rethrows that exception after the transactions have ended.
    void let_out() const {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            if (thrown()) std::rethrow_exception(thrown());
        }
    }
    /// An insert of an existing id costs more than a read, except in a log of this process.
    static constexpr bool may_look_first = !detail::takes_no_time<Log>;
    /// True if new ids are read before they are inserted, since the last reads found entries.
    [[nodiscard]] bool looks_first() const {
        return may_look_first && progress_.finds_entries();
    }

    /// The calls of a round that meet records. Only these are compiled for each direction.
    struct typed_calls {
        void (*hand_over)(Sessions&, step, std::span<job>) = nullptr;
        void (*settle_in_one_phase)(driver&, std::span<job>) = nullptr;
        detail::record_hashes_function* records = nullptr;
    };
    template <typename Direction>
    static constexpr typed_calls const& calls_of() noexcept {
        return typed_calls_of<Direction>;
    }

    /// Drives one job to its end, or as far as it gets.
    /// Shape:   typed - of the job's direction; follows - wait for another owner (a caller does,
    ///          recovery does not)
    interruption drive(job& work, execution_state& execution, bool follows,
                       typed_calls const& typed) {
        // A version for one job pays only where a call costs less than the version saves.
        constexpr std::size_t count = detail::wave_of<Log> == 1 ? 1 : std::dynamic_extent;
        while (!execution.over) {
            take_steps(std::span<job, count>{&work, 1},
                       std::span<execution_state, count>{&execution, 1}, follows, typed);
        }
        return execution.cut;
    }

    /// Takes every step once, in the order of the protocol, for the jobs that need it. A job that
    /// meets no obstacle ends in one round. If every job rests, the round waits first.
    /// Shape:   jobs that share a record keep the order of the span; typed - of all jobs' direction
    void round(std::span<job> jobs, std::span<execution_state> executions, bool follows,
               typed_calls const& typed) {
        take_steps(jobs, executions, follows, typed);
    }

    /// Reads the entries of jobs that begin with a read, and takes no other step.
    void look(std::span<job> jobs, std::span<execution_state> executions) {
        tell_log<step::read>(
            detail::jobs_side_by_side<std::dynamic_extent>{jobs, executions, true, {}});
    }

private:
    /// Shape:   Count - 1 for a single job, which needs no order of a window
    template <std::size_t Count>
    void take_steps(std::span<job, Count> jobs, std::span<execution_state, Count> executions,
                    bool follows, typed_calls const& typed) {
        detail::jobs_side_by_side<Count> const all{jobs, executions, follows, typed.records};
        // The last round of a window may be long ago; a single job is new.
        if constexpr (Count != 1) look_at_clock();
        progress_.wake(all);
        if constexpr (OnePhase) settle_in_one_phase(all, typed);
        tell_log<step::insert>(all);
        tell_log<step::read>(all);
        tell_log<step::claim>(all);
        tell_stores<step::apply>(all, typed);
        tell_stores<step::back_off>(all, typed);
        tell_log<step::commit>(all);
        tell_log<step::cancel>(all);
        tell_stores<step::confirm>(all, typed);
        tell_stores<step::compensate>(all, typed);
        tell_log<step::close>(all);
    }

    template <typename Direction>
    static constexpr bool is_described = !std::is_same_v<Direction, undescribed>;

    template <step Step, std::size_t Count>
    [[gnu::always_inline]] void tell_log(detail::jobs_side_by_side<Count> const& all) {
        if (!progress_.template begin<Step>(all)) return;
        if constexpr (Step == step::insert) {
            log_.insert(all.jobs, progress_.now());
        } else if constexpr (Step == step::read) {
            progress_.read(all);
        } else {
            log_.template change<Step>(all.jobs, progress_.now());
        }
        // The age of an inserted or claimed entry counts from its acknowledgement.
        constexpr bool gives_right = Step == step::insert || Step == step::claim;
        if constexpr (gives_right && !detail::takes_no_time<Log>) look_at_clock();
        progress_.template end<Step>(all);
    }

    template <step Step, std::size_t Count>
    [[gnu::always_inline]] void tell_stores(detail::jobs_side_by_side<Count> const& all,
                                            typed_calls const& typed) {
        bool const any = progress_.template begin<Step>(all);
        if (any && typed.hand_over != nullptr) typed.hand_over(sessions_, Step, all.jobs);
        // end() also handles the jobs that the window's order keeps back.
        bool const ordered = Step == step::apply && Count != 1;
        if (any || ordered) progress_.template end<Step>(all);
    }

    template <std::size_t Count>
    void settle_in_one_phase(detail::jobs_side_by_side<Count> const& all,
                             typed_calls const& typed) {
        if (typed.settle_in_one_phase == nullptr) return;
        bool const any = progress_.template begin<step::one_phase>(all);
        if (any) {
            typed.settle_in_one_phase(*this, all.jobs);
            look_at_clock();
        }
        if (any || Count != 1) progress_.template end<step::one_phase>(all);
    }

    template <typename Direction>
    static consteval typed_calls make_typed_calls() {
        typed_calls made;
        if constexpr (is_described<Direction>) {
            made.hand_over = [](Sessions& sessions, step at, std::span<job> jobs) {
                using every = std::make_index_sequence<std::tuple_size_v<Sessions>>;
                if (at == step::apply) {
                    hand_over<Direction>(sessions, jobs, applying_step<step::apply>{}, every{});
                } else {
                    hand_over<Direction>(sessions, jobs, ending_step{at}, every{});
                }
            };
            made.records = &detail::record_hashes<Direction>;
        }
        if constexpr (is_described<Direction> && OnePhase) {
            made.settle_in_one_phase = [](driver& here, std::span<job> jobs) {
                std::get<0>(here.sessions_)
                    .template one_phase<Direction>(
                        jobs, here.log_, here.progress_.now(),
                        here.progress_.decide(&detail::record_hashes<Direction>));
            };
        }
        return made;
    }
    template <typename Direction>
    static constexpr typed_calls typed_calls_of = make_typed_calls<Direction>();

    template <typename Direction, typename Kind, std::size_t... Index>
    [[gnu::always_inline]] static void hand_over(Sessions& sessions, std::span<job> jobs, Kind how,
                                                 std::index_sequence<Index...>) {
        if constexpr (sizeof...(Index) == 1) {
            (std::get<Index>(sessions).template start<Direction>(jobs, how), ...);
            (std::get<Index>(sessions).template finish<Direction>(jobs, how), ...);
        } else {
            std::tuple<one_of_several<std::tuple_element_t<Index, Sessions>>...> waves{
                one_of_several<std::tuple_element_t<Index, Sessions>>{std::get<Index>(sessions),
                                                                      jobs}...};
            // Sessions that overlap others start first.
            (std::get<Index>(waves).template start<true, Direction>(how), ...);
            (std::get<Index>(waves).template start<false, Direction>(how), ...);
            (std::get<Index>(waves).template finish<Direction>(how), ...);
        }
    }

    /// One of several stores in a wave. If anything throws, the destructor ends the store's wave
    /// before the jobs are destroyed.
    template <typename Session>
    class one_of_several {
    public:
        one_of_several(Session& session, std::span<job> jobs) : session_(session), jobs_(jobs) {}
        one_of_several(one_of_several const&) = default;
        ~one_of_several() {
            if constexpr (overlaps) {
                if (begun_) session_.abandon(jobs_);
            }
        }

        template <bool Overlapping, typename Direction, typename Kind>
        void start(Kind how) {
            if constexpr (Overlapping == overlaps) {
                begun_ = true;
                session_.template start<Direction>(jobs_, how);
            }
        }
        template <typename Direction, typename Kind>
        void finish(Kind how) {
            begun_ = false;
            session_.template finish<Direction>(jobs_, how);
        }

    private:
        static constexpr bool overlaps = detail::overlaps_others<Session>;
        Session& session_;
        std::span<job> jobs_;
        bool begun_ = false;
    };

    Log& log_;
    Sessions& sessions_;
    phases how_;
    detail::progress<Log, Environment, Observer> progress_;
};

SETTLE_END
