// SPDX-License-Identifier: BSL-1.0
// Runs a reader's transactions, many at a time, and counts the outcomes.
#pragma once

#include "alike_names.hpp"
#include "open_records.hpp"
#include "pace.hpp"
#include "piece.hpp"
#include "progress.hpp"
#include "pulled.hpp"
#include "report.hpp"
#include "sentence.hpp"
#include "shares.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
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
/// Memory:  the transactions in flight, and with several threads the transactions read ahead
template <typename Application, typename Engine>
class runner {
    using reader = typename Application::reader;

public:
    runner(Application const& application, Engine& engine, pace how, std::stop_token stop)
        : application_(&application), engine_(&engine), how_(how), stop_(std::move(stop)),
          open_(engine) {}

    /// Runs all pieces. Sums the money before the first and after the last transaction.
    /// Errors:  settle::failure when the store cannot be read before the first; later, failed() has
    ///          the failure, and the report tells what was done
    report run(reader& pieces) {
        settle_leftovers();
        report_.sum_before = application_->sums(*engine_).now;
        has_past_ = !engine_->page({}, {}, 1).value().empty();
        auto const began = std::chrono::steady_clock::now();
        pieces_ = &pieces;
        unless_failed([&] {
            while (look_ahead()) {
                // Transactions of one type run together; the next type waits for their end.
                std::visit([this](auto const& first) { this->run_like(first); }, *ahead_);
            }
        });
        progress_.clear();
        // A window finishes in any order; people read in the file's order.
        std::stable_sort(report_.remarks.begin(), report_.remarks.end(),
                         [](auto const& one, auto const& other) { return one.line < other.line; });
        report_.stopped = stop_.stop_requested() || gave_up_ || failed_;
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        unless_failed([&] { report_.sum_after = application_->sums(*engine_).now; });
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

    template <typename Parameters>
    using element = std::pair<settle::transaction_id, Parameters>;

    /// Does a step of the run, unless the store failed before or does so now.
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
        options.stop = stop_;
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

    bool goes_on() {
        if (in_vain_ >= give_up_after) gave_up_ = true;
        return !gave_up_ && !stop_.stop_requested();
    }

    /// Reads the next piece ahead; false when there is nothing more to run.
    bool look_ahead() {
        if (!goes_on()) return false;
        if (ahead_) return true;
        progress_.at(report_.total(), pieces_->share());
        if (!pieces_->next(ahead_.emplace())) ahead_.reset();
        return ahead_.has_value();
    }

    /// Returns the next transaction while it has this type, and counts the refusals and remarks
    /// before it.
    template <typename Parameters>
    bool next(element<Parameters>& given, origin& from) {
        while (look_ahead()) {
            if (auto const* no = std::get_if<refusal>(&*ahead_)) {
                refuse(*no);
            } else if (auto const* noted = std::get_if<remark>(&*ahead_)) {
                note(*noted);
            } else if (auto* next_request = std::get_if<request<Parameters>>(&*ahead_)) {
                // A missing record would cancel the id permanently; a refused id can run later.
                auto const no_record = missing(*next_request);
                if (!no_record) {
                    auto const alike = ids_.alike(next_request->id, next_request->line);
                    auto const repeats = ids_.add(next_request->id, next_request->line);
                    if (alike != 0 && repeats == 0) remark_on_id(*next_request, alike);
                    from = {next_request->line, has_past_ && settled_before(next_request->id),
                            repeats};
                    given = {std::move(next_request->id), std::move(next_request->parameters)};
                    ahead_.reset();
                    return true;
                }
                refuse(*no_record);
            } else {
                return false;
            }
            ahead_.reset();
        }
        return false;
    }

    template <typename Parameters>
    std::optional<refusal> missing(request<Parameters> const& next_request) {
        std::optional<refusal> no;
        application_->each_record(
            next_request.parameters, [&](auto const& collection, auto const& key) {
                if (no || open_.has(collection, key)) return;
                no = application_->not_open(next_request, collection.name, key);
                auto const form = visible_form(key);
                if (form == key || !open_.has(collection, form)) return;
                no->sentence +=
                    fmt::format("; '{}' and '{}', which is there, {}", key, form, alike_words);
            });
        return no;
    }

    // ------------------------------------------------------------------------------------- running

    void run_like(refusal const& no) {
        refuse(no);
        ahead_.reset();
    }
    void run_like(remark const& noted) {
        note(noted);
        ahead_.reset();
    }

    template <typename Parameters>
    void run_like(request<Parameters> const&) {
        if (how_.threads == 1) {
            run_all<Parameters>([this](element<Parameters>& given, origin& from) {
                return this->template next<Parameters>(given, from);
            });
        } else {
            run_side_by_side<Parameters>();
        }
    }

    /// Runs transactions from `next` until it returns false, and waits for their end.
    template <typename Parameters>
    void run_all(std::function<bool(element<Parameters>&, origin&)> const& next) {
        std::unordered_map<std::size_t, origin> under_way;
        std::size_t number = 0;
        pulled<element<Parameters>> range{[&](element<Parameters>& given) {
            origin from;
            if (!next(given, from)) return false;
            under_way.emplace(number++, from);
            return true;
        }};
        settle::batch_options options;
        options.window = how_.window;
        options.stop = stop_;
        engine_->run_all(
            range,
            [&](std::size_t which, settle::outcome const& result) {
                ended(under_way.extract(which).mapped(), result);
            },
            options);
    }

    /// Reads one batch for all threads and splits it. The next batch waits for its end, since both
    /// may touch the same records.
    template <typename Parameters>
    void run_side_by_side() {
        std::vector<element<Parameters>> read;
        std::vector<origin> from;
        shares kin;
        std::size_t const most = read_at_once();
        element<Parameters> given;
        origin where;
        while (read.size() < most && next<Parameters>(given, where)) {
            kin.begin_piece();
            // The first request takes a repeated id.
            kin.touches(given.first);
            application_->each_record(given.second, [&](auto const& collection, auto const& key) {
                kin.touches(record_name(collection.name, key));
            });
            if constexpr (requires { application_->locked_by(given.second); }) {
                kin.touches(application_->locked_by(given.second));
            }
            read.push_back(std::move(given));
            from.push_back(where);
        }
        auto const split = kin.split(how_.threads);
        std::vector<std::exception_ptr> thrown(split.size());
        {
            std::vector<std::jthread> threads;
            for (std::size_t which = 0; which < split.size(); ++which) {
                threads.emplace_back([&, which] {
                    try {
                        auto at = split[which].begin();
                        run_all<Parameters>([&](element<Parameters>& next, origin& origin_of_it) {
                            if (at == split[which].end() || !goes_on()) return false;
                            next = std::move(read[*at]);
                            origin_of_it = from[*at++];
                            return true;
                        });
                    } catch (...) {
                        thrown[which] = std::current_exception();
                    }
                });
            }
        }
        for (auto const& each : thrown) {
            if (each) std::rethrow_exception(each);
        }
    }

    /// Enough for every window, and bounded for the memory.
    std::size_t read_at_once() const {
        constexpr std::size_t least = 1'000;
        constexpr std::size_t most = 20'000;
        std::size_t const window = how_.window == 0 ? least : how_.window;
        return std::clamp(window * how_.threads, least, most);
    }

    // ------------------------------------------------------------------------------------ counting

    void refuse(refusal const& no) { report_.refuse(no.line, no.reason, no.sentence); }

    void note(remark const& noted) { report_.note(noted.line, noted.sentence); }

    template <typename Parameters>
    void remark_on_id(request<Parameters> const& next_request, std::uint64_t other) {
        report_.note(next_request.line,
                     fmt::format("the id '{}' and the one of line {} {}; they are two "
                                 "transactions",
                                 next_request.id, other, alike_words));
    }

    void ended(origin const& from, settle::outcome const& result) {
        std::scoped_lock const one_at_a_time{counting_};
        if (from.repeats != 0 && (result.done() || result.canceled())) {
            ++report_.repeated;
            auto const* const end = result.done() ? "done" : "canceled";
            report_.note(from.line,
                         fmt::format("'{}' repeats line {}: the two are one, and it is {}",
                                     result.id, from.repeats, end));
            in_vain_ = 0;
            return;
        }
        if (from.earlier && (result.done() || result.canceled())) ++report_.earlier;
        in_vain_ = result.verdict == settle::verdict::undecided ? in_vain_ + 1 : 0;
        switch (result.verdict) {
        case settle::verdict::done: ++report_.done; break;
        case settle::verdict::canceled: canceled(from.line, result); break;
        case settle::verdict::undecided: undecided(from.line, result); break;
        case settle::verdict::refused: refused(from, result); break;
        }
    }

    bool settled_before(std::string const& id) {
        // The engine reports an unreadable entry as this transaction's outcome.
        auto const found = engine_->find(id);
        return found.has_value() && found.value() && is_final(found.value()->state);
    }

    void canceled(std::uint64_t line, settle::outcome const& result) {
        ++report_.canceled;
        ++report_.reasons[words_for(*application_, result.participant, result.why)];
        // A failed guard is common; any other reason deserves a remark.
        if (result.why == settle::reason::guard_failed) return;
        report_.note(line, fmt::format("'{}' is canceled: {}{}", result.id,
                                       words_for(*application_, result.participant, result.why),
                                       cause_of(result.problem)));
    }

    void undecided(std::uint64_t line, settle::outcome const& result) {
        ++report_.undecided;
        ++report_.reasons["undecided"];
        report_.note(line,
                     fmt::format("'{}' is undecided: {}", result.id, sentence_of(result.problem)));
    }

    void refused(origin const& from, settle::outcome const& result) {
        bool const reused = result.problem.code == settle::errc::id_in_use;
        auto sentence = fmt::format("'{}': {}", result.id, sentence_of(result.problem));
        if (reused && from.repeats != 0) {
            sentence += fmt::format("; line {} named it first", from.repeats);
        }
        report_.refuse(from.line,
                       reused ? "id in use with another content" : "refused by the engine",
                       std::move(sentence));
    }

    Application const* application_;
    Engine* engine_;
    pace how_;
    std::stop_token stop_;
    open_records<Engine> open_;
    reader* pieces_ = nullptr;
    std::optional<typename reader::piece> ahead_; // the piece that was read ahead
    std::mutex counting_;
    report report_;
    seen_ids ids_;
    bool has_past_ = false; // the log held entries when the run began
    std::atomic<int> in_vain_ = 0;
    std::atomic<bool> gave_up_ = false;
    std::exception_ptr failed_;
    progress progress_{std::string{Application::pieces}};
};

} // namespace samples
