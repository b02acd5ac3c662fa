// SPDX-License-Identifier: BSL-1.0
// Creates a range of records outside of any transaction, a wave at a time.
#pragma once

#include <settle/running/construction/assembly.hpp>
#include <settle/running/driving/deadlines.hpp>

#include <exception>
#include <iterator>

SETTLE_BEGIN

/// A record of a range that could not be created, and why.
struct uncreated_record {
    std::size_t number; ///< in the range
    error problem;
};

/// The report of create_all.
struct create_report {
    std::uint64_t created = 0;
    std::uint64_t existing = 0;            ///< records whose key was taken
    std::vector<uncreated_record> refused; ///< records not created for another reason
    /// Why some records have no answer of the store, or why the range was not read to its end.
    error problem;
};

namespace detail {

/// One wave (batch_options::window) and the refused records bound the memory. An unreachable store
/// is retried for options::patience, or until the call's deadline.
/// Shape:   Ended - called with the number of each record and its result<void>
template <typename Assembly, typename Collection, typename Ended>
class creation {
    using record_type = typename Collection::record_type;

public:
    creation(Assembly& assembly, batch_options const& call_options, Ended& ended)
        : assembly_(assembly), options_(call_options), ended_(ended) {
        auto& session = assembly_.template session_of<Collection>();
        using session_type = std::remove_cvref_t<decltype(session)>;
        // A wave costs one commit, so large waves pay, even where transactions prefer small waves.
        constexpr std::size_t least = 1000;
        room_ = call_options.window == 0 ? std::max(least, capabilities<session_type>.wave_size)
                                         : call_options.window;
        if (call_options.deadline) {
            deadline_ = assembly_.environment().elapsed() + bounded(*call_options.deadline);
        }
    }

    template <typename Range>
    create_report run(Range&& range) {
        try {
            std::size_t number = 0;
            constexpr bool read_once = !std::ranges::forward_range<Range>;
            auto position = std::ranges::begin(range);
            auto const last = std::ranges::end(range);
            while (position != last) {
                take(*position, number++);
                if (records_.size() >= room_) send();
                // Advancing an input range may consume a record, so ends() is called first.
                if (read_once && ends()) break;
                ++position;
                if (!read_once && position != last && ends()) break;
            }
        } catch (...) {
            if (sending_) throw;
            // The exception concerns later records; the records taken so far are created first.
            if (!thrown_) thrown_ = std::current_exception();
        }
        send();
        if (thrown_) std::rethrow_exception(thrown_);
        return std::move(report_);
    }

private:
    /// True if the call takes no more records. After a deadline or a stop, the report says so.
    [[nodiscard]] bool ends() {
        if (thrown_ || !report_.problem.empty()) return true;
        if (!options_.stop.stop_requested() && !is_late(deadline_)) return false;
        report_.problem = {make_error_code(errc::stopped),
                           "settle: the deadline or a stop request ended the call before the "
                           "range was read to its end. Call it again with the rest. "
                           "See running#many-at-a-time"};
        return true;
    }

    [[nodiscard]] bool is_late(std::optional<std::chrono::nanoseconds> const& deadline) const {
        return deadline && assembly_.environment().elapsed() >= *deadline;
    }

    void take(record_type const& record, std::size_t number) {
        if (auto texts = check_texts(record); !texts.has_value()) return deliver(number, texts);
        records_.push_back(record);
        numbers_.push_back(number);
    }

    /// Sends the records taken until the store has answered for each, or the time is over.
    void send() {
        sending_ = true;
        bool unsure = false;
        std::uint32_t tries = 0;
        std::optional<std::chrono::nanoseconds> until = deadline_;
        std::vector<result<void>> answers;
        auto const is_over = [&] { return options_.stop.stop_requested() || is_late(until); };
        while (!records_.empty()) {
            answers.assign(records_.size(), {});
            create_wave(records_, answers);
            if (!until) {
                until = assembly_.environment().elapsed() + bounded(assembly_.limits().patience);
            }
            unsure = keep_unanswered(answers, unsure, is_over());
            if (records_.empty()) break;
            pause(tries++, *until);
            // When the time is over, no record is sent again.
            if (is_over()) static_cast<void>(keep_unanswered(answers, unsure, true));
        }
        sending_ = false;
    }

