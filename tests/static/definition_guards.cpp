// SPDX-License-Identifier: BSL-1.0
// The compiler shows here that every spelling of a guard ends in one normal form.
#include "../compile_fail/bank.hpp"

namespace bank {
namespace {

constexpr auto balance = field<&account::balance>;
constexpr auto amount = param<&transfer::amount>;
constexpr auto fee = param<&transfer::fee>;

template <typename Condition>
using guards_of = decltype(participant<"source">(accounts, param<&transfer::source>)
                               .require(std::declval<Condition>())
                               .guards);

template <typename... Guards>
using guards = boost::hana::tuple<Guards...>;
template <auto Member, typename Limit>
using at_least = settle::bound_guard<settle::bound_side::lower, Member, std::remove_const_t<Limit>>;
template <auto Member, typename Limit>
using at_most = settle::bound_guard<settle::bound_side::upper, Member, std::remove_const_t<Limit>>;

template <typename Condition, typename... Expected>
constexpr bool gives =
    std::is_same_v<guards_of<std::remove_const_t<Condition>>, guards<Expected...>>;

// -------------------------------------------------------------------------- one bound, any side

using covered = at_least<&account::balance, decltype(amount)>;
static_assert(gives<decltype(balance >= amount), covered>);
static_assert(gives<decltype(amount <= balance), covered>);
static_assert(gives<decltype(balance - amount >= lit<0>), covered>);
static_assert(gives<decltype(lit<0> <= balance - amount), covered>);
static_assert(gives<decltype(lit<0> + balance >= amount), covered>);
static_assert(gives<decltype(amount - balance <= lit<0>), covered>);

using covered_and_more = at_least<&account::balance, decltype(amount + lit<1>)>;
static_assert(gives<decltype(balance > amount), covered_and_more>);
static_assert(gives<decltype(amount < balance), covered_and_more>);
static_assert(gives<decltype(balance - amount > lit<0>), covered_and_more>);
static_assert(gives<decltype(balance >= amount + lit<1>), covered_and_more>);
static_assert(gives<decltype(amount - balance < lit<0>), covered_and_more>);

using limited = at_most<&account::balance, decltype(amount)>;
static_assert(gives<decltype(balance <= amount), limited>);
static_assert(gives<decltype(amount >= balance), limited>);
static_assert(gives<decltype(balance - amount <= lit<0>), limited>);
static_assert(gives<decltype(amount - balance >= lit<0>), limited>);

using limited_and_less = at_most<&account::balance, decltype(amount - lit<1>)>;
static_assert(gives<decltype(balance < amount), limited_and_less>);
static_assert(gives<decltype(amount > balance), limited_and_less>);

static_assert(
    gives<decltype(balance >= amount + fee), at_least<&account::balance, decltype(amount + fee)>>);
static_assert(
    gives<decltype(balance - fee >= amount), at_least<&account::balance, decltype(amount + fee)>>);
static_assert(
    gives<decltype(balance + amount >= lit<0>), at_least<&account::balance, decltype(-amount)>>);
static_assert(gives<decltype(balance + amount <= lit<1000>),
                    at_most<&account::balance, decltype(lit<1000> - amount)>>);

// Plain constants make a bound as well; only proofs need settle::lit.
static_assert(
    gives<decltype(balance >= 5), at_least<&account::balance, settle::constant_expression<int>>>);

// --------------------------------------------------------------------------- guards without bounds

static_assert(gives<decltype(balance == amount),
                    settle::exact_guard<std::remove_const_t<decltype(balance == amount)>>>);
static_assert(gives<decltype(balance >= field<&account::reserved>),
                    settle::exact_guard<decltype(balance >= field<&account::reserved>)>>);
static_assert(gives<decltype(balance * lit<2> >= amount),
                    settle::exact_guard<decltype(balance * lit<2> >= amount)>>);
static_assert(gives<decltype(!field<&account::frozen>),
                    settle::exact_guard<decltype(!field<&account::frozen>)>>);
static_assert(gives<decltype(field<&account::since> <= param<&transfer::at>),
                    settle::exact_guard<decltype(field<&account::since> <= param<&transfer::at>)>>);
static_assert(gives<decltype(balance >= amount || field<&account::frozen>),
                    settle::exact_guard<decltype(balance >= amount || field<&account::frozen>)>>);
static_assert(gives<decltype(amount > fee), settle::premise_guard<decltype(amount > fee)>>);

// A conjunction is its parts, so that each can be decided by itself.
static_assert(gives<decltype(balance >= amount && !field<&account::frozen> && amount > fee),
                    covered, settle::exact_guard<decltype(!field<&account::frozen>)>,
                    settle::premise_guard<decltype(amount > fee)>>);
static_assert(std::is_same_v<guards_of<decltype(balance >= amount && amount > fee)>,
                             decltype(participant<"source">(accounts, param<&transfer::source>)
                                          .require(balance >= amount)
                                          .require(amount > fee)
                                          .guards)>);

// ------------------------------------------------- conditions on every kind of field that compile

constexpr auto looked_at =
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::state> == lit<status::open>)
        .require(param<&transfer::state> != field<&account::state>)
        .require(field<&account::limit> != std::nullopt)
        .require(field<&account::limit> == amount ||
                 field<&account::limit> == param<&transfer::limit>)
        .require(field<&account::owner> == "bank" || field<&account::owner> < lit<"c">)
        .require(field<&account::owner> != param<&transfer::note>)
        .require(field<&account::since> < param<&transfer::at>)
        .require(field<&account::frozen> == param<&transfer::urgent>)
        .require(field<&account::visits> < balance && field<&account::visits> != 7)
        .require(balance >= param<&transfer::whole_order, &order::total>);
static_assert(looked_at.name == "source");

} // namespace
} // namespace bank
