// SPDX-License-Identifier: BSL-1.0
// The machine of a type, from its definition: bodies of functions that model.hpp declares.
#pragma once

#include <settle/model.hpp>
#include <settle/model/modeled_type.hpp>
#include <settle/model/part_rules.hpp>
#include <settle/model/text.ipp>

SETTLE_BEGIN
namespace detail {

namespace modeling {

/// Builds the machine of one type.
class builder {
public:
    builder(drawing::drawn_type const& type, bool undone_by_stage) : type_(type, undone_by_stage) {}

    [[nodiscard]] machine build() {
        model_.name = type_.name;
        describe();
        add_variables();
        add_beginnings();
        for (std::uint32_t stage = 0; stage <= type_.last; ++stage) add_stage(stage);
        add_commit();
        add_confirms();
        add_cancel();
        add_undoes();
        add_stop();
        add_network();
        add_sweeper();
        add_verdicts();
        return std::move(model_);
    }

private:
    void describe() {
        for (modeled_part const& part : type_.parts) {
            std::string line =
                "stage " + std::to_string(part.stage) + ": " + part.name + ", " + part.shape.place;
            if (part.shape.place.find("for each") != std::string::npos) line += " (one line)";
            if (part.shape.facts.is_pivot) line += ", the pivot";
            model_.participants.push_back(line);
        }
        add_rules();
    }
    /// Only rules without which a type of this shape has a wrong end.
    void add_rules() {
        bool const has_records = type_.has(kind::record);
        bool const has_prepared = type_.has(kind::prepared);
        if (has_records) {
            rule("marks_carry_epochs", "Rule 1. A mark carries the epoch of its apply.");
            rule("claims_raise", "Rule 2. Each claim raises the epoch of the entry.");
        }
        if (has_records || has_prepared) {
            rule("changes_compare", "Rule 2. Each change of the entry compares its epoch.");
        }
        if (has_records) {
            rule("unknown_claims",
                 "Rule 3. An apply of unknown outcome is repeated under a new epoch only.");
            rule("finish_looks", "Rule 4. A finish confirms only a mark of the committed epoch.");
        }
        if (has_prepared) {
            rule("adopts_no_name", "A lower name of a part does not count as prepared.");
        }
        auto const is_undone = [](modeled_part const& part) {
            return part.is(kind::call) && part.undoes;
        };
        auto const is_sent = [](modeled_part const& part) {
            return part.is(kind::call) && part.takes;
        };
        if (type_.any(is_sent)) {
            rule("keeps", "The results of a stage are kept before the next stage is called.");
            rule("keys_stay", "The key of a call has no epoch.");
        }
        if (type_.any(is_undone)) {
            rule("revisions_compare", "Each change of the entry compares its revision, too.");
            rule("compensates_unanswered",
                 "A cancel compensates also the stage that was called and not kept.");
        }
        if (type_.any([](auto const& part) { return part.is_burnt(); })) {
            rule("burns_first",
                 "A receiver of keys alone answers the apply before its compensation.");
        }
        if (type_.has_pivot) {
            rule("notes_pivot", "The entry is deciding before the pivot is called.");
            rule("pivot_decides", "In deciding, only the pivot's answer cancels.");
        }
        if (type_.is_ordered()) {
            rule("undo_waits", "A call is compensated after the later calls that it must outlast.");
        }
    }
    void rule(std::string const& name, std::string sentence) {
        model_.rules.push_back({"RULE_" + name, std::move(sentence)});
    }
    /// Adds the switch of a rule to a condition; nothing if the type does not have the rule.
    /// Shape:   sign - before the switch: " && " or " || !"
    [[nodiscard]] std::string switched(std::string condition, std::string_view sign,
                                       std::string_view name) const {
        return has_rule(name) ? condition.append(sign).append("RULE_").append(name) : condition;
    }
    [[nodiscard]] bool has_rule(std::string_view name) const {
        return std::any_of(model_.rules.begin(), model_.rules.end(),
                           [&](auto const& each) { return each.name.substr(5) == name; });
    }

