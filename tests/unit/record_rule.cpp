// SPDX-License-Identifier: BSL-1.0
// The record rule for effects that commute: epochs, escrow at its edges, exact undo.
#include "record_rule_types.hpp"

#include <random>

namespace rule_test {
namespace {

TEST_CASE("record rule: a part takes effect once under any epochs") {
    auto stored = with_balance(100);
    auto const first = execute<debit>(stored, "t", 10, {30, 0, {}, {}});
    CHECK(first.what == answer::applied);
    CHECK(first.on_mark == settle::mark_change::added);
    CHECK(first.on_record == settle::record_change::fields);
    CHECK(first.fields == 0b0010U);
    CHECK(stored.record->balance == 70);

    auto const before = stored;
    SUBCASE("the same epoch finds the part applied") {
        auto const again = execute<debit>(stored, "t", 10, {30, 0, {}, {}});
        CHECK(again.what == answer::applied);
        CHECK(again.on_mark == settle::mark_change::none);
        CHECK(again.on_record == settle::record_change::none);
        CHECK(stored == before);
    }
    SUBCASE("a higher epoch adopts the mark") {
        auto const again = execute<debit>(stored, "t", 11, {30, 0, {}, {}});
        CHECK(again.what == answer::applied);
        CHECK(again.on_mark == settle::mark_change::raised);
        CHECK(again.on_record == settle::record_change::none);
        CHECK(stored.record->balance == 70);
        CHECK(stored.marks.begin()->epoch_number == 11);
        CHECK(stored.marks.size() == 1);
        // The late write of the first worker.
        auto const adopted = stored;
        CHECK(answer_to<debit>(stored, "t", 10, 30) == answer::fenced);
        CHECK(stored == adopted);
    }
    SUBCASE("an adopted mark needs neither guard nor record") {
        stored.record->balance = 0;
        CHECK(answer_to<debit>(stored, "t", 11, 30) == answer::applied);
        stored.record.reset();
        CHECK(answer_to<debit>(stored, "t", 12, 30) == answer::applied);
    }
    SUBCASE("another part of the transaction has its own mark") {
        CHECK(answer_to<raise>(stored, "t", 10, 5) == answer::applied);
        CHECK(stored.marks.size() == 2);
        CHECK(stored.record->balance == 75);
        CHECK(answer_to<raise>(stored, "t", 9, 5) == answer::fenced);
        CHECK(answer_to<debit>(stored, "t", 9, 30) == answer::fenced);
    }
}

TEST_CASE("record rule: a refused part does not change the slot") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "other", 5, 40) == answer::applied);
    auto const before = stored;
    CHECK(answer_to<debit>(stored, "t", 9, 61) == answer::guard_failed);
    CHECK(answer_to<credit>(stored, "t", 9, most) == answer::overflow);
    CHECK(answer_to<if_equal>(stored, "t", 9, 1) == answer::busy);
    CHECK(answer_to<relabel>(stored, "t", 9, 1) == answer::busy);
    CHECK(answer_to<erase>(stored, "t", 9, 1) == answer::busy);
    CHECK(answer_to<create>(stored, "t", 9, 1) == answer::record_exists);
    CHECK(stored == before);
    slot empty;
    CHECK(answer_to<debit>(empty, "t", 9, 0) == answer::record_missing);
    CHECK(answer_to<erase>(empty, "t", 9, 0) == answer::record_missing);
    CHECK(empty == slot{});
}

