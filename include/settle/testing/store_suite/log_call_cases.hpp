// SPDX-License-Identifier: BSL-1.0
// The store suite: calls of a log that name several entries.
#pragma once

#include <settle/testing/store_suite/entries.hpp>

#include <deque>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

TEST_CASE_TEMPLATE_DEFINE("log: each of a thousand entries of a wave has its own answer", Fixture,
                          suite_log_wave) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    entry_wave inserts{step::insert};
    constexpr std::size_t count = 1000;
    // Every fifth transaction repeats the id before it.
    auto const repeats = [](std::size_t i) { return i % 5 == 4; };
    auto const id_of = [&](std::size_t i) { return "t" + std::to_string(repeats(i) ? i - 1 : i); };
    for (std::size_t i = 0; i < count; ++i) {
        inserts.add_insert<forward<move_type>>(id_of(i), usual_move(), state::pending, 10 + i,
                                               at_millisecond(0));
    }
    inserts.send(log, at_millisecond(1), "me");
    entry_wave commits{step::commit};
    for (std::size_t i = 0; i < count; ++i) {
        INFO("transaction ", i);
        CHECK(inserts.reply(i) == (repeats(i) ? log_answer::conflict : log_answer::taken));
        if (repeats(i)) continue;
        standing const view{state::pending, 10 + i, 0, 0};
        commits.add_change<forward<move_type>>(id_of(i), usual_move(), commit_of(view)).row =
            inserts.results()[i].row;
    }
    CHECK(log.list({}, "", 5000).value().size() == commits.size());
    commits.send(log, at_millisecond(2), "me");
    entry_filter filter;
    filter.state = state::applied;
    auto const applied = log.list(filter, "", 5000).value();
    CHECK(applied.size() == commits.size());
    for (entry const& one : applied) CHECK(one.committed == one.epoch_number);
}

