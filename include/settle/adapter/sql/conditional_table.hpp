// SPDX-License-Identifier: BSL-1.0
// The records of one collection that a native transaction changes without reading them: each under
// the condition that the record rule would answer `applied` to all its requests. If a condition
// does not hold, the native transaction has no effect, and the records are read.
#pragma once

#include <settle/adapter/sql/mark_places.hpp>
#include <settle/adapter/sql/wave_table.hpp>

#include <numeric>

SETTLE_BEGIN
namespace detail::sql {

/// What a conditional update does with an integer member.
struct conditional_sum {
    std::int64_t added = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::min(); ///< of the value before
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// The integer members of a conditional update, a bit for each.
struct sum_members {
    std::uint64_t changed = 0;
    std::uint64_t at_least = 0; ///< they have a least value
    std::uint64_t at_most = 0;

    sum_members& operator|=(sum_members const& others) {
        changed |= others.changed;
        at_least |= others.at_least;
        at_most |= others.at_most;
        return *this;
    }
    friend auto operator<=>(sum_members const&, sum_members const&) = default;
};

/// The requests of one record, folded into one conditional update.
struct folded_record {
    folded_record(record_descriptor const& descriptor, part_key const& of_record)
        : key(owned(of_record)), members(descriptor.integers) {}

    /// Adds a request. False if no conditional update has the effect of all requests.
    [[nodiscard]] bool add(part_request const& request, conditional_view const& conditional) {
        // In one phase, a transaction's own parts are confirmed after all guards.
        bool possible = request.action != step::one_phase || last != request.id;
        last = request.id;
        for (std::size_t index = 0; index < members.size(); ++index) {
            one_member& member = members[index];
            // The conditions of the request hold for the value that the requests before leave,
            // whichever way their marks end.
            auto const least = conditional.least[index] - (member.added + member.low);
            auto const most = conditional.most[index] - (member.added + member.high);
            member.least = std::max(member.least, least);
            member.most = std::min(member.most, most);
            member.added += conditional.added[index];
            if (request.action == step::apply) {
                member.low += conditional.own.low(index);
                member.high += conditional.own.high(index);
            }
            possible = possible && member.least <= member.most;
        }
        return possible;
    }

    struct one_member {
        wide added = 0; ///< the sum of the requests' changes
        wide low = 0;   ///< the least sum that their marks can still add
        wide high = 0;  ///< the greatest such sum
        wide least = std::numeric_limits<std::int64_t>::min(); ///< of the record's value
        wide most = std::numeric_limits<std::int64_t>::max();
    };

