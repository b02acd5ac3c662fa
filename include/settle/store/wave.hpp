// SPDX-License-Identifier: BSL-1.0
// The seam between a driver and its stores: operations of one or many transactions, handed over in
// one call, answered one by one in place.
//
// A store is bound to collections and gives a session; a log is bound and gives one too:
//
//   store.bind<Collections…>(log_name) → session
//     session.start<Step, D>(std::span<job>)   begins a wave; answers may come now or in finish
//     session.finish<Step, D>(std::span<job>)  every due part of the session's collections answered
//     session.read<C>(key) · create<C>(record) · scan<C>(after, limit)
//     session.marks(after, limit) · resolve(mark, confirmed)
//     session.at_once<D>(std::span<job>, log_session, occasion, judge)   where one native
//         transaction can hold it all: entries and parts, each job as `judge(job)` has it
//   log.bind() → session
//     session.insert(std::span<job>, occasion)    `unavailable` with errc::bad_parameters: never,
//         since the log cannot hold such an entry; with any other problem: not now
//     session.change<Step>(std::span<job>, occasion)    at a commit `unavailable` with
//         errc::bad_parameters: never, since the images of its records make the entry too large
//     session.read(id) · list(filter, after, limit) · name()
//     session.purge(created_before, limit)     erases finished entries, at most so many
//
// A wave is a span of jobs, all of one direction D. Step and direction are template arguments of
// what meets records, so that a store that is a plain container costs what a hand-written loop
// costs; a log knows no C++ types.
#pragma once

#include <settle/protocol/conditional.hpp>
#include <settle/protocol/coordinator.hpp>
#include <settle/store/error.hpp>
#include <settle/store/erased_direction.hpp>

#include <span>
#include <variant>

SETTLE_BEGIN

/// One transaction under way: what the driver owns of it and a wave reads in place.
struct job {
    transaction_id id;
    erased_direction const* direction = nullptr;
    void const* parameters = nullptr; ///< of that direction, owned by whoever made the job
    settle::coordinator coordinator;
    timestamp created{};
    std::vector<image> images{};             ///< of exclusive effects, in the order of the parts
    log_answer said = log_answer::unknown;   ///< the log's answer to the last step
    bool resting = false;                    ///< takes no step for now
    std::int64_t place = 0;                  ///< where the log has inserted it, if it says so
    error problem{};                         ///< the last thing that a store or the log said

    // Spelled out: an aggregate is cleared as a whole before it is filled.
    job(transaction_id&& own_id, erased_direction const* own_direction, void const* own_parameters,
        settle::coordinator&& work)
        : id(std::move(own_id)), direction(own_direction), parameters(own_parameters),
          coordinator(std::move(work)) {}
    /// One that is new to the log, whose coordinator is made in place.
    job(transaction_id&& own_id, erased_direction const* own_direction, void const* own_parameters,
        timestamp at, std::size_t parts, epoch first, goal wanted, phases how)
        : id(std::move(own_id)), direction(own_direction), parameters(own_parameters),
          coordinator(settle::coordinator::begin(parts, first, wanted, how)), created(at) {}

    /// Whether a wave of this step has something to do for it.
    [[nodiscard]] bool takes(step wanted) const noexcept {
        return !resting && coordinator.next() == wanted;
    }
    template <typename Direction>
    [[nodiscard]] typename Direction::parameters const& parameters_of() const noexcept {
        return *static_cast<typename Direction::parameters const*>(parameters);
    }
    [[nodiscard]] part_name name_part(std::size_t part) const {
        return direction->name_part(parameters, part);
    }
};

/// Shape:   parameters - outlive the job
template <typename Direction>
[[nodiscard]] job make_job(transaction_id id, typename Direction::parameters const& parameters,
                           coordinator work) {
    return job{std::move(id), &erased_direction_of<Direction>, &parameters, std::move(work)};
}

/// What a log writes beside the transition itself.
struct occasion {
    timestamp now;
    std::string const& owner;
};

/// What ends a part in a record of one collection: the same for all transaction types.
template <step Step, typename Collection>
class part_end {
public:
    static constexpr step what = Step;
    using collection = Collection;
    using record = typename collection::record_type;

    [[gnu::always_inline]] part_end(job& work, part_number part) : work_(work), part_(part) {}

