// SPDX-License-Identifier: BSL-1.0
// Claims entries of the log, a page at a time, and brings them to their ends side by side.
#pragma once

#include <settle/running/calls/batch.hpp>

SETTLE_BEGIN
namespace detail {

/// Finds the direction of an entry by its name and definition, and calls
/// `function(std::type_identity<Direction>{})`. Returns an error if there is no such direction.
template <typename Types, typename Function>
error with_direction(entry const& stored, Function&& function) {
    bool called = false;
    bool name_known = false;
    for_each_direction(Types{}, [&]<typename Direction>(std::type_identity<Direction> direction) {
        if (called || stored.type != Direction::name()) return;
        name_known = true;
        if (stored.definition != Direction::definition()) return;
        called = true;
        function(direction);
    });
    if (called) return {};
    return name_known ? other_definition(stored) : unknown_type(stored);
}

/// The descriptor of an entry's direction, or that of an entry without a definition.
template <typename Types>
transaction_descriptor const& descriptor_for(entry const& stored) {
    auto const* descriptor = &undescribed_descriptor();
    static_cast<void>(
        with_direction<Types>(stored, [&]<typename Direction>(std::type_identity<Direction>) {
            descriptor = &descriptor_of<Direction>;
        }));
    return *descriptor;
}

/// The parameters of an entry, if they can be read and their guards hold.
template <typename Direction>
result<typename Direction::parameters> read_parameters(entry const& stored) {
    if (auto damaged = fault_of(stored); !damaged.empty()) return damaged;
    auto parameters = decode_json<typename Direction::parameters>(stored.parameters);
    if (!parameters.has_value()) return damaged_parameters(stored, parameters.problem());
    if (auto const refused = Direction::check(parameters.value()); refused.why != reason::none) {
        return refuse_parameters<Direction>(stored.id, parameters.value(), refused).problem;
    }
    return parameters;
}

/// Finds the direction of an entry by its name and definition, reads its parameters, and calls
/// `function(std::type_identity<Direction>{}, parameters)`.
template <typename Types, typename Function>
outcome with_entry(entry const& stored, Function&& function) {
    std::optional<outcome> concluded;
    auto const run = [&]<typename Direction>(std::type_identity<Direction> direction) {
        auto const parameters = read_parameters<Direction>(stored);
        concluded = parameters.has_value() ? function(direction, parameters.value())
                                           : refuse(stored.id, parameters.problem());
    };
    auto const problem = with_direction<Types>(stored, run);
    return concluded ? *std::move(concluded) : refuse(stored.id, problem);
}

/// Reports a final entry to an observer when a caller asks for it.
template <typename Types, typename Observer>
void report_final(Observer& observer, entry const& stored) {
    event seen{stored.id,       stored.type,  step::end,  stored.state,
               stored.attempts, answer::none, stored.why, stored.why_text,
               nullptr,         nullptr,      false};
    bool notified = false;
    static_cast<void>(
        with_direction<Types>(stored, [&]<typename Direction>(std::type_identity<Direction>) {
            auto const parameters = decode_json<typename Direction::parameters>(stored.parameters);
            if (!parameters.has_value()) return;
            notified = true;
            seen.show = descriptor_of<Direction>.append_json;
            seen.shown = &parameters.value();
            observer(seen);
        }));
    if (!notified) observer(seen);
}

/// Shape:   Assembly - of the engine; room - of each window
/// Cost:    linear in the entries that pass the filter
template <typename Assembly>
class take_over {
public:
    take_over(Assembly& assembly, std::stop_token const& stop, std::size_t room)
        : assembly_(assembly), room_(room), call_{std::nullopt, stop},
          patience_(assembly.patience_of(call_)) {}
    take_over(take_over const&) = delete;
    take_over& operator=(take_over const&) = delete;

