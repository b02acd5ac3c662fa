// SPDX-License-Identifier: BSL-1.0
// The samples' texts for people: money, store addresses, escaped names, entries.
#include <shared/entries.hpp>
#include <shared/money.hpp>
#include <shared/store.hpp>
#include <shared/text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace {

std::string refusal_of_address(std::string const& text) {
    try {
        return "taken for " + std::string{samples::server_of(text, true)};
    } catch (samples::input_error const& error) {
        return error.what();
    }
}

} // namespace

TEST_SUITE("samples: text") {
    TEST_CASE("text: decimals become hundredths, and are printed and read back unchanged") {
        auto const most = std::numeric_limits<std::int64_t>::max();
        auto const least = std::numeric_limits<std::int64_t>::min();
        using reading = std::pair<char const*, std::int64_t>;
        for (reading const& each : {reading{"245.20", 24520},
                                    {".80", 80},
                                    {".8", 80},
                                    {"1000", 100000},
                                    {"-12.3", -1230},
                                    {"0", 0},
                                    {"-.05", -5},
                                    {"0012.50", 1250},
                                    {"92233720368547758.07", most},
                                    {"-92233720368547758.08", least}}) {
            CAPTURE(each.first);
            CHECK(samples::parse_money("amount", each.first) == each.second);
            auto const printed = samples::format_money(each.second);
            CHECK(samples::parse_money("amount", printed) == each.second);
        }
        for (std::string const text :
             {"",      ".",     "-",        "-.",       "5.",    "abc",  "12 ",
              " 12",   "+3",    "1e3",      "--1",      "0x10",  "1.-2", "1.234",
              "12,50", "1,000", "1,000.50", "1.000,50", "1.2.3", "1-2"}) {
            CAPTURE(text);
            CHECK_THROWS_WITH_AS(samples::parse_money("amount", text),
                                 ("the amount '" + text +
                                  "' is not a number such as 1245.20, with digits, and two "
                                  "decimals at most behind a point")
                                     .c_str(),
                                 samples::input_error);
        }
        for (auto const* text : {"92233720368547758.08", "99999999999999999999999999"}) {
            CHECK_THROWS_WITH_AS(samples::parse_money("amount", text),
                                 doctest::Contains("goes beyond 64 bits"), samples::input_error);
        }
        CHECK(samples::parse_whole("quantity", "-12") == -12);
        for (auto const* text : {"", "1.5", "9223372036854775808"}) {
            CHECK_THROWS_AS(samples::parse_whole("quantity", text), samples::input_error);
        }
        CHECK_THROWS_AS(samples::multiply(most, 2), samples::input_error);
        CHECK(samples::add(most - 1, 1) == most);
        CHECK_THROWS_AS(samples::add(most, 1), samples::input_error);
    }

    TEST_CASE("text: invisible characters are escaped, and all others stay") {
        CHECK(samples::printable("caf\xC3\xA9 \"x\", 12.50!") == "caf\xC3\xA9 \\\"x\\\", 12.50!");
        CHECK(samples::printable("\"x\", 12.50!") == "\"x\", 12.50!");
        CHECK(samples::printable("a\nb\r\tc\\") == "a\\nb\\r\\tc\\\\");
        CHECK(samples::printable("\x1B[31m\x7F") == "\\x1b[31m\\x7f");
        CHECK(samples::printable("\xE2\x80\xAE\xC2\x9B") == "\\u202e\\x9b");
        CHECK(samples::printable("\xFF\xC3(") == "\\xff\\xc3(");
        CHECK(samples::printable({"a\0b", 3}) == "a\\x00b");
        CHECK(samples::with_commas(999) == "999");
        CHECK(samples::with_commas(6471) == "6,471");
        CHECK(samples::with_commas(1234567) == "1,234,567");
    }

    TEST_CASE("text: an address names its server, and no sentence has its password") {
        CHECK(samples::server_of("sqlite:/tmp/a:b.db", false).empty());
        CHECK(samples::server_of("memory:", true).empty());
        CHECK(samples::server_of("mongodb+srv://one/bank", true) == "mongodb");
        CHECK(samples::server_of("postgres://h/bank", true) == "postgresql");
        CHECK(samples::server_of("mariadb://a:b@one:1/bank", true) == "mariadb");
        CHECK_THROWS_AS(samples::server_of("mariadb://one/bank", false), samples::input_error);
        CHECK(refusal_of_address("postgre://bank:hush@h/bank") ==
              "'postgre:…' is no address of a store; known are sqlite:PATH, memory:, "
              "mongodb://HOST[:PORT][,…]/DATABASE, postgresql://HOST[:PORT][,…]/DATABASE and "
              "mariadb://HOST[:PORT]/DATABASE");
        for (auto const* text : {"", "bank.db", "host=h password=hush"}) {
            CHECK(refusal_of_address(text).starts_with("the --store is no address of a store; "));
        }
    }

    TEST_CASE("text: an entry shows its trace, if it has one") {
        settle::entry shown;
        CHECK(samples::to_text(shown).find("traceparent") == std::string::npos);
        shown.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        CHECK(samples::to_text(shown).find(shown.traceparent + "\n") != std::string::npos);
        CHECK(samples::to_json_text(shown).find("\"traceparent\":\"" + shown.traceparent) !=
              std::string::npos);
    }
}
