// SPDX-License-Identifier: BSL-1.0
// settle::picture: what it tells of each kind of participant, that the pages show it as it is, and
// that Graphviz draws it.
#include "metrics_text.hpp"

#include <settle/picture.hpp>

#include <payment/payment.hpp>
#include <transfer/transfer.hpp>
#include <trip/trip.hpp>

// The step is a program: its main becomes a function of this one.
#define main()                                                                                     \
    not_called();                                                                                  \
    void step_5()
#include <tutorial/step_5.cpp>
#undef main

namespace operating_test {
namespace {

using settle::call;
using settle::field;
using settle::lit;
using settle::param;
using settle::result_from;

struct seat {
    std::string id;
    std::string holder;
    std::int64_t price = 0;
};
struct ticket {
    std::string id;
};
struct fare {
    std::int64_t price = 0;
};
struct question {
    std::string seat;
};
struct sale {
    std::string seat, buyer;
    std::vector<ticket> tickets;
};
struct line {
    std::string account;
    std::int64_t amount = 0;
};

} // namespace
} // namespace operating_test
SETTLE_STRUCT(operating_test::seat, id, holder, price);
SETTLE_STRUCT(operating_test::ticket, id);
SETTLE_STRUCT(operating_test::fare, price);
SETTLE_STRUCT(operating_test::question, seat);
SETTLE_STRUCT(operating_test::sale, seat, buyer, tickets);
SETTLE_STRUCT(operating_test::line, account, amount);
namespace operating_test {
namespace {

inline constexpr settle::collection<seat, "seats", &seat::id> seats;
inline constexpr settle::collection<ticket, "tickets", &ticket::id> tickets;
inline constexpr settle::service<question, fare, "fares", settle::plain> fares;
inline constexpr settle::service<line, settle::nothing, "mail", settle::barrier> mail;
inline constexpr settle::prepared<line, "ledger"> ledger;

/// The bag is compensated after the letter, which uses its price, and for nothing else.
inline constexpr settle::service<question, fare, "bags", settle::barrier> bags;
inline constexpr auto packed_type = settle::transaction<sale, "packed">(
    settle::participant<"bag">(bags).apply(call(param<&sale::seat>)).compensate(call()),
    settle::participant<"stamp">(mail).apply(call(param<&sale::buyer>, lit<1>)).compensate(call()),
    settle::participant<"letter">(mail)
        .apply(call(param<&sale::buyer>, result_from<"bag", &fare::price>))
        .compensate(call()));

/// A participant of each kind.
inline constexpr auto sale_type = settle::transaction<sale, "sale">(
    settle::participant<"seat">(seats, param<&sale::seat>)
        .require(field<&seat::holder> == lit<"\"nobody\"">)
        .confirm(field<&seat::holder> = param<&sale::buyer>),
    settle::participant<"tickets">(tickets, settle::each<&sale::tickets>, settle::line<&ticket::id>)
        .apply(settle::create())
        .compensate(settle::inverse),
    settle::participant<"books">(ledger).apply(call(param<&sale::buyer>, lit<1>)),
    settle::participant<"fare">(fares).apply(settle::query(param<&sale::seat>)),
    settle::participant<"letter">(mail)
        .apply(call(param<&sale::buyer>, result_from<"fare", &fare::price>))
        .compensate(call()));

/// The blocks of a page that GitHub draws.
std::string charts_of(std::string const& page) {
    std::istringstream lines{testing::read_file(testing::data_file(page))};
    std::string charts;
    bool inside = false;
    for (std::string text; std::getline(lines, text);) {
        if (text == "```") inside = false;
        if (inside) charts += text + '\n';
        if (text == "```mermaid") inside = true;
    }
    return charts;
}

} // namespace

TEST_CASE("picture: a page shows its types as they are") {
    CHECK(charts_of("transfer/README.md") == settle::picture(bank::transfer_type).mermaid);
    CHECK(charts_of("trip/README.md") == settle::picture(agency::trip_type).mermaid);
    CHECK(charts_of("../README.md") ==
          settle::picture(::transfer_type).mermaid + settle::picture(::trip_type).mermaid);
}

TEST_CASE("picture: a call that only follows the commit is in no stage, and cannot fail") {
    auto const mailed = settle::transaction<sale, "mailed">(
        settle::participant<"letter">(mail).confirm(call(param<&sale::buyer>, lit<1>)));
    auto const drawn = settle::picture(mailed).mermaid;
    CHECK(drawn.find("begin_ --> commit --> confirm --> done([\"done\"])\n") != std::string::npos);
    CHECK(drawn.find("call of mail") == std::string::npos);
    CHECK(drawn.find("-.->") == std::string::npos);
}

TEST_CASE("picture: each kind of participant tells what it does, what may fail, and what follows") {
    auto const drawn = settle::picture(sale_type).mermaid;
    auto const has = [&](std::string_view text) {
        CHECK_MESSAGE(drawn.find(text) != std::string::npos, text << " is not in\n" << drawn);
    };
    has(R"(record of seats<br/>require #quot;\#quot;nobody\#quot;#quot; == holder<br/>exclusive)");
    has("seat: confirm holder = param.buyer");
    has("tickets: record of tickets, for each of tickets<br/>apply create");
    has("record exists, busy too often");
    has("tickets: the apply is undone");
    has("books: prepared in ledger<br/>run, and prepare");
    has("books: commit");
    has("books: rolled back");
    has("fare: call of fares<br/>call without an effect");
    has("letter: call of mail");
    has("letter: compensate, until it answers");
    CHECK(drawn.find("fare: compensate") == std::string::npos);
    CHECK(drawn.find("deciding") == std::string::npos);
}

TEST_CASE("picture: a call whose result a later call uses is compensated after it") {
    auto const ordered = settle::picture(agency::trip_type.compensate_in_order()).mermaid;
    CHECK(ordered.find("flight: compensate, until it answers, after all later stages") !=
          std::string::npos);
    CHECK(settle::picture(agency::trip_type).mermaid.find("after all later") == std::string::npos);
    auto const packed = settle::picture(packed_type).mermaid;
    CHECK(packed.find("bag: compensate, until it answers, after letter") != std::string::npos);
    CHECK(packed.find("stamp: compensate, until it answers<br/>") != std::string::npos);
}

TEST_CASE("picture: Graphviz draws every part") {
    auto const dot = installed("dot", "graphviz");
    testing::scratch_folder const folder{"pictures"};
    for (auto const& drawn :
         {settle::picture(sale_type), settle::picture(shop::payment_type),
          settle::picture(bank::transfer_type), settle::picture(agency::trip_type)}) {
        auto const file = folder.write("type.dot", drawn.dot);
        auto const svg = said_by(dot + " -Tsvg " + file);
        CHECK(svg.find("Warning") == std::string::npos);
        // As many boxes, edges and frames as the chart in the other language has.
        auto const count = [](std::string const& text, std::string_view word) {
            std::size_t found = 0;
            for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
            return found;
        };
        CHECK(count(svg, "class=\"edge\"") ==
              count(drawn.mermaid, " --> ") + count(drawn.mermaid, " -.->"));
        CHECK(count(svg, "class=\"cluster\"") == count(drawn.mermaid, "subgraph "));
        // A box, an end and a decision begin with these; so does a frame.
        CHECK(count(svg, "class=\"node\"") == count(drawn.mermaid, "[\"") +
                                                  count(drawn.mermaid, "{{\"") -
                                                  count(drawn.mermaid, "subgraph "));
    }
}

} // namespace operating_test