TEST_CASE("record rule: a lower bound does not count money that may be undone") {
    SUBCASE("a pending credit is not spent") {
        auto stored = with_balance(100);
        REQUIRE(answer_to<credit>(stored, "other", 5, 50) == answer::applied);
        CHECK(stored.record->balance == 100);
        CHECK(answer_to<debit>(stored, "t", 9, 101) == answer::guard_failed);
        CHECK(answer_to<debit>(stored, "t", 9, 100) == answer::applied);
    }
    SUBCASE("a visible credit may be undone") {
        auto stored = with_balance(100);
        REQUIRE(answer_to<raise>(stored, "other", 5, 50) == answer::applied);
        CHECK(stored.record->balance == 150);
        CHECK(answer_to<debit>(stored, "t", 9, 101) == answer::guard_failed);
        CHECK(answer_to<debit>(stored, "t", 9, 100) == answer::applied);
        CHECK(undoes(stored, "other", raise) == answer::applied);
        CHECK(stored.record->balance == 0);
    }
    SUBCASE("a pending debit counts as spent") {
        auto stored = with_balance(100);
        REQUIRE(answer_to<debit>(stored, "other", 5, 60) == answer::applied);
        CHECK(answer_to<debit>(stored, "t", 9, 41) == answer::guard_failed);
        CHECK(answer_to<debit>(stored, "t", 9, 40) == answer::applied);
    }
    SUBCASE("a guard without an effect uses the same bound") {
        auto stored = with_balance(100);
        REQUIRE(answer_to<raise>(stored, "other", 5, 50) == answer::applied);
        CHECK(answer_to<look>(stored, "t", 9, 101) == answer::guard_failed);
        CHECK(answer_to<look>(stored, "t", 9, 100) == answer::applied);
        CHECK(stored.record->balance == 150);
        CHECK(stored.marks.size() == 2);
    }
}

TEST_CASE("record rule: an upper bound counts every pending credit") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "other", 5, 30) == answer::applied);
    CHECK(execute<capped>(stored, "t", 9, {1, 100, {}, {}}).what == answer::guard_failed);
    CHECK(execute<capped>(stored, "t", 9, {0, 100, {}, {}}).what == answer::applied);
    REQUIRE(answer_to<credit>(stored, "third", 5, 7) == answer::applied);
    CHECK(execute<capped>(stored, "u", 9, {3, 109, {}, {}}).what == answer::guard_failed);
    CHECK(execute<capped>(stored, "u", 9, {3, 110, {}, {}}).what == answer::applied);
    CHECK(execute<capped>(stored, "v", 9, {1, least, {}, {}}).what == answer::overflow);
}

