// SPDX-License-Identifier: BSL-1.0
// Puts an application's first records into its store; what is there already stays as it is.
#pragma once

#include "piece.hpp"
#include "progress.hpp"
#include "report.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>
#include <range/v3/view/transform.hpp>

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// Creates records through an engine and counts them by collection.
template <typename Engine>
class opener {
public:
    opener(Engine& engine, std::stop_token stop) : engine_(&engine), stop_(std::move(stop)) {}

    /// True when the record is new, false when its key is in use.
    /// Errors:  settle::failure when the store cannot do it
    template <typename Collection, typename Record>
    bool create(Collection const& collection, Record const& record) {
        auto& count = counts_[std::string{Collection::name}];
        auto const made = engine_->create(collection, record);
        if (made.has_value()) {
            ++count.opened;
            ++total_;
            return true;
        }
        auto const& problem = made.problem();
        if (problem.code != settle::errc::record_exists) throw settle::failure(problem);
        ++count.there;
        return false;
    }

    /// One record for each name, until someone asks to stop.
    template <typename Collection, typename Make>
    void create_each(Collection const& collection, std::vector<std::string> const& names,
                     Make&& make) {
        auto& count = counts_[std::string{Collection::name}];
        double made = 0;
        settle::batch_options wanted;
        wanted.stop = stop_;
        auto const report = engine_->create_all(
            collection, ranges::views::transform(names, make),
            [&](std::size_t, settle::result<void> const& answer) {
                if (answer.has_value()) ++count.opened;
                else if (answer.problem().code == settle::errc::record_exists) ++count.there;
                else throw settle::failure(answer.problem());
                if (answer.has_value()) ++total_;
                goes_on(made++ / static_cast<double>(names.size()));
            },
            wanted);
        report_.stopped = stop_.stop_requested();
        if (!report.problem.empty() && !report_.stopped) throw settle::failure(report.problem);
    }

    /// Keeps what cannot be opened for the end.
    void refuse(refusal const& no) { report_.refuse(no.line, no.reason, no.sentence); }

    /// Shows how far it has come; false when someone asked to stop.
    bool goes_on(double share) {
        progress_.at(total_, share);
        report_.stopped = stop_.stop_requested();
        return !report_.stopped;
    }

    Engine& engine() { return *engine_; }

    /// What was done, for a person.
    std::string to_text() {
        progress_.clear();
        std::string text;
        for (auto const& [name, count] : counts_) {
            text += fmt::format("{:<10} {} opened", name, with_commas(count.opened));
            if (count.there > 0) {
                text += fmt::format(", {} there before", with_commas(count.there));
            }
            text += '\n';
        }
        if (report_.stopped) text += "stopped on request; the same command again opens the rest\n";
        if (report_.refused > 0) {
            text += fmt::format("{} refused\n", with_commas(report_.refused));
        }
        // `run` tells of the same lines once more, and of all.
        return text + remarks_text(report_, 5);
    }

    exit_code ends_with() const { return report_.ends_with(); }

private:
    struct tally {
        std::uint64_t opened = 0;
        std::uint64_t there = 0;
    };

    Engine* engine_;
    std::stop_token stop_;
    std::map<std::string, tally> counts_;
    std::uint64_t total_ = 0;
    report report_;
    progress progress_{"records"};
};

} // namespace samples
