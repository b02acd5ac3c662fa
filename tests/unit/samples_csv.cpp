// SPDX-License-Identifier: BSL-1.0
// The samples' table reader, on real files and on every kind of damage the samples must survive.
#include "scratch_file.hpp"

#include <shared/csv.hpp>
#include <shared/text.hpp>

#include <contains.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::contains;
using testing::scratch_file;

/// The rows as texts: "2 1|x", or "3 ! why it cannot be read".
std::vector<std::string> rows_of(std::string_view content) {
    scratch_file const file{content};
    samples::csv_file table{file.path(), {{"a", "b"}}};
    std::vector<std::string> rows;
    while (table.next()) {
        auto const line = std::to_string(table.line());
        rows.push_back(table.problem().empty() ? line + " " + table[0] + "|" + table[1]
                                               : line + " ! " + table.problem());
    }
    return rows;
}

std::string refusal_of(std::filesystem::path const& path) {
    try {
        samples::csv_file{path, {{"a", "b"}, {"a", "c", "d"}}};
    } catch (samples::input_error const& error) {
        return error.what();
    }
    return "no refusal";
}

std::string refusal_of_content(std::string_view content) {
    scratch_file const file{content};
    return refusal_of(file.path());
}

using rows = std::vector<std::string>;

} // namespace

TEST_SUITE("samples: csv") {
    TEST_CASE("csv: byte order mark, CRLF, quotes, spaces and an unterminated last line are read") {
        CHECK(rows_of("\xEF\xBB\xBF\"A\",b\r\n\r\n\"1, \"\"one\"\"\", 2 \r\n,caf\xC3\xA9") ==
              rows{"3 1, \"one\"| 2 ", "4 |caf\xC3\xA9"});
        CHECK(rows_of("x,B,\xFF,a\n\xFF,1,\xFE,#2\n") == rows{"2 #2|1"});
    }

    TEST_CASE("csv: unusable files are refused") {
        CHECK(contains(refusal_of("/nowhere/at-all.csv"), "at-all.csv: there is no such file"));
        CHECK(contains(refusal_of(std::filesystem::temp_directory_path()), "this is a directory"));
        CHECK(contains(refusal_of_content(""), "the file is empty"));
        CHECK(contains(refusal_of_content("\xEF\xBB\xBF\r\n\n"), "the file is empty"));
        CHECK(contains(refusal_of_content("a,\"b\n"), "line 1: a quote is misplaced, or not "));
        CHECK(contains(refusal_of_content({"a\0,\0b\0\n\0", 9}), "is it in UTF-16?"));
        CHECK(contains(refusal_of_content("a,b\rc,d\r"), "line 1: a carriage return is inside"));
        CHECK(contains(refusal_of_content("a,b,A\n"), "the header names the column 'a' twice"));
        CHECK(contains(refusal_of_content("a;b\n1;2\n"),
                       "there is no column 'a'; the header names a;b. A table has the columns a, "
                       "b; or a, c, d, separated by commas"));
    }

    TEST_CASE("csv: a bad row has its reason and does not affect later rows") {
        std::string const quote = "a quote is misplaced, or not closed in its line";
        struct damage {
            std::string bad, problem;
        };
        damage const cases[] = {
            {"x,y,z", "the line has 3 fields where the header has 2; a field with a comma must be "
                      "in quotes"},
            {"x", "the line has 1 field where the header has 2"},
            {"# x", "the line has 1 field where the header has 2"},
            {"x,\"y", quote},
            {"\"x,y", quote},
            {"x,\"y\"z", quote},
            {"x,y\"z", quote},
            {"x,y\rz,1", "a carriage return is inside the line"},
            {"x,\xC3(", "field 2 is not valid UTF-8"},
            {"\xFF,y", "field 1 is not valid UTF-8"},
            {{"x,y\0", 4}, "field 2 holds a NUL byte"},
            {std::string((std::size_t{1} << 20U) + 1, 'x'), "the line is longer than 1 MiB"},
        };
        for (damage const& each : cases) {
            CAPTURE(each.problem);
            CHECK(rows_of("a,b\n1,2\n" + each.bad + "\n3,\"4, 5\"\n") ==
                  rows{"2 1|2", "3 ! " + each.problem, "4 3|4, 5"});
        }
    }

    TEST_CASE("csv: the samples' own files are read whole") {
        std::filesystem::path const folder{SETTLE_DATA_DIR};
        samples::csv_file orders{folder / "transfer/payment_orders.csv", {{"order_id"}}};
        while (orders.next()) REQUIRE(orders.problem() == "");
        CHECK(orders.line() == 6472);
        samples::csv_file retail{folder / "payment/online_retail.csv", {{"invoiceno"}}};
        while (retail.next()) REQUIRE(retail.problem() == "");
        CHECK(retail.line() == 10000);
    }
}
