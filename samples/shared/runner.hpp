// SPDX-License-Identifier: BSL-1.0
// Runs what a reader gives, one transaction after another, and counts what became of each.
#pragma once

#include "piece.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "sentence.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace samples {

/// The words in which a report counts a reason: the application's own where it has some.
template <typename Application>
std::string words_for(Application const& application, std::string_view participant,
                      settle::reason reason) {
    std::string_view const own = application.in_words(participant, reason);
    if (!own.empty()) return std::string{own};
    if (participant.empty()) return std::string{name_of(reason)};
    return fmt::format("{}: {}", participant, name_of(reason));
}

template <typename Application, typename Engine>
class runner {
public:
    runner(Application const& application, Engine& engine, std::stop_token stop)
        : application_(&application), engine_(&engine), stop_(std::move(stop)) {}

    /// Runs all pieces. Money is counted before and after, when nothing of ours is under way.
    /// Errors:  settle::failure when the store cannot be read
    template <typename Reader>
    report run(Reader& pieces) {
        settle_leftovers();
        report_.sum_before = application_->sums(*engine_).now;
        has_past_ = !engine_->page({}, {}, 1).value().empty();
        auto const began = std::chrono::steady_clock::now();
        typename Reader::piece piece;
        while (!stop_.stop_requested() && in_vain_ < give_up_after && pieces.next(piece)) {
            std::visit([this](auto const& given) { this->take(given); }, piece);
            progress_.at(report_.total(), pieces.share());
        }
        progress_.clear();
        report_.stopped = stop_.stop_requested() || in_vain_ == give_up_after;
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        report_.sum_after = application_->sums(*engine_).now;
        return std::move(report_);
    }

private:
    /// So many undecided ones in a row mean that the store is gone, not that one record is held.
    static constexpr int give_up_after = 5;

    /// What a program that was killed left half done would show as money that is missing.
    void settle_leftovers() {
        settle::recover_options wanted;
        wanted.stop = stop_;
        auto const left = engine_->recover(wanted);
        if (left.done + left.canceled == 0) return;
        report_.note(0, fmt::format("settled first what an earlier run left: {} done, {} canceled",
                                    left.done, left.canceled));
    }

    void take(refusal const& no) { report_.refuse(no.line, no.reason, no.sentence); }

    template <typename Parameters>
    void take(request<Parameters> const& asked) {
        // A record that is not there would cancel the id for good; opened later, it still can run.
        if (auto no = application_->missing(*engine_, asked)) return take(*no);
        bool const before = has_past_ && settled_before(asked.id);
        auto const result = engine_->run(asked.id, asked.parameters, {std::nullopt, stop_});
        if (before && (result.done() || result.canceled())) ++report_.earlier;
        in_vain_ = result.verdict == settle::verdict::undecided ? in_vain_ + 1 : 0;
        switch (result.verdict) {
        case settle::verdict::done: ++report_.done; break;
        case settle::verdict::canceled: canceled(asked.line, result); break;
        case settle::verdict::undecided: undecided(asked.line, result); break;
        case settle::verdict::refused: refused(asked.line, result); break;
        }
    }

    bool settled_before(std::string const& id) {
        auto const found = engine_->find(id).value();
        return found && is_final(found->state);
    }

    void canceled(std::uint64_t line, settle::outcome const& result) {
        ++report_.canceled;
        ++report_.reasons[words_for(*application_, result.participant, result.why)];
        // A guard that does not hold is everyday business; anything else deserves a line.
        if (result.why == settle::reason::guard_failed) return;
        report_.note(line, fmt::format("{} is canceled: {}", result.id,
                                       words_for(*application_, result.participant,
                                                 result.why)));
    }

    void undecided(std::uint64_t line, settle::outcome const& result) {
        ++report_.undecided;
        ++report_.reasons["undecided"];
        report_.note(line, fmt::format("{} is undecided: {}", result.id,
                                       sentence_of(result.problem)));
    }

    void refused(std::uint64_t line, settle::outcome const& result) {
        bool const reused = result.problem.code == settle::errc::id_in_use;
        report_.refuse(line, reused ? "id in use with another content" : "refused by the engine",
                       fmt::format("{}: {}", result.id, sentence_of(result.problem)));
    }

    Application const* application_;
    Engine* engine_;
    std::stop_token stop_;
    report report_;
    bool has_past_ = false; // the log held entries when the run began
    int in_vain_ = 0;
    progress progress_{std::string{Application::pieces}};
};

} // namespace samples
