// SPDX-License-Identifier: BSL-1.0
// The two samples read their tables: requests, and refusals with line and reason.
#include "scratch_file.hpp"

#include <payment/invoices.hpp>
#include <transfer/orders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

template <typename Reader>
std::vector<typename Reader::piece> pieces_of(std::string_view content) {
    testing::scratch_file const table{content};
    Reader reader{table.path()};
    std::vector<typename Reader::piece> pieces;
    for (typename Reader::piece piece; reader.next(piece);) pieces.push_back(piece);
    return pieces;
}

std::string const retail_header = "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n";

/// The pieces as short texts: "2 payment A 7 300" or "refused 4 no customer".
std::vector<std::string> invoices_of(std::string_view lines) {
    std::vector<std::string> texts;
    auto const shown = [](std::string_view type, auto const& request) {
        return fmt::format("{} {} {} {} {}", request.line, type, request.id,
                           request.parameters.customer, request.parameters.amount);
    };
    for (auto const& piece : pieces_of<shop::invoice_reader>(retail_header + std::string{lines})) {
        if (auto const* refused = std::get_if<samples::refusal>(&piece)) {
            texts.push_back(fmt::format("refused {} {}", refused->line, refused->reason));
        } else if (auto const* paid = std::get_if<samples::request<shop::payment>>(&piece)) {
            texts.push_back(shown("payment", *paid));
        } else if (auto const* back = std::get_if<samples::request<shop::refund>>(&piece)) {
            texts.push_back(shown("refund", *back));
        } else {
            texts.push_back(fmt::format("remark {}", std::get<samples::remark>(piece).line));
        }
    }
    return texts;
}

using lines_of = std::vector<std::string>;

} // namespace

