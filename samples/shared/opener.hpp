// SPDX-License-Identifier: BSL-1.0
// Creates an application's first records; existing records stay unchanged.
#pragma once

#include "alike_names.hpp"
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
#include <unordered_set>
#include <utility>
#include <vector>

namespace samples {

/// Names in the order of their first mention, each with the line of that mention.
class mentions {
public:
    /// True when the name is new.
    bool add(std::uint64_t line, std::string const& name) {
        if (!seen_.insert(name).second) return false;
        all_.emplace_back(line, name);
        return true;
    }

    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::string>> const& all() const {
        return all_;
    }

private:
    std::unordered_set<std::string> seen_;
    std::vector<std::pair<std::uint64_t, std::string>> all_;
};

/// Creates records through an engine and counts them by collection.
template <typename Engine>
class opener {
public:
    opener(Engine& engine, std::stop_token stop) : engine_(&engine), stop_(std::move(stop)) {}

    /// True when the record is new, false when it exists.
    /// Errors:  settle::failure when the store fails
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
        ++count.existing;
        return false;
    }

    /// Creates a record for each name until a stop is requested. Notes names that look alike, among
    /// these names and the names of the store.
    template <typename Collection, typename Make>
    void create_each(Collection const& collection, mentions const& names, Make&& make) {
        remark_on_alike(collection, names);
        auto& count = counts_[std::string{Collection::name}];
        double made = 0;
        settle::batch_options options;
        options.stop = stop_;
        auto const record = [&](auto const& each) { return make(each.second); };
        auto const report = engine_->create_all(
            collection, ranges::views::transform(names.all(), record),
            [&](std::size_t, settle::result<void> const& answer) {
                if (answer.has_value()) ++count.opened;
                else if (answer.problem().code == settle::errc::record_exists) ++count.existing;
                else throw settle::failure(answer.problem());
                if (answer.has_value()) ++total_;
                goes_on(made++ / static_cast<double>(names.all().size()));
            },
            options);
        report_.stopped = stop_.stop_requested();
        if (!report.problem.empty() && !report_.stopped) throw settle::failure(report.problem);
    }

    /// Counts records that were created without the engine.
    void count(std::string_view name, std::uint64_t opened, std::uint64_t existing) {
        counts_[std::string{name}] = {opened, existing};
        total_ += opened;
    }

    /// Keeps a refusal for the final report.
    void refuse(refusal const& no) { report_.refuse(no.line, no.reason, no.sentence); }

    void note(remark const& noted) { report_.note(noted.line, noted.sentence); }

    /// Shows the progress; false when a stop was requested.
    bool goes_on(double share) {
        progress_.at(total_, share);
        report_.stopped = stop_.stop_requested();
        return !report_.stopped;
    }

    Engine& engine() { return *engine_; }

    /// The final report.
    std::string to_text() {
        progress_.clear();
        std::string text;
        for (auto const& [name, count] : counts_) {
            text += fmt::format("{:<10} {} opened", name, with_commas(count.opened));
            if (count.existing > 0) {
                text += fmt::format(", {} existed", with_commas(count.existing));
            }
            text += '\n';
        }
        if (report_.stopped) text += "stopped on request; the same command again opens the rest\n";
        if (report_.refused > 0) {
            text += fmt::format("{} refused\n", with_commas(report_.refused));
        }
        // `run` reports all of these lines again.
        return text + remarks_text(report_, 5);
    }

    exit_code ends_with() const { return report_.ends_with(); }

private:
    template <typename Collection>
    void remark_on_alike(Collection const& collection, mentions const& names) {
        alike_names by_form;
        for (auto const& record : engine_->scan(collection)) {
            by_form.add(record.*Collection::key_member);
        }
        for (auto const& [line, name] : names.all()) {
            auto const* const other = by_form.add(name);
            if (other == nullptr) continue;
            report_.note(line, fmt::format("'{}' and '{}' of the {} {}; each is one of its own",
                                           name, *other, Collection::name, alike_words));
        }
    }

    struct tally {
        std::uint64_t opened = 0;
        std::uint64_t existing = 0;
    };

    Engine* engine_;
    std::stop_token stop_;
    std::map<std::string, tally> counts_;
    std::uint64_t total_ = 0;
    report report_;
    progress progress_{"records"};
};

} // namespace samples
