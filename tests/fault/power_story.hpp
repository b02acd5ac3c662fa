// SPDX-License-Identifier: BSL-1.0
// A user's calls on a faulty disk: the reported outcomes, and whether the records agree with them.
#pragma once

#include "power_vfs.hpp"
#include "scene.hpp"

#include <settle/sqlite.hpp>

#include <functional>
#include <set>

namespace power {

using namespace settle_test;

/// Thrown to end a worker in the middle, as a kill would.
struct ended_here : settle::testing::crash {};

constexpr char const* path = "/power.db";

/// Shape:   leaves - whether the worker of the transaction "left" ends when it has applied
inline auto make_engine(settle::sqlite::database& db, manual_environment const& time, bool leaves,
                        settle::phases how) {
    settle::options limits = fault_limits();
    limits.patience = 300ms;
    return settle::engine{db,
                          settle::with_environment(time),
                          limits,
                          settle::observed_by([leaves](settle::event const& seen) {
                              bool const applied = seen.taken == settle::step::apply;
                              if (leaves && applied && seen.id == "left") throw ended_here{};
                          }),
                          settle::type<move_type>,
                          settle::type<order_type>,
                          settle::type<relabel_type>,
                          settle::type<issue_type>,
                          settle::type<withdraw_type>,
                          how};
}

/// A database and its engine, as one program opens them.
struct opened {
    explicit opened(manual_environment const& time, bool leaves = false,
                    settle::phases how = settle::phases::two)
        : db(path, {.busy_timeout = 1ms}), engine(make_engine(db, time, leaves, how)) {}

    settle::sqlite::database db;
    decltype(make_engine(std::declval<settle::sqlite::database&>(),
                         std::declval<manual_environment const&>(), true,
                         settle::phases::two)) engine;
};

/// Everything that one run of the story observed.
struct observations {
    std::vector<outcome> outcomes;
    std::set<std::string> created;       ///< ledgers whose creation was acknowledged
    std::vector<std::string> complaints; ///< problems that no user should see

    /// Checks that a sentence of this library names the next step of the user.
    void check_text(std::string const& text) {
        bool const useful = text.starts_with("settle: ") && text.size() > 40 &&
                            text.find(" See ") != std::string::npos;
        if (!useful) complaints.push_back("gives no useful hint: '" + text + "'");
    }
    void check(outcome const& outcome) {
        bool const open = outcome.verdict == verdict::undecided;
        if (outcome.verdict == verdict::refused || !outcome.problem.empty()) {
            check_text(outcome.problem.message());
        }
        if (open && outcome.problem.empty() && outcome.id != "work" && outcome.id != "shelved" &&
            outcome.id != "once-work") {
            complaints.push_back(outcome.id + " is undecided without a reason");
        }
        // An earlier failure makes an id unknown here, or it never ran; no other refusal is right.
        bool const known = outcome.problem.code == settle::errc::unknown_id ||
                           outcome.problem.code == settle::errc::not_reversible;
        if (outcome.verdict == verdict::refused && !known) complaints.push_back(outcome.text());
        outcomes.push_back(outcome);
    }
};

/// The story: three programs one after another, with a checkpoint by another program in between.
/// The last program runs in one phase.
class story {
public:
    story(disk& disk, manual_environment const& time, observations& seen)
        : disk_(disk), time_(time), seen_(seen) {}

    void play() {
        program([&](auto& engine) { first(engine); });
        program([&](auto& engine) { second(engine); });
        program([&](auto& engine) { third(engine); }, settle::phases::one);
    }
    /// Runs the whole story with one engine that is already open.
    template <typename Engine>
    void play_on(Engine& engine) {
        first(engine);
        second(engine);
        third(engine);
    }

private:
    /// Opens the file, a second time when that failed: the power is gone or the trouble lasts then.
    template <typename Act>
    void program(Act&& act, settle::phases how = settle::phases::two) {
        for (int attempt = 0; attempt < 2 && !disk_.dark(); ++attempt) {
            try {
                opened here{time_, true, how};
                act(here.engine);
                return;
            } catch (settle::failure const& problem) {
                seen_.check_text(problem.what());
            }
        }
    }

    template <typename Engine>
    void first(Engine& engine) {
        for (char const* id : {"A", "B", "C"}) {
            auto const created = engine.create(ledgers, {id, 100, 0, ""});
            if (created.has_value()) seen_.created.insert(id);
            else if (created.problem().code == settle::errc::record_exists) continue;
            else seen_.check_text(created.problem().message());
        }
        for (std::int64_t const number : {1, 2}) {
            auto const created = engine.create(shelves, {number, 20});
            bool const exists =
                !created.has_value() && created.problem().code == settle::errc::record_exists;
            if (!created.has_value() && !exists) seen_.check_text(created.problem().message());
        }
        step([&] { return engine.run("move", move{"A", "B", 30}); });
        step([&] { return engine.run("poor", move{"A", "B", 500}); });
        step([&] { return engine.run("order", order{"C", 40, {{1, 2}, {2, 3}, {1, 1}}}); });
    }