    void add_variables() {
        model_.words = {"nobody",  "caller", "recoverer", "canceler", "absent",  "pending",
                        "applied", "done",   "canceling", "canceled", "deciding"};
        if (type_.has(kind::call)) {
            for (auto const* word : {"confirmed", "compensated", "refused", "closed"}) {
                model_.words.emplace_back(word);
            }
        }
        variable_group entry{"entry", "The entry in the log.", {}};
        entry.members = {{"state", "mtype", "absent"},
                         {"owner", "mtype", "nobody"},
                         {"epoch", "byte", "0"},
                         {"committed", "byte", "0"}};
        if (type_.last != 0) entry.members.push_back({"revision", "byte", "0"});
        model_.groups.push_back(std::move(entry));
        for (modeled_part const& part : type_.parts) {
            variable_group group{part("part_$"), part.name + ": " + part.shape.place + '.', {}};
            auto const put = [&](std::string_view name, std::string type, std::string initial) {
                group.members.push_back({part(name), std::move(type), std::move(initial)});
            };
            put("effect_$", "byte", "0");
            if (part.is(kind::record)) put("mark_$", "byte", "0");
            if (part.is(kind::prepared)) {
                put("name_$", "byte", "0");
                put("receipt_$", "byte", "0");
            }
            if (part.is(kind::call)) {
                put("row_$", "mtype", "absent");
                if (part.takes) put("key_$", "byte", "0");
            }
            if (part.sends_apply()) put("late_$", "byte", "0");
            model_.groups.push_back(std::move(group));
        }
        variable_group world{"world", "What happens around them.", {}};
        world.members = {{"losses", "byte", "LOSSES"},
                         {"ended", "byte", "0"},
                         {"caller_ended", "bool", "false"}};
        if (type_.is_ordered()) world.members.push_back({"out_of_order", "bool", "false"});
        model_.groups.push_back(std::move(world));
        model_.locals = {
            {"my", "byte", "0"}, {"refusal", "bool", "false"}, {"unanswered", "bool", "false"}};
        if (type_.last != 0) model_.locals.push_back({"kept", "byte", "0"});
    }

    // ------------------------------------------------------------------------------------ places

    place& at(std::string name, std::string remark, bool begins = true) {
        model_.worker.push_back({std::move(name), std::move(remark), begins});
        return model_.worker.back();
    }
    /// A change of the entry: it takes effect and is acknowledged; its answer is lost; or it meets
    /// another entry than it expects.
    static void change(place& to, std::string const& expected,
                       std::vector<std::string> const& changes, std::string const& next,
                       std::string const& otherwise) {
        add(to, expected, changes, next);
        add(to, '(' + expected + ") && losses > 0", joined(changes, {"losses = losses - 1"}),
            "look", "it takes effect, and its answer is lost");
        add(to, "losses > 0", {"losses = losses - 1"}, "look", "it is lost");
        add(to, "!(" + expected + ')', {}, otherwise, "another worker was faster");
    }

    /// What each change of the entry compares, besides the state.
    [[nodiscard]] std::string compared() const {
        auto text = " && " + bracketed(switched("epoch == my", " || !", "changes_compare"));
        if (type_.last == 0) return text;
        return text + " && " +
               bracketed(switched("revision == kept", " || !", "revisions_compare"));
    }
    [[nodiscard]] std::string undecided() const {
        return type_.has_pivot ? "(state == pending || state == deciding)" : "state == pending";
    }

    /// Shape:   who - besides the state, what allows the claim
    void claim(place& to, std::string const& who) {
        std::vector<std::string> changes{"my = epoch + 1"};
        if (type_.last != 0) changes.emplace_back("kept = revision");
        auto raised = joined(changes, {"epoch = epoch + 1", "owner = self"});
        auto same = joined(changes, {"owner = self"});
        same.front() = "my = epoch";
        auto const claim_in = [&](std::string const& states, std::string const& next) {
            auto const guard = switched(states + who, " && ", "claims_raise");
            add(to, guard, raised, next);
            if (has_rule("claims_raise")) {
                add(to, states + who + " && !RULE_claims_raise", same, next,
                    "without rule 2: the epoch stays");
            }
            add(to, "losses > 0 && " + guard, joined(raised, {"losses = losses - 1"}), "look",
                "it takes effect, and its answer is lost");
        };
        claim_in(undecided(), type_.first_apply(0));
        if (!type_.first_confirm().empty()) claim_in("state == applied", type_.first_confirm());
        claim_in("state == canceling", type_.first_undo());
    }

