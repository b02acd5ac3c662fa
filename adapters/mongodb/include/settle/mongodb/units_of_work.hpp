// SPDX-License-Identifier: BSL-1.0
// The units of work of all collections that a wave meets.
#pragma once

#include <settle/mongodb/unit_of_work.hpp>

#include <tuple>

SETTLE_BEGIN
namespace mongodb::detail {

/// Readers of the bare marks in some collections, each null where none is known.
template <typename... Collections>
using bare_readers = std::tuple<bare_reader<typename Collections::record_type>...>;

/// The units of work of all collections, for one attempt.
template <typename... Collections>
class units_of_work {
public:
    units_of_work(record_layout const& layout, reading when,
                  bare_readers<Collections...> const& readers)
        : all_(std::apply(
              [&](auto... reader) {
                  return units{unit_of_work<Collections>{layout, when, reader}...};
              },
              readers)) {}

    template <typename C>
    unit_of_work<C>& get() {
        return std::get<unit_of_work<C>>(all_);
    }
    void expect(part_request const& request) {
        at(request, [&](auto& unit) { unit.expect(request); });
    }
    /// Errors:  throws errc::damaged when its record cannot be used
    [[nodiscard]] part_result execute(part_request const& request) {
        part_result made;
        at(request, [&](auto& unit) { made = result_of(unit.execute(request)); });
        return made;
    }
    void end_one_phase(part_request const& request, bool confirmed) {
        at(request, [&](auto& unit) { unit.end_one_phase(request, confirmed); });
    }
    /// As unit_of_work::raise_mark.
    [[nodiscard]] answer raise_mark(part_request const& request) {
        answer made = answer::nothing;
        at(request, [&](auto& unit) { made = unit.raise_mark(request); });
        return made;
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
    using units = std::tuple<unit_of_work<Collections>...>;

    /// Calls a function with the unit of work of a request's collection.
    template <typename Function>
    void at(part_request const& request, Function&& function) {
        auto const try_one = [&]<typename C>(std::type_identity<C>) {
            bool const found = request.descriptor->target == &settle::detail::target_tag<C>;
            if (found) function(get<C>());
            return found;
        };
        static_cast<void>((try_one(std::type_identity<Collections>{}) || ...));
    }

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

    units all_;
};

} // namespace mongodb::detail
SETTLE_END
