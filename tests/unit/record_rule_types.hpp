// SPDX-License-Identifier: BSL-1.0
// One record and a participant for each way to change it, for the tests of the record rule.
#pragma once

#include <settle/protocol/direction.hpp>
#include <settle/protocol/record_rule.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace rule_test {

struct thing {
    std::string id;
    std::int64_t balance = 0;
    std::int8_t small = 0;
    std::string label;
};

struct wish {
    std::int64_t amount = 0;
    std::int64_t limit = 0;
    std::string text;
    thing whole;
};

} // namespace rule_test
BOOST_HANA_ADAPT_STRUCT(rule_test::thing, id, balance, small, label);
BOOST_HANA_ADAPT_STRUCT(rule_test::wish, amount, limit, text, whole);

namespace rule_test {

using settle::answer;
using settle::field;
using settle::lit;
using settle::param;

inline constexpr settle::collection<thing, "things", &thing::id> things;

/// The participants below, by name.
enum part : std::size_t {
    debit,
    credit,
    raise,
    shift,
    capped,
    small_debit,
    small_credit,
    both_moments,
    if_labelled,
    if_equal,
    look,
    relabel,
    pay,
    create,
    erase,
    replace
};

inline constexpr auto amount = param<&wish::amount>;
inline constexpr auto key = lit<"A">;

inline constexpr auto zoo = settle::transaction<wish, "zoo">(
    settle::participant<"debit">(things, key)
        .require(field<&thing::balance> >= amount)
        .apply(field<&thing::balance> -= amount)
        .compensate(settle::inverse),
    settle::participant<"credit">(things, key).confirm(field<&thing::balance> += amount),
    settle::participant<"raise">(things, key)
        .apply(field<&thing::balance> += amount)
        .compensate(field<&thing::balance> -= amount),
    settle::participant<"shift">(things, key)
        .apply(settle::may_pass_zero(settle::signed_operand(field<&thing::balance> += amount)))
        .compensate(settle::inverse),
    settle::participant<"capped">(things, key)
        .require(field<&thing::balance> + amount <= param<&wish::limit>)
        .confirm(field<&thing::balance> += amount),
    settle::participant<"small_debit">(things, key)
        .require(field<&thing::small> >= amount)
        .apply(field<&thing::small> -= amount)
        .compensate(settle::inverse),
    settle::participant<"small_credit">(things, key).confirm(field<&thing::small> += amount),
    settle::participant<"both_moments">(things, key)
        .apply(field<&thing::small> += amount)
        .compensate(settle::inverse)
        .confirm(field<&thing::small> += amount),
    settle::participant<"if_labelled">(things, key)
        .require(field<&thing::label> == param<&wish::text>)
        .confirm(field<&thing::balance> += amount),
    settle::participant<"if_equal">(things, key)
        .require(field<&thing::balance> == param<&wish::limit>)
        .confirm(field<&thing::small> += amount),
    settle::participant<"look">(things, key).require(field<&thing::balance> >= amount),
    settle::participant<"relabel">(things, key)
        .require(field<&thing::balance> >= amount)
        .confirm(field<&thing::label> = param<&wish::text>),
    settle::participant<"pay">(things, key)
        .require(field<&thing::label> == lit<"open">)
        .require(field<&thing::balance> >= amount)
        .apply(field<&thing::label> = lit<"paid">, field<&thing::balance> -= amount)
        .compensate(settle::inverse),
    settle::participant<"create">(things, key)
        .apply(settle::create(param<&wish::whole>))
        .compensate(settle::inverse),
    settle::participant<"erase">(things, key).confirm(settle::erase),
    settle::participant<"replace">(things, key)
        .apply(settle::replace(param<&wish::whole>))
        .compensate(settle::inverse));

using zoo_direction = settle::forward<zoo>;
using slot = settle::record_slot<thing>;
using record_answer = settle::record_answer<thing>;

inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] inline slot with_balance(std::int64_t balance, std::string label = "open") {
    slot made;
    made.record = thing{"A", balance, 0, std::move(label)};
    return made;
}

/// Applies one participant for a transaction; its part number is the participant's.
template <part Which>
record_answer execute(slot& held, std::string const& id, settle::epoch under,
                      wish const& parameters) {
    auto const intent = zoo_direction::intent<Which>(parameters, 0);
    thing created;
    created.id = "A";
    return settle::apply(held, id, {Which, 0}, under, created, intent,
                         [] { return std::string{"native"}; });
}

template <part Which>
answer answer_to(slot& held, std::string const& id, settle::epoch under, std::int64_t of) {
    wish parameters;
    parameters.amount = of;
    parameters.text = "closed";
    return execute<Which>(held, id, under, parameters).what;
}

inline answer confirms(slot& held, std::string const& id, part which, settle::epoch committed) {
    return settle::finish(held, id, {static_cast<std::uint32_t>(which), 0}, committed).what;
}
inline answer undoes(slot& held, std::string const& id, part which) {
    return settle::undo(held, id, {static_cast<std::uint32_t>(which), 0}).what;
}
inline answer backs_off(slot& held, std::string const& id, part which, settle::epoch exact) {
    return settle::undo_exactly(held, id, {static_cast<std::uint32_t>(which), 0}, exact).what;
}

} // namespace rule_test