    template <typename Engine>
    void second(Engine& engine) {
        step([&] { return engine.run("relabel", relabel{"B", "kept"}); });
        checkpoint();
        step([&] { return engine.run("issue", issue{new_card()}); });
        step([&] { return engine.reverse("move"); });
        step([&] { return engine.submit("shelved", move{"B", "C", 10}); });
        step([&] { return engine.cancel("shelved"); });
        step([&] { return engine.submit("work", move{"B", "C", 5}); });
        if (!disk_.dark()) static_cast<void>(engine.work());
        if (disk_.dark()) return;
        try {
            step([&] { return engine.run("left", move{"C", "A", 7}); });
        } catch (ended_here const&) {
            step([&] { return engine.cancel("left"); });
        }
        step([&] { return engine.run("withdraw", withdraw{"d", false}); });
    }

    template <typename Engine>
    void third(Engine& engine) {
        step([&] { return engine.run("once", move{"A", "B", 11}); });
        step([&] { return engine.run("once-poor", move{"A", "B", 500}); });
        step([&] { return engine.run("once-order", order{"B", 13, {{2, 1}, {1, 2}}}); });
        step([&] { return engine.submit("once-work", move{"C", "A", 3}); });
        if (!disk_.dark()) static_cast<void>(engine.work());
        if (disk_.dark()) return;
        std::vector<std::pair<std::string, move>> const batch{
            {"batch-1", {"A", "B", 1}}, {"batch-2", {"B", "C", 900}}, {"batch-3", {"B", "C", 2}}};
        for (auto const& outcome : engine.run_all(batch)) seen_.check(outcome);
    }

    template <typename Function>
    void step(Function&& function) {
        if (!disk_.dark()) seen_.check(function());
    }

    /// Another program copies the write-ahead log into the file, so that the log starts anew.
    void checkpoint() const {
        sqlite3* other = nullptr;
        if (sqlite3_open(path, &other) == SQLITE_OK) {
            sqlite3_exec(other, "PRAGMA wal_checkpoint(RESTART)", nullptr, nullptr, nullptr);
        }
        sqlite3_close(other);
    }

    disk& disk_;
    manual_environment const& time_;
    observations& seen_;
};

/// The expected records, computed from the entries alone.
struct reckoned {
    std::map<std::string, std::int64_t> balances;
    std::map<std::int64_t, std::int64_t> amounts;
    std::string label_of_b;
    bool card = false;

    void take(settle::entry const& entry) {
        bool const back = entry.id.find("/reverse") != std::string::npos;
        if (entry.type == "suite_move" || back) {
            // The story reverses one transaction; these are its parameters.
            move const given =
                back ? move{"B", "A", 30} : settle::decode_json<move>(entry.parameters).value();
            balances[given.source] -= given.amount;
            balances[given.destination] += given.amount;
        } else if (entry.type == "suite_order") {
            auto const given = settle::decode_json<order>(entry.parameters).value();
            balances[given.customer] -= given.price;
            for (auto const& line : given.lines) amounts[line.number] -= line.amount;
        } else if (entry.type == "suite_relabel") {
            label_of_b = settle::decode_json<relabel>(entry.parameters).value().label;
        } else if (entry.type == "suite_issue") {
            card = true;
        }
    }
};

/// Settles the unfinished entries and reports every deviation.
template <typename Engine>
class checker {
public:
    checker(Engine& engine, observations const& seen) : engine_(engine), seen_(seen) {}

    /// Errors:  throws settle::failure when the file cannot be read
    std::vector<std::string> complaints() {
        settle();
        look_at_entries();
        look_at_records();
        return std::move(bad_);
    }

private:
    void complain(std::string text) { bad_.push_back(std::move(text)); }

    void settle() {
        note("recover", engine_.recover(of_any_age()));
        note("work", engine_.work());
        auto const swept = engine_.sweep();
        if (!swept.problem.empty()) complain("sweep: " + swept.problem.message());
        if (engine_.marks().value() != 0) complain("marks are left");
    }
    void note(std::string const& what, settle::recovery_report const& report) {
        if (!report.problem.empty()) complain(what + ": " + report.problem.message());
        for (auto const& one : report.skipped) {
            complain(what + " skips " + one.id + ": " + one.problem.message());
        }
        if (report.undecided != 0) complain(what + " leaves entries undecided");
    }