TEST_CASE("record rule: the limits of 64 bits hold for any outcomes of the marks") {
    SUBCASE("the marks together may exceed 64 bits while every sum fits") {
        auto stored = with_balance(least);
        REQUIRE(answer_to<credit>(stored, "a", 1, most) == answer::applied);
        REQUIRE(answer_to<credit>(stored, "b", 1, most) == answer::applied);
        CHECK(answer_to<credit>(stored, "c", 1, 2) == answer::overflow);
        CHECK(answer_to<credit>(stored, "c", 1, 1) == answer::applied);
        CHECK(answer_to<credit>(stored, "d", 1, 1) == answer::overflow);
        CHECK(confirms(stored, "a", credit, 1) == answer::applied);
        CHECK(confirms(stored, "b", credit, 1) == answer::applied);
        CHECK(confirms(stored, "c", credit, 1) == answer::applied);
        CHECK(stored.record->balance == most);
    }
    SUBCASE("an undo must fit as well") {
        auto stored = with_balance(most);
        REQUIRE(answer_to<debit>(stored, "a", 1, 10) == answer::applied);
        // 10 are free now, but an undo may want their place back.
        CHECK(answer_to<raise>(stored, "b", 1, 1) == answer::overflow);
        CHECK(confirms(stored, "a", debit, 1) == answer::applied);
        CHECK(answer_to<raise>(stored, "b", 1, 10) == answer::applied);
        CHECK(stored.record->balance == most);
    }
    SUBCASE("the greatest and the least operand fit") {
        auto stored = with_balance(-1);
        CHECK(answer_to<shift>(stored, "a", 1, most) == answer::applied);
        CHECK(stored.record->balance == most - 1);
        CHECK(undoes(stored, "a", shift) == answer::applied);
        CHECK(stored.record->balance == -1);
        CHECK(answer_to<shift>(stored, "a", 1, least + 1) == answer::applied);
        CHECK(stored.record->balance == least);
        CHECK(undoes(stored, "a", shift) == answer::applied);
        stored.record->balance = -2;
        CHECK(answer_to<shift>(stored, "a", 1, least + 1) == answer::overflow);
        stored.record->balance = 0;
        // Nothing that a mark could carry undoes the least number.
        auto const before = stored;
        CHECK(answer_to<shift>(stored, "a", 1, least) == answer::overflow);
        CHECK(stored == before);
    }
    SUBCASE("a narrow field has its own limits") {
        auto stored = with_balance(0);
        stored.record->small = 100;
        CHECK(answer_to<small_credit>(stored, "a", 1, 28) == answer::overflow);
        CHECK(answer_to<small_credit>(stored, "a", 1, most) == answer::overflow);
        CHECK(answer_to<small_credit>(stored, "a", 1, 27) == answer::applied);
        CHECK(answer_to<small_credit>(stored, "b", 1, 1) == answer::overflow);
        CHECK(answer_to<small_debit>(stored, "c", 1, 100) == answer::applied);
        CHECK(stored.record->small == 0);
        CHECK(answer_to<small_credit>(stored, "b", 1, 1) == answer::overflow);
        CHECK(confirms(stored, "c", small_debit, 1) == answer::applied);
        CHECK(confirms(stored, "a", credit, 1) == answer::nothing);
        CHECK(confirms(stored, "a", small_credit, 1) == answer::applied);
        CHECK(stored.record->small == 27);
    }
    SUBCASE("apply and confirm together must fit") {
        auto stored = with_balance(0);
        stored.record->small = 1;
        CHECK(answer_to<both_moments>(stored, "a", 1, 64) == answer::overflow);
        CHECK(answer_to<both_moments>(stored, "a", 1, 63) == answer::applied);
        CHECK(stored.record->small == 64);
        CHECK(confirms(stored, "a", both_moments, 1) == answer::applied);
        CHECK(stored.record->small == 127);
    }
}

TEST_CASE("record rule: an exact guard needs only its field free of marks") {
    auto stored = with_balance(100);
    wish const parameters{1, 100, "open", {}};
    SUBCASE("a number that pending marks may change is busy") {
        REQUIRE(answer_to<credit>(stored, "other", 5, 1) == answer::applied);
        CHECK(execute<if_equal>(stored, "t", 9, parameters).what == answer::busy);
        CHECK(undoes(stored, "other", credit) == answer::applied);
        CHECK(execute<if_equal>(stored, "t", 9, parameters).what == answer::applied);
    }
    SUBCASE("marks on another field or of amount 0 do not matter") {
        REQUIRE(answer_to<small_credit>(stored, "other", 5, 1) == answer::applied);
        REQUIRE(answer_to<credit>(stored, "third", 5, 0) == answer::applied);
        CHECK(execute<if_equal>(stored, "t", 9, parameters).what == answer::applied);
    }
    SUBCASE("commuting marks cannot change a text") {
        REQUIRE(answer_to<credit>(stored, "other", 5, 1) == answer::applied);
        CHECK(execute<if_labelled>(stored, "t", 9, parameters).what == answer::applied);
        CHECK(execute<if_labelled>(stored, "u", 9, {1, 100, "shut", {}}).what ==
              answer::guard_failed);
    }
    SUBCASE("a mark of the same transaction never goes away") {
        REQUIRE(answer_to<credit>(stored, "t", 9, 1) == answer::applied);
        REQUIRE(answer_to<credit>(stored, "other", 5, 1) == answer::applied);
        CHECK(execute<if_equal>(stored, "t", 9, parameters).what == answer::two_parts);
    }
    SUBCASE("a mark of the same transaction changes another field") {
        REQUIRE(answer_to<small_credit>(stored, "t", 9, 1) == answer::applied);
        REQUIRE(answer_to<credit>(stored, "other", 5, 1) == answer::applied);
        CHECK(execute<if_equal>(stored, "t", 9, parameters).what == answer::busy);
    }
}

