// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that conditional_table.hpp declares.
#pragma once

#include <settle/postgresql/conditional_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION void conditional_table::expect(part_request const& one) {
    auto const key = one.key();
    auto keys = table_->keys();
    if (!table_->is_readable() || !table_->give_key(keys, key)) must_read();
    bool possible = false;
    of().record->conditional(one, [&](settle::detail::conditional_view const& wanted) {
        auto const count = records_.size();
        auto& record = records_[announce(key)];
        confirms_ = one.action == step::confirm;
        applies_ = one.action == step::apply;
        possible = record.add(one, wanted);
        if (one.action != step::one_phase) own_.add(key, *of().record, wanted.own);
        bool const is_new = records_.size() > count;
        if (is_new && !confirms_) unmarked_.add(mark_key{key}.text());
    });
    if (!possible) must_read();
}

SETTLE_FUNCTION void conditional_table::send_changes(connection& on) {
    using settle::detail::wide;
    auto const& members = of().members();
    std::vector<conditional_sum> sums(records_.size() * of().record->integers);
    struct group {
        std::uint64_t changed;
        std::uint64_t bounded;
        std::vector<std::pair<part_key, conditional_sum const*>> all;
    };
    std::vector<group> groups;
    // All programs lock the rows in the order of their keys.
    std::vector<std::size_t> order(records_.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return records_[left].key < records_[right].key;
    });
    for (auto const number : order) {
        auto const& record = records_[number];
        auto* const made = sums.data() + number * of().record->integers;
        std::uint64_t changed = 0;
        std::uint64_t bounded = 0;
        for (std::size_t at = 0; at < members.size(); ++at) {
            if (members[at].integer == member_descriptor::no_integer) continue;
            auto const& from = record.members[members[at].integer];
            auto& to = made[members[at].integer];
            auto const& column = table_->column(at);
            // The column may be narrower than the member.
            auto const least = std::max(from.least, column.least - (from.added + from.low));
            auto const most = std::min(from.most, column.most - (from.added + from.high));
            if (least > most || from.added != static_cast<std::int64_t>(from.added)) must_read();
            to.added = static_cast<std::int64_t>(from.added);
            to.least = static_cast<std::int64_t>(std::max(least, wide{column.least}));
            to.most = static_cast<std::int64_t>(std::min(most, wide{column.most}));
            if (to.added != 0) changed |= std::uint64_t{1} << at;
            if (to.least > column.least || to.most < column.most) bounded |= std::uint64_t{1} << at;
        }
        // A mark that changes nothing is pulled without its record.
        if (confirms_ && changed == 0) continue;
        auto const known = std::find_if(groups.begin(), groups.end(), [&](group const& one) {
            return one.changed == changed && one.bounded == bounded;
        });
        auto& of_masks =
            known != groups.end() ? *known : groups.emplace_back(group{changed, bounded, {}});
        of_masks.all.emplace_back(settle::detail::view_of(record.key), made);
    }
    for (auto const& one : groups) table_->send_sums(on, one.changed, one.bounded, one.all);
    auto const name = of().name;
    if (unmarked_.size() > 0) marks_->send_unmarked(on, name, unmarked_);
    if (applies_) marks_->send_new(on, name, own_);
    if (confirms_) marks_->send_finished(on, name, own_);
}

} // namespace postgresql::detail
SETTLE_END
