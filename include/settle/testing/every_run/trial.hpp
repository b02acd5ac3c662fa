// SPDX-License-Identifier: BSL-1.0
// A trial: workers that run engines; the choices of the run decide turns and faults.
#pragma once

#include <settle/running/calls/batch.ipp>
#include <settle/running/calls/engine_calls.ipp>
#include <settle/testing/every_run/choices.hpp>
#include <settle/testing/simulate/audit.hpp>
#include <settle/testing/simulate/schedule.hpp>
#include <settle/testing/simulate/worker_access.hpp>

#include <thread>

SETTLE_BEGIN
namespace testing {

namespace detail {

/// The state that the workers of one run share. Only the running worker may access it.
class chosen_state {
public:
    using time = std::chrono::nanoseconds;

    chosen_state(run_choices& choices, std::size_t workers)
        : choices_(choices), turns_(workers), here_(workers, true) {}

    [[nodiscard]] witness& seen() { return witness_; }
    [[nodiscard]] schedule& turns() { return turns_; }
    [[nodiscard]] std::size_t landed() const { return landed_; }
    void look_with(std::function<void()> look) { look_ = std::move(look); }

    // -------------------------------------------------------------------------------- virtual time

    [[nodiscard]] time now() const { return now_; }
    void pass(time duration) { now_ += duration; }
    [[nodiscard]] std::uint64_t draw() { return hash_mix(5, ++drawn_); }

    // ----------------------------------------------------------------------------- faults of calls

    /// A trial does not distinguish databases.
    std::size_t number_of(void const*) { return 0; }

    /// The fault plan of every worker.
    fault answer(std::size_t worker, std::size_t, fault_source& source, call const& current) {
        if (calm_) return {};
        pass(each_call);
        take_turn(worker);
        while (land_one()) {
        }
        look_();
        if (++calls_ > most_calls) witness_.complain("the calls do not end");
        if (!witness_.content()) throw crash{};
        return draw_fault(worker, source, current);
    }

    void crashed(std::size_t worker) {
        choices_.note([&] { return name(worker) + " has ended"; });
    }
    /// A worker makes no more calls.
    void leave(std::size_t worker) {
        here_[worker] = false;
        turns_.leave(worker);
    }

    // ------------------------------------------------------------------------------ end of the run

    /// Ends the faults.
    void calm_down() { calm_ = true; }
    [[nodiscard]] std::size_t late() const { return late_.size(); }
    void land_all() {
        while (!late_.empty()) land(0);
    }

private:
    static constexpr time each_call = std::chrono::microseconds{100};
    /// A run with more calls counts as endless.
    static constexpr std::size_t most_calls = 2'000;

    static std::string name(std::size_t worker) { return "w" + std::to_string(worker); }

    /// Chooses the worker that runs next: this worker, or as a mishap another.
    void take_turn(std::size_t worker) {
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < here_.size(); ++i) {
            if (i != worker && here_[i]) others.push_back(i);
        }
        std::size_t const taken = choices_.mishap(1 + others.size());
        if (taken == 0) return;
        choices_.note([&] { return name(others[taken - 1]) + " goes on"; });
        turns_.hand_over(worker, others[taken - 1]);
    }

    /// Chooses a late write to land now, or none.
    bool land_one() {
        std::size_t const taken = choices_.turn(1 + late_.size());
        if (taken != 0) land(taken - 1);
        return taken != 0;
    }
    void land(std::size_t index) {
        fault_source& source = *late_[index];
        // `deliver_one` takes an index into this source's own late writes.
        auto const end = late_.begin() + static_cast<std::ptrdiff_t>(index);
        auto const before = std::count(late_.begin(), end, &source);
        late_.erase(end);
        ++landed_;
        choices_.note([] { return "a late write lands"; });
        if (!source.deliver_one(static_cast<std::size_t>(before))) {
            witness_.complain("a late write is lost");
        }
    }

    /// The number of choices for the faulty operations of a wave: all, or any single operation.
    static std::size_t groups_of(call const& current) {
        return current.operations < 2 ? 1 : 1 + current.operations;
    }

