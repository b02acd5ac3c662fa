// SPDX-License-Identifier: BSL-1.0
// What callers want settled at once, and how the requests of several settle side by side in one
// native transaction.
#pragma once

#include <settle/store/group.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Desk>
struct settle_request : group_member {
    std::span<job* const> jobs;
    std::span<erased_operation<Desk> const> parts; ///< of all jobs, in their order
    occasion const& at;
    judging judge;

    /// Calls `function(job, its parts)` for each of the jobs, in their order.
    template <typename Function>
    void for_each(Function&& function) const {
        for_each_with_parts(jobs, parts, function);
    }
};

/// Settles what requests want, inside of a native transaction.
/// Shape:   fetch() - reads the records that the desk expects; meet(operation) - what that answers;
///          change(job, occasion) - writes an entry that is there, and sets what the log says
/// Returns: the jobs whose entries are still to be inserted, as if their ids were new
template <typename Desk, typename Fetch, typename Meet, typename Change>
[[nodiscard]] std::vector<job*> settle_side_by_side(
    Desk& desk, std::span<settle_request<Desk>* const> requests, Fetch&& fetch, Meet&& meet,
    Change&& change) {
    std::vector<job*> fresh;
    for (auto const* const one : requests) {
        one->for_each([&](job&, auto const& parts) {
            for (auto const& part : parts) part.expect(desk);
        });
    }
    fetch();
    for (auto const* const one : requests) {
        one->for_each([&](job& work, auto const& parts) {
            settle_in_native(
                work, parts, one->judge, [&](auto const& part) { part.tell(meet(part)); },
                [&] {
                    if (work.coordinator.inserts()) fresh.push_back(&work);
                    else change(work, one->at);
                },
                [&](auto const& part, bool done) { part.end_at_once(desk, done); });
        });
    }
    return fresh;
}

} // namespace detail
SETTLE_END