    template <typename Predicate>
    recovery_report all(entry_filter const& filter, std::size_t limit, Predicate&& selects) {
        transaction_id after;
        std::vector<entry> page;
        std::size_t const page_size = std::max<std::size_t>(room_, least_page);
        bool ends = false;
        while (limit > 0 && !ends && !call_.stop.stop_requested()) {
            auto entries =
                patience_([&] { return assembly_.log().list(filter, after, page_size); });
            if (!entries.has_value()) {
                report_.problem = entries.problem();
                return std::move(report_);
            }
            page = std::move(entries).value();
            bool const last = page.size() < page_size;
            // Without a new id at its end, the next page would begin at the start of the log.
            auto const next = page.empty() ? transaction_id{} : page.back().id;
            ends = last || next.empty() || next == after;
            after = next;
            report_.young += std::erase_if(page, [&](entry const& one) { return !selects(one); });
            limit = take_some(page, limit);
        }
        bool const more = limit > 0 && !ends;
        if (call_.stop.stop_requested() && (left_ || more)) report_.problem = stopped_early();
        return std::move(report_);
    }

private:
    static constexpr std::size_t least_page = 256;

    /// Takes as many entries as the limit allows, and returns the rest of the limit. Skipped
    /// entries do not count: they stay in the log, and must not block the entries after them.
    std::size_t take_some(std::span<entry const> page, std::size_t limit) {
        while (!page.empty() && limit > 0 && !call_.stop.stop_requested()) {
            auto const some = page.first(std::min(limit, page.size()));
            auto const skipped_before = report_.skipped.size();
            take_page(some);
            limit -= some.size() - (report_.skipped.size() - skipped_before);
            page = page.subspan(some.size());
        }
        left_ = left_ || (!page.empty() && limit > 0);
        return limit;
    }

    /// Runs adjacent entries of one type side by side.
    void take_page(std::span<entry const> page) {
        while (!page.empty() && !call_.stop.stop_requested()) {
            auto const same = [&](entry const& one) {
                return one.type == page.front().type && one.definition == page.front().definition;
            };
            auto const end = std::find_if_not(page.begin(), page.end(), same);
            auto const run = page.first(static_cast<std::size_t>(end - page.begin()));
            auto const problem = with_direction<typename Assembly::types>(
                run.front(), [&]<typename Direction>(std::type_identity<Direction>) {
                    take_run<Direction>(run);
                });
            if (!problem.empty()) {
                // The sentence names the entry, so each entry gets a sentence of its own.
                for (entry const& one : run) {
                    skip(one, with_direction<typename Assembly::types>(one, [](auto) {}));
                }
            }
            page = page.subspan(run.size());
        }
        left_ = left_ || !page.empty();
    }

    template <typename Direction>
    void take_run(std::span<entry const> run) {
        window_of<Assembly, Direction> jobs{assembly_, call_, std::min(room_, run.size())};
        auto const round = [&] {
            jobs.round(false, false,
                       [&](std::size_t, outcome&& concluded, interruption) { deliver(concluded); });
        };
        for (entry const& stored : run) {
            if (jobs.thrown()) break;
            if (call_.stop.stop_requested()) {
                left_ = true;
                break;
            }
            auto parameters = read_parameters<Direction>(stored);
            if (!parameters.has_value()) {
                skip(stored, parameters.problem());
                continue;
            }
            jobs.take(stored, std::move(parameters).value());
            while (jobs.full()) round();
        }
        while (!jobs.empty()) round();
        jobs.rethrow();
    }

    /// An unreadable entry in a page has no parameters, and entry::fault without an error code. A
    /// read of that entry alone gives the whole error.
    void skip(entry const& stored, error problem) {
        if (stored.parameters.empty() && !call_.stop.stop_requested()) {
            auto const alone = patience_([&] { return assembly_.log().read(stored.id); });
            if (!alone.has_value() && alone.problem().code == condition::permanent) {
                problem = alone.problem();
            }
        }
        report_.skipped.push_back({stored.id, std::move(problem)});
    }

    void deliver(outcome const& concluded) {
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

    Assembly& assembly_;
    std::size_t room_;
    call_options call_;
    patience patience_;
    recovery_report report_;
    bool left_ = false; ///< a stop request came before the end of a page
};

} // namespace detail
SETTLE_END
