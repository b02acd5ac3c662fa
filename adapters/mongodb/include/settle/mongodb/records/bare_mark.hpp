// SPDX-License-Identifier: BSL-1.0
// Bare marks, ids alone in pendingTransactions, which a program of the tutorial left in a record.
// Their effects are not in the record: a reader that knows the transaction type supplies them.
#pragma once

#include <settle/mongodb/records/record_state.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Ends the bare marks of one record.
class bare_marks {
public:
    bare_marks(record_state& at, bound_collection const& of) : at_(at), of_(of) {}

    /// Turns the bare mark of a request's transaction, if there is one, into a mark of settle.
    /// Errors:  throws errc::damaged where the mark cannot be ended
    void adopt(part_request const& request) {
        if (!holds(*request.id)) return;
        auto taken = take(request, false);
        at_.bare_replaced = true;
        if (!at_.slot.has_mark(*request.id, request.part)) at_.slot.insert(std::move(taken));
        // Where a mark of settle is there already, the other program's late addition has taken
        // effect a second time. A late assignment has not.
        else if (taken.exclusive) at_.rewritten = true;
        else undo(std::move(taken));
    }

    /// Pulls the bare mark that a request's transaction left behind.
    /// Shape:   committed - the transaction is done, so an assigned value stays. An added amount is
    ///          undone in either case, since it was added after the transaction ended;
    ///          confirmed - the transaction is applied, and the effect is its own
    [[nodiscard]] answer pull(part_request const& request, bool committed, bool confirmed) {
        if (!at_.fault.empty()) throw failure(at_.fault);
        if (!holds(*request.id)) return answer::nothing;
        auto taken = take(request, committed || confirmed);
        if (!confirmed && (!taken.exclusive || !committed)) undo(std::move(taken));
        at_.rewritten = true;
        return answer::applied;
    }

private:
    [[nodiscard]] bool holds(transaction_id const& id) const {
        return std::find(at_.bare.begin(), at_.bare.end(), id) != at_.bare.end();
    }
    [[nodiscard]] mark_data take(part_request const& request, bool committed) {
        transaction_id const& id = *request.id;
        std::vector<std::int64_t> const none(of_.record().integers);
        mark_data taken{id, request.part, 0, none, none};
        std::string problem = "its effect is unknown";
        if (of_.read_bare != nullptr) problem = of_.read_bare(request, at_.slot.record(), taken);
        bool const alone = std::all_of(at_.bare.begin(), at_.bare.end(),
                                       [&](std::string const& one) { return one == id; });
        if (taken.exclusive && !alone) {
            problem =
                "other transactions of such programs have left marks there, too, so the earlier "
                "value is unknown";
        }
        if (!problem.empty() && !committed) {
            throw failure({make_error_code(errc::damaged),
                           "settle: " + name_of_record(*of_.of, at_.key) +
                               " has a mark of the transaction '" + id +
                               "' of another program: " + problem +
                               ". Finish it by hand. See mongodb#coming-from-the-tutorial"});
        }
        // A repeated assignment has one effect; each repeated addition has its own mark.
        if (taken.exclusive) std::erase(at_.bare, id);
        else at_.bare.erase(std::find(at_.bare.begin(), at_.bare.end(), id));
        return taken;
    }
    /// Undoes the effect of a bare mark that was removed from the list.
    void undo(mark_data taken) {
        auto const member =
            settle::detail::member_out_of_range(of_.record(), at_.slot.record(), taken);
        if (!member.empty()) {
            throw failure(
                damaged_record(*of_.of, at_.key,
                               "it would take '" + std::string{member} +
                                   "' out of its range to undo a mark of another program"));
        }
        // No mark has an empty id, so the effect does not replace the mark of the same part.
        taken.id.clear();
        part_number const part = taken.part;
        at_.slot.insert(std::move(taken));
        at_.changed |= at_.slot.resolve({}, part, false).fields;
        at_.rewritten = true;
    }

    record_state& at_;
    bound_collection const& of_;
};

} // namespace mongodb::detail
SETTLE_END
