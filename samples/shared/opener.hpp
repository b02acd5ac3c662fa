// SPDX-License-Identifier: BSL-1.0
// Creates an application's first records; existing records stay unchanged.
#pragma once

#include "money.hpp"
#include "report.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace samples {

/// Creates records through an engine and counts them by collection.
template <typename Engine>
class opener {
public:
    opener(Engine& engine, std::stop_token stop) : engine_(&engine), stop_(std::move(stop)) {}

    /// Reads a whole file: calls visit(request) for each request, and keeps the refusals for the
    /// report.
    template <typename Reader, typename Visit>
    void read(Reader& pieces, Visit&& visit) {
        typename Reader::piece piece;
        while (!stop_.stop_requested() && pieces.next(piece)) {
            std::visit(
                [&](auto const& each) {
                    if constexpr (std::is_same_v<decltype(each), refusal const&>) refuse(each);
                    else visit(each);
                },
                piece);
        }
    }

    /// Creates records until a stop is requested, and returns the indexes of those that exist.
    /// Errors:  settle::failure when the store fails
    template <typename Collection, typename Record>
    std::vector<std::size_t> create(Collection const& collection,
                                    std::vector<Record> const& records) {
        std::vector<std::size_t> existing;
        std::uint64_t opened = 0;
        settle::batch_options options;
        options.stop = stop_;
        auto const created = engine_->create_all(
            collection, records,
            [&](std::size_t which, settle::result<void> const& answer) {
                if (answer.has_value()) ++opened;
                else if (answer.problem().code == settle::errc::record_exists) {
                    existing.push_back(which);
                } else throw settle::failure(answer.problem());
            },
            options);
        count(Collection::name, opened, existing.size());
        report_.stopped = stop_.stop_requested();
        if (!created.problem.empty() && !report_.stopped) throw settle::failure(created.problem);
        return existing;
    }

    /// Counts records, also of a database beside the engine's.
    void count(std::string_view name, std::uint64_t opened, std::uint64_t existing) {
        auto& count = counts_[std::string{name}];
        count.opened += opened;
        count.existing += existing;
    }

    void refuse(refusal const& no) { report_.refuse(no); }
    Engine& engine() { return *engine_; }

    /// The final report.
    std::string to_text() const {
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
        constexpr std::size_t most_remarks = 5;
        return text + remarks_text(report_, most_remarks);
    }

    exit_code ends_with() const { return report_.ends_with(); }

private:
    struct tally {
        std::uint64_t opened = 0;
        std::uint64_t existing = 0;
    };

    Engine* engine_;
    std::stop_token stop_;
    std::map<std::string, tally> counts_;
    report report_;
};

/// Makes accounts with a first balance, each once. An overflow of their sum is found before any of
/// them is created.
/// Shape:   Account - of the members id, balance, opened_with
template <typename Account>
class account_list {
public:
    explicit account_list(std::int64_t balance) : balance_(balance) {}

    void add(std::string const& id) {
        if (!ids_.insert(id).second) return;
        sum_ = samples::add(sum_, balance_);
        accounts.push_back({id, balance_, balance_});
    }

    std::vector<Account> accounts;

private:
    std::int64_t balance_;
    std::int64_t sum_ = 0;
    std::unordered_set<std::string> ids_;
};

} // namespace samples