    void add_beginnings() {
        std::vector<std::string> born{"state = pending", "epoch = 1", "owner = self", "my = 1"};
        change(at("insert", "The caller inserts the entry."), "state == absent", born,
               type_.first_apply(0), "stop");

        auto& taking =
            at("take_over", "The recoverer claims an entry that stood still for long.", false);
        claim(taking, "");
        add(taking, "state == done || state == canceled", {}, "stop");
        add(taking, "state == absent && caller_ended", {}, "stop");

        auto& looking =
            at("look", "After a lost answer, or beside another worker: read the entry.");
        add(looking, "state == absent && self == caller", {}, "insert");
        add(looking, "state != absent && owner == self && state != done && state != canceled", {},
            "claim");
        add(looking, "state == done || state == canceled || (state != absent && owner != self)", {},
            "stop", "the owner brings it to its end");
        add(looking, "state == absent && self != caller", {}, "stop");

        auto& claiming = at("claim", "Rule 2: a worker whose own answer was lost claims again.");
        claim(claiming, " && owner == self");
        add(claiming, "owner != self || state == done || state == canceled", {}, "look");

        std::vector<std::string> seen{"my = epoch"};
        if (type_.last != 0) seen.emplace_back("kept = revision");
        auto const cancelable = type_.has_pivot ? "(state == pending || (state == deciding && "
                                                  "!RULE_pivot_decides))"
                                                : std::string{"state == pending"};
        auto& asking = at("ask_cancel", "The canceler reads the entry.", false);
        add(asking, "state == absent", {"state = canceled"}, "stop",
            "no entry: the cancel inserts it as canceled");
        add(asking, cancelable, seen, "change_to_canceling");
        add(asking, "state != absent && " + negated(cancelable), {}, "stop", "too late");
        auto& changing =
            at("change_to_canceling", "It cancels what it has read, under a new epoch.", false);
        auto const expected = cancelable + compared();
        add(changing, expected,
            {"state = canceling", "my = my + 1", "epoch = epoch + 1", "owner = self"},
            type_.first_undo());
        add(changing, "!(" + expected + ')', {}, "ask_cancel");
    }

    // ------------------------------------------------------------------------------------- apply

    void add_stage(std::uint32_t stage) {
        auto const decides = "decide_" + std::to_string(stage);
        auto const wave = type_.applied_in(stage);
        for (std::size_t number = 0; number < wave.size(); ++number) {
            modeled_part const& part = wave[number];
            auto const next = number + 1 < wave.size() ? wave[number + 1]("apply_$") : decides;
            std::string remark =
                "Stage " + std::to_string(stage) + ", " + part.name + ": " + part.shape.place + '.';
            for (std::string const& line : part.shape.applied) remark += ' ' + line + '.';
            auto& applying = at(part("apply_$"), remark, number == 0);
            apply_choices{applying, part, {"my", {}, true}, next}.add_all();
            if (!part.sends_apply()) continue;
            add(applying, part("losses > 0 && late_$ == 0"),
                {part("late_$ = my"), "unanswered = true", "losses = losses - 1"}, next,
                "no answer: it may arrive at any later time, or never");
        }
        add_decision(decides, stage);
        if (stage < type_.last) add_keep(stage);
    }