    fault draw_fault(std::size_t worker, fault_source& source, call const& current) {
        bool const reads = current.only_answers();
        constexpr fault_kind partial[]{fault_kind::unavailable, fault_kind::unknown_before,
                                       fault_kind::unknown_after, fault_kind::late};
        // One phase is a native transaction: a fault hits all of it.
        bool const whole = current.what == name_of(step::one_phase);
        std::size_t const groups = whole ? 1 : groups_of(current);
        std::size_t const kinds = reads ? 1 : std::size(partial);
        std::size_t const taken = choices_.mishap(1 + kinds * groups + (reads ? 1 : 2));
        fault drawn;
        if (taken > kinds * groups) {
            drawn.kind =
                taken == kinds * groups + 1 ? fault_kind::crash_before : fault_kind::crash_after;
        } else if (taken > 0) {
            drawn.kind = partial[(taken - 1) % kinds];
            std::size_t const group = (taken - 1) / kinds;
            if (group > 0) drawn.operations = std::uint64_t{1} << (group - 1) % 64;
        }
        choices_.note([&] { return name(worker) + ": " + words(current, drawn); });
        if (drawn.kind == fault_kind::late) late_.push_back(&source);
        return drawn;
    }

    static std::string words(call const& current, fault const& drawn) {
        std::string text{current.what};
        if (current.operations > 1) {
            text += ", " + std::to_string(current.operations) + " operations";
        }
        if (drawn.kind == fault_kind::none) return text;
        text += ": " + std::string{name_of(drawn.kind)};
        for (std::size_t i = 0; i < current.operations && i < 64; ++i) {
            bool const one = drawn.operations == std::uint64_t{1} << i;
            if (one) text += ", number " + std::to_string(i + 1);
        }
        return text;
    }

    run_choices& choices_;
    witness witness_;
    schedule turns_;
    std::vector<bool> here_;
    std::function<void()> look_ = [] {};
    std::vector<fault_source*> late_; ///< the source of each late write, in sending order
    time now_{};
    std::uint64_t drawn_ = 0;
    std::size_t calls_ = 0;
    std::size_t landed_ = 0;
    bool calm_ = false;
};

/// Shape:   Rules - for the order of a window
template <typename Rules>
class chosen_environment {
public:
    using order_rules = Rules;

    chosen_environment(chosen_state& shared, std::size_t worker)
        : shared_(&shared), worker_(worker) {}

    [[nodiscard]] timestamp now() const {
        using std::chrono::milliseconds;
        return timestamp{milliseconds{1'800'000'000'000}} +
               std::chrono::duration_cast<milliseconds>(shared_->now());
    }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return shared_->now(); }
    [[nodiscard]] std::uint64_t random() const { return shared_->draw(); }
    void pause(std::chrono::nanoseconds duration, std::stop_token const&) const {
        shared_->pass(duration);
    }
    [[nodiscard]] std::string owner() const { return "worker-" + std::to_string(worker_); }

private:
    chosen_state* shared_;
    std::size_t worker_;
};

} // namespace detail

/// One run of workers, directed by the run's choices. Use each database for one trial only. The
/// checks are the checks of a simulation (settle/testing/simulate.hpp).
/// Shape:   Rules - settle::detail::order_rules; Arguments - the engine's arguments: databases and
///          types
template <typename Rules, typename... Arguments>
class basic_trial : public detail::audited<Arguments...> {
    using base = detail::audited<Arguments...>;
    using environment = detail::chosen_environment<Rules>;
    using own_arguments =
        std::tuple<std::unique_ptr<detail::own_argument<Arguments, detail::chosen_state>>...>;

    static auto make_engine(own_arguments& own, environment const& world, options const& limits) {
        return std::apply(
            [&](auto&... bound) {
                return engine{bound->get()..., with_environment(world), limits};
            },
            own);
    }

public:
    using engine_type =
        decltype(make_engine(std::declval<own_arguments&>(), std::declval<environment const&>(),
                             std::declval<options const&>()));

