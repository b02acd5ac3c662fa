// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that log_session.hpp declares.
#pragma once

#include <settle/adapter/isolation.hpp>
#include <settle/postgresql/listener.hpp>
#include <settle/postgresql/log_session.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace postgresql {

SETTLE_FUNCTION log_session::log_session(detail::pool& with, std::string name)
    : pool_(&with), name_(std::move(name)), channel_(detail::work_channel(with)),
      entries_(std::make_shared<detail::entry_table>(with)) {}

SETTLE_FUNCTION void log_session::write(std::span<entry_write const> writes,
                                        std::span<write_result> results, write_context const& at) {
    auto all = settle::detail::sent_writes(writes, results);
    // In the order of the ids, so that two waves do not wait for each other.
    std::stable_sort(all.begin(), all.end(),
                     [](auto const& left, auto const& right) { return *left.id < *right.id; });
    settle::detail::in_halves(std::span<detail::sent_write>{all},
                              [&](auto some) { return write_together(some, at); });
}

SETTLE_FUNCTION bool log_session::write_together(std::span<detail::sent_write> all,
                                                 write_context const& at) {
    bool const inserts = all.front().inserts;
    bool const submits = inserts && std::any_of(all.begin(), all.end(), [](auto const& one) {
                             return one.write->change.to == state::initial;
                         });
    std::size_t number = 0;
    detail::native_transaction native{*pool_};
    auto ended = native.perform(
        [&](detail::connection& on) {
            number =
                inserts ? entries_->send_insert(on, all, at) : entries_->send_change(on, all, at);
            if (submits) on.send_sql(detail::notify_sql(channel_), "wake workers");
        },
        detail::longest_repetition);
    if (ended.status == detail::commit_status::committed) {
        auto const& answers = native.result(number);
        if (inserts) detail::entry_table::read_inserted(answers, all);
        else detail::entry_table::read_changed(answers, all);
        return true;
    }
    bool const of_one = ended.status == detail::commit_status::undone &&
                        detail::is_of_one_record(ended.problem.code);
    if (of_one && all.size() > 1) return false;
    // The table cannot hold this entry.
    if (of_one) ended.problem.code = make_error_code(errc::bad_parameters);
    for (auto const& one : all) settle::detail::set_result(*one.result, ended);
    return true;
}

SETTLE_FUNCTION result<purged> log_session::purge(timestamp before, std::size_t limit,
                                                  std::int64_t passed) {
    constexpr std::int64_t pages_of_a_step = 256;
    purged gone;
    gone.passed = passed;
    if (limit == 0) return gone;
    auto const first = std::max<std::int64_t>(passed, 0);
    auto const end = first + pages_of_a_step;
    std::size_t number = 0;
    detail::native_transaction native{*pool_};
    auto const ended = native.perform(
        [&](detail::connection& on) {
            number = entries_->send_purge(on, first, end, before, limit);
        },
        detail::longest_repetition);
    if (ended.status != detail::commit_status::committed) return ended.problem;
    gone.passed = end;
    auto const& erased = native.result(number);
    gone.erased = static_cast<std::uint64_t>(erased.size());
    bool const limited = gone.erased == limit;
    if (limited) {
        // More may be left in the last page.
        detail::for_each_row(erased, [&](detail::row const& one) {
            gone.passed = std::min(gone.passed, one.integer(0));
        });
    }
    gone.more = limited || end < native.result(number + 1).integer(0, 0);
    return gone;
}

SETTLE_FUNCTION void log_session::look_up(std::span<read_request const> requests,
                                          found_function found) {
    if (requests.empty()) return;
    detail::array_value ids{detail::value_type::text};
    for (auto const& one : requests) ids.add(std::string_view{*one.id});
    std::vector<result<std::optional<entry>>> all(requests.size(), std::optional<entry>{});
    try {
        auto on = pool_->take();
        auto const number = entries_->send_read(*on, ids);
        on->sync();
        detail::for_each_row(on->result(number), [&](detail::row const& one) {
            constexpr int behind = static_cast<int>(settle::detail::all_entry_fields.size());
            auto const at = static_cast<std::size_t>(one.integer(behind) - 1);
            entry read;
            auto const problem = settle::detail::read_entry(one, read);
            if (problem.empty()) all[at] = std::optional<entry>{std::move(read)};
            else all[at] = settle::detail::damaged_entry(*requests[at].id, problem);
        });
    } catch (failure const& caught) {
        for (auto& one : all) one = caught.problem();
    }
    for (std::size_t at = 0; at < all.size(); ++at) found(at, std::move(all[at]), false);
}

SETTLE_FUNCTION result<std::optional<entry>> log_session::read(transaction_id const& id) {
    result<std::optional<entry>> answer{std::optional<entry>{}};
    read_request const request{&id, nullptr, nullptr, nullptr};
    look_up({&request, 1}, [&](std::size_t, result<std::optional<entry>>&& found, bool) {
        answer = std::move(found);
    });
    return answer;
}

SETTLE_FUNCTION result<std::vector<entry>>
log_session::list(entry_filter const& filter, transaction_id const& after, std::size_t limit) {
    std::vector<entry> all;
    if (filter.unfinished && filter.state &&
        (is_final(*filter.state) || *filter.state == state::initial)) {
        return all;
    }
    try {
        auto on = pool_->take();
        auto const number = entries_->send_page(*on, filter, after, limit);
        on->sync();
        detail::for_each_row(on->result(number), [&](detail::row const& one) {
            settle::detail::read_listed(one, all.emplace_back());
        });
    } catch (failure const& caught) {
        return caught.problem();
    }
    return all;
}

} // namespace postgresql
SETTLE_END
