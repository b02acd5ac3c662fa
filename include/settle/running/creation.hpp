// SPDX-License-Identifier: BSL-1.0
// Creates a whole range of records outside of any transaction, a wave of them at a time.
#pragma once

#include <settle/running/assembly.hpp>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>

#include <exception>

SETTLE_BEGIN

/// A record of a range that could not be created, and why.
struct uncreated_record {
    std::size_t number; ///< in the range
    error problem;
};

/// What became of a range of records.
struct create_report {
    std::uint64_t created = 0;
    std::uint64_t existing = 0;             ///< a record has their key already
    std::vector<uncreated_record> refused;  ///< the others that were read
    /// Why some of the records have no answer of the store, or the rest of the range was not read.
    error problem;
};

namespace detail {

/// Memory is bounded by one wave (batch_options::window), and by the records that are refused. A
/// store that is away is waited for as long as options::patience says, or the call's deadline.
/// Shape:   Ended - is called with the number of each record and a result<void>
template <typename Assembly, typename Collection, typename Ended>
class creation {
    using record_type = typename Collection::record_type;

public:
    creation(Assembly& parts, batch_options const& wanted, Ended& ended)
        : parts_(parts), wanted_(wanted), ended_(ended) {
        auto& session = parts_.template session_of<Collection>();
        using session_type = std::remove_cvref_t<decltype(session)>;
        // A wave costs one commit, so it pays where a wave of transactions would not.
        constexpr std::size_t least = 1000;
        room_ = wanted.window == 0 ? std::max(least, wave_of<session_type>) : wanted.window;
        if (wanted.deadline) deadline_ = parts_.environment().elapsed() + bounded(*wanted.deadline);
    }

    template <typename Range>
    create_report run(Range&& range) {
        try {
            std::size_t number = 0;
            constexpr bool read_once = !ranges::forward_range<Range>;
            auto at = ranges::begin(range);
            auto const last = ranges::end(range);
            while (at != last) {
                take(*at, number++);
                if (records_.size() >= room_) send();
                // To go on may take a record out of where the range has it from.
                if (read_once && ends()) break;
                ++at;
                if (!read_once && at != last && ends()) break;
            }
        } catch (...) {
            if (sending_) throw;
            // What the range throws concerns the records to come.
            if (!thrown_) thrown_ = std::current_exception();
        }
        send();
        if (thrown_) std::rethrow_exception(thrown_);
        return std::move(report_);
    }

private:
    /// Whether no more records are wanted, and why.
    [[nodiscard]] bool ends() {
        if (thrown_ || !report_.problem.empty()) return true;
        if (!wanted_.stop.stop_requested() && !is_late(deadline_)) return false;
        report_.problem = {make_error_code(errc::stopped),
                           "settle: the deadline or a stop request ended the call before the "
                           "range was read to its end. Call it again with the rest. "
                           "See running#many-at-a-time"};
        return true;
    }

    [[nodiscard]] bool is_late(std::optional<std::chrono::nanoseconds> const& deadline) const {
        return deadline && parts_.environment().elapsed() >= *deadline;
    }

    void take(record_type const& record, std::size_t number) {
        if (auto texts = check_texts(record); !texts.has_value()) return tell(number, texts);
        records_.push_back(record);
        numbers_.push_back(number);
    }

    /// Sends what was taken, until the store has answered for each, or there is no more time.
    void send() {
        sending_ = true;
        bool unsure = false;
        std::uint32_t tries = 0;
        std::optional<std::chrono::nanoseconds> until = deadline_;
        std::vector<result<void>> answers;
        auto const is_over = [&] { return wanted_.stop.stop_requested() || is_late(until); };
        while (!records_.empty()) {
            answers.assign(records_.size(), {});
            create_wave(records_, answers);
            if (!until) until = parts_.environment().elapsed() + bounded(parts_.limits().patience);
            unsure = keep_unanswered(answers, unsure, is_over());
            if (records_.empty()) break;
            pause(tries++, *until);
            // Nothing is written when the time is over.
            if (is_over()) static_cast<void>(keep_unanswered(answers, unsure, true));
        }
        sending_ = false;
    }

