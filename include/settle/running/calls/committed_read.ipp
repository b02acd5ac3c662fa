// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that committed_read.hpp declares.
#pragma once

#include <settle/running/calls/committed_read.hpp>

#include <algorithm>
#include <span>

SETTLE_BEGIN
namespace detail {

/// The time that a read has. A machine may sleep, which only its calendar clock notices.
class read_limit {
public:
    /// No entry that is in use at the begin of the read is purged within the limit.
    read_limit(environment_view const& environment, options const& limits, call_options const& call)
        : environment_(environment),
          most_(std::min<std::chrono::milliseconds>(
              call.deadline ? *call.deadline : limits.patience, before_purge(limits))),
          since_(environment.elapsed()), date_(environment.now()) {}

    [[nodiscard]] bool is_over() const {
        return environment_.elapsed() - since_ > most_ || environment_.now() - date_ > most_;
    }

private:
    /// A purge erases no entry that has ended within this time, by any of the clocks.
    [[nodiscard]] static std::chrono::milliseconds before_purge(options limits) {
        limits.clocks = std::chrono::milliseconds{0};
        return limits.horizon();
    }

    environment_view const& environment_;
    std::chrono::milliseconds most_;
    std::chrono::nanoseconds since_;
    timestamp date_;
};

/// Asks the log about the open marks of a bracket.
[[nodiscard]] SETTLE_FUNCTION error ask(bracket& known, log_port& log, patience& patience) {
    // A question that fails is asked again with the others: their first answers stay true.
    std::vector<result<std::optional<entry>>> answers;
    auto const asked = patience([&]() -> result<void> {
        auto const& open = known.open();
        std::vector<std::int64_t> rows(open.size());
        std::vector<read_request> requests;
        for (std::size_t i = 0; i < open.size(); ++i) {
            requests.push_back({&open[i].id, nullptr, nullptr, &rows[i]});
        }
        answers.assign(open.size(), std::optional<entry>{});
        log.look_up(requests, [&](std::size_t i, result<std::optional<entry>>&& found, bool) {
            answers[i] = std::move(found);
        });
        for (auto const& answer : answers) {
            if (!answer.has_value()) return answer.problem();
        }
        return {};
    });
    if (!asked.has_value()) return asked.problem();
    for (auto const& answer : answers) {
        auto const& found = answer.value();
        known.answered(found ? std::optional{standing_of(*found)} : std::nullopt);
    }
    return {};
}

[[nodiscard]] inline error not_read(bool stopped) {
    if (stopped) {
        return {make_error_code(errc::stopped), "settle: the read was stopped before its answer. "
                                                "Call it again. See committed_reads#limit"};
    }
    return {make_error_code(errc::no_committed_read),
            "settle: no moment of the record could be read within the limit of the call: its "
            "transactions are decided faster than they can be looked at, or the caller stood "
            "still. Call it again, or with a later deadline. See committed_reads#limit"};
}

SETTLE_FUNCTION result<record_slot<any_record>> read_decided(look_function look, log_port& log,
                                                             environment_view const& environment,
                                                             options const& limits,
                                                             call_options const& call) {
    patience patience{environment, limits, call};
    read_limit const limit{environment, limits, call};
    std::optional<bracket> known;
    for (;;) {
        auto looked = patience([&] { return look(); });
        if (!looked.has_value()) return looked.problem();
        record_look& seen = looked.value();
        if (!known) known.emplace(seen.has_entries);
        known->looked(std::span{&seen.slot, 1});
        while (seen.has_entries && known->next() == read_step::ask) {
            auto const entry = seen.entries.find(known->open()[known->count_answered()].id);
            known->answered(entry == seen.entries.end() ? std::nullopt
                                                        : std::optional{entry->second});
        }
        if (known->next() == read_step::ask) {
            if (auto problem = ask(*known, log, patience)) return problem;
        }
        bool const is_over = limit.is_over();
        bool const is_safe = seen.has_entries || may_answer(is_over);
        if (known->next() == read_step::end && is_safe) {
            known->settle(seen.slot);
            return std::move(seen.slot);
        }
        bool const stops = call.stop.stop_requested();
        if (is_over || stops) return not_read(stops);
    }
}

} // namespace detail
SETTLE_END
