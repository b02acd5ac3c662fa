// SPDX-License-Identifier: BSL-1.0
// The records of one collection that a native transaction changes without reading them: each under
// the condition that the record rule would answer `applied` to all its requests. If a condition
// does not hold, the native transaction has no effect, and the records are read.
#pragma once

#include <settle/adapter/unit_of_work.hpp>
#include <settle/postgresql/mark_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// The requests of one record, folded into one conditional update.
struct folded_record {
    folded_record(settle::detail::record_descriptor const& of, part_key const& of_record)
        : key(settle::detail::owned(of_record)), members(of.integers) {}

    /// Adds a request. False if no conditional update has the effect of all requests.
    [[nodiscard]] bool add(part_request const& request,
                           settle::detail::conditional_view const& wanted) {
        // In one phase, a transaction's own parts are confirmed behind the guards of all.
        bool possible = request.action != step::one_phase || last != request.id;
        last = request.id;
        for (std::size_t at = 0; at < members.size(); ++at) {
            one_member& one = members[at];
            // The conditions of the request hold for the value that the requests before leave,
            // whichever way their marks end.
            auto const least = wanted.least[at] - (one.added + one.low);
            auto const most = wanted.most[at] - (one.added + one.high);
            one.least = std::max(one.least, least);
            one.most = std::min(one.most, most);
            one.added += wanted.added[at];
            if (request.action == step::apply) {
                one.low += wanted.own.low(at);
                one.high += wanted.own.high(at);
            }
            possible = possible && one.least <= one.most;
        }
        return possible;
    }

    using wide = settle::detail::wide;
    struct one_member {
        wide added = 0; ///< the sum of the requests
        wide low = 0;   ///< what their marks can still add
        wide high = 0;
        wide least = std::numeric_limits<std::int64_t>::min(); ///< of the record's value
        wide most = std::numeric_limits<std::int64_t>::max();
    };

    key_value key;
    std::vector<one_member> members;
    transaction_id const* last = nullptr; ///< of the last request
};

/// Used by one thread, in one native transaction.
class conditional_table : public settle::detail::records_of<conditional_table, folded_record> {
    using base = settle::detail::records_of<conditional_table, folded_record>;
    friend base;

public:
    conditional_table(bound_table const& table, mark_table const& marks)
        : base(table.of()), table_(&table), marks_(&marks) {}

    /// Errors:  throws errc::stopped if the record must be read
    void expect(part_request const& one);
    [[nodiscard]] static part_result execute(part_request const&) {
        return {answer::applied, nullptr, {}};
    }
    /// Errors:  throws errc::stopped if the part is undone
    static void end_one_phase(part_request const&, bool confirmed) {
        if (!confirmed) must_read();
    }

    static void send_locks(connection&) {}
    static void send_marks(connection&) {}
    static void receive(connection const&) {}
    /// Queues the conditional updates, and the statements on the marks behind their locks.
    void send_changes(connection& on);

private:
    [[noreturn]] static void must_read() { raise(errc::stopped, "settle: a record must be read"); }

    bound_table const* table_;
    mark_table const* marks_;
    bool confirms_ = false;
    bool applies_ = false; ///< in two phases
    added_marks own_{};                      ///< that the wave adds or pulls
    array_value unmarked_{value_type::text}; ///< keys whose records must have no mark
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/conditional_table.ipp>
#endif