TEST_SUITE("samples: orders of the bank") {
    TEST_CASE("orders: both headers are read in any order of columns") {
        auto const bank = pieces_of<bank::order_reader>(
            "order_id,account,bank_to,account_to,amount,purpose\n29401,1,YZ,87144583,.80,HH\n");
        REQUIRE(bank.size() == 1);
        auto const& order = std::get<samples::request<bank::transfer>>(bank[0]);
        CHECK(order.line == 2);
        CHECK(order.id == "29401");
        CHECK(order.parameters.source == "1");
        CHECK(order.parameters.destination == "YZ-87144583");
        CHECK(order.parameters.amount == 80);
        auto const plain =
            pieces_of<bank::order_reader>("amount,destination,note,source,id\n12.50,B,x,A,t1\n");
        auto const& transfer = std::get<samples::request<bank::transfer>>(plain.at(0));
        CHECK(transfer.id == "t1");
        CHECK(transfer.parameters.source == "A");
        CHECK(transfer.parameters.destination == "B");
        CHECK(transfer.parameters.amount == 1250);
    }

    TEST_CASE("orders: a missing column is named") {
        CHECK_THROWS_WITH_AS(pieces_of<bank::order_reader>("id,source,amount\n"),
                             doctest::Contains("no column 'destination'; the header names id, "),
                             samples::input_error);
        CHECK_THROWS_WITH_AS(pieces_of<bank::order_reader>("a,b\n"),
                             doctest::Contains("no column 'id' or 'order_id'"),
                             samples::input_error);
    }

    TEST_CASE("orders: each bad line is refused with its reason, and other lines are read") {
        auto const pieces = pieces_of<bank::order_reader>("id,source,destination,amount\n"
                                                          "1,A,B,0\n"
                                                          "2,A,B,-5\n"
                                                          "3,A,B,1.234\n"
                                                          "4,A,B,99999999999999999999\n"
                                                          "5,A,A,1\n"
                                                          "6,,B,1\n"
                                                          "7,A,,1\n"
                                                          ",A,B,1\n"
                                                          "9,A,B\n"
                                                          "10,A,B,ten\n"
                                                          "11,A,B,1\n");
        char const* const sentences[] = {
            "order '1': the amount 0 is not above zero",
            "order '2': the amount -5 is not above zero",
            "order '3': the amount '1.234' has more than two decimals",
            "order '4': the amount '99999999999999999999' goes beyond 64 bits",
            "order '5' goes from account 'A' to itself",
            "order '6' names no source account",
            "order '7' names no destination account",
            "the order has no id",
            "the line has 3 fields where the header has 4",
            "order '10': the amount 'ten' is not a decimal number such as 245.20",
        };
        REQUIRE(pieces.size() == 11);
        for (std::size_t at = 0; at < 10; ++at) {
            auto const& refused = std::get<samples::refusal>(pieces[at]);
            CHECK(refused.line == at + 2);
            CHECK(refused.sentence == sentences[at]);
        }
        CHECK(std::get<samples::request<bank::transfer>>(pieces[10]).id == "11");
    }

    TEST_CASE("orders: totals, blanks and headers are neither orders nor refusals") {
        auto const pieces = pieces_of<bank::order_reader>("id,source,destination,amount\n"
                                                          "1,A,B,1\n,,,\nID,SOURCE,Destination, "
                                                          "amount\n2,A,B,2\n,,,3\nTotal,,,3\n"
                                                          ",Sum:,,3\n,A,,3\n3,Total,B,3\n");
        REQUIRE(pieces.size() == 8);
        for (std::size_t const at : {1U, 3U, 4U, 5U}) {
            CAPTURE(at);
            CHECK(std::get_if<samples::remark>(&pieces[at]) != nullptr);
        }
        CHECK(std::get<samples::refusal>(pieces[6]).reason == "no id");
        auto const& named_so = std::get<samples::request<bank::transfer>>(pieces[7]);
        CHECK_MESSAGE(named_so.parameters.source == "Total", "whole orders are orders");
    }

    TEST_CASE("orders: totals of any form move no money") {
        std::string const plain = "id,source,destination,amount\n";
        std::string const at_bank = "order_id,account,bank_to,account_to,amount\n";
        for (auto const& text :
             {plain + "Total: 10", plain + "Total 10", plain + "\"Total: 1,000.00\"",
              plain + "Total, , ,10", plain + " , , ,10", plain + "Total:,-,-,10",
              plain + "-,-,Total,10", plain + " ,Total,-,10", plain + "Summe;10",
              plain + "total,total,,10", at_bank + ",,,Total,10", at_bank + ",,Total,,10",
              at_bank + "Total,-,-,-,10", at_bank + ",Sum,,,10"}) {
            CAPTURE(text);
            auto const pieces = pieces_of<bank::order_reader>(text + "\n");
            REQUIRE(pieces.size() == 1);
            CHECK(std::get_if<samples::remark>(&pieces[0]) != nullptr);
        }
        // A row with an id is an order, and an incomplete order is refused.
        for (auto const& each : {std::pair{plain + "1,total,,10", "no account"},
                                 {plain + "1,,Total,10", "no account"},
                                 {plain + "2, ,b,10", "no account"},
                                 {plain + "2,a,\xC2\xA0,10", "no account"},
                                 {plain + " ,a,b,10", "no id"},
                                 {at_bank + "1,total,YZ,,10", "no account"},
                                 {at_bank + "1,a, ,5,10", "no account"},
                                 {at_bank + "1,a,YZ, ,10", "no account"}}) {
            CAPTURE(each.first);
            auto const pieces = pieces_of<bank::order_reader>(each.first + "\n");
            REQUIRE(pieces.size() == 1);
            CHECK(std::get<samples::refusal>(pieces[0]).reason == each.second);
        }
        // CSV has no comments.
        for (std::string const id : {"#1001", "#EU1001", "--", "--x", "//7", "# 2"}) {
            auto const named = pieces_of<bank::order_reader>(plain + id + ",a,b,10\n");
            CHECK(std::get<samples::request<bank::transfer>>(named.at(0)).id == id);
        }
        auto const lone = pieces_of<bank::order_reader>(plain + "# end\n");
        CHECK(std::get<samples::refusal>(lone.at(0)).reason == "unreadable line");
    }

    TEST_CASE("orders: either header may come in the middle, in any order of columns") {
        auto const pieces = pieces_of<bank::order_reader>(
            "id,source,destination,amount\n1,A,B,1\namount,destination,source,id\n2,D,C,7\n"
            "order id,account,bank to,account to,amount\n3,E,YZ,8,4\n");
        REQUIRE(pieces.size() == 5);
        auto const& second = std::get<samples::request<bank::transfer>>(pieces[2]);
        CHECK(second.id == "7");
        CHECK(second.parameters.source == "C");
        auto const& third = std::get<samples::request<bank::transfer>>(pieces[4]);
        CHECK(third.parameters.destination == "YZ-8");
    }
}