TEST_CASE("record rule: finish compares the epoch of the mark") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "t", 10, 30) == answer::applied);
    REQUIRE(answer_to<credit>(stored, "t", 10, 5) == answer::applied);
    REQUIRE(answer_to<debit>(stored, "other", 3, 1) == answer::applied);
    SUBCASE("a mark of the committed epoch is confirmed") {
        CHECK(confirms(stored, "t", debit, 10) == answer::applied);
        CHECK(confirms(stored, "t", credit, 10) == answer::applied);
        CHECK(stored.record->balance == 74);
    }
    SUBCASE("a mark of an earlier epoch is stray and undone") {
        CHECK(confirms(stored, "t", debit, 11) == answer::applied);
        CHECK(confirms(stored, "t", credit, 12) == answer::applied);
        CHECK(stored.record->balance == 99);
    }
    SUBCASE("a mark of a later epoch is left alone") {
        CHECK(confirms(stored, "t", debit, 9) == answer::nothing);
        CHECK(stored.marks.size() == 3);
        CHECK(undoes(stored, "t", debit) == answer::applied);
        CHECK(undoes(stored, "t", credit) == answer::applied);
    }
    SUBCASE("without a committed epoch every mark is stray") {
        CHECK(confirms(stored, "t", debit, 0) == answer::applied);
        CHECK(confirms(stored, "t", credit, 0) == answer::applied);
        CHECK(stored.record->balance == 99);
    }
    SUBCASE("a second finish finds nothing") {
        REQUIRE(confirms(stored, "t", debit, 10) == answer::applied);
        REQUIRE(confirms(stored, "t", credit, 10) == answer::applied);
        auto const before = stored;
        CHECK(confirms(stored, "t", debit, 10) == answer::nothing);
        CHECK(undoes(stored, "t", credit) == answer::nothing);
        CHECK(stored == before);
        CHECK(stored.record->balance == 74);
    }
    REQUIRE(stored.marks.size() == 1);
    CHECK(stored.marks.begin()->id == "other");
}

TEST_CASE("record rule: without a committed epoch a mark without an epoch is stray too") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "t", 0, 30) == answer::applied);
    CHECK(confirms(stored, "t", debit, 0) == answer::applied);
    CHECK(stored.marks.empty());
    CHECK(stored.record->balance == 100);
}

TEST_CASE("record rule: an undo uses the mark and no earlier value") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "t", 10, 30) == answer::applied);
    REQUIRE(answer_to<debit>(stored, "other", 3, 50) == answer::applied);
    REQUIRE(confirms(stored, "other", debit, 3) == answer::applied);
    SUBCASE("the undo names exactly its epoch") {
        CHECK(backs_off(stored, "t", debit, 9) == answer::nothing);
        CHECK(backs_off(stored, "t", debit, 11) == answer::nothing);
        CHECK(stored.record->balance == 20);
        CHECK(backs_off(stored, "t", debit, 10) == answer::applied);
    }
    SUBCASE("the undo names no epoch") { CHECK(undoes(stored, "t", debit) == answer::applied); }
    SUBCASE("the undo names the highest epoch of its entry") {
        settle::part_number const part{debit, 0};
        CHECK(settle::undo(stored, "t", part, 9).what == answer::nothing);
        CHECK(settle::undo(stored, "t", part, 10).what == answer::applied);
    }
    CHECK(stored.record->balance == 50);
    CHECK(stored.marks.empty());
    CHECK(undoes(stored, "t", debit) == answer::nothing);
}

