// SPDX-License-Identifier: BSL-1.0
// A caller's action on a transfer behind a proxy, with a fault for each message. The reported
// outcome then agrees with the log, sums are exact, and no mark is left.
#pragma once

#include "behind_proxy.hpp"
#include "caller_actions.hpp"

namespace settle_test {

/// The action, and its setup.
struct circumstances {
    std::string name;
    fresh_database::address_of* server;
    settle::phases how;
    std::int64_t amount; ///< more than there is: canceled
    bool beside = false; ///< the waves have another transfer, and every record is read
    caller_action does = caller_action::run;
    left_at from =
        left_at::inserted; ///< the last step of a worker, for a caller_action that needs it
};

inline constexpr std::int64_t enough = 30;
inline constexpr std::int64_t too_much = 300;
inline constexpr std::int64_t small = 7;
inline circumstances const standalone{"standalone", &standalone_address, settle::two_phases,
                                      enough};
inline circumstances const standalone_canceled{"standalone, canceled", &standalone_address,
                                               settle::two_phases, too_much};
inline circumstances const member{"member of a set", &replica_set_address, settle::two_phases,
                                  enough};
inline circumstances const member_canceled{"member of a set, canceled", &replica_set_address,
                                           settle::two_phases, too_much};
inline circumstances const one_phase{"one phase", &replica_set_address, settle::phases::one,
                                     enough};
inline circumstances const one_phase_canceled{"one phase, canceled", &replica_set_address,
                                              settle::phases::one, too_much};
inline circumstances const together{"two in a wave", &replica_set_address, settle::two_phases,
                                    enough, true};
inline circumstances const together_canceled{"two in a wave, one canceled", &replica_set_address,
                                             settle::two_phases, too_much, true};
inline circumstances const one_phase_together{"one phase, two in a wave", &replica_set_address,
                                              settle::phases::one, enough, true};

/// All actions on a transfer that another caller has begun, run or submitted.
inline std::vector<circumstances> later_actions() {
    using enum left_at;
    using settle::phases;
    std::vector<circumstances> actions;
    auto const add = [&](std::string const& name, phases how, caller_action does, left_at from) {
        for (auto* const server : {&standalone_address, &replica_set_address}) {
            if (how == phases::one && server == &standalone_address) continue;
            std::string const server_name =
                server == &standalone_address ? ", standalone" : ", member";
            actions.push_back({name + server_name, server, how, enough, false, does, from});
        }
    };
    std::pair<left_at, std::string> const left_points[]{
        {inserted, "inserted"},   {half_applied, "half applied"},     {applied, "applied"},
        {committed, "committed"}, {half_confirmed, "half confirmed"}, {canceling, "canceling"}};
    for (auto const& [where, name] : left_points) {
        add("recover, " + name, settle::two_phases, caller_action::recover, where);
        add("cancel, " + name, settle::two_phases, caller_action::cancel, where);
    }
    add("sweep, half applied", settle::two_phases, caller_action::sweep, half_applied);
    add("sweep, applied", settle::two_phases, caller_action::sweep, applied);
    for (phases const how : {settle::two_phases, phases::one}) {
        std::string const phase = how == phases::one ? ", one phase" : "";
        add("work" + phase, how, caller_action::work, inserted);
        add("reverse" + phase, how, caller_action::reverse, inserted);
    }
    return actions;
}

inline constexpr auto make_bank = [](settle::mongodb::database& database, settle::phases how,
                                     settle::options const& limits) {
    return bank_on(database, how, limits);
};

class transfer_scene : behind_proxy<make_bank> {
public:
    using setup = circumstances;
    explicit transfer_scene(circumstances const& circumstances)
        : behind_proxy(circumstances.server, circumstances.how), of_(circumstances) {}

    /// The commands of one undisturbed transaction, and the count of each.
    std::map<std::string, int> commands(int number) {
        std::string const id = "usual" + std::to_string(number);
        begin(id);
        auto const outcome = act(id);
        CHECK_MESSAGE(outcome.problem.empty(), outcome);
        CHECK_MESSAGE(is_expected(outcome), outcome);
        check(outcome, id);
        return between_.all_requests();
    }

