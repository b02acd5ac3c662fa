// SPDX-License-Identifier: BSL-1.0
// What the two samples make of their tables: requests, and refusals with line and reason.
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

#include <unistd.h>

namespace {

/// A file that lives as long as the test.
struct scratch_table {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("settle-input-" + std::to_string(getpid()) + ".csv");
    explicit scratch_table(std::string_view content) {
        std::ofstream{path, std::ios::binary} << content;
    }
    ~scratch_table() { std::filesystem::remove(path); }
    scratch_table(scratch_table const&) = delete;
    scratch_table& operator=(scratch_table const&) = delete;
};

template <typename Reader>
std::vector<typename Reader::piece> pieces_of(std::string_view content) {
    scratch_table table{content};
    Reader reader{table.path};
    std::vector<typename Reader::piece> pieces;
    for (typename Reader::piece piece; reader.next(piece);) pieces.push_back(piece);
    return pieces;
}

std::string const retail_header = "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n";

/// The pieces in few words: "2 payment A 7 300" or "refused 4 no customer".
std::vector<std::string> invoices_of(std::string_view lines) {
    std::vector<std::string> words;
    auto const told = [](std::string_view type, auto const& asked) {
        return fmt::format("{} {} {} {} {}", asked.line, type, asked.id, asked.parameters.customer,
                           asked.parameters.amount);
    };
    for (auto const& piece : pieces_of<shop::invoice_reader>(retail_header + std::string{lines})) {
        if (auto const* refused = std::get_if<samples::refusal>(&piece)) {
            words.push_back(fmt::format("refused {} {}", refused->line, refused->reason));
        } else if (auto const* paid = std::get_if<samples::request<shop::payment>>(&piece)) {
            words.push_back(told("payment", *paid));
        } else {
            words.push_back(told("refund", std::get<2>(piece)));
        }
    }
    return words;
}

using told_as = std::vector<std::string>;

} // namespace

TEST_SUITE("samples: orders of the bank") {
    TEST_CASE("both headers are understood, in any order of columns") {
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

    TEST_CASE("a missing column is named") {
        CHECK_THROWS_WITH_AS(pieces_of<bank::order_reader>("id,source,amount\n"),
                             doctest::Contains("no column 'destination'; the header names id, "),
                             samples::input_error);
        CHECK_THROWS_WITH_AS(pieces_of<bank::order_reader>("a,b\n"),
                             doctest::Contains("no column 'order_id'"), samples::input_error);
    }

    TEST_CASE("each bad line is refused with its reason, and the others are given") {
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
            "order 1: the amount 0 is not above zero",
            "order 2: the amount -5 is not above zero",
            "order 3: the amount '1.234' has more than two decimals",
            "order 4: the amount '99999999999999999999' goes beyond 64 bits",
            "order 5 goes from account A to itself",
            "order 6 names no source account",
            "order 7 names no destination account",
            "the order has no id",
            "the line has 3 fields where the header has 4",
            "order 10: the amount 'ten' is not a decimal number such as 245.20",
        };
        REQUIRE(pieces.size() == 11);
        for (std::size_t at = 0; at < 10; ++at) {
            auto const& refused = std::get<samples::refusal>(pieces[at]);
            CHECK(refused.line == at + 2);
            CHECK(refused.sentence == sentences[at]);
        }
        CHECK(std::get<samples::request<bank::transfer>>(pieces[10]).id == "11");
    }
}

