// SPDX-License-Identifier: BSL-1.0
// Bare marks, ids alone in pendingTransactions, which a program of the tutorial left in a record.
// Their effects are not in the record: a reader that knows the transaction type tells them.
#pragma once

#include <settle/mongodb/error.hpp>
#include <settle/mongodb/mark_codec.hpp>
#include <settle/store/record.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Reads the effect of the bare mark of a request's transaction: what the request is to end.
/// Shape:   now - the record under the mark
/// Returns: why the mark cannot be ended; empty when it can
template <Described Record>
using bare_reader = std::string (*)(part_request const&, Record const& now, mark<Record>& into);

/// The bare marks of a document, in their stored form.
/// Shape:   ids - of their transactions
[[nodiscard]] inline std::vector<value_view> bare_marks_of(document const& found,
                                                           std::vector<std::string> ids) {
    std::vector<value_view> all;
    auto const marks = found.find(marks_field);
    if (!marks || ids.empty()) return all;
    marks->for_each([&](value_view const& value) {
        auto const id = value.id();
        auto const one = id ? std::find(ids.begin(), ids.end(), *id) : ids.end();
        if (one == ids.end()) return true;
        all.push_back(value);
        // An id that is stored twice is two marks.
        ids.erase(one);
        return true;
    });
    return all;
}

/// Ends the bare marks of one record.
/// Shape:   State - a record_state
template <typename State>
class bare_marks {
    using record_type = typename State::record_type;

public:
    /// Shape:   read - null where no reader knows the effects
    bare_marks(State& at, bare_reader<record_type> read) : at_(at), read_(read) {}

    /// Turns the bare mark of a request's transaction, if there is one, into a mark of settle.
    /// Errors:  throws errc::damaged where the mark cannot be ended
    void adopt(part_request const& request) {
        if (!holds(*request.id)) return;
        auto taken = take(request, false);
        at_.bare_replaced = true;
        if (at_.slot.marks.find(*request.id, request.part) == nullptr) {
            at_.slot.marks.insert(std::move(taken));
        } else {
            // The other program's late write has taken effect a second time.
            undo(taken);
        }
    }

    /// Pulls the bare mark that a request's transaction left behind.
    /// Shape:   stands - an assigned value stays, as the transaction committed it; an added amount
    ///          came too late in any case
    [[nodiscard]] answer pull(part_request const& request, bool stands) {
        if (!at_.fault.empty()) throw failure(at_.fault);
        if (!holds(*request.id)) return answer::nothing;
        auto const taken = take(request, stands);
        if (!taken.is_exclusive() || !stands) undo(taken);
        at_.rewritten = true;
        return answer::applied;
    }

private:
    [[nodiscard]] bool holds(transaction_id const& id) const {
        return std::find(at_.bare.begin(), at_.bare.end(), id) != at_.bare.end();
    }

    mark<record_type> take(part_request const& request, bool stands) {
        transaction_id const& id = *request.id;
        mark<record_type> taken;
        taken.id = id;
        taken.part = request.part;
        std::string problem = "nothing here tells its effect";
        if (read_ != nullptr) problem = read_(request, *at_.slot.record, taken);
        bool const alone = std::all_of(at_.bare.begin(), at_.bare.end(),
                                       [&](std::string const& one) { return one == id; });
        if (taken.is_exclusive() && !alone) {
            problem = "other transactions of those programs have left marks there, too, so nobody "
                      "can say which value was there before";
        }
        if (!problem.empty() && !stands) {
            throw failure({make_error_code(errc::damaged),
                           "settle: " + at_.name() + " has a mark of the transaction '" + id +
                               "' of another program: " + problem +
                               ". Finish it by hand. See mongodb#coming-from-the-tutorial"});
        }
        // A repeated assignment has one effect; each repeated addition has its own mark.
        if (taken.is_exclusive()) std::erase(at_.bare, id);
        else at_.bare.erase(std::find(at_.bare.begin(), at_.bare.end(), id));
        return taken;
    }

    /// Undoes the effect of a bare mark that was removed from the list.
    void undo(mark<record_type> const& taken) {
        auto const member = member_out_of_range(*at_.slot.record, taken.undo_delta);
        if (!member.empty()) {
            throw failure(at_.damaged("it would take '" + std::string{member} +
                                      "' out of its range to undo a mark of another program"));
        }
        record_answer<record_type> ended;
        settle::detail::end_mark(at_.slot.record, taken, false, ended);
        at_.changed |= ended.fields;
        at_.rewritten = true;
    }

    State& at_;
    bare_reader<record_type> read_;
};

} // namespace mongodb::detail
SETTLE_END