    bool run_disturbed(message_fault const& fault, int number) {
        std::string const id = "t" + std::to_string(number);
        INFO(of_.name << ": " << fault.text());
        begin(id, fault.lasts());
        between_.add(fault.proxy_rule);
        auto const outcome = act(id);
        INFO(outcome.text());
        between_.clear_rules();
        bool const sent = between_.requests(fault.proxy_rule.command) >= fault.proxy_rule.nth;
        if (!fault.lasts() && !may_stop_at(fault.proxy_rule.command)) CHECK(is_expected(outcome));
        if (fault.is_late() && !fault.after_recovery) land(fault);
        settle_everything();
        check(outcome, id);
        if (!fault.is_late() || !fault.after_recovery) return sent;
        // The records then have the state that the late message expects: only its epoch shows
        // that its time is over.
        std::int64_t const stood = of_.does == caller_action::reverse ? of_.amount : 0;
        move_on(id, stood - moved_of(id));
        land(fault);
        settle_everything();
        check_outcome(others_, outcome);
        check_balances(id, stood);
        return sent;
    }

private:
    /// Makes the accounts, the state that an earlier worker left, and a caller that takes over at
    /// once. If the caller can get no answer (`in_vain`), its patience is 5 s.
    void begin(std::string const& id, bool in_vain = false) {
        auto limits = patient_limits();
        if (in_vain) limits.patience = std::chrono::seconds{5};
        if (of_.does != caller_action::run) limits.takeover = std::chrono::milliseconds{0};
        make_caller(limits);
        others_.create(ledgers, {id + "/A", opening, 0, ""}).value();
        others_.create(ledgers, {id + "/B", opening, 0, ""}).value();
        if (of_.beside) others_.create(ledgers, {id + "/C", opening, 0, ""}).value();
        transfer const parameters{id + "/A", id + "/B", of_.amount};
        switch (of_.does) {
        case caller_action::run: break;
        case caller_action::work: CHECK(others_.submit(id, parameters).problem.empty()); break;
        case caller_action::reverse: CHECK(others_.run(id, parameters).done()); break;
        case caller_action::recover:
        case caller_action::cancel: leave(straight_, id, parameters, of_.from); break;
        case caller_action::sweep:
            leave(straight_, id, parameters, of_.from);
            CHECK(run_command(own_.address(), R"({"delete": "settle_entries", "deletes": [{"q":
                {"_id": ")" + id + R"("}, "limit": 1}]})")
                      .number("n") == 1);
        }
        between_.reset_counts();
    }
    settle::outcome act(std::string const& id) {
        settle::outcome outcome;
        outcome.id = id;
        switch (of_.does) {
        case caller_action::run: return run(id);
        case caller_action::cancel: return caller_->cancel(id);
        case caller_action::reverse: return caller_->reverse(id);
        case caller_action::work: add(outcome, caller_->work()); break;
        case caller_action::recover: add(outcome, caller_->recover(of_any_age())); break;
        case caller_action::sweep: {
            auto const all = caller_->sweep();
            outcome.problem = all.problem;
            if (outcome.problem.empty()) outcome.verdict = settle::verdict::canceled;
        }
        }
        // Reports of many give no reasons.
        if (outcome.canceled()) outcome.why = others_.find(id).value().value().why;
        return outcome;
    }
    static void add(settle::outcome& outcome, settle::recovery_report const& report) {
        using settle::verdict;
        outcome.problem = report.problem;
        if (report.done == 1) outcome.verdict = verdict::done;
        if (report.canceled == 1) outcome.verdict = verdict::canceled;
    }
    /// A single fault keeps no transaction from its end. But a caller may have to repeat a call
    /// that was hit before its transaction existed, or a sweep.
    [[nodiscard]] bool may_stop_at(std::string const& command) const {
        return of_.does == caller_action::sweep ||
               (of_.does != caller_action::run && command == "find");
    }
    [[nodiscard]] bool is_expected(settle::outcome const& outcome) const {
        bool const committed =
            of_.from == left_at::committed || of_.from == left_at::half_confirmed;
        switch (of_.does) {
        case caller_action::run: return of_.amount == enough ? outcome.done() : outcome.canceled();
        case caller_action::work:
        case caller_action::reverse: return outcome.done();
        case caller_action::recover:
            return of_.from == left_at::canceling ? outcome.canceled() : outcome.done();
        case caller_action::cancel: return committed ? outcome.done() : outcome.canceled();
        case caller_action::sweep: return outcome.canceled();
        }
        return false;
    }
    settle::outcome run(std::string const& id) {
        transfer const parameters{id + "/A", id + "/B", of_.amount};
        if (!of_.beside) return caller_->run(id, parameters);
        transfer const beside{id + "/C", id + "/B", small};
        return caller_->run_all(std::vector{std::pair{id, parameters}, std::pair{id + "+", beside}})
            .front();
    }
    void check(settle::outcome const& outcome, std::string const& id) {
        check_outcome(others_, outcome);
        check_balances(id, moved_of(id));
    }
    /// The money moved between the accounts of a transfer, from the log.
    std::int64_t moved_of(std::string const& id) {
        return moved_by(id, of_.amount) - moved_by(id + "/reverse", of_.amount);
    }
    void move_on(std::string const& id, std::int64_t amount) {
        if (amount == 0) return;
        auto const from = id + (amount > 0 ? "/A" : "/B");
        auto const to = id + (amount > 0 ? "/B" : "/A");
        CHECK(others_.run(id + "/again", transfer{from, to, std::abs(amount)}).done());
    }
    std::int64_t moved_by(std::string const& id, std::int64_t amount) {
        auto const found = others_.find(id).value();
        return found && found->state == settle::state::done ? amount : 0;
    }
    void check_balances(std::string const& id, std::int64_t moved) {
        std::int64_t const beside = of_.beside ? moved_by(id + "+", small) : 0;
        CHECK(balance(others_, id + "/A") == opening - moved);
        CHECK(balance(others_, id + "/B") == opening + moved + beside);
        if (of_.beside) CHECK(balance(others_, id + "/C") == opening - beside);
        CHECK(others_.marks().value() == 0);
    }

    circumstances of_;
};

} // namespace settle_test