    [[nodiscard, gnu::always_inline]] transaction_id const& id() const { return work_.id; }
    [[nodiscard, gnu::always_inline]] part_number part() const { return part_; }

    template <typename NativeImage>
    [[gnu::always_inline]] met<record> meet(record_slot<record>& slot, NativeImage&&) const {
        auto const& c = work_.coordinator;
        if constexpr (Step == step::confirm) {
            return settle::finish(slot, work_.id, part_, c.committed());
        } else if constexpr (Step == step::compensate) {
            return undo(slot, work_.id, part_, c.latest());
        } else {
            return undo_exactly(slot, work_.id, part_, c.epoch_number());
        }
    }

private:
    job& work_;
    part_number part_;
};

/// One operation of a wave: one part of one transaction at one step.
template <step Step, typename Direction, std::size_t Index>
class operation {
public:
    static constexpr step what = Step;
    using collection = typename Direction::template collection_of<Index>;
    using record = typename collection::record_type;

    [[gnu::always_inline]] operation(job& work, std::size_t flat, std::size_t line_number)
        : work_(work), flat_(flat), line_(line_number) {}

    [[nodiscard, gnu::always_inline]] transaction_id const& id() const { return work_.id; }
    [[nodiscard, gnu::always_inline]] part_number part() const {
        return {static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(line_)};
    }
    [[nodiscard, gnu::always_inline]] job& work() const { return work_; }
    /// The part's number among all of its participant.
    [[nodiscard, gnu::always_inline]] std::size_t line() const { return line_; }
    /// The part's number among all of the transaction.
    [[nodiscard, gnu::always_inline]] std::size_t flat_part() const { return flat_; }
    [[nodiscard, gnu::always_inline]] auto key() const {
        return Direction::template key<Index>(Direction::user(parameters()), line_);
    }
    [[nodiscard, gnu::always_inline]] auto intent() const {
        return Direction::template intent<Index>(parameters(), line_);
    }

    /// Lets the operation meet a record: the one place where a step becomes a call of the rule.
    /// Shape:   native_image - gives the whole record as the store keeps it, as JSON
    template <typename NativeImage>
    [[gnu::always_inline]] met<record> meet(record_slot<record>& slot,
                                            NativeImage&& native_image) const {
        auto const& c = work_.coordinator;
        if constexpr (applies(Step)) {
            record created{};
            auto const wanted = intent();
            using intent_type = std::remove_const_t<decltype(wanted)>;
            if constexpr (intent_type::creates) {
                bool overflow = false;
                store_value(created.*collection::key_member, key(), overflow);
                if (overflow) return detail::refused<record>(answer::overflow);
            }
            if constexpr (Step == step::apply) {
                return apply(slot, work_.id, part(), c.epoch_number(), created, wanted,
                             std::forward<NativeImage>(native_image));
            } else {
                return apply_at_once(slot, work_.id, part(), c.epoch_at_once(), created, wanted,
                                     std::forward<NativeImage>(native_image));
            }
        } else {
            return end().meet(slot, std::forward<NativeImage>(native_image));
        }
    }
    /// What it is where it applies nothing.
    [[nodiscard, gnu::always_inline]] part_end<Step, collection> end() const {
        return {work_, part()};
    }

    /// What it does to a record that nobody has read, and when; nothing where the rule must see it.
    [[nodiscard]] std::optional<conditional_change<record>> conditional() const {
        auto const& c = work_.coordinator;
        if constexpr (Step == step::apply) {
            return conditional_apply<record>(work_.id, part(), c.epoch_number(), intent());
        } else if constexpr (Step == step::at_once) {
            return conditional_apply_at_once<record>(work_.id, part(), c.epoch_at_once(), intent());
        } else if constexpr (Step == step::confirm) {
            return conditional_finish<record>(work_.id, part(), c.committed(), intent());
        } else {
            return std::nullopt;
        }
    }

    /// Ends what meet() began at once: its mark never leaves the native transaction.
    met<record> end_at_once(record_slot<record>& slot, bool confirmed) const {
        epoch const under = work_.coordinator.epoch_at_once();
        return confirmed ? settle::finish(slot, work_.id, part(), under)
                         : undo_exactly(slot, work_.id, part(), under);
    }