TEST_CASE_TEMPLATE_DEFINE("log: each entry of a call with several changes has its own answer",
                          Fixture, suite_log_changes) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    using order_direction = forward<order_type>;
    using move_direction = forward<move_type>;
    order const order{"A", 5, {{1, 1}, {2, 2}}};
    entry_wave inserts{step::insert};
    inserts.add_insert<move_direction>("moves", usual_move(), state::pending, 70);
    inserts.add_insert<order_direction>("orders", order, state::pending, 80);
    inserts.add_insert<move_direction>("behind", usual_move(), state::pending, 90);
    inserts.add_insert<order_direction>("submitted", order, state::initial, 100);
    inserts.add_insert<undescribed>("closed", {}, state::canceled, 110, {}, reason::cancel_asked);
    inserts.send(log, at_millisecond(1), "first");
    for (std::size_t i = 0; i < inserts.size(); ++i) CHECK(inserts.reply(i) == log_answer::taken);
    CHECK(log.read("orders").value()->type == "suite_order");
    CHECK(log.read("closed").value()->state == state::canceled);

    // The call names an entry with another epoch and an absent entry between the others.
    standing moves{state::pending, 70, 0, 0};
    standing orders{state::pending, 80, 0, 0};
    std::int64_t when = 1;
    auto const send = [&](step action, transition const& of_moves, transition const& of_orders) {
        entry_wave changes{action};
        transition behind = of_moves;
        behind.from_epoch = 91;
        changes.add_change<move_direction>("moves", usual_move(), of_moves);
        changes.add_change<move_direction>("behind", usual_move(), behind);
        changes.add_change<move_direction>("absent", usual_move(), of_moves);
        changes.add_change<order_direction>("orders", order, of_orders).failed_part = 2;
        changes.send(log, at_millisecond(++when), "second");
        INFO("action ", std::string{name_of(action)});
        CHECK(changes.reply(0) == log_answer::taken);
        CHECK(changes.reply(1) == log_answer::conflict);
        CHECK(changes.reply(2) == log_answer::conflict);
        CHECK(changes.reply(3) == log_answer::taken);
        moves = standing_after(of_moves);
        orders = standing_after(of_orders);
        for (auto const& [id, known] : {std::pair{"moves", moves}, std::pair{"orders", orders}}) {
            entry const entry = log.read(id).value().value();
            CHECK(entry.state == known.state);
            CHECK(entry.epoch_number == known.epoch_number);
            CHECK(entry.committed == known.committed);
            CHECK(entry.attempts == known.attempts);
            CHECK(entry.modified == at_millisecond(when));
        }
        CHECK(log.read("behind").value()->modified == at_millisecond(1));
        CHECK_FALSE(log.read("absent").value().has_value());
    };
    send(step::claim, claim_of(moves), claim_of(orders));
    CHECK(log.read("orders").value()->owner == "second");
    SUBCASE("committed and closed") {
        send(step::commit, commit_of(moves), commit_of(orders));
        send(step::close, close_of(moves), close_of(orders));
        CHECK(log.read("orders").value()->state == state::done);
    }
    SUBCASE("canceled and closed") {
        send(step::cancel, cancel_of(moves, reason::busy, false),
             cancel_of(orders, reason::guard_failed, true));
        CHECK(log.read("moves").value()->participant.empty());
        CHECK(log.read("orders").value()->participant == "stock");
        CHECK(log.read("orders").value()->line == 1U);
        send(step::close, close_of(moves), close_of(orders));
        CHECK(log.read("orders").value()->state == state::canceled);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: an insert may be answered with `ended` only at a final entry",
                          Fixture, suite_ended) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const leave = [&](state left) {
        auto writer = new_move(log, std::string{name_of(left)});
        state const first = left == state::initial ? state::initial : state::pending;
        REQUIRE(writer.insert(first, 70, 1, "first") == log_answer::taken);
        bool const cancels = left == state::canceling || left == state::canceled;
        if (cancels) REQUIRE(writer.cancel(2, "first", reason::busy) == log_answer::taken);
        else if (left == state::applied || left == state::done) {
            REQUIRE(writer.commit(2, "first") == log_answer::taken);
        }
        if (is_final(left)) REQUIRE(writer.close(3, "first") == log_answer::taken);
        return writer.read();
    };
    std::vector<entry> left;
    entry_wave inserts{step::insert};
    for (state const tried : {state::initial, state::pending, state::applied, state::done,
                              state::canceling, state::canceled}) {
        left.push_back(leave(tried));
        inserts.add_insert<forward<move_type>>(left.back().id, usual_move(), state::pending, 99);
    }
    inserts.add_insert<forward<move_type>>("new", usual_move(), state::pending, 99);
    inserts.send(log, at_millisecond(9), "second");
    for (std::size_t i = 0; i < left.size(); ++i) {
        INFO("the entry is ", left[i].id);
        bool const ended = is_final(left[i].state) && inserts.reply(i) == log_answer::ended;
        CHECK((ended || inserts.reply(i) == log_answer::conflict));
        CHECK(log.read(left[i].id).value().value() == left[i]);
    }
    CHECK(inserts.reply(left.size()) == log_answer::taken);
}

TEST_CASE_TEMPLATE_DEFINE("log: a write may name its row, and a missing or old row does no harm",
                          Fixture, suite_row) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const end = [](auto& writer, std::int64_t when) {
        REQUIRE(writer.commit(when, "me") == log_answer::taken);
        REQUIRE(writer.close(when, "me") == log_answer::taken);
    };
    auto writer = pending_move(log, "t", 70, 1, "me");
    SUBCASE("as the log gave it") { end(writer, 2); }
    SUBCASE("none") {
        writer.transaction().row = 0;
        REQUIRE(writer.commit(2, "me") == log_answer::taken);
        writer.transaction().row = 0;
        REQUIRE(writer.close(2, "me") == log_answer::taken);
    }
    CHECK(writer.read().state == state::done);
    // The purged entry's row may belong to another entry now.
    purged const gone = log.purge(at_millisecond(5), 10, purged::nothing).value();
    REQUIRE(gone.erased == 1);
    auto other = pending_move(log, "other", 70, 6, "me");
    entry const before = other.read();
    auto late = suite_entry{log, writer.transaction(), {state::pending, 70, 0, 0}};
    CHECK(late.commit(7, "me") == log_answer::conflict);
    CHECK(other.read() == before);
    read_request const request = writer.transaction().look_up();
    std::size_t calls = 0;
    auto const keep_result = [&](std::size_t index, result<std::optional<entry>>&& result, bool) {
        CHECK(index == 0);
        CHECK_FALSE(result.value().has_value());
        ++calls;
    };
    log.look_up(std::span{&request, 1}, keep_result);
    CHECK(calls == 1);
    end(other, 8);
}