    void add_decision(std::string const& decides, std::uint32_t stage) {
        auto& deciding = at(decides, "Every part of stage " + std::to_string(stage) +
                                         " has an answer, or none.");
        bool const noted = type_.has_pivot && stage < type_.last;
        auto const by_pivot = "kept == " + std::to_string(type_.last);
        std::vector<std::string> const forgets{"refusal = false", "unanswered = false"};
        add(deciding, noted ? "refusal && !(" + by_pivot + ')' : "refusal", forgets, "cancel");
        if (noted) {
            add(deciding, "refusal && " + by_pivot, forgets, "stop",
                "a person must repair the record: only the pivot decides");
        }
        std::string const all_applied = "!refusal && !unanswered";
        if (stage == 0) {
            add(deciding, switched("!refusal && unanswered", " && ", "unknown_claims"), forgets,
                "claim", "rule 3: a new epoch, and every part again");
            if (has_rule("unknown_claims")) {
                add(deciding, "!refusal && unanswered && !RULE_unknown_claims", forgets,
                    type_.first_apply(0), "without rule 3: every part again, under the same epoch");
            }
        } else {
            add(deciding, "!refusal && unanswered", forgets, type_.first_apply(stage),
                "the same key again");
        }
        if (stage == type_.last) return add(deciding, all_applied, {}, "commit");
        std::string const goes_on = all_applied + (stage == 0 ? " && kept == 0" : "");
        add(deciding, switched(goes_on, " && ", "keeps"), {}, "keep_" + std::to_string(stage));
        if (has_rule("keeps")) {
            add(deciding, goes_on + " && !RULE_keeps", {}, type_.first_apply(stage + 1));
        }
        if (stage != 0) return;
        for (std::uint32_t later = 1; later <= type_.last; ++later) {
            add(deciding, all_applied + " && kept == " + std::to_string(later), {},
                type_.first_apply(later), "the results of kept stages stay");
        }
    }
    void add_keep(std::uint32_t stage) {
        auto const number = std::to_string(stage);
        bool const notes = type_.has_pivot && stage + 1 == type_.last;
        auto& keeping = at("keep_" + number,
                           "The results of stage " + number + " go into the entry" +
                               (notes ? ", and the note that the pivot may be called." : "."));
        auto const expected = undecided() + compared();
        std::vector<std::string> const kept{"revision = revision + 1", "kept = kept + 1"};
        auto const next = type_.first_apply(stage + 1);
        if (!notes) return change(keeping, expected, kept, next, "look");
        change(keeping, "RULE_notes_pivot && " + expected, joined(kept, {"state = deciding"}), next,
               "look");
        keeping.choices.pop_back();
        add(keeping, "!RULE_notes_pivot && " + expected, kept, next);
        add(keeping, "!(" + expected + ')', {}, "look", "another worker was faster");
    }

    // ---------------------------------------------------------------------------- commit, confirm

    void add_commit() {
        bool const confirms = !type_.first_confirm().empty();
        auto& committing = at("commit", "From here on no cancel is possible.");
        change(committing, undecided() + compared(),
               {confirms ? "state = applied" : "state = done", "committed = my"},
               confirms ? type_.first_confirm() : "stop", "look");
    }
    void add_confirms() {
        auto const order = type_.confirmed();
        for (std::size_t number = 0; number < order.size(); ++number) {
            modeled_part const& part = order[number];
            auto const next =
                number + 1 < order.size() ? order[number + 1]("confirm_$") : "close_done";
            std::string remark = "Confirm " + part.name + '.';
            for (std::string const& line : part.shape.confirmed) remark += ' ' + line + '.';
            auto& finishing = at(part("confirm_$"), remark, number == 0);
            confirm(finishing, part, next);
        }
        if (order.empty()) return;
        auto& closing = at("close_done", "Every confirm is acknowledged.");
        auto const expected = "state == applied" + compared();
        add(closing, expected, {"state = done"}, "stop");
        add(closing, "!(" + expected + ')', {}, "look");
    }
    // ------------------------------------------------------------------------ cancel, compensate

    void add_cancel() {
        change(at("cancel", "The worker cancels its own entry."), undecided() + compared(),
               {"state = canceling"}, type_.first_undo(), "look");
    }
    void add_undoes() {
        auto const order = type_.undo_order(true);
        auto const disorder = type_.undo_order(false);
        bool const differs = type_.is_ordered();
        if (differs) {
            auto& choosing =
                at(type_.first_undo(), "What was applied, or may have been called, is undone.");
            add(choosing, "RULE_undo_waits", {}, type_.first_of(order));
            add(choosing, "!RULE_undo_waits", {}, type_.first_of(disorder));
        }
        for (modeled_part const& part : type_.parts) {
            if (!part.undoes) continue;
            auto const next_in = [&](std::vector<modeled_part> const& list) {
                auto const position = std::find_if(list.begin(), list.end(), [&](auto const& each) {
                    return each.name == part.name;
                });
                return position + 1 == list.end() ? std::string{"close_canceled"}
                                                  : position[1]("undo_$");
            };
            auto& undoing =
                at(part("undo_$"), part.name + ": " + drawing::undo_of(part.shape) + '.',
                   part("undo_$") == type_.first_undo());
            undo(undoing, part, next_in(order), type_.later_undoes(part));
            if (!differs || next_in(order) == next_in(disorder)) continue;
            auto const count = undoing.choices.size();
            for (std::size_t index = 0; index < count; ++index) {
                choice other = undoing.choices[index];
                undoing.choices[index].guard = "RULE_undo_waits && " + bracketed(other.guard);
                other.guard = "!RULE_undo_waits && " + bracketed(other.guard);
                other.next = next_in(disorder);
                other.remark.clear();
                undoing.choices.push_back(std::move(other));
            }
        }
        auto& closing = at("close_canceled", "Every compensation is acknowledged.");
        auto const expected = "state == canceling" + compared();
        add(closing, expected, {"state = canceled"}, "stop");
        add(closing, "!(" + expected + ')', {}, "look");
    }
    void add_stop() {
        for (place& each : model_.worker) {
            if (each.begins) add(each, "self == caller", {}, "stop", "the caller crashes");
        }
        auto& stopping = at("stop", "The worker ends, and forgets.");
        std::vector<std::string> forgets{"ended = ended + 1", "my = 0", "refusal = false",
                                         "unanswered = false"};
        if (type_.last != 0) forgets.emplace_back("kept = 0");
        add(stopping, "self == caller", joined(forgets, {"caller_ended = true"}), "over");
        add(stopping, "self != caller", forgets, "over");
    }