    void look_at_entries() {
        std::map<std::string, settle::entry> entries;
        for (auto const& one : engine_.page({}, "", 1000).value()) {
            if (!is_final(one.state)) complain(one.id + " is " + std::string{name_of(one.state)});
            if (one.state == settle::state::done) {
                // An erase removes the card that an issue created, in the order of the story.
                if (one.type != "suite_withdraw") expected_.take(one);
                else withdrawn_ = true;
            }
            entries[one.id] = one;
        }
        for (outcome const& outcome : seen_.outcomes) {
            auto const logged_entry = entries.find(outcome.id);
            bool const exists = logged_entry != entries.end();
            bool const submitted = outcome.verdict == verdict::undecided && outcome.problem.empty();
            if (submitted && !exists)
                complain(outcome.id + " was submitted, and the log has no entry");
            if (!outcome.done() && !outcome.canceled()) continue;
            auto const expected_state =
                outcome.done() ? settle::state::done : settle::state::canceled;
            if (!exists) complain(outcome.text() + ", and the log has no entry");
            else if (logged_entry->second.state != expected_state ||
                     logged_entry->second.why != outcome.why) {
                complain(outcome.text() + ", and it is " +
                         std::string{name_of(logged_entry->second.state)} + " (" +
                         std::string{name_of(logged_entry->second.why)} + ")");
            }
        }
    }

    void look_at_records() {
        std::set<std::string> existing;
        for (ledger const& ledger : engine_.template scan_page<ledgers_type>({}, 100).value()) {
            existing.insert(ledger.id);
            compare("balance of " + ledger.id, ledger.balance, 100 + expected_.balances[ledger.id]);
            if (ledger.label != (ledger.id == "B" ? expected_.label_of_b : "")) {
                complain("the label of " + ledger.id + " is '" + ledger.label + "'");
            }
        }
        for (auto const& id : seen_.created) {
            if (!existing.contains(id)) {
                complain("the account " + id + " was created and is missing");
            }
        }
        for (auto const& [id, change] : expected_.balances) {
            if (change != 0 && !existing.contains(id)) {
                complain("the account " + id + " is missing");
            }
        }
        for (shelf const& one : engine_.template scan_page<shelves_type>({}, 100).value()) {
            compare("amount of " + std::to_string(one.number), one.amount,
                    20 + expected_.amounts[one.number]);
        }
        auto const cards_found = engine_.template scan_page<cards_type>({}, 100).value();
        bool const has_card = expected_.card && !withdrawn_;
        if (cards_found.size() != (has_card ? 1U : 0U)) complain("a wrong number of cards");
        if (has_card && cards_found.size() == 1 &&
            settle::encode_json(cards_found.front()) != settle::encode_json(new_card())) {
            complain("the card is another");
        }
    }
    void compare(std::string const& what, std::int64_t is, std::int64_t should_be) {
        if (is == should_be) return;
        complain("the " + what + " is " + std::to_string(is) + " and should be " +
                 std::to_string(should_be));
    }

    Engine& engine_;
    observations const& seen_;
    std::vector<std::string> bad_;
    reckoned expected_;
    bool withdrawn_ = false;
};

/// An hour after the fault, so that every entry that stood still then may be claimed.
inline manual_environment an_hour_later(std::uint64_t seed) {
    manual_environment const time{seed};
    time.advance(1h);
    return time;
}

/// SQLite's own check of the file.
inline std::string integrity() {
    sqlite3* db = nullptr;
    std::string reply;
    auto const add = [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) += values[0];
        return 0;
    };
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        sqlite3_exec(db, "PRAGMA integrity_check", add, &reply, nullptr);
    }
    sqlite3_close(db);
    return reply;
}

/// Opens the file again, settles and checks it, and plays the whole story once more: decided
/// transactions report their outcomes and have no second effect.
inline std::vector<std::string> check_reopened(disk& disk, manual_environment const& time,
                                               observations const& seen) {
    std::vector<std::string> bad = seen.complaints;
    auto const add = [&](std::vector<std::string> const& more) {
        bad.insert(bad.end(), more.begin(), more.end());
    };
    try {
        opened opened{time};
        add(checker{opened.engine, seen}.complaints());
        if (auto const reply = integrity(); reply != "ok") add({"the file is damaged: " + reply});
        observations again = seen;
        again.complaints.clear();
        story{disk, time, again}.play_on(opened.engine);
        add(again.complaints);
        add(checker{opened.engine, again}.complaints());
    } catch (settle::failure const& problem) {
        add({std::string{"the file cannot be used: "} + problem.what()});
    }
    return bad;
}

inline std::string joined(std::vector<std::string> const& lines) {
    std::string text;
    for (auto const& one : lines) text += "\n  " + one;
    return text;
}

} // namespace power
