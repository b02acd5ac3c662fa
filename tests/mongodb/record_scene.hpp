// SPDX-License-Identifier: BSL-1.0
// A caller's action on a whole record behind a proxy, with a fault for each message: the caller
// creates it, erases it, or assigns to its fields. The record then agrees with the log, and no mark
// is left.
#pragma once

#include "transfer_scene.hpp"

namespace settle_test {

enum class change_kind { create, erase, assign };

/// The action, and its setup.
struct record_change {
    circumstances where;
    change_kind what;
};

/// All three record changes in each of these setups.
inline std::vector<record_change> record_changes(std::vector<circumstances> const& setups) {
    std::vector<record_change> changes;
    for (circumstances const& where : setups) {
        for (change_kind const what :
             {change_kind::create, change_kind::erase, change_kind::assign}) {
            changes.push_back({where, what});
        }
    }
    return changes;
}

inline constexpr auto make_cards = [](settle::mongodb::database& database, settle::phases how,
                                      settle::options const& limits) {
    return settle::engine{database,
                          limits,
                          how,
                          settle::type<settle::testing::issue_type>,
                          settle::type<settle::testing::withdraw_type>,
                          settle::type<settle::testing::rewrite_type>};
};

class record_scene : behind_proxy<make_cards> {
    using card = settle::testing::card;
    using colour = settle::testing::colour;

public:
    using setup = record_change;
    explicit record_scene(record_change const& change)
        : behind_proxy(change.where.server, change.where.how), of_(change) {}

    /// The commands of one undisturbed transaction, and the count of each.
    std::map<std::string, int> commands(int number) {
        std::string const id = "usual" + std::to_string(number);
        begin(id);
        auto const outcome = act(id);
        CHECK_MESSAGE(outcome.done(), outcome);
        check(outcome, id);
        return between_.all_requests();
    }

    bool run_disturbed(message_fault const& fault, int number) {
        std::string const id = "t" + std::to_string(number);
        INFO(of_.where.name << ", change " << static_cast<int>(of_.what) << ": " << fault.text());
        begin(id, fault.lasts());
        between_.add(fault.proxy_rule);
        auto const outcome = act(id);
        INFO(outcome.text());
        between_.clear_rules();
        bool const sent = between_.requests(fault.proxy_rule.command) >= fault.proxy_rule.nth;
        if (!fault.lasts()) CHECK(outcome.done());
        if (fault.is_late() && !fault.after_recovery) land(fault);
        settle_everything();
        check(outcome, id);
        if (!fault.is_late() || !fault.after_recovery) return sent;
        // The record then has the state that the late message expects: only its epoch shows that
        // its time is over.
        turn_back(id);
        auto const stood = record(id);
        land(fault);
        settle_everything();
        check_outcome(others_, outcome);
        CHECK(record(id) == stood);
        CHECK(others_.marks().value() == 0);
        return sent;
    }

private:
    static card first(std::string const& id) {
        return {id, "Anna", true, colour::red, {}, 250, std::nullopt, 10, 3};
    }
    static card second(std::string const& id) {
        return {id, "Bára", false, colour::blue, {}, std::nullopt, "note", 4, 2};
    }
    /// The new value of the first record.
    static card rewritten(std::string const& id) {
        auto value = second(id);
        value.points += first(id).points;
        value.visits += first(id).visits;
        return value;
    }
    static std::string text(std::optional<card> const& card) {
        return card ? settle::encode_json(*card) : "none";
    }
    std::string record(std::string const& id) {
        return text(others_.read(settle::testing::cards, id).value());
    }

    void begin(std::string const& id, bool in_vain = false) {
        auto limits = patient_limits();
        if (in_vain) limits.patience = std::chrono::seconds{5};
        make_caller(limits);
        if (of_.what != change_kind::create) {
            others_.create(settle::testing::cards, first(id)).value();
        }
        between_.reset_counts();
    }
    settle::outcome act(std::string const& id) {
        switch (of_.what) {
        case change_kind::create: return caller_->run(id, settle::testing::issue{first(id)});
        case change_kind::erase: return caller_->run(id, settle::testing::withdraw{id, true});
        case change_kind::assign:
            return caller_->run(id, settle::testing::rewrite{first(id), second(id)});
        }
        return {};
    }
    [[nodiscard]] bool is_done(std::string const& id) {
        auto const found = others_.find(id).value();
        return found && found->state == settle::state::done;
    }
    void check(settle::outcome const& outcome, std::string const& id) {
        check_outcome(others_, outcome);
        std::optional<card> const before =
            of_.what == change_kind::create ? std::nullopt : std::optional{first(id)};
        std::optional<card> const after = of_.what == change_kind::erase ? std::nullopt
                                          : of_.what == change_kind::create
                                              ? std::optional{first(id)}
                                              : rewritten(id);
        CHECK(record(id) == text(is_done(id) ? after : before));
        CHECK(others_.marks().value() == 0);
    }
    void turn_back(std::string const& id) {
        using namespace settle::testing;
        if (!is_done(id)) return;
        std::string const back = id + "/back";
        switch (of_.what) {
        case change_kind::create: CHECK(others_.run(back, withdraw{id, true}).done()); break;
        case change_kind::erase: CHECK(others_.run(back, issue{first(id)}).done()); break;
        case change_kind::assign:
            CHECK(others_.run(back, rewrite{rewritten(id), first(id)}).done());
            break;
        }
    }

    record_change of_;
};

} // namespace settle_test