    void create_wave(std::span<record_type const> wave, std::span<result<void>> answers) {
        auto& session = parts_.template session_of<Collection>();
        if constexpr (requires { session.template create_all<Collection>(wave, answers); }) {
            session.template create_all<Collection>(wave, answers);
        } else {
            for (std::size_t at = 0; at < wave.size(); ++at) {
                answers[at] = session.template create<Collection>(wave[at]);
            }
        }
    }

    /// Tells the answers, and keeps the records that are worth another try.
    /// Shape:   unsure - an earlier try may have created some of them
    /// Returns: whether a try may have
    bool keep_unanswered(std::vector<result<void>>& answers, bool unsure, bool over) {
        std::size_t kept = 0;
        bool unknown = unsure;
        for (std::size_t at = 0; at < answers.size(); ++at) {
            auto& answer = answers[at];
            auto const& problem = answer.problem();
            bool const again =
                problem.code == condition::retryable || problem.code == condition::unknown;
            unknown = unknown || problem.code == condition::unknown;
            if (again && !over) {
                if (kept != at) {
                    records_[kept] = std::move(records_[at]);
                    answers[kept] = std::move(answer);
                }
                numbers_[kept++] = numbers_[at];
                continue;
            }
            // The whole store is away: the records to come would wait as long.
            if (again && report_.problem.empty()) report_.problem = problem;
            bool const existing = problem.code == errc::record_exists;
            bool const own = unsure && existing && is_there(records_[at]);
            tell(numbers_[at], own ? result<void>{} : std::move(answer));
        }
        records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(kept), records_.end());
        numbers_.resize(kept);
        answers.resize(kept);
        return unknown;
    }

    /// Whether a record stands exactly as it was to be created.
    [[nodiscard]] bool is_there(record_type const& record) {
        auto const& key = record.*Collection::key_member;
        auto const found = parts_.template session_of<Collection>().template read<Collection>(key);
        return found.has_value() && found.value() &&
               encode_json(*found.value()) == encode_json(record);
    }

    /// Shape:   until - the end of the time that the call has
    void pause(std::uint32_t tries, std::chrono::nanoseconds until) {
        using std::chrono::milliseconds, std::chrono::nanoseconds;
        // Clamped before it is counted in nanoseconds: "for ever" does not fit.
        auto const longest = std::clamp<std::chrono::microseconds>(
            parts_.limits().longest_pause, milliseconds{1}, std::chrono::hours{1});
        nanoseconds const grown = milliseconds{std::int64_t{1} << std::min(tries, 20U)};
        auto const left = std::max(until - parts_.environment().elapsed(), nanoseconds{0});
        parts_.environment().pause(std::min({grown, nanoseconds{longest}, left}), wanted_.stop);
    }

    void tell(std::size_t number, result<void> answer) {
        if (answer.has_value()) ++report_.created;
        else if (answer.problem().code == errc::record_exists) ++report_.existing;
        else report_.refused.push_back({number, answer.problem()});
        // Every record that was taken is told of, before the first exception leaves.
        try {
            ended_(number, std::move(answer));
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    /// "For ever" is more than nanoseconds can count.
    [[nodiscard]] static std::chrono::nanoseconds bounded(std::chrono::milliseconds given) {
        constexpr std::chrono::milliseconds most = std::chrono::hours{24 * 365};
        return std::clamp(given, -most, most);
    }

    Assembly& parts_;
    batch_options const& wanted_;
    Ended& ended_;
    std::size_t room_ = 1;
    std::optional<std::chrono::nanoseconds> deadline_;
    std::vector<record_type> records_; ///< that were taken and have no answer yet
    std::vector<std::size_t> numbers_; ///< of those
    create_report report_;
    std::exception_ptr thrown_; ///< by the listener or the range
    bool sending_ = false;      ///< a wave is under way: an exception of the store ends the call
};

template <typename Collection, typename Assembly, typename Range, typename Ended>
create_report create_range(Assembly& parts, Range& range, Ended& ended,
                           batch_options const& wanted) {
    return creation<Assembly, Collection, Ended>{parts, wanted, ended}.run(range);
}

} // namespace detail

SETTLE_END
