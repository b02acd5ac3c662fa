// SPDX-License-Identifier: BSL-1.0
// What an id alone in pendingTransactions stands for: the effect that a program applied which
// follows the tutorial, while its transaction was pending.
#pragma once

#include <settle/mongodb/error.hpp>
#include <settle/mongodb/mark_codec.hpp>
#include <settle/protocol/mark.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// What an intent's sums add when they are applied is taken away to undo them.
template <Described Record, typename Intent>
void read_bare_effect(Intent const& wanted, mark<Record>& into) {
    bool overflow = false;
    wanted.deltas(into.undo_delta, into.confirm_delta, overflow);
    for (auto& delta : into.undo_delta) delta = -delta;
}

/// The mark of an operation's part, as of epoch 0.
/// Errors:  throws errc::damaged where the type does not only add
template <Described Record, typename Operation>
[[nodiscard]] mark<Record> bare_mark_of(Operation const& one) {
    mark<Record> made;
    made.id = one.id();
    made.part = one.part();
    auto const wanted = one.intent();
    if constexpr (std::remove_const_t<decltype(wanted)>::commutes) {
        read_bare_effect(wanted, made);
    } else {
        raise(errc::damaged, "settle: the transaction '" + one.id() +
                                 "' left a mark that does not say what it replaced, and its type "
                                 "assigns. Finish it by hand. README#coming-from-the-tutorial");
    }
    return made;
}

/// The bare marks of a document, as they stand there.
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
        // One that stands there twice is as many marks.
        ids.erase(one);
        return true;
    });
    return all;
}

} // namespace mongodb::detail
SETTLE_END
