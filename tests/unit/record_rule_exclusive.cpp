// SPDX-License-Identifier: BSL-1.0
// The record rule for exclusive effects: conflicts, images, create, erase, replace.
#include "record_rule_types.hpp"

namespace rule_test {
namespace {

thing const opened{"A", 100, 7, "open"};

slot with(thing const& record) {
    slot made;
    made.record = record;
    return made;
}

bool same(std::optional<thing> const& left, thing const& right) {
    return left && settle::equal_members(*left, right);
}

TEST_CASE("record rule: marks on one record admit, delay or refuse a part") {
    // Present mark: commuting or exclusive, of another transaction or of the same transaction.
    SUBCASE("another transaction's commuting mark admits commuting parts") {
        auto stored = with(opened);
        REQUIRE(answer_to<credit>(stored, "other", 1, 1) == answer::applied);
        CHECK(answer_to<relabel>(stored, "t", 1, 0) == answer::busy);
        CHECK(answer_to<pay>(stored, "t", 1, 0) == answer::busy);
        CHECK(answer_to<debit>(stored, "t", 1, 1) == answer::applied);
    }
    SUBCASE("another transaction's exclusive mark makes every part busy") {
        auto stored = with(opened);
        REQUIRE(answer_to<relabel>(stored, "other", 1, 0) == answer::applied);
        CHECK(answer_to<debit>(stored, "t", 1, 1) == answer::busy);
        CHECK(answer_to<look>(stored, "t", 1, 1) == answer::busy);
        CHECK(answer_to<pay>(stored, "t", 1, 0) == answer::busy);
        CHECK(answer_to<erase>(stored, "t", 1, 0) == answer::busy);
        CHECK(answer_to<create>(stored, "t", 1, 0) == answer::busy);
    }
    SUBCASE("the transaction's own commuting mark refuses exclusive parts for good") {
        auto stored = with(opened);
        REQUIRE(answer_to<credit>(stored, "t", 1, 1) == answer::applied);
        CHECK(answer_to<relabel>(stored, "t", 1, 0) == answer::two_parts);
        CHECK(answer_to<debit>(stored, "t", 1, 1) == answer::applied);
    }
    SUBCASE("the transaction's own exclusive mark refuses every part for good") {
        auto stored = with(opened);
        REQUIRE(answer_to<relabel>(stored, "t", 1, 0) == answer::applied);
        CHECK(answer_to<debit>(stored, "t", 1, 1) == answer::two_parts);
        CHECK(answer_to<erase>(stored, "t", 1, 1) == answer::two_parts);
        CHECK(answer_to<create>(stored, "t", 1, 1) == answer::two_parts);
    }
    SUBCASE("a final refusal precedes busy") {
        auto stored = with(opened);
        REQUIRE(answer_to<credit>(stored, "other", 1, 1) == answer::applied);
        REQUIRE(answer_to<credit>(stored, "t", 1, 1) == answer::applied);
        CHECK(answer_to<relabel>(stored, "t", 1, 0) == answer::two_parts);
    }
}

TEST_CASE("record rule: an exclusive part is adopted and fenced like any part") {
    auto stored = with(opened);
    auto const first = execute<pay>(stored, "t", 10, {30, 0, {}, {}});
    CHECK(first.what == answer::applied);
    REQUIRE(first.exclusive);
    CHECK(first.exclusive->image == "native");
    CHECK(same(stored.record, {"A", 70, 7, "paid"}));
    // Another program changes the record: the answer still holds the old image of the mark.
    stored.record->small = 9;
    for (settle::epoch const under : {settle::epoch{10}, settle::epoch{12}}) {
        auto const again = execute<pay>(stored, "t", under, {30, 0, {}, {}});
        CHECK(again.what == answer::applied);
        CHECK(again.exclusive == first.exclusive);
        CHECK(again.on_record == settle::record_change::none);
    }
    CHECK(answer_to<pay>(stored, "t", 11, 30) == answer::fenced);
    CHECK(stored.marks.begin()->epoch_number == 12);
    // An undo restores its own fields and leaves the others unchanged.
    CHECK(undoes(stored, "t", pay) == answer::applied);
    CHECK(same(stored.record, {"A", 100, 9, "open"}));
    CHECK(stored.marks.empty());
}

TEST_CASE("record rule: an exclusive confirm is visible only after the commit") {
    auto stored = with(opened);
    auto const result = execute<relabel>(stored, "t", 10, {100, 0, "shut", {}});
    CHECK(result.what == answer::applied);
    CHECK(result.on_record == settle::record_change::none);
    CHECK(same(stored.record, opened));
    SUBCASE("it is confirmed") {
        auto const finished = settle::finish(stored, "t", {relabel, 0}, 10);
        CHECK(finished.what == answer::applied);
        CHECK(finished.fields == 0b1000U);
        CHECK(same(stored.record, {"A", 100, 7, "shut"}));
    }
    SUBCASE("it is stray") {
        CHECK(confirms(stored, "t", relabel, 11) == answer::applied);
        CHECK(same(stored.record, opened));
    }
    CHECK(stored.marks.empty());
}

TEST_CASE("record rule: the guards of an exclusive part read the record itself") {
    auto stored = with(opened);
    CHECK(answer_to<relabel>(stored, "t", 1, 101) == answer::guard_failed);
    stored.record->label = "shut";
    CHECK(answer_to<pay>(stored, "t", 1, 0) == answer::guard_failed);
    stored.record->label = "open";
    CHECK(answer_to<pay>(stored, "t", 1, 101) == answer::guard_failed);
    CHECK(stored.marks.empty());
    CHECK(answer_to<pay>(stored, "t", 1, 100) == answer::applied);
}

TEST_CASE("record rule: a record is created with its mark and erased with it") {
    wish parameters;
    parameters.whole = {"another key", 5, 1, "new"};
    slot stored;
    auto const result = execute<create>(stored, "t", 10, parameters);
    CHECK(result.what == answer::applied);
    CHECK(result.on_record == settle::record_change::created);
    // The participant's key counts, not the key in the value.
    CHECK(same(stored.record, {"A", 5, 1, "new"}));
    CHECK(execute<create>(stored, "t", 11, parameters).on_mark == settle::mark_change::raised);
    CHECK(execute<create>(stored, "u", 10, parameters).what == answer::busy);
    SUBCASE("it is undone") {
        auto const undone = settle::undo(stored, "t", {create, 0});
        CHECK(undone.on_record == settle::record_change::erased);
        CHECK(stored == slot{});
    }
    SUBCASE("it is backed off, then created again") {
        CHECK(backs_off(stored, "t", create, 10) == answer::nothing);
        CHECK(backs_off(stored, "t", create, 11) == answer::applied);
        CHECK(stored == slot{});
        CHECK(execute<create>(stored, "t", 12, parameters).what == answer::applied);
    }
    SUBCASE("it is stray after a commit under another epoch") {
        CHECK(confirms(stored, "t", create, 12) == answer::applied);
        CHECK(stored == slot{});
    }
    SUBCASE("it is confirmed") {
        CHECK(confirms(stored, "t", create, 11) == answer::applied);
        CHECK(same(stored.record, {"A", 5, 1, "new"}));
        CHECK(stored.marks.empty());
        CHECK(execute<create>(stored, "u", 10, parameters).what == answer::record_exists);
    }
}

TEST_CASE("record rule: a record is erased at the commit, not earlier") {
    auto stored = with(opened);
    auto const result = execute<erase>(stored, "t", 10, {});
    CHECK(result.what == answer::applied);
    REQUIRE(result.exclusive);
    CHECK(result.exclusive->image == "native");
    CHECK(same(stored.record, opened));
    CHECK(answer_to<debit>(stored, "u", 10, 1) == answer::busy);
    SUBCASE("it is undone") {
        CHECK(undoes(stored, "t", erase) == answer::applied);
        CHECK(same(stored.record, opened));
        CHECK(stored.marks.empty());
    }
    SUBCASE("it is confirmed") {
        auto const ended = settle::finish(stored, "t", {erase, 0}, 10);
        CHECK(ended.on_record == settle::record_change::erased);
        CHECK(stored == slot{});
    }
    SUBCASE("it is stray") {
        CHECK(confirms(stored, "t", erase, 11) == answer::applied);
        CHECK(same(stored.record, opened));
    }
}

TEST_CASE("record rule: a replaced record is restored whole and keeps its key") {
    auto stored = with(opened);
    wish parameters;
    parameters.whole = {"another key", -5, -1, "else"};
    REQUIRE(execute<replace>(stored, "t", 10, parameters).what == answer::applied);
    CHECK(same(stored.record, {"A", -5, -1, "else"}));
    SUBCASE("it is undone") {
        CHECK(undoes(stored, "t", replace) == answer::applied);
        CHECK(same(stored.record, opened));
    }
    SUBCASE("it is confirmed") {
        CHECK(confirms(stored, "t", replace, 10) == answer::applied);
        CHECK(same(stored.record, {"A", -5, -1, "else"}));
    }
    SUBCASE("another program erases it, and only the mark is removed") {
        stored.record.reset();
        CHECK(undoes(stored, "t", replace) == answer::applied);
        CHECK(stored == slot{});
    }
}

TEST_CASE("record rule: a set of marks is sorted for any order of insertion") {
    auto forward = with(opened);
    auto backward = with(opened);
    for (char const* id : {"a", "b", "c"}) {
        REQUIRE(answer_to<credit>(forward, id, 1, 1) == answer::applied);
    }
    for (char const* id : {"c", "a", "b"}) {
        REQUIRE(answer_to<credit>(backward, id, 1, 1) == answer::applied);
    }
    CHECK(forward == backward);
    REQUIRE(undoes(forward, "b", credit) == answer::applied);
    CHECK_FALSE(forward == backward);
    REQUIRE(undoes(backward, "b", credit) == answer::applied);
    CHECK(forward == backward);
}

} // namespace
} // namespace rule_test
