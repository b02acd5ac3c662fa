// SPDX-License-Identifier: BSL-1.0
// The records and transaction types of the store suite: together they use every kind of effect,
// guard and field.
#pragma once

#include <settle/settle.hpp>

SETTLE_BEGIN
namespace testing {

// BOOST_HANA_ADAPT_STRUCT would work at global scope only.

/// Integers for commuting effects, and a text for exclusive effects.
struct ledger {
    BOOST_HANA_DEFINE_STRUCT(ledger, (std::string, id), (std::int64_t, balance),
                             (std::int32_t, units), (std::string, label));
};

enum class colour : std::int16_t { red = -1, green = 0, blue = 700 };

using whole_second = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;

/// A field of every kind that a store must support.
struct card {
    BOOST_HANA_DEFINE_STRUCT(card, (std::string, id), (std::string, holder), (bool, open),
                             (colour, shade), (whole_second, opened),
                             (std::optional<std::int64_t>, credit),
                             (std::optional<std::string>, note), (std::int64_t, points),
                             (std::int32_t, visits));
};

/// A record with an integer key.
struct shelf {
    BOOST_HANA_DEFINE_STRUCT(shelf, (std::int64_t, number), (std::int64_t, amount));
};

inline constexpr collection<ledger, "suite_ledgers", &ledger::id> ledgers;
inline constexpr collection<card, "suite_cards", &card::id> cards;
inline constexpr collection<shelf, "suite_shelves", &shelf::number> shelves;

using ledgers_type = std::remove_const_t<decltype(ledgers)>;
using cards_type = std::remove_const_t<decltype(cards)>;
using shelves_type = std::remove_const_t<decltype(shelves)>;

// -------------------------------------------------------------------------- commuting effects

struct move {
    BOOST_HANA_DEFINE_STRUCT(move, (std::string, source), (std::string, destination),
                             (std::int64_t, amount));
};

/// The usual transfer: a guarded debit at apply, a credit at confirm.
inline constexpr auto move_type = transaction<move, "suite_move">(
    participant<"source">(ledgers, param<&move::source>)
        .require(field<&ledger::balance> >= param<&move::amount>)
        .apply(field<&ledger::balance> -= param<&move::amount>)
        .compensate(field<&ledger::balance> += param<&move::amount>),
    participant<"destination">(ledgers, param<&move::destination>)
        .confirm(field<&ledger::balance> += param<&move::amount>));

struct adjust {
    BOOST_HANA_DEFINE_STRUCT(adjust, (std::string, id), (std::int64_t, now), (std::int64_t, later),
                             (std::int64_t, units_now), (std::int64_t, units_later),
                             (std::int64_t, least), (std::int64_t, most));
};

inline constexpr std::int64_t no_least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t no_most = std::numeric_limits<std::int64_t>::max();

/// Changes of either sign at apply and at confirm, with a lower and an upper bound.
inline constexpr auto adjust_type = transaction<adjust, "suite_adjust">(
    participant<"ledger">(ledgers, param<&adjust::id>)
        .require(field<&ledger::balance> >= param<&adjust::least>)
        .require(field<&ledger::balance> <= param<&adjust::most>)
        .apply(may_pass_zero(signed_operand(field<&ledger::balance> += param<&adjust::now>)),
               may_pass_zero(signed_operand(field<&ledger::units> += param<&adjust::units_now>)))
        .compensate(inverse)
        .confirm(
            may_pass_zero(signed_operand(field<&ledger::balance> += param<&adjust::later>)),
            may_pass_zero(signed_operand(field<&ledger::units> += param<&adjust::units_later>))));

struct checked {
    BOOST_HANA_DEFINE_STRUCT(checked, (std::string, id), (std::int64_t, expected),
                             (std::string, label), (std::int64_t, units));
};

/// Guards that are not bounds, on fields that other transactions may change, with a commuting
/// effect.
inline constexpr auto checked_type = transaction<checked, "suite_checked">(
    participant<"ledger">(ledgers, param<&checked::id>)
        .require(field<&ledger::balance> == param<&checked::expected>)
        .require(field<&ledger::label> != param<&checked::label>)
        .confirm(field<&ledger::units> += param<&checked::units>));

struct order_line {
    BOOST_HANA_DEFINE_STRUCT(order_line, (std::int64_t, number), (std::int64_t, amount));
};

struct order {
    BOOST_HANA_DEFINE_STRUCT(order, (std::string, customer), (std::int64_t, price),
                             (std::vector<order_line>, lines));
};

/// A range that may name a record twice.
inline constexpr auto order_type = transaction<order, "suite_order">(
    participant<"customer">(ledgers, param<&order::customer>)
        .require(field<&ledger::balance> >= param<&order::price>)
        .apply(field<&ledger::balance> -= param<&order::price>)
        .compensate(inverse),
    participant<"stock">(shelves, each<&order::lines>, line<&order_line::number>)
        .require(field<&shelf::amount> >= line<&order_line::amount>)
        .apply(field<&shelf::amount> -= line<&order_line::amount>)
        .compensate(inverse));

// -------------------------------------------------------------------------- exclusive effects

struct relabel {
    BOOST_HANA_DEFINE_STRUCT(relabel, (std::string, id), (std::string, label));
};

inline constexpr auto relabel_type = transaction<relabel, "suite_relabel">(
    participant<"ledger">(ledgers, param<&relabel::id>)
        .confirm(field<&ledger::label> = param<&relabel::label>));

struct tally {
    BOOST_HANA_DEFINE_STRUCT(tally, (std::string, counted), (std::string, labelled),
                             (std::int64_t, units));
};

/// Two parts in one collection; the second part's effect is exclusive.
inline constexpr auto tally_type =
    transaction<tally, "suite_tally">(participant<"counted">(ledgers, param<&tally::counted>)
                                          .confirm(field<&ledger::units> += param<&tally::units>),
                                      participant<"labelled">(ledgers, param<&tally::labelled>)
                                          .apply(field<&ledger::label> = lit<"tally">)
                                          .compensate(inverse));

struct rewrite {
    BOOST_HANA_DEFINE_STRUCT(rewrite, (card, old), (card, fresh));
};

/// Assignments to every kind of field, at apply and at confirm, with every kind of guard.
inline constexpr auto rewrite_type = transaction<rewrite, "suite_rewrite">(
    participant<"card">(cards, param<&rewrite::old, &card::id>)
        .require(field<&card::holder> == param<&rewrite::old, &card::holder>)
        .require(field<&card::open> == param<&rewrite::old, &card::open>)
        .require(field<&card::shade> == param<&rewrite::old, &card::shade>)
        .require(field<&card::opened> <= param<&rewrite::old, &card::opened>)
        .require(field<&card::credit> == param<&rewrite::old, &card::credit>)
        .require(field<&card::note> == param<&rewrite::old, &card::note>)
        .require(field<&card::points> >= param<&rewrite::old, &card::points>)
        .apply(field<&card::holder> = param<&rewrite::fresh, &card::holder>,
               field<&card::open> = param<&rewrite::fresh, &card::open>,
               field<&card::credit> = param<&rewrite::fresh, &card::credit>,
               field<&card::visits> += param<&rewrite::fresh, &card::visits>)
        .compensate(inverse)
        .confirm(field<&card::shade> = param<&rewrite::fresh, &card::shade>,
                 field<&card::opened> = param<&rewrite::fresh, &card::opened>,
                 field<&card::note> = param<&rewrite::fresh, &card::note>,
                 field<&card::points> += param<&rewrite::fresh, &card::points>));

struct issue {
    BOOST_HANA_DEFINE_STRUCT(issue, (card, made));
};

inline constexpr auto issue_type =
    transaction<issue, "suite_issue">(participant<"card">(cards, param<&issue::made, &card::id>)
                                          .apply(create(param<&issue::made>))
                                          .compensate(erase));

struct withdraw {
    BOOST_HANA_DEFINE_STRUCT(withdraw, (std::string, id), (bool, open));
};

inline constexpr auto withdraw_type = transaction<withdraw, "suite_withdraw">(
    participant<"card">(cards, param<&withdraw::id>)
        .require(field<&card::open> == param<&withdraw::open>)
        .confirm(erase));

struct exchange {
    BOOST_HANA_DEFINE_STRUCT(exchange, (card, made));
};

inline constexpr auto exchange_type = transaction<exchange, "suite_exchange">(
    participant<"card">(cards, param<&exchange::made, &card::id>)
        .apply(replace(param<&exchange::made>))
        .compensate(inverse));

} // namespace testing
SETTLE_END
