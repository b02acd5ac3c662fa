// SPDX-License-Identifier: BSL-1.0
// What each kind of participant does at an apply, a finish, an undo and a sweep, as choices of a
// machine: the rules of protocol/record_rule.hpp, receiver_rule.hpp and prepared_rule.hpp.
#pragma once

#include <settle/model/machine.hpp>
#include <settle/model/modeled_type.hpp>

SETTLE_BEGIN
namespace detail::modeling {

[[nodiscard]] inline std::vector<std::string> joined(std::vector<std::string> first,
                                                     std::vector<std::string> const& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}
inline void add(place& to, std::string guard, std::vector<std::string> changes, std::string next,
                std::string remark = {}) {
    to.choices.push_back(
        {std::move(remark), std::move(guard), std::move(changes), std::move(next)});
}
[[nodiscard]] inline std::string negated(std::string const& text) { return "!(" + text + ')'; }

/// The sender of an apply: a worker, which waits for its answer, or the network, which brings a
/// late one.
struct sender {
    std::string epoch;
    std::vector<std::string> changes; ///< of each choice
    bool waits;
};

/// Adds the choices of one apply.
class apply_choices {
public:
    apply_choices(place& to, modeled_part const& part, sender from, std::string next)
        : to_(&to), part_(&part), from_(std::move(from)), next_(std::move(next)) {}

    void add_all() {
        if (part_->is(kind::record)) record();
        else if (part_->is(kind::prepared)) prepared();
        else if (part_->takes) call();
        else query();
    }

private:
    /// A change to the sender's epoch.
    [[nodiscard]] std::string set(std::string_view name) const {
        return std::string{name} + " = " + from_.epoch;
    }
    void give(std::string const& guard, std::vector<std::string> const& changes,
              std::string remark = {}) {
        add(*to_, (*part_)(guard), joined(changes, from_.changes), next_, std::move(remark));
    }
    void refuse(std::string const& guard, std::vector<std::string> changes, std::string remark) {
        if (from_.waits) changes.emplace_back("refusal = true");
        give(guard, changes, std::move(remark));
    }
    void fence(std::string const& guard, std::string remark) {
        add(*to_, (*part_)(guard), from_.changes, from_.waits ? "look" : next_, std::move(remark));
    }
    void record() {
        give("mark_$ == 0", part_->take(set("mark_$")),
             "no mark: the guards hold; effect and mark in one update");
        refuse("mark_$ == 0", {}, drawing::failure_of(part_->shape));
        give("RULE_marks_carry_epochs && mark_$ != 0 && mark_$ <= " + from_.epoch,
             {(*part_)(set("mark_$"))}, "rule 1: a lower mark is raised, without an effect");
        fence("RULE_marks_carry_epochs && mark_$ > " + from_.epoch,
              "rule 1: a higher mark fences the worker");
        give("!RULE_marks_carry_epochs && mark_$ != 0", {}, "without rule 1: any mark is its own");
    }
    /// At most one name of a part is prepared: its native transaction holds the receipt's row.
    void prepared() {
        auto const may = "receipt_$ == 0 && name_$ < " + from_.epoch;
        auto const fresh = from_.waits ? may + " && (RULE_adopts_no_name || name_$ == 0)"
                                       : std::string{"receipt_$ == 0 && name_$ == 0"};
        give(fresh, {(*part_)(set("name_$"))},
             from_.waits ? "a lower name is rolled back; then it is prepared" : "it is prepared");
        if (from_.waits) {
            refuse(fresh, {}, drawing::failure_of(part_->shape));
            give(may + " && !RULE_adopts_no_name && name_$ != 0", {},
                 "a lower name counts as prepared");
            give("receipt_$ == 0 && name_$ == " + from_.epoch, {}, "it is prepared already");
            fence("receipt_$ != 0 || name_$ > " + from_.epoch,
                  "a receipt or a higher name denies it");
        } else {
            fence("receipt_$ != 0 || name_$ != 0", "a receipt or another name denies it");
        }
    }
    void query() {
        give("true", {}, "a query has no effect");
        refuse("true", {}, drawing::failure_of(part_->shape));
    }
    void call() {
        give("RULE_keys_stay && row_$ == absent", part_->take("row_$ = applied"),
             "no row: effect and row in one update");
        give("!RULE_keys_stay && (row_$ == absent || key_$ != " + from_.epoch + ')',
             joined(part_->take("row_$ = applied"), {(*part_)(set("key_$"))}),
             "no row of a key with this epoch: effect and row");
        refuse("row_$ == absent", {(*part_)("row_$ = refused")}, "the receiver refuses");
        give("row_$ == applied || row_$ == confirmed", {}, "the first answer again");
        refuse("row_$ == compensated || row_$ == refused || row_$ == closed", {},
               "the receiver refuses what has ended");
    }

