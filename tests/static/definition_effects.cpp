// SPDX-License-Identifier: BSL-1.0
// The compiler shows here the accepted effects and compensations, and their normal forms.
#include "../compile_fail/bank.hpp"

namespace bank {
namespace {

constexpr auto balance = field<&account::balance>;
constexpr auto amount = param<&transfer::amount>;
constexpr auto fee = param<&transfer::fee>;
constexpr auto source = participant<"source">(accounts, param<&transfer::source>);

template <typename... Effects>
using apply_of = decltype(source.apply(std::declval<Effects>()...).applying);
template <bool Creates, typename... Effects>
using moment_of = settle::moment<Creates, false, Effects...>;

using settle::effect_kind;
template <effect_kind Kind, typename Operand, bool Signed = false, bool MayPassZero = false>
using on_balance =
    settle::effect<Kind, &account::balance, std::remove_const_t<Operand>, Signed, MayPassZero>;

// ------------------------------------------------------------------------- deltas, however spelled

static_assert(std::is_same_v<apply_of<decltype(balance = balance - amount)>,
                             apply_of<decltype(balance -= amount)>>);
static_assert(std::is_same_v<apply_of<decltype(balance = balance + amount)>,
                             apply_of<decltype(balance += amount)>>);
static_assert(std::is_same_v<apply_of<decltype(balance = amount + balance)>,
                             apply_of<decltype(balance += amount)>>);
static_assert(std::is_same_v<apply_of<decltype(balance = balance - amount - fee)>,
                             apply_of<decltype(balance -= amount + fee)>>);
// The greater of the two is unknown, so the sum may be negative.
static_assert(std::is_same_v<apply_of<decltype(balance = balance + amount - fee)>,
                             apply_of<decltype(settle::signed_operand(balance += amount - fee))>>);
static_assert(std::is_same_v<apply_of<decltype(balance = balance - amount + fee)>,
                             apply_of<decltype(settle::signed_operand(balance += fee - amount))>>);
static_assert(std::is_same_v<apply_of<decltype(settle::may_pass_zero(balance = balance - amount))>,
                             apply_of<decltype(settle::may_pass_zero(balance -= amount))>>);
static_assert(
    std::is_same_v<apply_of<decltype(balance -= amount)>,
                   moment_of<false, on_balance<effect_kind::subtract, decltype(amount)>>>);

static_assert(apply_of<decltype(balance -= amount)>::commutes);
static_assert(apply_of<decltype(balance = balance - amount)>::commutes);
static_assert(apply_of<decltype(balance -= amount), decltype(balance -= fee)>::commutes);
static_assert(!apply_of<decltype(balance = amount)>::commutes);
static_assert(!apply_of<decltype(balance = amount - balance)>::commutes);
static_assert(!apply_of<decltype(balance = balance * lit<2>)>::commutes);
static_assert(!apply_of<decltype(balance -= field<&account::reserved>)>::commutes);

// --------------------------------------------------------------------- create, replace and erase

constexpr auto placed = participant<"order">(orders, param<&transfer::number>);
using created =
    moment_of<true,
              settle::effect<effect_kind::assign, &order::state,
                             settle::param_expression<&transfer::whole_order, &order::state>>,
              settle::effect<effect_kind::assign, &order::total,
                             settle::param_expression<&transfer::whole_order, &order::total>>>;
static_assert(
    std::is_same_v<created,
                   decltype(placed.apply(settle::create(param<&transfer::whole_order>)).applying)>);
static_assert(std::is_same_v<
              created,
              decltype(placed
                           .apply(settle::create(
                               field<&order::state> = param<&transfer::whole_order, &order::state>,
                               field<&order::total> = param<&transfer::whole_order, &order::total>))
                           .applying)>);
static_assert(std::is_same_v<
              decltype(placed.apply(settle::replace(param<&transfer::whole_order>)).applying),
              decltype(placed
                           .apply(settle::replace(
                               field<&order::state> = param<&transfer::whole_order, &order::state>,
                               field<&order::total> = param<&transfer::whole_order, &order::total>))
                           .applying)>);
static_assert(!created::commutes);
static_assert(decltype(placed.confirm(settle::erase).confirming)::erases);

constexpr auto opening = transaction<transfer, "opening">(
    participant<"derived">(orders, param<&transfer::number>)
        .apply(settle::create(param<&transfer::whole_order>))
        .compensate(settle::inverse),
    participant<"spelled">(orders, param<&transfer::amount>)
        .require(amount > lit<0>)
        .apply(settle::create(field<&order::state> = status::open, field<&order::total> = 0L))
        .compensate(settle::erase),
    participant<"closed">(orders, param<&transfer::fee>)
        .require(field<&order::state> == status::closed)
        .confirm(settle::erase));
static_assert(opening.participant_count == 3);

// ------------------------------------------------------------------------ debits that are guarded

template <typename Guarded>
constexpr bool takes(Guarded const& guarded) {
    return transaction<transfer, "taken">(guarded).participant_count == 1;
}

static_assert(
    takes(source.require(balance >= amount).apply(balance -= amount).compensate(settle::inverse)));
static_assert(takes(source.require(balance - amount >= lit<0>)
                        .apply(balance -= amount)
                        .compensate(balance += amount)));
static_assert(takes(source.require(balance > amount).confirm(balance -= amount)));
static_assert(takes(source.require(balance == amount).confirm(balance -= amount)));
static_assert(takes(source.require(amount == balance).confirm(balance -= amount)));
static_assert(takes(source.require(balance >= amount + lit<5>)
                        .apply(balance -= amount, balance -= lit<5>)
                        .compensate(balance += amount + lit<5>)));
static_assert(takes(source.require(balance >= fee + amount)
                        .apply(balance -= amount, balance -= fee)
                        .compensate(balance += fee, balance += amount)));
static_assert(takes(source.require(balance >= amount + fee)
                        .apply(balance -= amount)
                        .compensate(settle::inverse)
                        .confirm(balance -= fee)));
// The guard requires more than the debit takes, since amounts are not negative.
static_assert(takes(source.require(balance >= amount + fee)
                        .apply(balance -= amount, field<&account::reserved> += fee)
                        .compensate(settle::inverse)));
static_assert(takes(source.require(balance >= lit<10>).confirm(balance -= lit<10>)));
static_assert(takes(source.require(balance >= lit<10>).confirm(balance -= lit<3>)));
static_assert(takes(source.require(balance >= field<&account::reserved>)
                        .confirm(balance -= field<&account::reserved>)));
static_assert(takes(source.require(field<&account::reserved> <= balance)
                        .confirm(balance -= field<&account::reserved>)));
static_assert(takes(source.confirm(settle::may_pass_zero(balance -= amount))));
static_assert(takes(
    source.require(balance + amount >= lit<0>).confirm(settle::signed_operand(balance += amount))));
static_assert(takes(source.confirm(settle::may_pass_zero(settle::signed_operand(balance -=
                                                                                amount)))));

// ---------------------------------------------------------------- compensations that are spelled

static_assert(takes(source.require(field<&account::state> == lit<status::open>)
                        .apply(field<&account::state> = lit<status::closed>)
                        .compensate(field<&account::state> = lit<status::open>)));
static_assert(takes(source.require(lit<false> == field<&account::frozen>)
                        .require(field<&account::owner> == lit<"bank"> && balance == lit<7>)
                        .apply(field<&account::frozen> = true, balance = lit<8>,
                               field<&account::owner> = "customer")
                        .compensate(field<&account::owner> = lit<"bank">, balance = lit<7>,
                                    field<&account::frozen> = lit<false>)));
static_assert(takes(source.require(balance >= amount)
                        .apply(balance -= amount, field<&account::reserved> += amount)
                        .compensate(field<&account::reserved> = field<&account::reserved> - amount,
                                    balance = balance + amount)));

// ------------------------------------------------------------- assignments to every kind of field

static_assert(takes(source
                        .apply(balance = param<&transfer::small> * lit<2>,
                               field<&account::visits> = param<&transfer::small>,
                               field<&account::state> = param<&transfer::state>,
                               field<&account::frozen> = param<&transfer::urgent>,
                               field<&account::since> = param<&transfer::at>,
                               field<&account::limit> = param<&transfer::limit>,
                               field<&account::owner> = param<&transfer::note>)
                        .compensate(settle::inverse)
                        .confirm(field<&account::limit> = std::nullopt,
                                 field<&account::visits> = lit<5>,
                                 field<&account::state> = status::closed)));

// --------------------------------------------------------------------------------------- ranges

constexpr auto sale =
    transaction<transfer, "sale">(
        participant<"lines">(accounts, each<&transfer::lines>, settle::line<&line::article>)
            .require(balance >= settle::line<&line::quantity>)
            .require(settle::line<&line::quantity> <= amount)
            .apply(balance -= settle::line<&line::quantity>)
            .compensate(balance += settle::line<&line::quantity>),
        participant<"log">(orders, param<&transfer::number>)
            .confirm(field<&order::total> += amount))
        .require(amount >= fee && amount > lit<0>);
static_assert(decltype(sale)::participant_type<0>::is_range);
static_assert(!decltype(sale)::participant_type<1>::is_range);
static_assert(std::is_same_v<decltype(sale)::participant_type<0>::source_type::element, line>);

// ------------------------------------------------------------------------------ inherited members

struct keyed {
    std::string id;
    std::int64_t count;
};
struct counter : keyed {
    std::int64_t other;
};
struct counting : keyed {
    std::int64_t step;
};

} // namespace
} // namespace bank

BOOST_HANA_ADAPT_STRUCT(bank::counter, id, count, other);
BOOST_HANA_ADAPT_STRUCT(bank::counting, id, count, step);

namespace bank {
namespace {

constexpr settle::collection<counter, "counters", &counter::id> counters;
constexpr auto count_type = transaction<counting, "count">(
                                participant<"counter">(counters, param<&counting::id>)
                                    .require(field<&counter::count> >= param<&counting::count>)
                                    .apply(field<&counter::count> -= param<&counting::count>,
                                           field<&counter::other> += param<&counting::step>)
                                    .compensate(field<&keyed::count> += param<&keyed::count>,
                                                field<&counter::other> -= param<&counting::step>))
                                .require(param<&counting::count> > lit<0>);
static_assert(count_type.participant_count == 1);

} // namespace
} // namespace bank
