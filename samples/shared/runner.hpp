// SPDX-License-Identifier: BSL-1.0
// Runs a reader's transactions, many at a time, and counts the outcomes.
#pragma once

#include "books.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "shares.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace samples {

/// A reason in the application's words, or else in settle's.
template <typename Application>
std::string words_for(Application const& application, std::string_view participant,
                      settle::reason reason) {
    std::string_view const own = application.in_words(participant, reason);
    if (!own.empty()) return std::string{own};
    if (participant.empty()) return std::string{name_of(reason)};
    return fmt::format("{}: {}", participant, name_of(reason));
}

/// Transactions that share a record keep the input's order at any pace. A window keeps it itself;
/// with several threads, transactions that share a record go to the same thread.
/// Memory:  settings::most_in_flight transactions, and a number for each id
template <typename Application, typename Engine>
class runner {
    using reader = typename Application::reader;

public:
    runner(Application& application, Engine& engine, settings const& settings, std::stop_token stop)
        : application_(&application), engine_(&engine), given_(&settings),
          passes_on_(std::move(stop), [this] { ending_.request_stop(); }) {}

    /// Runs all pieces. Sums the money before the first and after the last transaction.
    /// Errors:  settle::failure when the store cannot be read before the first; later, failed() has
    ///          the failure, and the report tells what was done
    report run(reader& pieces) {
        settle_leftovers();
        report_.sum_before = sums_of(*application_, *engine_).now;
        has_past_ = !engine_->page({}, {}, 1).value().empty();
        auto const began = std::chrono::steady_clock::now();
        pieces_ = &pieces;
        unless_failed([&] {
            while (look_ahead()) {
                // Transactions of one type run together; the next type waits for their end.
                std::visit([this](auto const& first) { this->run_like(first); }, *ahead_);
            }
        });
        // A window finishes in any order; people read in the file's order.
        std::stable_sort(
            report_.remarks.begin(), report_.remarks.end(),
            [](auto const& left, auto const& right) { return left.line < right.line; });
        report_.stopped = ending_.stop_requested() || failed_;
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        unless_failed([&] { report_.sum_after = sums_of(*application_, *engine_).now; });
        report_.sum_is_known = !failed_;
        return std::move(report_);
    }

    /// The failure of the store that ended the run, or null.
    std::exception_ptr const& failed() const { return failed_; }

private:
    /// After this many undecided transactions in a row the store counts as lost.
    static constexpr int give_up_after = 5;

    /// The input line of a transaction, and whether its id was settled before this run.
    struct origin {
        std::uint64_t line = 0;
        bool earlier = false;
        std::uint64_t repeats = 0; // the first line with the same id
    };

    template <typename Step>
    void unless_failed(Step&& step) {
        if (failed_) return;
        try {
            step();
        } catch (settle::failure const&) {
            failed_ = std::current_exception();
        }
    }

    /// Settles the transactions of a killed program, which would show up as missing money.
    void settle_leftovers() {
        settle::recover_options options;
        options.stop = ending_.get_token();
        auto const left = engine_->recover(options);
        report_.left_over = left.undecided + left.skipped.size();
        if (report_.left_over == 0 && !left.problem.empty()) report_.left_over = 1;
        for (auto const& [id, problem] : left.skipped) {
            report_.note(0, fmt::format("{}, of an earlier run, is not settled: {}", id,
                                        sentence_of(problem)));
        }
        if (left.undecided > 0) {
            report_.note(0, fmt::format("{} of an earlier run are still undecided, run recover: {}",
                                        with_commas(left.undecided), sentence_of(left.problem)));
        } else if (!left.problem.empty()) {
            report_.note(0, sentence_of(left.problem));
        }
        if (left.done + left.canceled == 0) return;
        report_.note(0, fmt::format("settled first what an earlier run left: {} done, {} canceled",
                                    left.done, left.canceled));
    }

    // ------------------------------------------------------------------------------------- reading

    /// Reads up to the next request, and counts the refusals before it; false if there is none.
    bool look_ahead() {
        while (!ahead_ && !ending_.stop_requested()) {
            if (!pieces_->next(ahead_.emplace())) {
                ahead_.reset();
                return false;
            }
            auto const no =
                std::visit([this](auto const& piece) { return this->refusal_of(piece); }, *ahead_);
            if (!no) continue;
            report_.refuse(*no);
            ahead_.reset();
        }
        return !ending_.stop_requested();
    }

    static std::optional<refusal> refusal_of(refusal const& no) { return no; }

    /// A missing record would cancel the id permanently; a refused id can run later.
    template <typename Parameters>
    std::optional<refusal> refusal_of(request<Parameters> const& request) {
        std::optional<refusal> no;
        application_->each_record(request.parameters, [&](auto const& collection, auto const& key) {
            if (no || is_open(collection, key)) return;
            auto noun = std::string{collection.name};
            noun.pop_back(); // the plural's letter
            no = {request.line, "unknown " + noun,
                  fmt::format("{} '{}': there is no {} '{}'", Application::piece, request.id, noun,
                              key)};
        });
        return no;
    }

    /// Whether a record exists. The samples erase no record, so a found record stays.
    template <typename Collection>
    bool is_open(Collection const& collection, std::string const& key) {
        auto name = record_name(collection.name, key);
        if (open_.contains(name)) return true;
        auto const record = engine_->read(collection, key);
        // A damaged record exists; its transaction reports the damage.
        if (!record.has_value() && record.problem().code == settle::errc::damaged) return true;
        if (!record.value()) return false;
        // Clearing is rare, and costs one read for each record.
        if (open_.size() == settings::most_in_flight) open_.clear();
        open_.insert(std::move(name));
        return true;
    }