    key_value key;
    std::vector<one_member> members;
    transaction_id const* last = nullptr; ///< of the last request
};

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class conditional_table : public wave_table<conditional_table<Sql>, Sql, folded_record> {
    using base = wave_table<conditional_table, Sql, folded_record>;
    friend records_of<conditional_table, folded_record>;
    using typename base::array;

public:
    using base::base;
    using base::of;
    using typename base::connection;

    void expect(part_request const& request);
    [[nodiscard]] static part_result execute(part_request const&) {
        return {answer::applied, nullptr, {}};
    }
    void end_one_phase(part_request const&, bool confirmed) {
        must_read_ = must_read_ || !confirmed;
    }
    [[nodiscard]] bool must_read() const noexcept { return must_read_; }

    static void send_locks(connection&) {}
    static void send_marks(connection&) {}
    static void receive(connection const&) {}
    /// To be called after the commit, while the connection has the results that came with it.
    void committed(connection const& session) const {
        if (applies_) marks_->keep_places(session, added_, names_);
    }
    /// Queues the conditional updates, and the statements on the marks after their locks.
    void send_changes(connection& connection);

private:
    using base::marks_;
    using base::records_;
    using base::table_;

    /// Limits the value before the wave by the columns, which may be narrower than their members
    /// and must hold what each request leaves, not only the last. False if no value is possible.
    [[nodiscard]] bool fits_columns(folded_record& record) const {
        auto const& members = of().members();
        bool possible = true;
        for (std::size_t index = 0; index < members.size(); ++index) {
            if ((table_->limited() >> index & 1U) == 0) continue;
            if (members[index].integer == member_descriptor::no_integer) continue;
            auto& member = record.members[members[index].integer];
            auto const& column = table_->column(index);
            member.least = std::max(member.least, column.least - (member.added + member.low));
            member.most = std::min(member.most, column.most - (member.added + member.high));
            possible = possible && member.least <= member.most;
        }
        return possible;
    }

    bool must_read_ = false;
    bool confirms_ = false;
    bool applies_ = false;            ///< in two phases
    added_marks<array> own_{};        ///< marks that the wave adds or pulls
    std::vector<mark_name> names_{};  ///< of these marks
    std::size_t added_ = 0;           ///< the number of the statement that adds them
    array unmarked_ = array::texts(); ///< keys whose records must have no mark
};

template <typename Sql>
void conditional_table<Sql>::expect(part_request const& request) {
    auto const key = request.key();
    auto keys = table_->keys();
    must_read_ = must_read_ || !table_->is_readable() || !table_->give_key(keys, key);
    if (must_read_) return;
    bool possible = false;
    conditional(request, [&](conditional_view const& conditional) {
        auto const count = records_.size();
        auto& record = records_[this->announce(key)];
        confirms_ = request.action == step::confirm;
        applies_ = request.action == step::apply;
        possible = record.add(request, conditional) && fits_columns(record);
        if (request.action != step::one_phase) {
            own_.add(key, *of().record, conditional.own);
            names_.push_back({*request.id, request.part});
        }
        bool const is_new = records_.size() > count;
        if (is_new && !confirms_) unmarked_.add(mark_key{key}.text());
    });
    must_read_ = !possible;
}

template <typename Sql>
void conditional_table<Sql>::send_changes(connection& session) {
    auto const& members = of().members();
    std::vector<conditional_sum> sums(records_.size() * of().record->integers);
    using keyed_sum = std::pair<part_key, conditional_sum const*>;
    std::vector<std::pair<sum_members, std::vector<keyed_sum>>> groups;
    bool const is_small = records_.size() <= Sql::dialect::most_rows_of_one_update;
    std::vector<std::size_t> order(records_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    this->sort_by_key(order);
    for (auto const number : order) {
        auto const& record = records_[number];
        auto* const own_sums = sums.data() + number * of().record->integers;
        sum_members which;
        for (std::size_t index = 0; index < members.size(); ++index) {
            if (members[index].integer == member_descriptor::no_integer) continue;
            auto const& from = record.members[members[index].integer];
            auto& to = own_sums[members[index].integer];
            auto const& column = table_->column(index);
            auto const least = std::max(from.least, column.least - (from.added + from.low));
            auto const most = std::min(from.most, column.most - (from.added + from.high));
            must_read_ =
                must_read_ || least > most || from.added != static_cast<std::int64_t>(from.added);
            if (must_read_) return;
            to.added = static_cast<std::int64_t>(from.added);
            to.least = static_cast<std::int64_t>(std::max(least, wide{column.least}));
            to.most = static_cast<std::int64_t>(std::min(most, wide{column.most}));
            auto const member = std::uint64_t{1} << index;
            // An addition that leaves 64 bits fails by itself.
            bool const overflows = column.has_all_integers();
            wide const lowest =
                overflows && to.added < 0 ? column.least - wide{to.added} : column.least;
            wide const highest =
                overflows && to.added > 0 ? column.most - wide{to.added} : column.most;
            if (to.added != 0) which.changed |= member;
            if (to.least > lowest) which.at_least |= member;
            if (to.most < highest) which.at_most |= member;
        }
        // A mark that changes nothing is pulled without its record.
        if (confirms_ && which.changed == 0) continue;
        auto const known = std::find_if(groups.begin(), groups.end(), [&](auto const& group) {
            return is_small || group.first.changed == which.changed;
        });
        auto& [members_of_group, sums_of_group] =
            known != groups.end() ? *known : groups.emplace_back();
        members_of_group |= which;
        sums_of_group.emplace_back(view_of(record.key), own_sums);
    }
    for (auto const& [which, of_group] : groups) table_->send_sums(session, which, of_group);
    auto const name = of().name;
    if (unmarked_.size() > 0) marks_->send_unmarked(session, name, unmarked_);
    if (applies_) added_ = marks_->send_new(session, name, own_);
    if (confirms_) marks_->send_finished(session, name, own_, names_);
}

} // namespace detail::sql
SETTLE_END
