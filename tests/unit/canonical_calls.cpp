// SPDX-License-Identifier: BSL-1.0
// The fingerprint of a definition with calls, and the changes of the definition that change it.
#include <settle/definition/canonical.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace canonical_calls {

struct line {
    std::string item;
};
struct basket {
    std::string customer;
    std::int64_t amount;
    std::vector<line> lines;
};
struct order {
    std::string customer;
    std::int64_t amount;
};
struct narrow_order {
    std::string customer;
    std::int32_t amount;
};
struct base_receipt {
    std::string number;
};
struct receipt : base_receipt {
    std::int64_t price;
};
struct short_receipt {
    std::string number;
};

SETTLE_STRUCT(line, item);
SETTLE_STRUCT(basket, customer, amount, lines);
SETTLE_STRUCT(order, customer, amount);
SETTLE_STRUCT(narrow_order, customer, amount);
SETTLE_STRUCT(receipt, number, price);
SETTLE_STRUCT(short_receipt, number);

using settle::call;
using settle::lit;
using settle::param;
using settle::participant;

namespace {

template <typename Request = order, typename Result = receipt, settle::fixed_string Name = "shop",
          settle::receiver_grade Grade = settle::barrier>
constexpr settle::service<Request, Result, Name, Grade> service{};

constexpr auto customer = param<&basket::customer>;
constexpr auto bought =
    participant<"bought">(service<>).apply(call(customer, lit<1>)).compensate(call());

template <typename... Participants>
std::string text(Participants const&... participants) {
    return settle::canonical_text(settle::transaction<basket, "type">(participants...));
}
/// The text of a call of a service.
template <typename Service>
std::string text_of(Service const& service) {
    return text(participant<"bought">(service).apply(call(customer, lit<1>)).compensate(call()));
}

} // namespace

TEST_SUITE("definition: canonical text") {
    TEST_CASE("canonical: calls have a fixed text") {
        CHECK(text(bought,
                   participant<"lines">(service<>, settle::each<&basket::lines>)
                       .confirm(call(settle::line<&line::item>,
                                     settle::result_from<"bought", &receipt::price>)),
                   participant<"priced">(service<>).apply(settle::query(
                       settle::result_from<"bought", &receipt::number>, param<&basket::amount>))) ==
              "settle 1\n"
              "transaction type\n"
              "parameters {customer:text,amount:i64,lines:[{item:text,}],}\n"
              "participant bought calls shop stage 1\n"
              " request {customer:text,amount:i64,}\n"
              " result {number:text,price:i64,}\n"
              " apply param.customer 1\n"
              " compensate param.customer 1\n"
              "participant lines each param.lines calls shop stage 2\n"
              " request {customer:text,amount:i64,}\n"
              " confirm line.item result bought.price\n"
              "participant priced calls shop stage 2\n"
              " request {customer:text,amount:i64,}\n"
              " result {number:text,price:i64,}\n"
              " query result bought.number param.amount\n");
    }

    TEST_CASE("canonical: prepared parts have a fixed text") {
        constexpr settle::prepared<order, "ledger"> ledger;
        auto const booked = participant<"booked">(ledger).apply(call(customer, lit<1>));
        CHECK(text(booked, participant<"lines">(ledger, settle::each<&basket::lines>)
                               .apply(call(settle::line<&line::item>, param<&basket::amount>))) ==
              "settle 1\n"
              "transaction type\n"
              "parameters {customer:text,amount:i64,lines:[{item:text,}],}\n"
              "participant booked prepared in ledger\n"
              " request {customer:text,amount:i64,}\n"
              " apply param.customer 1\n"
              "participant lines each param.lines prepared in ledger\n"
              " request {customer:text,amount:i64,}\n"
              " apply line.item param.amount\n");
        constexpr settle::prepared<order, "stock"> stock;
        CHECK(text(participant<"booked">(stock).apply(call(customer, lit<1>))) != text(booked));
        CHECK(text(participant<"booked">(ledger).apply(call(customer, lit<2>))) != text(booked));
    }

    TEST_CASE("canonical: the grade and the limits of a call do not matter") {
        auto const usual = text(bought);
        CHECK(text(bought.tries<7>().pauses<1, 9>()) == usual);
        CHECK(text_of(service < order, receipt, "shop",
                      settle::remembers_keys | settle::keeps_refusals >) == usual);
        CHECK(text(participant<"bought">(service<>)
                       .compensate(call(customer, lit<1>))
                       .apply(call(customer, lit<1>))) == usual);
    }

    TEST_CASE("canonical: the service, its types, the moments and the stages of calls matter") {
        auto const usual = text(bought);
        CHECK(text_of(service<order, receipt, "store">) != usual);
        CHECK(text_of(service<narrow_order>) != usual);
        CHECK(text_of(service<order, short_receipt>) != usual);
        CHECK(text_of(service<order, settle::nothing>) != usual);
        CHECK(text(bought.confirm(call())) != usual);
        CHECK(text(participant<"bought">(service<>).apply(call(customer, lit<1>))) != usual);
        CHECK(text(participant<"bought">(service<>).apply(call(customer, lit<1>))) !=
              text(participant<"bought">(service<>).apply(settle::query(customer, lit<1>))));
        CHECK(text(participant<"bought">(service<>)
                       .apply(call(customer, lit<2>))
                       .compensate(call(customer, lit<1>))) != usual);
        constexpr auto other =
            participant<"other">(service<>).apply(call(customer, lit<1>)).compensate(call());
        CHECK(text(settle::together(bought, other)) != text(bought, other));
    }
}

} // namespace canonical_calls
