// SPDX-License-Identifier: BSL-1.0
// The JSON that the samples print, as another library reads and writes it.
#include <shared/json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>

using samples::json_value;

TEST_SUITE("samples: json") {
    TEST_CASE("json: values have the layout of another library, in ASCII") {
        auto const value = json_value::object(
            {{"text", "\"q\" \\ \n \x1b \x7f é € 😀"},
             {"number", std::numeric_limits<std::uint64_t>::max()},
             {"below", std::numeric_limits<std::int64_t>::min()},
             {"real", 0.25},
             {"yes", true},
             {"none", {}},
             {"list", json_value::list({1, "two", json_value::list({})})},
             {"object", json_value::object({{"ключ", json_value::object({})}})},
             {"parsed", json_value::parsed(" {\"a\" : [1.5, {}, [ ]], \"b\": \"\\u00e9\\\"\"} ")}});
        auto const other = nlohmann::ordered_json::parse(value.to_ascii());
        CHECK(other["text"] == "\"q\" \\ \n \x1b \x7f é € 😀");
        CHECK(other["parsed"]["a"].size() == 3);
        CHECK(value.to_ascii() == other.dump(-1, ' ', true));
        CHECK(value.to_ascii(2) == other.dump(2, ' ', true));
    }

    TEST_CASE("json: what is no JSON is a text, and what is no character is replaced") {
        CHECK(json_value::parsed("").is_null());
        for (std::string const text : {"{oops", "1 2", "\"", "[1]]", "\xff", "nul"}) {
            auto const value = json_value::parsed(text);
            REQUIRE(value.text() != nullptr);
            CHECK(*value.text() == text);
        }
        CHECK(json_value{"a\xff\xe2\x82"}.to_ascii() == R"("a\ufffd\ufffd")");
        CHECK(json_value{"\\"}.to_ascii(2) == R"("\\")");
    }
}