TEST_CASE("record rule: a mark outlives its record if another program erases it") {
    auto stored = with_balance(100);
    REQUIRE(answer_to<debit>(stored, "t", 10, 30) == answer::applied);
    stored.record.reset();
    CHECK(answer_to<debit>(stored, "u", 10, 30) == answer::record_missing);
    CHECK(answer_to<create>(stored, "u", 10, 30) == answer::busy);
    SUBCASE("it is undone") { CHECK(undoes(stored, "t", debit) == answer::applied); }
    SUBCASE("it is confirmed") { CHECK(confirms(stored, "t", debit, 10) == answer::applied); }
    SUBCASE("it is backed off") { CHECK(backs_off(stored, "t", debit, 10) == answer::applied); }
    CHECK(stored == slot{});
    CHECK(answer_to<create>(stored, "u", 10, 30) == answer::applied);
}

/// A mark that is still there, and the changes of `small` by its confirm and by its undo.
struct open_mark {
    std::string id;
    part which;
    std::int64_t confirm, undo;
};

/// The least and the most that `small` can become, by trying every mixture of ends.
std::pair<std::int64_t, std::int64_t> reach(std::int64_t value,
                                            std::vector<open_mark> const& open) {
    std::int64_t low = value;
    std::int64_t high = value;
    std::size_t mixtures = 1;
    for (std::size_t i = 0; i < open.size(); ++i) mixtures *= 3;
    for (std::size_t mixture = 0; mixture < mixtures; ++mixture) {
        std::int64_t sum = value;
        std::size_t rest = mixture;
        for (auto const& one : open) {
            if (rest % 3 == 1) sum += one.confirm;
            if (rest % 3 == 2) sum += one.undo;
            rest /= 3;
        }
        low = std::min(low, sum);
        high = std::max(high, sum);
    }
    return {low, high};
}

TEST_CASE("record rule: escrow refuses exactly the parts that some set of outcomes could break") {
    constexpr std::int64_t lowest = std::numeric_limits<std::int8_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int8_t>::max();
    std::mt19937 chance{20250101};
    int applied = 0;
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        auto stored = with_balance(0);
        stored.record->small = static_cast<std::int8_t>(static_cast<int>(chance() % 128));
        std::vector<open_mark> open;
        for (int turn = 0; turn < 40; ++turn) {
            std::int64_t const value = stored.record->small;
            if (open.size() < 5 && chance() % 3 != 0) {
                std::string const id = std::to_string(turn);
                auto const amount = static_cast<std::int64_t>(chance() % 80);
                std::size_t const kind = chance() % 3;
                auto const [low, high] = reach(value, open);
                answer reply{};
                answer expected = answer::applied;
                open_mark added{id, small_debit, 0, amount};
                if (kind == 0) {
                    reply = answer_to<small_debit>(stored, id, 1, amount);
                    if (low < amount) expected = answer::guard_failed;
                    else if (low - amount < lowest) expected = answer::overflow;
                } else if (kind == 1) {
                    reply = answer_to<small_credit>(stored, id, 1, amount);
                    added = {id, small_credit, amount, 0};
                    if (high + amount > highest) expected = answer::overflow;
                } else {
                    reply = answer_to<both_moments>(stored, id, 1, amount);
                    added = {id, both_moments, amount, -amount};
                    if (high + 2 * amount > highest) expected = answer::overflow;
                }
                REQUIRE(reply == expected);
                ++(reply == answer::applied ? applied : refused);
                if (reply == answer::applied) open.push_back(added);
            } else if (!open.empty()) {
                auto const ended = open[chance() % open.size()];
                bool const commits = chance() % 2 == 0;
                REQUIRE((commits ? confirms(stored, ended.id, ended.which, 1)
                                 : undoes(stored, ended.id, ended.which)) == answer::applied);
                REQUIRE(stored.record->small == value + (commits ? ended.confirm : ended.undo));
                std::erase_if(open, [&](auto const& one) { return one.id == ended.id; });
            }
            REQUIRE(stored.marks.size() == open.size());
        }
    }
    // Both sides of the bound occurred many times.
    CHECK(applied > 1000);
    CHECK(refused > 1000);
}

} // namespace
} // namespace rule_test