    /// Writes the answer where the coordinator and the entry need it.
    [[gnu::always_inline]] void answered(met<record> const& result) const {
        work_.coordinator.answered(flat_, result.what);
        if (applies(Step) && result.exclusive) keep_image(*result.exclusive);
    }
    void failed(answer said, error const& problem) const {
        work_.coordinator.answered(flat_, said);
        work_.problem = problem;
    }

    [[gnu::noinline]] void keep_image(exclusive_effect<record> const& effect) const {
        image kept{static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(line_),
                   effect.image, effect.erases ? std::string{} : encode_json(effect.confirmed)};
        for (image& one : work_.images) {
            if (one.participant == kept.participant && one.line == kept.line) {
                one = std::move(kept);
                return;
            }
        }
        work_.images.push_back(std::move(kept));
    }

private:
    [[nodiscard, gnu::always_inline]] auto const& parameters() const {
        return work_.template parameters_of<Direction>();
    }

    job& work_;
    std::size_t flat_;
    std::size_t line_;
};

/// Calls `function(operation)` for every part of a job that `wanted(part)` and whose collection
/// passes `Holds<collection>`, in the order of the definition.
template <template <typename> typename Holds, step Step, typename Direction, typename Wanted,
          typename Function>
void for_each_part(job& work, Wanted&& wanted, Function&& function) {
    std::size_t flat = 0;
    auto const& user = Direction::user(work.parameters_of<Direction>());
    Direction::for_each_participant([&](auto index) {
        constexpr std::size_t at = decltype(index)::value;
        std::size_t const lines = Direction::template lines<at>(user);
        if constexpr (Holds<typename Direction::template collection_of<at>>::value) {
            for (std::size_t line_number = 0; line_number < lines; ++line_number) {
                if (!wanted(flat + line_number)) continue;
                function(operation<Step, Direction, at>{work, flat + line_number, line_number});
            }
        }
        flat += lines;
    });
}

/// Calls `function(operation)` for every due part of every job that takes the step, in the order of
/// the jobs and of the definition.
template <template <typename> typename Holds, step Step, typename Direction, typename Function>
void for_each_operation(std::span<job> wave, Function&& function) {
    for (job& work : wave) {
        if (!work.takes(Step)) continue;
        for_each_part<Holds, Step, Direction>(
            work, [&](std::size_t part) { return work.coordinator.due(part); }, function);
    }
}

namespace detail {

/// A session that settles transactions at once says so.
template <typename Session>
inline constexpr bool settles_at_once = false;
template <typename Session>
    requires requires { Session::settles_at_once; }
inline constexpr bool settles_at_once<Session> = Session::settles_at_once;

/// Whether it can do so where it is bound.
template <typename Session>
[[nodiscard]] bool can_settle_at_once(Session const& session) {
    if constexpr (requires { session.can_settle_at_once(); }) return session.can_settle_at_once();
    else return settles_at_once<Session>;
}

/// How many transactions at a time a session likes to be handed, when it says so.
template <typename Session>
inline constexpr std::size_t wave_of = 1000;
template <typename Session>
    requires requires { Session::wave_size; }
inline constexpr std::size_t wave_of<Session> = Session::wave_size;

/// How many entries at a time it likes to see taken over, when that is another number.
template <typename Session>
inline constexpr std::size_t recovery_wave_of = wave_of<Session>;
template <typename Session>
    requires requires { Session::recovery_wave_size; }
inline constexpr std::size_t recovery_wave_of<Session> = Session::recovery_wave_size;

} // namespace detail

/// A key of any collection.
using key_value = std::variant<std::int64_t, std::string>;

/// A mark as a sweeper sees it.
struct mark_place {
    std::string collection;
    key_value key;
    transaction_id id;
    part_number part;
    epoch epoch_number = 0;

    friend bool operator==(mark_place const&, mark_place const&) = default;
};

/// Which entries a listing asks for.
struct entry_filter {
    std::optional<settle::state> state{};  ///< one state only
    bool unfinished = false;               ///< pending, applied and canceling
    std::optional<timestamp> before{};     ///< not modified since
};

/// What a purge did.
struct purged {
    std::uint64_t erased = 0;
    bool more = false; ///< there may be more that are old enough
};

SETTLE_END
