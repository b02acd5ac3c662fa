// SPDX-License-Identifier: BSL-1.0
// The cost of a transaction in a store with much content. Two databases of one process take turns:
// the change of each invalidates the other's page cache.
#pragma once

#include "sqlite_files.hpp"
#include "two_banks.hpp"
#include "unfinished.hpp"

namespace bench {

enum class content : std::uint8_t {
    records,
    finished,   ///< entries
    unfinished, ///< entries, of transfers between any accounts
    marks       ///< on one account, which all later transfers use
};

struct growth {
    content kind;
    workload work;
};

inline constexpr std::size_t counted_transfers = 400;

[[nodiscard]] inline growth make_growth(content kind, std::size_t count) {
    workload_shape shape{.transfers = counted_transfers};
    if (kind == content::records) shape.accounts = count;
    else shape.transfers += count;
    growth growth{kind, make_workload(shape)};
    auto& [ids, opening, requests, expected] = growth.work;
    if (kind == content::marks) {
        for (auto& [id, transfer] : requests) {
            transfer.destination = ids[transfer.source == ids[0] ? 1 : 0];
        }
    }
    // A transfer that stays pending has debited its source.
    expected.assign(ids.size(), opening);
    bool const all_end = kind == content::records || kind == content::finished;
    for (std::size_t index = 0; index < requests.size(); ++index) {
        transfer const& this_transfer = requests[index].second;
        expected[number_of(this_transfer.source)] -= this_transfer.amount;
        bool const ends = all_end || index >= requests.size() - counted_transfers;
        if (ends) expected[number_of(this_transfer.destination)] += this_transfer.amount;
    }
    return growth;
}

/// Seconds for the last transfers of the work.
inline double growth_round(std::string const& path, growth const& growth) {
    begin_file(path, {}, growth.work);
    std::span<transfer_request const> const requests{growth.work.requests};
    auto const before = requests.first(requests.size() - counted_transfers);
    if (growth.kind == content::finished) {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<transfer_type>};
        static_cast<void>(run_batches(engine, before, usual_window));
    } else {
        leave_unfinished(path, before, "commit");
    }
    double seconds = 0;
    {
        settle::sqlite::database database{path};
        settle::sqlite::database other{path};
        auto first = make_two_phases<transfer_type>(database);
        auto second = make_two_phases<transfer_type>(other);
        stopwatch const watch;
        for (std::size_t at = before.size(); at < requests.size(); at += 2) {
            expect_done(first.run(requests[at].first, requests[at].second));
            expect_done(second.run(requests[at + 1].first, requests[at + 1].second));
        }
        seconds = watch.seconds();
        bool const stay = growth.kind == content::unfinished || growth.kind == content::marks;
        if (first.marks().value() != (stay ? 2 * before.size() : 0)) {
            throw wrong_result("settle: another number of marks is left than expected");
        }
    }
    check_balances(path, growth.work);
    return seconds;
}

} // namespace bench