    origin origin_of(std::uint64_t line, std::string const& id) {
        // The hash of a million ids takes less memory than the ids.
        auto const [first, is_new] = first_lines_.emplace(std::hash<std::string>{}(id), line);
        origin from{line, false, is_new ? 0 : first->second};
        if (!has_past_) return from;
        // The engine reports an unreadable entry as this transaction's outcome.
        auto const found = engine_->find(id);
        from.earlier = found.has_value() && found.value() && is_final(found.value()->state);
        return from;
    }

    // ------------------------------------------------------------------------------------- running

    static void run_like(refusal const&) {} // look_ahead() leaves none

    /// Names what a transaction may share with others.
    template <typename Parameters>
    void touch(shares& kin, request<Parameters> const& next) {
        kin.touches(next.id); // the first request takes a repeated id
        application_->each_record(next.parameters, [&](auto const& collection, auto const& key) {
            kin.touches(record_name(collection.name, key));
        });
        if constexpr (requires { application_->locked_by(next.parameters); }) {
            kin.touches(application_->locked_by(next.parameters));
        }
    }

    /// Reads transactions while they have this type, and runs them. The next ones wait for their
    /// end, since both may touch the same records.
    template <typename Parameters>
    void run_like(request<Parameters> const&) {
        std::vector<std::pair<settle::transaction_id, Parameters>> transactions;
        std::vector<origin> origins;
        shares kin;
        while (transactions.size() < settings::most_in_flight && look_ahead()) {
            auto* const next = std::get_if<request<Parameters>>(&*ahead_);
            if (next == nullptr) break;
            kin.begin_piece();
            if (given_->threads > 1) touch(kin, *next);
            origins.push_back(origin_of(next->line, next->id));
            transactions.emplace_back(std::move(next->id), std::move(next->parameters));
            ahead_.reset();
        }
        auto const run_share = [&](std::vector<std::size_t> const& share) {
            settle::batch_options options;
            options.window = given_->window;
            options.stop = ending_.get_token();
            engine_->run_all(
                ranges::views::transform(
                    share, [&](std::size_t which) -> auto const& { return transactions[which]; }),
                [&](std::size_t which, settle::outcome const& result) {
                    ended(origins[share[which]], result);
                },
                options);
        };
        auto const split = kin.split(given_->threads);
        std::vector<std::future<void>> threads;
        for (auto const& share : split) {
            threads.push_back(std::async(std::launch::async, run_share, std::cref(share)));
        }
        for (auto& each : threads) each.get();
    }

    // ------------------------------------------------------------------------------------ counting

    void ended(origin const& from, settle::outcome const& result) {
        std::scoped_lock const locked{counting_};
        bool const is_final = result.done() || result.canceled();
        in_vain_ = result.verdict == settle::verdict::undecided ? in_vain_ + 1 : 0;
        if (in_vain_ >= give_up_after) ending_.request_stop();
        if (from.repeats != 0 && is_final) {
            ++report_.repeated;
            report_.note(from.line,
                         fmt::format("'{}' repeats line {}: the two are one, and it is {}",
                                     result.id, from.repeats, result.done() ? "done" : "canceled"));
            return;
        }
        if (from.earlier && is_final) ++report_.earlier;
        switch (result.verdict) {
        case settle::verdict::done: ++report_.done; break;
        case settle::verdict::canceled: canceled(from.line, result); break;
        case settle::verdict::undecided:
            ++report_.undecided;
            ++report_.reasons["undecided"];
            report_.note(from.line, fmt::format("'{}' is undecided: {}", result.id,
                                                sentence_of(result.problem)));
            break;
        case settle::verdict::refused: refused(from, result); break;
        }
    }

    void canceled(std::uint64_t line, settle::outcome const& result) {
        auto const words = words_for(*application_, result.participant, result.why);
        ++report_.canceled;
        ++report_.reasons[words];
        // A failed guard is common; any other reason deserves a remark.
        if (result.why == settle::reason::guard_failed) return;
        report_.note(line, fmt::format("'{}' is canceled: {}{}", result.id, words,
                                       cause_of(result.problem)));
    }

    void refused(origin const& from, settle::outcome const& result) {
        bool const reused = result.problem.code == settle::errc::id_in_use;
        auto sentence = fmt::format("'{}': {}", result.id, sentence_of(result.problem));
        if (reused && from.repeats != 0) {
            sentence += fmt::format("; line {} named it first", from.repeats);
        }
        report_.refuse({from.line,
                        reused ? "id in use with another content" : "refused by the engine",
                        std::move(sentence)});
    }

    Application* application_;
    Engine* engine_;
    settings const* given_;
    std::stop_source ending_; // after an interrupt, or when the store is lost
    std::stop_callback<std::function<void()>> passes_on_;
    std::unordered_set<std::string> open_; // records that were found
    reader* pieces_ = nullptr;
    std::optional<typename reader::piece> ahead_; // the piece that was read ahead
    std::mutex counting_;
    report report_;
    std::unordered_map<std::size_t, std::uint64_t> first_lines_; // by the hash of an id
    bool has_past_ = false; // the log held entries when the run began
    int in_vain_ = 0;
    std::exception_ptr failed_;
};

} // namespace samples
