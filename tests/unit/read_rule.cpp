// SPDX-License-Identifier: BSL-1.0
// The read rule: which marks a reader confirms, and when it looks and asks again.
#include <settle/protocol/read_rule.hpp>

#include "record_rule_types.hpp"

#include <array>

namespace rule_test {
namespace {

using settle::bracket;
using settle::read_step;
using settle::standing;
using slots = std::array<settle::record_slot<thing>, 1>;
constexpr std::optional<standing> no_entry;

std::optional<standing> entry_of(settle::state state, settle::epoch current,
                                 settle::epoch committed = 0) {
    return standing{state, current, committed, 0, 0, 0};
}

/// 100, of which one transaction debits 30, and another one credits 5.
slots debited_and_credited() {
    auto slot = with_balance(100);
    REQUIRE(answer_to<debit>(slot, "debit", 10, 30) == answer::applied);
    REQUIRE(answer_to<credit>(slot, "credit", 20, 5) == answer::applied);
    return {slot};
}
std::int64_t answer_of(bracket const& known, slots copy) {
    known.settle(copy[0]);
    CHECK(copy[0].marks.empty());
    return copy[0].record->balance;
}

TEST_CASE("read rule: a mark is decided by an entry that committed its epoch") {
    using enum settle::state;
    CHECK(settle::is_decided(entry_of(applied, 7, 7), 7));
    CHECK(settle::is_decided(entry_of(done, 9, 7), 7)); // a takeover closed it
    CHECK_FALSE(settle::is_decided(entry_of(done, 9, 7), 9));
    CHECK_FALSE(settle::is_decided(entry_of(applied, 8, 8), 7)); // the mark is a stray
    CHECK_FALSE(settle::is_decided(entry_of(done, 7, 0), 0));    // another program's mark
    for (auto const open : {pending, canceling, canceled, deciding, barred}) {
        CHECK_FALSE(settle::is_decided(entry_of(open, 7), 7));
    }
    CHECK_FALSE(settle::is_decided(no_entry, 7));
}

TEST_CASE("read rule: without marks, the first look is the answer") {
    bracket known;
    slots const seen{with_balance(100)};
    known.looked(seen);
    CHECK(known.next() == read_step::end);
    CHECK(answer_of(known, seen) == 100);
}

TEST_CASE("read rule: if no mark is decided, all are undone") {
    bracket known;
    auto const seen = debited_and_credited();
    known.looked(seen);
    REQUIRE(known.open().size() == 2);
    CHECK(known.open()[0].id == "credit");
    known.answered(no_entry);
    CHECK(known.next() == read_step::ask);
    known.answered(entry_of(settle::state::pending, 10));
    CHECK(known.next() == read_step::end);
    CHECK(answer_of(known, seen) == 100);
}

TEST_CASE("read rule: after a decision, the second look is the answer") {
    bracket known;
    auto const first = debited_and_credited();
    known.looked(first);
    known.answered(entry_of(settle::state::applied, 20, 20));
    known.answered(entry_of(settle::state::pending, 10));
    REQUIRE(known.next() == read_step::look);

    SUBCASE("an open mark is still there: the log is asked about it alone") {
        known.looked(first);
        REQUIRE(known.open().size() == 1);
        CHECK(known.open()[0].id == "debit");
        SUBCASE("it is undecided") {
            known.answered(entry_of(settle::state::pending, 10));
            CHECK(known.next() == read_step::end);
            CHECK(answer_of(known, first) == 105);
        }
        SUBCASE("it was decided meanwhile: a third look follows") {
            known.answered(entry_of(settle::state::done, 10, 10));
            REQUIRE(known.next() == read_step::look);
            known.looked(first);
            CHECK(known.next() == read_step::end);
            CHECK(answer_of(known, first) == 75);
        }
    }
    SUBCASE("only the decided mark is there: the log is not asked") {
        auto second = with_balance(100);
        REQUIRE(answer_to<credit>(second, "credit", 20, 5) == answer::applied);
        known.looked(slots{second});
        CHECK(known.next() == read_step::end);
        CHECK(answer_of(known, {second}) == 105);
    }
}

TEST_CASE("read rule: a look with the entries is the answer, whatever they say") {
    bracket known{true};
    auto const seen = debited_and_credited();
    known.looked(seen);
    known.answered(entry_of(settle::state::applied, 20, 20));
    known.answered(entry_of(settle::state::done, 10, 10));
    CHECK(known.next() == read_step::end);
    CHECK(answer_of(known, seen) == 75);
}

TEST_CASE("read rule: a record is unchanged if its version and its marks are") {
    auto const before = with_balance(100);
    CHECK(settle::is_unchanged(before, 1, before, 1));
    CHECK_FALSE(settle::is_unchanged(before, 1, before, 2));
    // Its store has no versions.
    CHECK_FALSE(settle::is_unchanged(before, std::nullopt, before, std::nullopt));
    auto marked = before;
    REQUIRE(answer_to<credit>(marked, "credit", 20, 5) == answer::applied);
    CHECK_FALSE(settle::is_unchanged(before, 1, marked, 1));
    CHECK(settle::is_unchanged(marked, 1, marked, 1));
    auto adopted = marked;
    REQUIRE(answer_to<credit>(adopted, "credit", 21, 5) == answer::applied);
    CHECK_FALSE(settle::is_unchanged(marked, 1, adopted, 1));
    decltype(marked) const absent{};
    CHECK_FALSE(settle::is_unchanged(absent, std::nullopt, absent, std::nullopt));
    CHECK_FALSE(settle::is_unchanged(absent, std::nullopt, before, 1));
}

} // namespace
} // namespace rule_test
