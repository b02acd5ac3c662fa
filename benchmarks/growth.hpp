// SPDX-License-Identifier: BSL-1.0
// The cost of a transaction in a store with much content. Two programs take turns, so that neither
// can rely on its cache.
#pragma once

#include "sqlite_files.hpp"
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
    growth made{kind, make_workload(shape)};
    if (kind != content::marks) return made;
    for (auto& [id, transfer] : made.work.requests) {
        transfer.destination = made.work.ids[transfer.source == made.work.ids[0] ? 1 : 0];
    }
    return made;
}

/// Seconds for the last transfers of the work.
inline double growth_round(std::string const& path, growth const& of) {
    begin_file(path, {}, of.work);
    std::span<request const> const all{of.work.requests};
    auto const before = all.first(all.size() - counted_transfers);
    if (of.kind == content::finished) {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<transfer_type>};
        static_cast<void>(run_batches(engine, before, usual_window));
    } else {
        leave_unfinished(path, before, "commit");
    }
    settle::sqlite::database one{path};
    settle::sqlite::database other{path};
    auto first = make_two_phases<transfer_type>(one);
    auto second = make_two_phases<transfer_type>(other);
    stopwatch const watch;
    for (std::size_t at = before.size(); at < all.size(); at += 2) {
        expect_done(first.run(all[at].first, all[at].second));
        expect_done(second.run(all[at + 1].first, all[at + 1].second));
    }
    return watch.seconds();
}

} // namespace bench