    place* to_;
    modeled_part const* part_;
    sender from_;
    std::string next_;
};

inline constexpr std::string_view looks_at_epochs = "RULE_marks_carry_epochs && RULE_finish_looks";

/// Adds the choices of a finish after the commit.
inline void confirm(place& to, modeled_part const& part, std::string const& next) {
    if (part.is(kind::record)) {
        std::string const looks{looks_at_epochs};
        add(to, looks + part(" && mark_$ != 0 && mark_$ == committed"), part.confirm("mark_$ = 0"),
            next, "rule 4: a mark of the committed epoch is confirmed and removed");
        add(to, looks + part(" && mark_$ != 0 && mark_$ < committed"), part.take_back("mark_$ = 0"),
            next, "rule 4: a stray mark is undone and removed");
        add(to, negated(looks) + part(" && mark_$ != 0"), part.confirm("mark_$ = 0"), next,
            "without rules 1 and 4: any mark is confirmed");
        add(to, part("mark_$ == 0 || (") + looks + part(" && mark_$ > committed)"), {}, next);
    } else if (part.is(kind::prepared)) {
        add(to, part("name_$ != 0 && name_$ == committed"),
            joined(part.confirm("name_$ = 0"), {part("receipt_$ = committed")}), next,
            "rule 4: the name with the committed epoch is committed, with its receipt");
        add(to, part("name_$ == 0 || name_$ != committed"), {part("name_$ = 0")}, next,
            "rule 4: any other is rolled back");
    } else {
        auto const before = part(part.takes ? "row_$ == applied" : "row_$ == absent");
        add(to, before, part.confirm("row_$ = confirmed"), next);
        add(to, negated(before), {}, next, "the first answer again");
    }
}

/// Adds the choices of an undo in a cancel.
/// Shape:   later - the parts that are compensated before, by their definition
inline void undo(place& to, modeled_part const& part, std::string const& next,
                 std::vector<modeled_part> const& later) {
    if (part.is(kind::record)) {
        auto const own = part("mark_$ != 0 && (mark_$ <= my || !RULE_marks_carry_epochs)");
        add(to, own, part.take_back("mark_$ = 0"), next, "effect and mark go in one update");
        return add(to, negated(own), {}, next);
    }
    if (part.is(kind::prepared)) {
        return add(to, "true", {part("name_$ = 0"), part("receipt_$ = my")}, next,
                   "the receipt denies a late prepare");
    }
    auto const stage = std::to_string(part.stage);
    std::string const called =
        "(kept > " + stage + " || (kept == " + stage + " && RULE_compensates_unanswered))";
    auto undone = part.take_back("row_$ = compensated");
    std::string still;
    for (modeled_part const& each : later) still += each(" || effect_$ != 0");
    if (!still.empty()) undone.push_back("out_of_order = (out_of_order" + still + ')');
    add(to, called + part(" && row_$ == applied"), undone, next);
    auto const is_absent = called + part(" && row_$ == absent");
    if (part.is_burnt()) {
        add(to, "RULE_burns_first && " + is_absent, {part("row_$ = compensated")}, next,
            "it is applied first, so that its key is known, and then compensated");
        add(to, "RULE_burns_first && " + is_absent, {part("row_$ = refused")}, next,
            "it is applied first, and refused");
        add(to, "!RULE_burns_first && " + is_absent, {}, next, "its apply is not known");
    } else {
        add(to, is_absent, {part("row_$ = closed")}, next, "a late apply is refused");
    }
    add(to, '!' + called + part(" || (row_$ != applied && row_$ != absent)"), {}, next,
        "never called, or ended before");
}

/// Adds the choices of a sweep after the end.
inline void sweep(place& to, modeled_part const& part, std::string const& next) {
    if (part.is(kind::prepared)) {
        auto const stays = part("name_$ == 0 || (state == done && name_$ == committed)");
        add(to, stays, {}, next);
        return add(to, negated(stays), {part("name_$ = 0")}, next, "it is rolled back");
    }
    std::string const looks{looks_at_epochs};
    auto const stray = part("mark_$ != 0 && (state == canceled || (state == done && mark_$ != "
                            "committed && ") +
                       looks + "))";
    auto const taken = part("mark_$ != 0 && state == done && ") + negated(looks);
    add(to, stray, part.take_back("mark_$ = 0"), next, "rule 4: a stray mark is undone");
    add(to, taken, part.confirm("mark_$ = 0"), next,
        "without rules 1 and 4: any mark is confirmed");
    add(to, negated(bracketed(stray) + " || (" + taken + ')'), {}, next);
}

} // namespace detail::modeling
SETTLE_END
