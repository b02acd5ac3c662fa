// SPDX-License-Identifier: BSL-1.0
// The samples read their tables: requests, and refusals with line and reason.
#include "scratch_file.hpp"

#include <payment/invoices.hpp>
#include <transfer/orders.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

using texts = std::vector<std::string>;

/// Each piece as a text: "2 t1 A-B 80" or "4 no customer: its sentence".
struct shown {
    std::string operator()(samples::refusal const& no) const {
        return fmt::format("{} {}: {}", no.line, no.reason, no.sentence);
    }
    std::string operator()(samples::request<bank::transfer> const& order) const {
        auto const& [source, destination, amount] = order.parameters;
        return fmt::format("{} {} {}>{} {}", order.line, order.id, source, destination, amount);
    }
    template <typename Parameters>
    std::string operator()(samples::request<Parameters> const& invoice) const {
        auto const& of = invoice.parameters;
        return fmt::format("{} {} {} {} lines {}", invoice.line, invoice.id, of.customer,
                           of.lines.size(), of.amount);
    }
};

template <typename Reader>
texts pieces_of(std::string_view content) {
    testing::scratch_file const table{content};
    Reader reader{table.path()};
    texts pieces;
    for (typename Reader::piece piece; reader.next(piece);) {
        pieces.push_back(std::visit(shown{}, piece));
    }
    return pieces;
}

/// Of the shop's invoices, refusals without their sentence.
texts invoices_of(std::string_view lines) {
    auto pieces = pieces_of<shop::invoice_reader>(
        "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n" + std::string{lines});
    for (auto& each : pieces) each.resize(std::min(each.size(), each.find(':')));
    return pieces;
}

} // namespace

TEST_SUITE("samples: input") {
    TEST_CASE("orders: both headers are read in any order of columns") {
        CHECK(pieces_of<bank::order_reader>("order_id,account,bank_to,account_to,amount,purpose\n"
                                            "29401,1,YZ,87144583,.80,HH\n3,1,,5,1,HH\n") ==
              texts{"2 29401 1>YZ-87144583 80",
                    "3 no account: order '3' names no destination account"});
        CHECK(pieces_of<bank::order_reader>("AMOUNT,destination,note,source,Id\n"
                                            "12.50,B,x,A,#t1\n") == texts{"2 #t1 A>B 1250"});
    }

    TEST_CASE("orders: each bad line is refused with its reason, and other lines are read") {
        auto const money = [](std::string const& id, std::string const& amount) {
            return "unusable amount: order '" + id + "': the amount '" + amount +
                   "' is not a number such as 1245.20, with digits, and two decimals at most "
                   "behind "
                   "a point";
        };
        CHECK(pieces_of<bank::order_reader>(
                  "id,source,destination,amount\n1,A,B,0\n2,A,B,-5\n3,A,B,1.234\n"
                  "4,A,B,99999999999999999999\n5,A,A,1\n6,,B,1\n7,A,,1\n,A,B,1\n9,A,B\n"
                  "10,A,B,\"1,000.50\"\nTotal,,,3\n,,,\n"
                  "id,source,destination,amount\n11,A,B,1\n") ==
              texts{"2 amount not above zero: order '1': the amount 0 is not above zero",
                    "3 amount not above zero: order '2': the amount -5 is not above zero",
                    "4 " + money("3", "1.234"),
                    "5 unusable amount: order '4': the amount '9999999999999999999900' goes beyond "
                    "64 bits",
                    "6 source is destination: order '5' goes from account 'A' to itself",
                    "7 no account: order '6' names no source account",
                    "8 no account: order '7' names no destination account",
                    "9 no id: the order has no id",
                    "10 unreadable line: the line has 3 fields where the header has 4",
                    "11 " + money("10", "1,000.50"),
                    "12 no account: order 'Total' names no source account",
                    "13 no id: the order has no id", "14 " + money("id", "amount"),
                    "15 11 A>B 100"});
    }

    TEST_CASE("invoices: the lines of an invoice become one payment, those of a C one refund") {
        CHECK(invoices_of("A,x,2,1.50,7\nA,y,1,.25,7\nA,y,1,.25,7\nCB,x,-2,1.50,7\n") ==
              texts{"2 A 7 3 lines 350", "5 CB 7 1 lines 300"});
    }

    TEST_CASE("invoices: a bad line refuses its whole invoice and no other") {
        struct bad_line {
            std::string line, reason;
        };
        for (bad_line const& each : {bad_line{"A,x,1,1,", "no customer"},
                                     {"A,x,1,1,8", "two customers"},
                                     {"A,,1,1,7", "no stock code"},
                                     {"A,x,0,1,7", "quantity of 0"},
                                     {"A,x,-1,1,7", "negative quantity"},
                                     {"A,x,1,0,7", "price of 0"},
                                     {"A,x,1,-1,7", "negative price"},
                                     {"A,x,one,1,7", "unusable number"},
                                     {"A,x,1,1.234,7", "unusable number"},
                                     {"A,x,9000000000000000000,9,7", "unusable number"}}) {
            CAPTURE(each.line);
            CHECK(invoices_of("Z,x,1,1,7\nA,x,1,1,7\n" + each.line + "\nA,x,1,1,7\nB,x,1,1,7\n") ==
                  texts{"2 Z 7 1 lines 100", "4 " + each.reason, "6 B 7 1 lines 100"});
        }
        CHECK(invoices_of("CA,x,1,1,7\n") == texts{"2 positive quantity in a refund"});
    }

    TEST_CASE("invoices: a line without a readable number makes its neighbours doubtful") {
        for (std::string const bad : {"A,\"x,1,1,7", "A,x", ",x,1,1,7", ",,2,,", "\xFF,x,1,1,7"}) {
            CAPTURE(bad);
            CHECK(invoices_of("Y,x,1,1,7\nZ,x,1,1,7\n" + bad + "\nA,x,1,1,7\nB,x,1,1,7\n") ==
                  texts{"4 unreadable line", "2 Y 7 1 lines 100", "4 unreadable line",
                        "5 unreadable line", "6 B 7 1 lines 100"});
        }
    }

    TEST_CASE("invoices: an invoice whose lines are apart is refused: it may be there twice") {
        CHECK(invoices_of("A,x,1,1,7\nB,y,1,1,7\nA,x,1,1,7\nD,z,1,1,7\n") ==
              texts{"4 scattered lines", "3 B 7 1 lines 100", "5 D 7 1 lines 100"});
        // Two whole tables in one file.
        std::string const table = "A,x,1,1,7\nB,y,1,1,7\n";
        CHECK(invoices_of(table + "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n" + table) ==
              texts{"5 scattered lines", "6 scattered lines", "4 unusable number"});
    }

    TEST_CASE("invoices: the shop's real file is read") {
        shop::invoice_reader reader{std::filesystem::path{SETTLE_DATA_DIR} /
                                    "payment/online_retail.csv"};
        std::map<std::string, int> refused;
        int payments = 0;
        int refunds = 0;
        for (shop::invoice_reader::piece piece; reader.next(piece);) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) ++refused[no->reason];
            if (std::get_if<samples::request<shop::payment>>(&piece)) ++payments;
            if (std::get_if<samples::request<shop::refund>>(&piece)) ++refunds;
        }
        CHECK(refused == std::map<std::string, int>{{"no customer", 68}, {"price of 0", 1}});
        CHECK(payments == 400);
        CHECK(refunds == 43);
    }
}