    // ------------------------------------------------------------------ network, sweeper, verdicts

    void add_network() {
        place network{"end_network", "", false};
        for (modeled_part const& part : type_.parts) {
            if (!part.sends_apply()) continue;
            auto const first = network.choices.size();
            std::vector<std::string> const gone{part("late_$ = 0")};
            apply_choices{network, part, {part("late_$"), gone, false}, "end_network"}.add_all();
            for (std::size_t index = first; index < network.choices.size(); ++index) {
                auto& arrival = network.choices[index];
                arrival.guard = part("late_$ != 0 && ") + bracketed(arrival.guard);
                if (index == first) arrival.remark = part("a late apply of $ arrives");
            }
            add(network, part("late_$ != 0"), gone, "end_network", "it never arrives");
        }
        if (network.choices.empty()) add(network, "false", {}, "end_network");
        model_.network = {network};
    }
    void add_sweeper() {
        std::vector<modeled_part> swept;
        std::string quiet = "ended == 3";
        for (modeled_part const& part : type_.parts) {
            if (part.sends_apply()) quiet += part(" && late_$ == 0");
            if (!part.is(kind::call)) swept.push_back(part);
        }
        auto& sweeper = model_.sweeper;
        auto const next_of = [&](std::size_t index) {
            return index < swept.size() ? swept[index]("sweep_$") : std::string{"judge"};
        };
        sweeper.push_back({"wait_for_all", "Every worker has ended, and nothing is under way."});
        add(sweeper.back(), quiet, {}, next_of(0));
        for (std::size_t index = 0; index < swept.size(); ++index) {
            modeled_part const& part = swept[index];
            sweeper.push_back({part("sweep_$"), ""});
            sweep(sweeper.back(), part, next_of(index + 1));
        }
    }
    void add_verdicts() {
        auto const say = [&](std::string remark, std::string condition) {
            model_.verdicts.push_back({std::move(remark), std::move(condition)});
        };
        say("the transaction has ended, or was never begun",
            "state == done || state == canceled || state == absent");
        for (modeled_part const& part : type_.parts) {
            auto const whole = std::to_string((part.takes ? 1 : 0) + (part.confirms ? 1 : 0));
            say(part.name + " has its effect exactly if the transaction is done",
                part("(state == done && effect_$ == ") + whole +
                    part(") || (state != done && "
                         "effect_$ == 0)"));
            if (part.is(kind::record)) say("no mark is left", part("mark_$ == 0"));
            if (part.is(kind::prepared)) {
                say("nothing is left prepared", part("name_$ == 0"));
            }
        }
        if (type_.is_ordered()) say("each compensation waited for the later ones", "!out_of_order");
    }

    modeled_type type_;
    machine model_{};
};

} // namespace modeling

SETTLE_FUNCTION std::string promela_text(std::vector<definition_item> items,
                                         std::span<drawn_participant const> participants,
                                         bool undone_by_stage) {
    auto const type = drawing::read_definition(std::move(items), participants);
    return modeling::promela_of(modeling::builder{type, undone_by_stage}.build());
}

SETTLE_FUNCTION std::string tla_text(std::vector<definition_item> items,
                                     std::span<drawn_participant const> participants,
                                     bool undone_by_stage) {
    auto const type = drawing::read_definition(std::move(items), participants);
    return modeling::tla_of(modeling::builder{type, undone_by_stage}.build());
}

} // namespace detail
SETTLE_END