TEST_CASE_TEMPLATE_DEFINE("log: a look-up of several entries answers each once", Fixture,
                          suite_look_up) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto closed = pending_move(log, "done", 70, 1, "first");
    REQUIRE(closed.commit(2, "first") == log_answer::taken);
    REQUIRE(closed.close(3, "first") == log_answer::taken);
    auto pending = pending_move(log, "pending", 80, 4, "second");
    auto const move_of = [](transaction_id id, move const& move) {
        return test_transaction::of<forward<move_type>>(std::move(id), move);
    };
    std::deque<test_transaction> transactions;
    transactions.push_back(move_of("pending", usual_move()));
    transactions.push_back(move_of("missing", usual_move()));
    transactions.push_back(closed.transaction()); // with its row
    transactions.push_back(move_of("done", usual_move()));
    std::size_t const same_until = transactions.size();
    transactions.push_back(move_of("done", {"C", "D", 1}));
    transactions.push_back(test_transaction::of<forward<relabel_type>>("done", {"A", "B"}));
    transactions.push_back(test_transaction::of<undescribed>("pending", {}));
    std::vector<read_request> requests;
    for (auto& one : transactions) requests.push_back(one.look_up());
    struct found_entry {
        int calls = 0;
        std::optional<entry> here{};
        bool same = false;
    };
    std::vector<found_entry> answers(transactions.size());
    log.look_up(std::span<read_request const>{requests},
                [&](std::size_t index, result<std::optional<entry>>&& result, bool same) {
                    ++answers.at(index).calls;
                    answers[index].here = std::move(result).value();
                    answers[index].same = same;
                });
    for (std::size_t position = 0; position < answers.size(); ++position) {
        INFO("request ", position);
        auto& [calls, here, same] = answers[position];
        CHECK(calls == 1);
        auto const alone = log.read(transactions[position].id).value();
        REQUIRE(here.has_value() == alone.has_value());
        if (!here) continue;
        if (same) {
            CHECK(position < same_until);
            CHECK(here->parameters.empty());
            here->parameters = alone->parameters;
        }
        CHECK(*here == *alone);
    }
    // A request whose insert comes next may miss an entry that was inserted a moment ago.
    for (auto& one : requests) one.inserts_next = true;
    std::vector<found_entry> again(transactions.size());
    log.look_up(std::span<read_request const>{requests},
                [&](std::size_t index, result<std::optional<entry>>&& result, bool) {
                    ++again.at(index).calls;
                    again[index].here = std::move(result).value();
                });
    for (std::size_t index = 0; index < again.size(); ++index) {
        INFO("request ", index);
        CHECK(again[index].calls == 1);
        if (!again[index].here) continue;
        REQUIRE(answers[index].here);
        CHECK(again[index].here->state == answers[index].here->state);
        CHECK(again[index].here->epoch_number == answers[index].here->epoch_number);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: an entry that the log cannot hold is never written", Fixture,
                          suite_unfit) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    // More than a document of MongoDB can hold.
    constexpr std::size_t size = 20'000'000;
    move const large{std::string(size, 'x'), "B", 1};
    suite_entry writer{log, test_transaction::of<forward<move_type>>("large", large)};
    log_answer const reply = writer.insert(state::pending, 70, 1, "me");
    if (reply == log_answer::taken) {
        CHECK(writer.read().parameters == encode_json(large));
    } else {
        CHECK(reply == log_answer::unfit);
        CHECK(writer.problem().code == condition::permanent);
        CHECK_FALSE(writer.problem().text.empty());
        CHECK_FALSE(log.read("large").value().has_value());
    }
    // The log still takes other entries.
    auto small = pending_move(log, "small", 80, 2, "me");
    CHECK(small.read().state == state::pending);
}

} // namespace testing
SETTLE_END
#endif
