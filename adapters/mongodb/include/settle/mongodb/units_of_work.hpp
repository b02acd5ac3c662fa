// SPDX-License-Identifier: BSL-1.0
// The units of work of all collections that a wave meets.
#pragma once

#include <settle/mongodb/unit_of_work.hpp>

#include <tuple>

SETTLE_BEGIN
namespace mongodb::detail {

/// The units of work of all collections, for one attempt.
template <typename... Collections>
class units_of_work {
public:
    units_of_work(record_layout const& layout, reading when)
        : all_(unit_of_work<Collections>{layout, when}...) {}

    template <typename C>
    unit_of_work<C>& get() {
        return std::get<unit_of_work<C>>(all_);
    }
    template <typename Operation>
    auto& of(Operation const&) {
        return get<typename Operation::collection>();
    }
    template <typename Operation>
    void expect(Operation const& one) {
        of(one).expect(one);
    }
    /// Errors:  throws errc::damaged when its record cannot be used
    template <typename Operation>
    record_answer<typename Operation::record> execute(Operation const& one) {
        return of(one).execute(one);
    }
    template <typename Operation>
    void end_one_phase(Operation const& one, bool confirmed) {
        of(one).end_one_phase(one.key(), one.end(), confirmed);
    }
    [[nodiscard]] bool have_to_read() const {
        return (std::get<unit_of_work<Collections>>(all_).has_to_read() || ...);
    }
    void fetch(link& with) { (get<Collections>().fetch(with), ...); }
    void learn(units_of_work const& earlier) {
        (get<Collections>().learn(std::get<unit_of_work<Collections>>(earlier.all_)), ...);
    }
    /// How many records have a fault.
    [[nodiscard]] std::size_t faults() const {
        return (std::size_t{0} + ... +
                std::get<unit_of_work<Collections>>(all_).faults());
    }
    /// Whether every change took effect.
    bool write(link& with, writing how, commit_result& ended) {
        return write_each(ended, [&](auto& table, commit_result& here) {
            return table.write(with, how, here);
        });
    }
    /// As unit_of_work::write_unread.
    bool write_unread(link& with, commit_result& ended) {
        return write_each(ended, [&](auto& table, commit_result& here) {
            return table.write_unread(with, here);
        });
    }

private:
    template <typename Write>
    bool write_each(commit_result& ended, Write&& write) {
        bool all = true;
        bool wrote = false;
        auto const write_one = [&](auto& table) {
            commit_result here{};
            all = write(table, here) && all;
            wrote = wrote || (here.status != commit_status::undone && !table.empty());
            // The worst status stays.
            if (here.status > ended.status) ended = std::move(here);
        };
        (write_one(get<Collections>()), ...);
        if (ended.status == commit_status::undone && wrote) ended.status = commit_status::unknown;
        return all;
    }

    std::tuple<unit_of_work<Collections>...> all_;
};

} // namespace mongodb::detail
SETTLE_END