TEST_SUITE("samples: invoices of the shop") {
    TEST_CASE("invoices: the lines of an invoice become one payment, those of a C one refund") {
        CHECK(invoices_of("A,x,2,1.50,7\nA,y,1,.25,7\nCB,x,-2,1.50,7\n") ==
              lines_of{"2 payment A 7 325", "4 refund CB 7 300"});
        auto const pieces = pieces_of<shop::invoice_reader>(retail_header + "CB,x,-2,1.50,7\n");
        auto const& refund = std::get<samples::request<shop::refund>>(pieces.at(0)).parameters;
        REQUIRE(refund.lines.size() == 1);
        CHECK(refund.lines[0].stock_code == "x");
        CHECK(refund.lines[0].quantity == 2);
        CHECK(refund.lines[0].price == 150);
    }

    TEST_CASE("invoices: a bad line refuses its whole invoice and no other") {
        struct bad_line {
            char const* line;
            char const* reason;
        };
        bad_line const cases[] = {
            {"A,x,1,1,", "no customer"},
            {"A,x,1,1,8", "two customers"},
            {"A,,1,1,7", "no stock code"},
            {"A,x,0,1,7", "quantity of 0"},
            {"A,x,-1,1,7", "negative quantity"},
            {"A,x,1,0,7", "price of 0"},
            {"A,x,1,-1,7", "negative price"},
            {"A,x,one,1,7", "unusable number"},
            {"A,x,1,1.234,7", "unusable number"},
            {"A,x,1,1", "unreadable line"},
            {"A,x,9000000000000000000,9,7", "unusable number"},
            {"A,\"x,1,1,7", "unreadable line"},
            {"A,x,1,1, ", "no customer"},
            {"A,\xC2\xA0,1,1,7", "no stock code"},
        };
        for (bad_line const& each : cases) {
            CAPTURE(each.line);
            std::string const bad = each.line;
            CHECK(invoices_of("Z,x,1,1,7\nA,x,1,1,7\n" + bad + "\nA,x,1,1,7\nB,x,1,1,7\n") ==
                  lines_of{"2 payment Z 7 100", fmt::format("refused 4 {}", each.reason),
                           "6 payment B 7 100"});
        }
        CHECK(invoices_of("CA,x,1,1,7\n") == lines_of{"refused 2 positive quantity in a refund"});
    }

    TEST_CASE("invoices: a damaged line belongs to the invoice that it names") {
        // As the first line of the invoice, as the last line of the file, and without an invoice.
        CHECK(invoices_of("Z,x,1,1,7\nA,x\nA,x,1,1,7\n") ==
              lines_of{"2 payment Z 7 100", "refused 3 unreadable line"});
        CHECK(invoices_of("Z,x,1,1,7\nA,x\n") ==
              lines_of{"2 payment Z 7 100", "refused 3 unreadable line"});
        CHECK(invoices_of("Z,x,1,1,7\nrubbish\nZ,x,1,1,7\n") ==
              lines_of{"2 payment Z 7 200", "refused 3 unreadable line", "remark 4"});
    }

    TEST_CASE("invoices: a line without an invoice number makes its neighbours doubtful") {
        CHECK(invoices_of("Y,x,1,1,7\nZ,x,1,1,7\n\xFF,x\nA,x,1,1,7\nB,x,1,1,7\n") ==
              lines_of{"2 payment Y 7 100", "refused 3 unreadable line",
                       "refused 4 unreadable line", "refused 5 unreadable line",
                       "6 payment B 7 100"});
        CHECK(invoices_of("Z,x,1,1,7\n ,x,1,1,7\nZ,x,1,1,7\nB,x,1,1,7\n") ==
              lines_of{"refused 2 unreadable line", "refused 3 unreadable line",
                       "5 payment B 7 100"});
        CHECK(invoices_of("Z,x,1,1,7\n,x,1,1,7\n") ==
              lines_of{"refused 2 unreadable line", "refused 3 unreadable line"});
    }

    TEST_CASE("invoices: scattered lines are gathered, in the order of the numbers") {
        CHECK(invoices_of("1001,x,1,1,7\n1002,y,1,1,7\n1001,z,1,1,7\n") ==
              lines_of{"remark 4", "2 payment 1001 7 200", "3 payment 1002 7 100"});
        CHECK(invoices_of("99,x,1,1,7\nC7,y,-1,1,7\n100,z,1,1,7\n99,y,1,1,7\n8,x,1,1,7\n") ==
              lines_of{"remark 5", "3 refund C7 7 100", "6 payment 8 7 100", "2 payment 99 7 200",
                       "4 payment 100 7 100"});
        auto const ids = [](std::string const& lines) {
            std::vector<std::string> found;
            for (auto const& piece : pieces_of<shop::invoice_reader>(retail_header + lines)) {
                if (auto const* paid = std::get_if<samples::request<shop::payment>>(&piece)) {
                    found.push_back(paid->id);
                }
            }
            return found;
        };
        CHECK(ids("INV-2024-10,x,1,1,7\nINV-2024-9,x,1,1,7\nB1,x,1,1,7\nINV-2023-11,x,1,1,7\n"
                  "INV-2024-010a,x,1,1,7\n7,x,1,1,7\n99999999999999999999999,x,1,1,7\n"
                  "B1,y,1,1,7\n") == lines_of{"7", "99999999999999999999999", "B1", "INV-2023-11",
                                              "INV-2024-9", "INV-2024-10", "INV-2024-010a"});
        // If no invoice is scattered, the order of the file is kept.
        CHECK(invoices_of("9,x,1,1,7\n8,x,1,1,7\n") ==
              lines_of{"2 payment 9 7 100", "3 payment 8 7 100"});
        auto const pieces = pieces_of<shop::invoice_reader>(
            retail_header + "A,x,1,1,7\nB,y,1,1,7\nA,z,1,1,7\nB,z,1,1,7\n");
        auto const& sentence = std::get<samples::remark>(pieces.at(0)).sentence;
        CHECK(sentence.find("invoice 'A' has this line and others from line 2 on that are "
                            "scattered, and so have 1 more invoices") == 0);
        CHECK(std::get<samples::remark>(pieces.at(0)).line == 4);
    }

    TEST_CASE("invoices: a bad line refuses its scattered invoice, an unnumbered line all") {
        CHECK(invoices_of("A,x,1,1,7\nB,y,1,1,7\nA,z,0,1,7\n") ==
              lines_of{"remark 4", "refused 4 quantity of 0", "3 payment B 7 100"});
        CHECK(invoices_of("A,x,1,1,7\nB,y,1,1,7\n,q,1,1,7\nC,z,-1,1,7\nA,z,1,1,7\n") ==
              lines_of{"refused 4 unreadable line", "remark 6", "refused 2 unreadable line",
                       "refused 3 unreadable line", "refused 5 unreadable line"});
    }

    TEST_CASE("invoices: an invoice whose lines are repeated is refused with both line numbers") {
        auto const refusals = [](std::string const& lines) {
            std::vector<std::string> found;
            for (auto const& piece : pieces_of<shop::invoice_reader>(retail_header + lines)) {
                if (auto const* no = std::get_if<samples::refusal>(&piece)) {
                    found.push_back(no->sentence);
                }
            }
            return found;
        };
        std::string const all = "invoice 'A': it has each of its lines more than once, ";
        std::string const rest = "; remove one of them, or add their quantities in one line";
        CHECK(refusals("A,x,1,1,7\nB,y,1,1,7\nA,x,1,1,7\n") ==
              lines_of{all + "line 4 repeats line 2" + rest});
        CHECK(refusals("A,x,1,1,7\nA,y,1,1,7\nB,y,1,1,7\nA,x,1,1,7\nA,y,1,1,7\n") ==
              lines_of{all + "line 5 repeats line 2" + rest});
        // Written twice, or three times, and then sorted by code or by number, or in any order.
        CHECK(
            refusals("A,x,1,1,7\nA,x,1,1,7\nB,x,1,1,7\nB,x,1,1,7\nA,y,1,1,7\nA,y,1,1,7\n").size() ==
            2);
        CHECK(refusals("A,y,1,1,7\nB,x,1,1,7\nA,x,1,1,7\nA,x,1,1,7\nB,x,1,1,7\nA,y,1,1,7\n") ==
              lines_of{all + "line 5 repeats line 4" + rest,
                       "invoice 'B'" + all.substr(11) + "line 6 repeats line 3" + rest});
        CHECK(
            refusals("A,x,1,1,7\nA,x,1,1,7\nA,x,1,1,7\nB,x,1,1,7\nB,x,1,1,7\nB,x,1,1,7\n").size() ==
            2);
        CHECK(refusals("A,x,1,1,7\nA,x,1,1,7\nB,x,1,1,7\nB,z,1,1,7\n").empty());
        CHECK(refusals("A,x,1,1,7\nA,y,1,1,7\nB,x,1,1,7\nA,x,1,1,7\nA,x,1,1,7\n").empty());
        // A repeated line alone is not a repeated invoice: an order may name an item twice.
        CHECK(refusals("A,x,1,1,7\nB,y,1,1,7\nA,x,1,1,7\nB,z,1,1,7\nA,y,1,1,7\n").empty());
        // Two equal neighbour lines are no repeated invoice either. Both count, and a remark
        // reports it.
        CHECK(invoices_of("A,x,1,1,7\nA,x,1,1,7\n") == lines_of{"2 payment A 7 200", "remark 3"});
    }

    TEST_CASE("invoices: totals, blanks and a second header refuse no invoice") {
        CHECK(invoices_of("A,x,1,1,7\n,,,,\nA,y,1,1,7\n,,2,,\n, ,-,2, \n") ==
              lines_of{"2 payment A 7 200", "remark 5", "remark 6"});
        CHECK(invoices_of("A,x,1,1,7\nTotal: 5\nTotal:,-,-,5,-\nTotal, ,5, , \n") ==
              lines_of{"2 payment A 7 100", "remark 3", "remark 4", "remark 5"});
        // A line with a quantity and a price alone is a damaged line, not a line of sums.
        CHECK(invoices_of("Z,x,1,1,7\nA,x,1,1,7\n,,2,2,\n") ==
              lines_of{"2 payment Z 7 100", "refused 3 unreadable line",
                       "refused 4 unreadable line"});
        CHECK(invoices_of("A,x,1,1,7\nTotal,,1,1,\n") == lines_of{"2 payment A 7 100", "remark 3"});
        CHECK(invoices_of("A,x,1,1,7\n" + retail_header + "A,y,1,1,7\n") ==
              lines_of{"2 payment A 7 200", "remark 3"});
        // A total that another invoice follows may be a damaged line of either invoice.
        CHECK(invoices_of("A,x,1,1,7\n,,2,,\nB,y,1,1,7\n") ==
              lines_of{"refused 2 unreadable line", "refused 3 unreadable line",
                       "refused 4 unreadable line"});
    }

    TEST_CASE("invoices: the shop's file sorted by stock code gives the same invoices") {
        auto const path = std::filesystem::path{SETTLE_DATA_DIR} / "payment/online_retail.csv";
        std::ifstream file{path};
        std::string header;
        std::getline(file, header);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line + "\n");
        auto const code = [](std::string const& line) {
            auto const from = line.find(',') + 1;
            return line.substr(from, line.find(',', from) - from);
        };
        std::stable_sort(lines.begin(), lines.end(), [&](auto const& one, auto const& other) {
            return code(one) < code(other);
        });
        auto text = header + "\n";
        for (auto const& line : lines) text += line;
        std::map<std::string, std::int64_t> expected;
        std::map<std::string, std::int64_t> found;
        auto const take = [](auto& into, shop::invoice_reader::piece const& piece) {
            std::visit(
                [&](auto const& each) {
                    if constexpr (requires { each.parameters; }) {
                        into[each.id] = each.parameters.amount;
                    }
                },
                piece);
        };
        shop::invoice_reader unsorted{path};
        for (shop::invoice_reader::piece piece; unsorted.next(piece);) take(expected, piece);
        for (auto const& piece : pieces_of<shop::invoice_reader>(text)) take(found, piece);
        CHECK(found.size() == 443);
        CHECK(found == expected);
    }

    TEST_CASE("invoices: the shop's real file is read") {
        shop::invoice_reader reader{std::filesystem::path{SETTLE_DATA_DIR} /
                                    "payment/online_retail.csv"};
        std::map<std::string, int> refused;
        int payments = 0;
        int refunds = 0;
        std::size_t longest = 0;
        for (shop::invoice_reader::piece piece; reader.next(piece);) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) ++refused[no->reason];
            if (std::get_if<samples::request<shop::refund>>(&piece)) ++refunds;
            if (auto const* order = std::get_if<samples::request<shop::payment>>(&piece)) {
                ++payments;
                longest = std::max(longest, order->parameters.lines.size());
            }
        }
        CHECK(refused == std::map<std::string, int>{{"no customer", 68}, {"price of 0", 1}});
        CHECK(payments == 400);
        CHECK(refunds == 43);
        CHECK(longest > 50);
    }
}
