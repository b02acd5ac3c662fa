// SPDX-License-Identifier: BSL-1.0
// The samples' texts for people: money, store addresses, exit codes.
#include <shared/exit_code.hpp>
#include <shared/money.hpp>
#include <shared/store_address.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace {

std::string refusal_of_money(std::string_view text) {
    try {
        return "taken as " + std::to_string(samples::parse_money("amount", text));
    } catch (samples::input_error const& error) {
        return error.what();
    }
}

std::string refusal_of_address(std::string_view text) {
    try {
        samples::parse_store_address(text);
        return "taken";
    } catch (samples::input_error const& error) {
        return error.what();
    }
}

} // namespace

TEST_SUITE("samples: money") {
    TEST_CASE("text: decimals become hundredths") {
        struct reading {
            std::string_view text;
            std::int64_t hundredths;
        };
        reading const cases[] = {
            {"245.20", 24520},
            {".80", 80},
            {".8", 80},
            {"1000", 100000},
            {"-12.3", -1230},
            {"12,50", 1250},
            {"-0,5", -50},
            {",05", 5},
            {"0", 0},
            {"-.05", -5},
            {"0012.50", 1250},
            {"92233720368547758.07", std::numeric_limits<std::int64_t>::max()},
            {"-92233720368547758.08", std::numeric_limits<std::int64_t>::min()},
        };
        for (reading const& each : cases) {
            CAPTURE(each.text);
            CHECK(samples::parse_money("amount", each.text) == each.hundredths);
        }
    }

    TEST_CASE("text: an invalid amount is refused with its reason") {
        CHECK(refusal_of_money("") == "the amount is empty");
        for (auto const* text : {"1.234", "1.000", ".001"}) {
            CAPTURE(text);
            CHECK(refusal_of_money(text) ==
                  "the amount '" + std::string{text} + "' has more than two decimals");
        }
        for (auto const* text :
             {".", "-", "-.", "5.", "abc", "12 ", " 12", "+3", "1e3", "--1", "0x10", "1.-2"}) {
            CAPTURE(text);
            CHECK(refusal_of_money(text) ==
                  "the amount '" + std::string{text} + "' is not a decimal number such as 245.20");
        }
        // A comma before three digits may part thousands or be a decimal point; nothing is guessed.
        for (auto const* text : {"1,000.00", "1.000,50", "1,000", "-1,234", "1,000,000", "1.2.3",
                                 "12,345", "1.000.000", "1,00,000"}) {
            CAPTURE(text);
            CHECK(refusal_of_money(text) ==
                  "the amount '" + std::string{text} +
                      "' seems to have thousands separators, and may mean more than one number; "
                      "write it as 1234.50");
        }
        for (auto const* text : {",", "-,", "5,", ",123", "1,x", "1.,2"}) {
            CAPTURE(text);
            CHECK_THROWS_AS(samples::parse_money("amount", text), samples::input_error);
        }
        for (auto const* text :
             {"92233720368547758.08", "-92233720368547758.09", "99999999999999999999999999"}) {
            CAPTURE(text);
            CHECK(refusal_of_money(text) ==
                  "the amount '" + std::string{text} + "' goes beyond 64 bits");
        }
        auto const long_text = refusal_of_money(std::string(500, 'x'));
        CHECK(long_text.size() < 150);
    }

    TEST_CASE("text: whole numbers, products and sums are checked") {
        CHECK(samples::parse_whole("quantity", "-12") == -12);
        CHECK_THROWS_WITH_AS(samples::parse_whole("quantity", "1.5"),
                             "the quantity '1.5' is not a number", samples::input_error);
        CHECK_THROWS_AS(samples::parse_whole("quantity", ""), samples::input_error);
        CHECK_THROWS_AS(samples::parse_whole("quantity", "9223372036854775808"),
                        samples::input_error);
        CHECK(samples::multiply(255, 6) == 1530);
        auto const most = std::numeric_limits<std::int64_t>::max();
        CHECK_THROWS_AS(samples::multiply(most, 2), samples::input_error);
        CHECK(samples::add(most - 1, 1) == most);
        CHECK_THROWS_AS(samples::add(most, 1), samples::input_error);
    }

    TEST_CASE("text: hundredths are printed and read back unchanged") {
        CHECK(samples::format_money(123456) == "1234.56");
        CHECK(samples::format_money(-5) == "-0.05");
        for (std::int64_t const value :
             {std::int64_t{0}, std::int64_t{7}, std::int64_t{-130},
              std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
            CHECK(samples::parse_money("amount", samples::format_money(value)) == value);
        }
    }
}

TEST_SUITE("samples: text") {
    TEST_CASE("text: store addresses are parsed") {
        using samples::store_kind;
        CHECK(samples::parse_store_address("memory:") ==
              samples::store_address{store_kind::memory, ""});
        CHECK(samples::parse_store_address("sqlite:/tmp/a:b.db") ==
              samples::store_address{store_kind::sqlite, "/tmp/a:b.db"});
        // The server's client parses the rest and reports its errors.
        CHECK(
            samples::parse_store_address("mongodb://one:1,two/bank?replicaSet=rs") ==
            samples::store_address{store_kind::mongodb, "mongodb://one:1,two/bank?replicaSet=rs"});
        for (std::string const text : {"postgresql://a:b@one:1,two/bank", "postgres://h/bank"}) {
            CHECK(samples::parse_store_address(text) ==
                  samples::store_address{store_kind::postgresql, text});
        }
        CHECK(samples::parse_store_address("mariadb://a:b@one:1/bank") ==
              samples::store_address{store_kind::mariadb, "mariadb://a:b@one:1/bank"});
        for (auto const* text : {"", "bank.db", "oracle:x", "SQLITE:x", ":x"}) {
            CHECK(refusal_of_address(text) == "'" + std::string{text} +
                                                  "' is no address of a store; known are "
                                                  "sqlite:PATH, memory:, "
                                                  "mongodb://HOST[:PORT][,…]/DATABASE, "
                                                  "postgresql://HOST[:PORT][,…]/DATABASE and "
                                                  "mariadb://HOST[:PORT]/DATABASE");
        }
        CHECK(refusal_of_address("sqlite:").find("does not say which file") != std::string::npos);
        CHECK(refusal_of_address("memory:x").find("memory: has none") != std::string::npos);
    }

    TEST_CASE("text: no sentence about a store address has its password") {
        CHECK(refusal_of_address("postgre://bank:hush@h/bank")
                  .starts_with("'postgre:…' is no address of a store; "));
        CHECK(refusal_of_address("memory:bank:hush@h").starts_with("'memory:…' names a path"));
        CHECK(refusal_of_address("host=h dbname=bank password=hush")
                  .starts_with("the --store is no address of a store; "));
        CHECK(refusal_of_address("pg://h/bank?password=hush").starts_with("'pg:…' is no address"));
    }

    TEST_CASE("text: only a server's store has a program of its own") {
        using samples::store_kind;
        CHECK(samples::server_of(store_kind::memory) == nullptr);
        CHECK(samples::server_of(store_kind::sqlite) == nullptr);
        CHECK(samples::server_of(store_kind::mongodb)->name == "mongodb");
        CHECK(samples::server_of(store_kind::postgresql)->name == "postgresql");
        CHECK(samples::server_of(store_kind::mariadb)->name == "mariadb");
        CHECK(samples::known_stores(false) == "sqlite:PATH and memory:");
    }

    TEST_CASE("text: the graver of two exit codes counts") {
        using samples::exit_code;
        CHECK(samples::worse(exit_code::settled, exit_code::refused) == exit_code::refused);
        CHECK(samples::worse(exit_code::unsettled, exit_code::refused) == exit_code::unsettled);
    }
}
