// SPDX-License-Identifier: BSL-1.0
// The seam between a driver and its stores: a driver hands over a wave, the parts or entries of one
// or many transactions, in one call, and each is answered in place.
//
// A wave is a span of jobs of one direction D. Its kind names its step. A store's session visits
// its parts with for_each_operation() (store/operation.hpp). A log's session knows no C++ types.
//
//   store.bind<Collections...>(log_name) -> session of a store
//     session.start<D>(wave, kind)     Begins the wave. The answers may come now or in finish().
//     session.finish<D>(wave, kind)    Answers every due part of the session's collections.
//     session.expect<C>(key)           A wave will meet this record soon. See fetches_ahead.
//     session.expect_others(), session.abandon(wave)   See overlaps_others.
//     session.read<C>(key), create<C>(record), scan<C>(after, limit)
//     session.marks(after, limit), session.resolve(mark, confirmed)
//     session.one_phase<D>(wave, log_session, context, decide)   Settles each job of the wave in a
//         native transaction that holds the job's entry and all its parts. decide(job) says inside
//         of it whether the entry is written, and as what. The log's answer is `held_back` where
//         it is not written. Only a store with settles_in_one_phase has this call.
//   log.bind() -> session of a log
//     session.insert(wave, context)    Inserts the entries. `unfit`: the log cannot hold it.
//         `conflict`: the id is there. `ended`, instead of `conflict`, only if the entry that is
//         there is final: then later jobs of the window that share a record or the id may go on.
//     session.change<Step>(wave, context)    Changes each entry by compare-and-set. `unfit` at a
//         commit: the images of the records make the entry too large. `blocked` at a claim, a
//         cancel or in one phase: a record or the entry is damaged, so that no worker could end
//         the transaction; the entry stays as it is.
//     session.look_up(wave, found)     Calls found(job, result<std::optional<entry>>, same) for
//         every job that reads: its entry as it was at some moment of this call. An entry that was
//         inserted a moment ago may be missing if the job's insert comes next and was not refused
//         yet: that insert meets it. `same` is true if the log has compared type, definition and
//         parameters with the job's; the entry then lacks its parameters. found() makes no call to
//         the log.
//     session.read(id), session.list(filter, after, limit), session.name()
//     session.expect(id)               An insert of this id comes soon. See fetches_ahead.
//     session.purge(before, limit, passed)   Erases at most `limit` finished entries whose creation
//         and last change both precede `before`, and returns how far it has passed the log. The
//         next call goes on there, so that a purge looks at no entry twice.
//
// Every answer but `unknown` is certain: see log_answer and answer. job::problem says why a write
// took no effect.
#pragma once

#include <settle/protocol/coordinator.hpp>
#include <settle/store/error.hpp>
#include <settle/store/erased_direction.hpp>

#include <limits>
#include <span>
#include <variant>

SETTLE_BEGIN

/// One transaction under way: what the driver owns of it and a wave reads in place.
struct job {
    transaction_id id;
    erased_direction const* direction = nullptr;
    void const* parameters = nullptr; ///< of that direction, owned by the maker of the job
    settle::coordinator coordinator;
    timestamp created{};
    std::vector<image> images{};             ///< of exclusive effects, in the order of the parts
    log_answer reply = log_answer::unknown;   ///< the log's answer to the last step
    bool resting = false;                    ///< takes no step for now
    /// The id was drawn for this call: one that is taken was drawn twice, by whomever, and another
    /// is drawn, though the parameters be the same.
    bool new_id = false;
    bool hopeless = false;                   ///< a part of this wave will never be answered
    std::int64_t row = 0;                  ///< where the log has inserted it, if it says so
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
    /// Answers one of its parts and keeps the error.
    void answered(std::size_t part, answer what, error const& why) {
        coordinator.answered(part, what);
        // What another part could not do for now would hide why the transaction cannot go on.
        if (hopeless) return;
        hopeless = what == answer::unavailable && why.code == condition::permanent;
        problem = why;
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

/// Values that a log writes beside the transition itself.
struct write_context {
    timestamp now;
    std::string const& owner;
};

namespace detail {

/// A session that settles transactions at once says so.
template <typename Session>
inline constexpr bool settles_in_one_phase = false;
template <typename Session>
    requires requires { Session::settles_in_one_phase; }
inline constexpr bool settles_in_one_phase<Session> = Session::settles_in_one_phase;

/// Whether it can do so where it is bound.
template <typename Session>
[[nodiscard]] bool can_settle_in_one_phase(Session const& session) {
    if constexpr (requires { session.can_settle_in_one_phase(); })
        return session.can_settle_in_one_phase();
    else return settles_in_one_phase<Session>;
}

/// True if a session accepts early notice of the records or ids of a coming wave, and fetches them
/// meanwhile.
template <typename Session>
inline constexpr bool fetches_ahead = false;
template <typename Session>
    requires requires { Session::fetches_ahead; }
inline constexpr bool fetches_ahead<Session> = Session::fetches_ahead;

/// Whether a log's calls take no time, so that the clock need not be read behind them: it says so
/// where all that it does is in this process.
template <typename Session>
inline constexpr bool takes_no_time = false;
template <typename Session>
    requires requires { Session::takes_no_time; }
inline constexpr bool takes_no_time<Session> = Session::takes_no_time;

/// A session whose waves can be under way while other stores have theirs. It is told once that
/// there are others (expect_others): from then on start() returns before the wave is over, and
/// abandon() waits for the end of a wave without a finish().
template <typename Session>
concept overlaps_others = requires(Session& session, std::span<job> wave) {
    session.expect_others();
    session.abandon(wave);
};

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
struct mark_locator {
    std::string collection;
    key_value key;
    transaction_id id;
    part_number part;
    epoch epoch_number = 0;
    error fault{}; ///< why the mark cannot be used; its id, key or part may then be none

    friend bool operator==(mark_locator const&, mark_locator const&) = default;
};

/// Which entries a listing asks for.
struct entry_filter {
    std::optional<settle::state> state{};  ///< one state only
    bool unfinished = false;               ///< pending, applied and canceling
    std::optional<timestamp> before{};     ///< not modified since
    /// With `before`: or created or modified later than this, which a wrong clock has written.
    std::optional<timestamp> ahead_of{};
};

/// The result of one step of a purge.
struct purged {
    static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

    std::uint64_t erased = 0;
    bool more = false; ///< there may be more that are old enough
    std::int64_t passed = nothing; ///< where the next step goes on, as the log counts
};

SETTLE_END
