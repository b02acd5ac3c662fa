// SPDX-License-Identifier: BSL-1.0
// Claims entries of the log, a page at a time, and brings them to their ends side by side.
#pragma once

#include <settle/running/calls/directions.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/windows.hpp>

SETTLE_BEGIN
namespace detail {

/// Forgets the transactions that another process has ended.
/// Cost:    a read of each stuck transaction
inline void forget_ended(stuck_transactions& stuck, log_port& log) {
    for (transaction_id const& id : stuck.ids()) {
        auto const found = log.read(id);
        if (!found.has_value()) continue;
        if (!found.value() || is_final(found.value()->state)) stuck.remove(id);
    }
}

/// Reports a final entry to an observer when a caller asks for it.
inline void report_final(any_observer const& observer, known_directions known,
                         entry const& stored) {
    event seen{stored.id,       stored.type,  step::end,  stored.state,
               stored.attempts, answer::none, stored.why, stored.why_text,
               nullptr,         nullptr,      false};
    seen.created = stored.created;
    seen.when = stored.modified;
    seen.first = true;
    seen.traceparent = stored.traceparent;
    auto const direction = direction_for(known, stored);
    if (!direction.has_value()) return observer(seen);
    auto const& type = *direction.value()->type;
    held_parameters const parameters{type};
    auto const problem =
        read_whole(*type.codec, stored.parameters, json_form::exact, parameters.get());
    if (problem.empty()) {
        seen.show = type.append_json;
        seen.shown = parameters.get();
    }
    observer(seen);
}

/// Shape:   room - of each window
/// Cost:    linear in the entries that pass the filter
template <typename Rules>
class take_over {
public:
    take_over(seam_context<Rules> const& context, known_directions known,
              std::stop_token const& stop, std::size_t room)
        : context_(context), known_(known), room_(room), call_{std::nullopt, stop},
          patience_(context.patience_of(call_)) {}
    take_over(take_over const&) = delete;
    take_over& operator=(take_over const&) = delete;

    recovery_report all(entry_filter const& filter, std::size_t limit,
                        function_view<bool(entry const&)> selects) {
        seam_jobs<Rules> jobs{context_, call_, room_};
        transaction_id after;
        std::size_t const page_size = std::max<std::size_t>(room_, least_page);
        bool goes_on = true;
        while (goes_on && has_room(jobs, limit) && !call_.stop.stop_requested()) {
            auto entries =
                patience_([&] { return context_.ports.log.list(filter, after, page_size); });
            if (!entries.has_value()) {
                report_.problem = entries.problem();
                break;
            }
            auto page = std::move(entries).value();
            // Without a new id at its end, the next page would begin at the start of the log.
            auto const next = page.empty() ? transaction_id{} : page.back().id;
            goes_on = page.size() == page_size && !next.empty() && next != after;
            after = next;
            report_.young +=
                std::erase_if(page, [&](entry const& entry) { return !selects(entry); });
            goes_on = take_page(jobs, page, limit) && goes_on;
        }
        while (!jobs.empty()) round(jobs);
        jobs.rethrow();
        bool const more = goes_on && limit > taken_;
        if (call_.stop.stop_requested() && (left_ || more)) report_.problem = stopped_early();
        return std::move(report_);
    }

private:
    static constexpr std::size_t least_page = 256;

    /// Takes as many entries as the limit allows. Skipped entries do not count: they stay in the
    /// log, and must not block the entries after them. Transactions go on from page to page, so
    /// that one which waits for a service delays no other.
    /// Returns: false if the call takes no more
    bool take_page(seam_jobs<Rules>& jobs, std::span<entry const> page, std::size_t limit) {
        for (entry const& stored : page) {
            if (!has_room(jobs, limit) || jobs.thrown()) return false;
            if (call_.stop.stop_requested()) {
                left_ = true;
                return false;
            }
            take(jobs, stored);
            while (jobs.full()) {
                round(jobs);
                // What waits for a service leaves its room to other entries: it is noted when each
                // is due again.
                if (jobs.full()) jobs.end_resting();
            }
        }
        return true;
    }
    /// True if the limit allows another entry, once it is known which of the others are skipped.
    bool has_room(seam_jobs<Rules>& jobs, std::size_t limit) {
        while (taken_ >= limit && !jobs.empty()) round(jobs);
        return taken_ < limit;
    }
    void take(seam_jobs<Rules>& jobs, entry const& stored) {
        auto const direction = direction_for(known_, stored);
        if (!direction.has_value()) return skip(stored, direction.problem());
        transaction_descriptor const& type = *direction.value()->type;
        auto parameters = read_parameters(type, stored);
        if (!parameters.has_value()) return skip(stored, parameters.problem());
        ++taken_;
        jobs.take(stored, type, std::move(parameters).value());
    }
    void round(seam_jobs<Rules>& jobs) {
        jobs.round(false, false,
                   [&](std::size_t, outcome&& concluded, interruption) { deliver(concluded); });
    }

    /// An unreadable entry in a page has no parameters, and entry::fault without an error code. A
    /// read of that entry alone gives the whole error.
    void skip(entry const& stored, error problem) {
        if (stored.parameters.empty() && !call_.stop.stop_requested()) {
            auto const alone = patience_([&] { return context_.ports.log.read(stored.id); });
            if (!alone.has_value() && alone.problem().code == condition::permanent) {
                problem = alone.problem();
            }
        }
        report_.skipped.push_back({stored.id, std::move(problem)});
    }

    void deliver(outcome const& concluded) {
        auto const skipped_before = report_.skipped.size();
        add(concluded);
        if (report_.skipped.size() != skipped_before) --taken_;
    }
    void add(outcome const& concluded) {
        switch (concluded.verdict) {
        case verdict::done:
            // A committed entry that is not finished is taken again by the next round.
            if (concluded.finished) ++report_.done;
            else undecided(concluded.problem);
            break;
        case verdict::canceled: ++report_.canceled; break;
        case verdict::refused: report_.skipped.push_back({concluded.id, concluded.problem}); break;
        case verdict::undecided:
            if (concluded.problem.empty()) ++report_.elsewhere;
            else if (concluded.problem.code != condition::permanent) undecided(concluded.problem);
            else report_.skipped.push_back({concluded.id, concluded.problem});
            break;
        }
    }

    void undecided(error const& why) {
        ++report_.undecided;
        if (report_.problem.empty()) report_.problem = why;
    }

    seam_context<Rules> const& context_;
    known_directions known_;
    std::size_t room_;
    call_options call_;
    patience patience_;
    recovery_report report_;
    std::size_t taken_ = 0; ///< entries that count for the limit, also those under way
    bool left_ = false;     ///< a stop request came before the end of a page
};

} // namespace detail
SETTLE_END