    template <typename... Given>
    explicit basic_trial(run_choices& choices, Given&&... arguments)
        : base(arguments...), choices_(choices), arguments_(std::forward<Given>(arguments)...) {
        limits_.takeover = std::chrono::milliseconds{100};
        limits_.attempts = 8;
    }

    /// The options of every worker's engine.
    [[nodiscard]] options& limits() { return limits_; }

    /// Adds a worker.
    /// Shape:   act - called with the worker's engine; an exception is a problem, except a crash
    void worker(std::function<void(engine_type&)> act) { acts_.push_back(std::move(act)); }

    /// Checks an outcome that a call has returned.
    void note(outcome const& reported) { shared_->seen().note_outcome(reported); }
    /// Checks the report of `work`, `recover` or `sweep`.
    template <typename Report>
    void note_report(Report const& report) {
        shared_->seen().note_report(report);
    }

    /// Advances the virtual time.
    void pass(std::chrono::nanoseconds duration) { shared_->pass(duration); }
    /// The number of late writes that have landed.
    [[nodiscard]] std::size_t landed() const { return shared_->landed(); }

    /// Runs the workers, finishes every transaction and checks the final state.
    /// Returns: the problems, or an empty string
    std::string run() {
        this->begin();
        shared_.emplace(choices_, acts_.size());
        shared_->look_with([this] { this->look(shared_->seen()); });
        for (std::size_t i = 0; i <= acts_.size(); ++i) own_.push_back(make_own(i));
        if (acts_.size() == 1) live(0);
        else play();
        if (content()) close();
        if (content()) {
            simulation_report counted;
            this->audit(shared_->seen(), counted);
        }
        std::string wrong;
        for (auto const& problem : shared_->seen().problems()) {
            wrong += (wrong.empty() ? "" : "; ") + problem;
        }
        return wrong;
    }

private:
    [[nodiscard]] bool content() { return shared_->seen().content(); }

    own_arguments make_own(std::size_t worker) {
        return std::apply(
            [&](auto&... arguments) {
                return std::make_tuple(
                    std::make_unique<detail::own_argument<Arguments, detail::chosen_state>>(
                        arguments, *shared_, worker)...);
            },
            arguments_);
    }

    void live(std::size_t worker) {
        try {
            auto here = make_engine(own_[worker], environment{*shared_, worker}, limits_);
            acts_[worker](here);
        } catch (crash const&) {
            shared_->crashed(worker);
        } catch (std::exception const& thrown) {
            shared_->seen().complain(std::string{"thrown: "} + thrown.what());
        }
    }

    void play() {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < acts_.size(); ++i) {
            threads.emplace_back([this, i] {
                shared_->turns().await(i);
                live(i);
                shared_->leave(i);
            });
        }
        shared_->turns().conduct();
    }

    /// Recovers and sweeps as an operator's job does, and lands the late writes at a chosen moment.
    void close() {
        shared_->calm_down();
        // Late writes land before the first recovery, before the first sweep or after it.
        std::size_t const lands = shared_->late() == 0 ? 0 : choices_.turn(3);
        auto engine = make_engine(own_.back(), environment{*shared_, acts_.size()}, limits_);
        recover_options everything;
        everything.older_than = std::chrono::milliseconds{0};
        for (std::size_t moment = 0; moment < 4; ++moment) {
            if (moment == lands) shared_->land_all();
            shared_->pass(limits_.takeover + std::chrono::seconds{1});
            if (moment % 2 == 0) {
                note_report(engine.work());
                note_report(engine.recover(everything));
            } else {
                note_report(engine.sweep());
            }
        }
    }

    run_choices& choices_;
    std::tuple<typename settle::detail::held_argument<Arguments>::type...> arguments_;
    options limits_;
    std::vector<std::function<void(engine_type&)>> acts_;
    std::optional<detail::chosen_state> shared_;
    std::vector<own_arguments> own_;
};

template <typename... Arguments>
class trial : public basic_trial<settle::detail::order_rules, Arguments...> {
    using basic_trial<settle::detail::order_rules, Arguments...>::basic_trial;
};
template <typename... Given>
trial(run_choices&, Given&&...) -> trial<std::remove_cvref_t<Given>...>;

} // namespace testing
SETTLE_END
