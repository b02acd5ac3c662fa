// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a database. It decides which attempts of a wave are made: without reading
// first, then with reading; again when an id exists; in halves when one request makes the rest
// fail. The database makes each attempt (adapter/wave_port.hpp).
#pragma once

#include <settle/adapter/conditional_tries.hpp>
#include <settle/adapter/isolation.hpp>
#include <settle/adapter/wave_port.hpp>
#include <settle/adapter/waves_under_way.hpp>

SETTLE_BEGIN
namespace detail {

struct wave_limits {
    std::size_t leaders = 4;           ///< the number of threads that lead groups at a time
    std::size_t largest_group = 1'000; ///< calls that share a native transaction
    /// The number of requests up to which a call shares a native transaction.
    std::size_t most_shared = std::numeric_limits<std::size_t>::max();
    bool joins_late = false; ///< a call may join a native transaction that is under way
};

/// The rules of the executor by name. A search switches them off one by one, to show that each is
/// needed.
struct wave_rules {
    /// If an attempt without reading has no effect, the next attempt reads.
    static constexpr bool reads_after_miss = true;
    /// After updates that may have taken effect in part, no request is told that it has none.
    static constexpr bool partly_stays = true;
    /// An attempt whose end is unknown is not repeated.
    static constexpr bool unknown_stays = true;
    /// Answers hold only if their attempt was committed.
    static constexpr bool answers_need_commit = true;
    /// If one request makes an attempt fail, the others are tried without it.
    static constexpr bool halves = true;
    /// An id that exists is looked for, and its request is left out.
    static constexpr bool looks_for_ids = true;
    /// Only looks that see no further id are counted: others may insert one id after the other.
    static constexpr bool counts_vain_looks = true;
    /// Of two requests with one id, only the first is inserted.
    static constexpr bool first_of_id = true;
    /// The decider sees a request that is left out.
    static constexpr bool shows_left_out = true;
    /// No answer of an earlier attempt stands for the next.
    static constexpr bool forgets_answers = true;
    /// As in protocol_rules.
    static constexpr bool one_phase_compares = true;
    /// A refused record cancels the transaction that names it.
    static constexpr bool refused_cancels = true;
};

/// Shape:   threads may share an object, and the port that they call it with
template <typename Rules>
class basic_wave_executor {
public:
    explicit basic_wave_executor(wave_limits limits)
        : limits_(limits), groups_(limits.leaders, limits.largest_group) {}

    /// Executes requests, and sets their results. Only requests fail whose records other native
    /// transactions hold, or whose record refuses the change.
    void execute(wave_port& port, std::span<part_request const> requests,
                 std::span<part_result> results) {
        execute(port, requests, results, false, false);
    }

    /// Begins a wave beside waves of other stores, if there are any: at its server, or on another
    /// thread. Otherwise executes it.
    /// Shape:   the port, the requests and the results stay until finish() or abandon()
    void start(wave_port& port, std::span<part_request const> requests,
               std::span<part_result> results);
    void finish(std::span<part_result> results) {
        if (beside_) beside_->finish(results);
    }
    /// As finish_by() of the seam.
    [[nodiscard]] bool finish_by(std::span<part_result> results,
                                 std::chrono::steady_clock::time_point until,
                                 wave_end const& over) {
        return !beside_ || beside_->finish_by(results, until, over);
    }
    void abandon(std::span<part_result> results) noexcept {
        if (beside_) beside_->abandon(results);
    }
    void expect_others() { beside_ = std::make_unique<waves_under_way>(); }

    /// Settles transactions in their order, each as the decider says: its parts and its entry in
    /// one native transaction, which the calls of several threads share.
    void one_phase(wave_port& port, std::span<one_phase_request> requests,
                   write_context const& context, one_phase_decider& decider);

private:
    using call_groups = groups<one_phase_call>;
    using group = call_groups::group;
    struct begun_wave;

    void execute(wave_port& port, std::span<part_request const> requests,
                 std::span<part_result> results, bool reads_first, bool partly);
    attempt_result attempt(wave_port& port, std::span<part_request const> requests,
                           std::vector<part_result>& results, attempt_plan plan);
    bool finish_sent(begun_wave& begun, std::span<part_result> results);
    begun_wave send(wave_port& port, std::span<part_request const> requests);

    attempt_result settle(wave_port& port, group& calls, attempt_plan plan, bool may_skip_reading);
    attempt_result settle_once(wave_port& port, group& calls, attempt_plan const& plan,
                               existing_ids const* existing) const;
    void settle_apart(wave_port& port, one_phase_call const& call, bool first, bool was_tried);

    /// Notes how a conditional attempt ended. True if the records must be read.
    [[nodiscard]] bool must_read_after(attempt_result const& ended);

    wave_limits limits_;
    call_groups groups_;
    held_up held_up_;
    conditional_tries conditional_tries_;
    std::unique_ptr<waves_under_way> beside_; ///< null without other stores
};

using wave_executor = basic_wave_executor<wave_rules>;
#ifdef SETTLE_COMPILED
extern template class basic_wave_executor<wave_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/wave_executor.ipp>
#endif
