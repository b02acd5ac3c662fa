// SPDX-License-Identifier: BSL-1.0
// Stages, pivots and limits of calls, and spellings of calls that the compiler takes.
#include <settle/definition/transaction.hpp>

#include <optional>
#include <string>
#include <vector>

namespace calls {

struct line {
    std::string item;
    std::int32_t count;
};
struct basket {
    std::string customer;
    std::int64_t amount;
    std::optional<std::int64_t> limit;
    std::vector<line> lines;
    line first;
};
struct order {
    std::string customer;
    std::int64_t amount;
};
struct wide_order {
    std::string item;
    std::int64_t count;
    std::optional<std::int64_t> limit;
    line whole;
};
struct base_receipt {
    std::string number;
};
struct receipt : base_receipt {
    std::int64_t price;
};
struct empty_request {};

SETTLE_STRUCT(line, item, count);
SETTLE_STRUCT(basket, customer, amount, limit, lines, first);
SETTLE_STRUCT(order, customer, amount);
SETTLE_STRUCT(wide_order, item, count, limit, whole);
SETTLE_STRUCT(receipt, number, price);
SETTLE_STRUCT(empty_request);

using settle::call;
using settle::param;
using settle::participant;
using settle::result_from;
using settle::together;
using settle::transaction;

inline constexpr settle::service<order, receipt, "shop", settle::barrier> shop;
inline constexpr settle::service<wide_order, receipt, "store", settle::barrier> store;
inline constexpr settle::service<empty_request, settle::nothing, "bell", settle::barrier> bell;
inline constexpr settle::service<order, receipt, "prices", settle::plain> prices;

constexpr auto customer = param<&basket::customer>;
constexpr auto amount = param<&basket::amount>;

template <settle::fixed_string Name>
constexpr auto bought = participant<Name>(shop).apply(call(customer, amount)).compensate(call());
constexpr auto paid = participant<"paid">(shop).apply(call(customer, amount));
constexpr auto noted = participant<"noted">(shop).confirm(call(customer, amount));

template <std::size_t Index, typename Definition>
using participant_at = typename std::remove_cvref_t<Definition>::template participant_type<Index>;

constexpr auto sequential = transaction<basket, "one">(noted, bought<"a">, bought<"b">, paid);
static_assert(participant_at<0, decltype(sequential)>::stage == 3,
              "a confirm alone is of the last stage");
static_assert(participant_at<1, decltype(sequential)>::stage == 1 &&
              participant_at<2, decltype(sequential)>::stage == 2);
static_assert(participant_at<3, decltype(sequential)>::stage == 3);
static_assert(participant_at<3, decltype(sequential)>::is_pivot &&
              !participant_at<2, decltype(sequential)>::is_pivot);
static_assert(!participant_at<0, decltype(sequential)>::is_pivot, "a confirm is no pivot");

constexpr auto grouped =
    transaction<basket, "grouped">(together(bought<"a">, noted, bought<"b">), bought<"c">);
static_assert(std::remove_cvref_t<decltype(grouped)>::participant_count == 4);
static_assert(participant_at<0, decltype(grouped)>::stage == 1 &&
              participant_at<2, decltype(grouped)>::stage == 1);
static_assert(participant_at<1, decltype(grouped)>::stage == 2 &&
              participant_at<3, decltype(grouped)>::stage == 2);

constexpr auto alone = transaction<basket, "alone">(noted);
static_assert(participant_at<0, decltype(alone)>::stage == 0);

// A query takes a stage, and is no pivot.
constexpr auto queried = participant<"queried">(prices).apply(settle::query(customer, 1));
constexpr auto priced = transaction<basket, "priced">(
    queried, participant<"bought">(shop)
                 .apply(call(customer, result_from<"queried", &receipt::price>* amount))
                 .compensate(call(result_from<"queried", &receipt::number>, 1))
                 .confirm(call(result_from<"bought", &receipt::number>,
                               result_from<"bought", &receipt::price>)));
static_assert(participant_at<0, decltype(priced)>::stage == 1 &&
              !participant_at<0, decltype(priced)>::is_pivot);
static_assert(participant_at<1, decltype(priced)>::stage == 2);

// The moments may be given in any order.
constexpr auto reordered =
    participant<"reordered">(shop).compensate(call()).confirm(call()).apply(call(customer, amount));
static_assert(transaction<basket, "reordered">(reordered).participant_count == 1);

// A range, whole values, optional values, literals of a narrower type.
constexpr auto wide =
    participant<"wide">(store, settle::each<&basket::lines>)
        .apply(call(settle::line<&line::item>, settle::line<&line::count>, param<&basket::limit>,
                    param<&basket::first>))
        .compensate(call("none", settle::lit<0>, std::nullopt, param<&basket::first>));
static_assert(transaction<basket, "wide">(wide).participant_count == 1);

// A request without members.
constexpr auto rung = participant<"rung">(bell).confirm(call());
static_assert(transaction<basket, "rung">(rung).participant_count == 1);

// The limits of the engine hold where a participant sets none.
using limited = decltype(bought<"a">.tries<5>().pauses<10, 2000>());
static_assert(limited::attempts == 5 && participant_at<1, decltype(sequential)>::attempts == 0);
static_assert(limited::first_pause == std::chrono::milliseconds{10});
static_assert(limited::longest_pause == std::chrono::seconds{2});
constexpr auto limits = transaction<basket, "limits">(bought<"a">.tries<5>());
static_assert(participant_at<0, decltype(limits)>::attempts == 5);

} // namespace calls