TEST_SUITE("samples: invoices of the shop") {
    TEST_CASE("lines of one invoice become one payment, and a C one refund") {
        CHECK(invoices_of("A,x,2,1.50,7\nA,y,1,.25,7\nCB,x,-2,1.50,7\n") ==
              told_as{"2 payment A 7 325", "4 refund CB 7 300"});
        auto const pieces = pieces_of<shop::invoice_reader>(retail_header + "CB,x,-2,1.50,7\n");
        auto const& refund = std::get<samples::request<shop::refund>>(pieces.at(0)).parameters;
        REQUIRE(refund.lines.size() == 1);
        CHECK(refund.lines[0].stock_code == "x");
        CHECK(refund.lines[0].quantity == 2);
        CHECK(refund.lines[0].price == 150);
    }

    TEST_CASE("one bad line refuses its whole invoice, and no other") {
        struct bad_line {
            char const* line;
            char const* reason;
        };
        bad_line const cases[] = {
            {"A,x,1,1,", "no customer"},       {"A,x,1,1,8", "two customers"},
            {"A,,1,1,7", "no stock code"},     {"A,x,0,1,7", "quantity of 0"},
            {"A,x,-1,1,7", "negative quantity"}, {"A,x,1,0,7", "price of 0"},
            {"A,x,1,-1,7", "negative price"},  {"A,x,one,1,7", "unusable number"},
            {"A,x,1,1.234,7", "unusable number"}, {"A,x,1,1", "unreadable line"},
            {"A,x,9000000000000000000,9,7", "unusable number"},
            {"A,\"x,1,1,7", "unreadable line"},
        };
        for (bad_line const& each : cases) {
            CAPTURE(each.line);
            std::string const bad = each.line;
            CHECK(invoices_of("Z,x,1,1,7\nA,x,1,1,7\n" + bad + "\nA,x,1,1,7\nB,x,1,1,7\n") ==
                  told_as{"2 payment Z 7 100", fmt::format("refused 4 {}", each.reason),
                        "6 payment B 7 100"});
        }
        CHECK(invoices_of("CA,x,1,1,7\n") == told_as{"refused 2 positive quantity in a refund"});
    }

    TEST_CASE("a damaged line that names an invoice belongs to that invoice") {
        // As the first line of the invoice, as the last line of the file, and as no one's line.
        CHECK(invoices_of("Z,x,1,1,7\nA,x\nA,x,1,1,7\n") ==
              told_as{"2 payment Z 7 100", "refused 3 unreadable line"});
        CHECK(invoices_of("Z,x,1,1,7\nA,x\n") ==
              told_as{"2 payment Z 7 100", "refused 3 unreadable line"});
        CHECK(invoices_of("Z,x,1,1,7\nrubbish\nZ,x,1,1,7\n") ==
              told_as{"2 payment Z 7 200", "refused 3 unreadable line"});
    }

    TEST_CASE("a line that names no invoice puts its neighbours in doubt") {
        CHECK(invoices_of("Y,x,1,1,7\nZ,x,1,1,7\n\xFF,x\nA,x,1,1,7\nB,x,1,1,7\n") ==
              told_as{"2 payment Y 7 100", "refused 4 unreadable line", "refused 3 unreadable line",
                      "refused 5 unreadable line", "6 payment B 7 100"});
        CHECK(invoices_of("Z,x,1,1,7\n,x,1,1,7\nZ,x,1,1,7\nB,x,1,1,7\n") ==
              told_as{"refused 3 unreadable line", "refused 4 unreadable line",
                      "5 payment B 7 100"});
        CHECK(invoices_of("Z,x,1,1,7\n,x,1,1,7\n") ==
              told_as{"refused 3 unreadable line", "refused 2 unreadable line"});
    }

    TEST_CASE("the shop's real file") {
        shop::invoice_reader reader{std::filesystem::path{SETTLE_DATA_DIR} /
                                    "payment/online_retail.csv"};
        std::map<std::string, int> refused;
        int payments = 0;
        int refunds = 0;
        std::size_t longest = 0;
        for (shop::invoice_reader::piece piece; reader.next(piece);) {
            if (auto const* no = std::get_if<samples::refusal>(&piece)) ++refused[no->reason];
            else if (piece.index() == 2) ++refunds;
            else ++payments;
            if (auto const* order = std::get_if<samples::request<shop::payment>>(&piece)) {
                longest = std::max(longest, order->parameters.lines.size());
            }
        }
        CHECK(refused == std::map<std::string, int>{{"no customer", 68}, {"price of 0", 1}});
        CHECK(payments == 400);
        CHECK(refunds == 43);
        CHECK(longest > 50);
    }
}
