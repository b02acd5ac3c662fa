// SPDX-License-Identifier: BSL-1.0
// A conditional change of an unread record equals the record rule's change of the read record.
#include "record_rule_types.hpp"

#include <settle/protocol/conditional.hpp>

#include <algorithm>
#include <vector>

namespace rule_test {
namespace {

using settle::conditional_change;

constexpr settle::epoch own_epoch = 7;

[[nodiscard]] bool allows(conditional_change<thing> const& change, thing const& record) {
    bool allowed = true;
    settle::for_each_integer<thing>([&](auto m, auto position) {
        std::int64_t const value = m.in(record);
        allowed = allowed && change.least[position] <= value && value <= change.most[position];
    });
    return allowed;
}

void add(thing& to, conditional_change<thing> const& change) {
    settle::for_each_integer<thing>([&](auto m, auto position) {
        using type = typename decltype(m)::type;
        m.in(to) = static_cast<type>(m.in(to) + change.added[position]);
    });
}

/// Everything near an edge, and every value of the small member.
[[nodiscard]] std::vector<thing> many_records() {
    std::vector<thing> records;
    for (int small = -128; small <= 127; ++small) {
        records.push_back({"A", 50, static_cast<std::int8_t>(small), "open"});
    }
    for (std::int64_t near = 0; near < 12; ++near) {
        for (std::int64_t const balance :
             {least + near, most - near, near - 6, near + 94, near - 106}) {
            records.push_back({"A", balance, 3, "open"});
        }
    }
    return records;
}

constexpr std::int64_t amounts[]{0, 1, 5, 64, 100, 127, 128, 200, most, most - 5};
constexpr std::int64_t limits[]{-100, 0, 55, 105, most};

/// The number of allowed and of refused parts, so that a test can require many of both.
struct tally {
    std::size_t allowed = 0;
    std::size_t refused = 0;
};

/// Compares the conditional update with the record rule, for every record and parameter.
template <part Which>
tally compare() {
    tally seen;
    settle::part_number const number{Which, 0};
    for (std::int64_t const amount : amounts) {
        for (std::int64_t const limit : limits) {
            wish const parameters{amount, limit, "closed", {}};
            auto const intent = zoo_direction::intent<Which>(parameters, 0);
            auto const apply = settle::conditional_apply<thing>("t", number, own_epoch, intent);
            auto const one_phase =
                settle::conditional_apply_one_phase<thing>("t", number, own_epoch, intent);
            auto const finish = settle::conditional_finish<thing>("t", number, own_epoch, intent);
            for (thing const& record : many_records()) {
                slot slot;
                slot.record = record;
                bool const applied =
                    execute<Which>(slot, "t", own_epoch, parameters).what == answer::applied;
                bool const allowed = apply && allows(*apply, record);
                CHECK(allowed == applied);
                CHECK((one_phase && allows(*one_phase, record)) == applied);
                ++(allowed ? seen.allowed : seen.refused);
                if (!allowed) continue;
                thing changed = record;
                add(changed, *apply);
                CHECK(settle::equal_members(changed, *slot.record));
                CHECK(*slot.marks.begin() == apply->own);
                REQUIRE(finish);
                CHECK(finish->own == apply->own);
                CHECK(allows(*finish, changed));
                add(changed, *finish);
                REQUIRE(confirms(slot, "t", Which, own_epoch) == answer::applied);
                CHECK(settle::equal_members(changed, *slot.record));
                thing both = record;
                add(both, *one_phase);
                CHECK(settle::equal_members(both, *slot.record));
            }
        }
    }
    return seen;
}

template <part... Which>
void compare_all() {
    for (auto const& seen : {compare<Which>()...}) {
        CHECK(seen.allowed > 100);
        CHECK(seen.refused > 100);
    }
}

TEST_CASE("conditional: a conditional sum changes a record exactly as the record rule does") {
    compare_all<debit, credit, raise, shift, capped, small_debit, small_credit, both_moments,
                look>();
}

template <part Which>
bool is_conditional() {
    wish const parameters{1, 50, "open", {}};
    return settle::conditional_apply<thing>("t", {Which, 0}, own_epoch,
                                            zoo_direction::intent<Which>(parameters, 0))
        .has_value();
}

TEST_CASE("conditional: parts that read or replace the record need a read") {
    CHECK(is_conditional<debit>());
    CHECK_FALSE(is_conditional<if_labelled>());
    CHECK_FALSE(is_conditional<if_equal>());
    CHECK_FALSE(is_conditional<relabel>());
    CHECK_FALSE(is_conditional<pay>());
    CHECK_FALSE(is_conditional<create>());
    CHECK_FALSE(is_conditional<erase>());
    CHECK_FALSE(is_conditional<replace>());
}

TEST_CASE("conditional: a part without a committed epoch needs a read to finish") {
    wish const parameters{1, 50, "open", {}};
    auto const intent = zoo_direction::intent<debit>(parameters, 0);
    CHECK(settle::conditional_finish<thing>("t", {debit, 0}, 1, intent));
    CHECK_FALSE(settle::conditional_finish<thing>("t", {debit, 0}, 0, intent));
}

} // namespace
} // namespace rule_test