    void create_wave(std::span<record_type const> wave, std::span<result<void>> answers) {
        auto& session = assembly_.template session_of<Collection>();
        if constexpr (requires { session.template create_all<Collection>(wave, answers); }) {
            session.template create_all<Collection>(wave, answers);
        } else {
            for (std::size_t at = 0; at < wave.size(); ++at) {
                answers[at] = session.template create<Collection>(wave[at]);
            }
        }
    }

    /// Reports the answers, and keeps the records to send again.
    /// Shape:   unsure - an earlier try may have created some of the records
    /// Returns: true if any try so far may have created records without an answer
    bool keep_unanswered(std::vector<result<void>>& answers, bool unsure, bool over) {
        std::size_t kept = 0;
        bool unknown = unsure;
        for (std::size_t index = 0; index < answers.size(); ++index) {
            auto& answer = answers[index];
            auto const& problem = answer.problem();
            bool const again =
                problem.code == condition::retryable || problem.code == condition::unknown;
            unknown = unknown || problem.code == condition::unknown;
            if (again && !over) {
                if (kept != index) {
                    records_[kept] = std::move(records_[index]);
                    answers[kept] = std::move(answer);
                }
                numbers_[kept++] = numbers_[index];
                continue;
            }
            // The store is unreachable, and would be for later records as well.
            if (again && report_.problem.empty()) report_.problem = problem;
            bool const existing = problem.code == errc::record_exists;
            bool const own = unsure && existing && is_there(records_[index]);
            deliver(numbers_[index], own ? result<void>{} : std::move(answer));
        }
        records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(kept), records_.end());
        numbers_.resize(kept);
        answers.resize(kept);
        return unknown;
    }

    /// True if the store holds exactly this record.
    [[nodiscard]] bool is_there(record_type const& record) {
        auto const& key = record.*Collection::key_member;
        auto& session = assembly_.template session_of<Collection>();
        auto const call =
            rest_of({{}, options_.stop}, deadline_, assembly_.environment().elapsed());
        auto const existing =
            assembly_.patience_of(call)([&] { return session.template read<Collection>(key); });
        return existing.has_value() && existing.value() &&
               encode_json(*existing.value()) == encode_json(record);
    }

    /// Shape:   until - the end of the call's time
    void pause(std::uint32_t tries, std::chrono::nanoseconds until) {
        using std::chrono::milliseconds, std::chrono::nanoseconds;
        // Clamped before the conversion to nanoseconds, which "for ever" would overflow.
        auto const longest = std::clamp<std::chrono::microseconds>(
            assembly_.limits().longest_pause, milliseconds{1}, std::chrono::hours{1});
        nanoseconds const grown = milliseconds{std::int64_t{1} << std::min(tries, 20U)};
        auto const left = std::max(until - assembly_.environment().elapsed(), nanoseconds{0});
        assembly_.environment().pause(std::min({grown, nanoseconds{longest}, left}), options_.stop);
    }

    void deliver(std::size_t number, result<void> answer) {
        if (answer.has_value()) ++report_.created;
        else if (answer.problem().code == errc::record_exists) ++report_.existing;
        else report_.refused.push_back({number, answer.problem()});
        // Every record taken is reported before the first exception is rethrown.
        try {
            ended_(number, std::move(answer));
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    /// "For ever" overflows nanoseconds.
    [[nodiscard]] static std::chrono::nanoseconds bounded(std::chrono::milliseconds given) {
        constexpr std::chrono::milliseconds most = std::chrono::hours{24 * 365};
        return std::clamp(given, -most, most);
    }

    Assembly& assembly_;
    batch_options const& options_;
    Ended& ended_;
    std::size_t room_ = 1;
    std::optional<std::chrono::nanoseconds> deadline_;
    std::vector<record_type> records_; ///< taken, and without an answer yet
    std::vector<std::size_t> numbers_; ///< the numbers of records_
    create_report report_;
    std::exception_ptr thrown_; ///< the first, of `ended` or the range
    bool sending_ = false;      ///< a wave is under way: an exception of the store ends the call
};

template <typename Collection, typename Assembly, typename Range, typename Ended>
create_report create_range(Assembly& assembly, Range& range, Ended& ended,
                           batch_options const& given) {
    return creation<Assembly, Collection, Ended>{assembly, given, ended}.run(range);
}

} // namespace detail

SETTLE_END
