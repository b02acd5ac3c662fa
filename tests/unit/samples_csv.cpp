// SPDX-License-Identifier: BSL-1.0
// The samples' table reader, on real files and on every kind of damage the samples must survive.
#include "scratch_file.hpp"

#include <shared/csv.hpp>

#include <contains.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::contains;
using testing::scratch_file;

std::vector<samples::table_layout> const letters{{{"a"}, {"b"}}};

std::vector<samples::csv_row> rows_of(std::string_view content) {
    scratch_file file{content};
    samples::csv_file table{file.path(), letters};
    std::vector<samples::csv_row> rows;
    for (samples::csv_row row; table.next(row);) rows.push_back(row);
    return rows;
}

std::string refusal_of(std::filesystem::path const& path) {
    try {
        samples::csv_file{path, letters};
    } catch (samples::input_error const& error) {
        return error.what();
    }
    return "no refusal";
}

std::string refusal_of_content(std::string_view content) {
    return refusal_of(scratch_file{content}.path());
}

std::filesystem::path sample(std::string_view name) {
    return std::filesystem::path{SETTLE_DATA_DIR} / name;
}

using fields = std::vector<std::string>;

} // namespace

TEST_SUITE("samples: csv") {
    TEST_CASE("csv: each row has the line number of its start") {
        auto const rows = rows_of("a,b\n1,2\n\n3,\"x\ny\"\n5,6\n");
        REQUIRE(rows.size() == 3);
        CHECK(rows[0].line == 2);
        CHECK(rows[0].fields == fields{"1", "2"});
        CHECK(rows[1].line == 4);
        CHECK(rows[1].fields == fields{"3", "x\ny"});
        CHECK(rows[2].line == 6);
    }

    TEST_CASE("csv: byte order mark, CRLF, quotes, spaces and an unterminated last line are read") {
        auto const rows = rows_of("\xEF\xBB\xBF\"a\",b\r\n\"1, \"\"one\"\"\", 2 \r\n,caf\xC3\xA9");
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].fields == fields{"1, \"one\"", " 2 "});
        CHECK(rows[1].fields == fields{"", "caf\xC3\xA9"});
    }

    TEST_CASE("csv: an error names the missing, the present and the possible columns") {
        auto const refusal = refusal_of_content("x,b,c\n");
        CHECK(contains(refusal, "there is no column 'a'; the header names x, b, c. "));
        CHECK(contains(refusal,
                       "A table has the columns a, b, separated by comma, semicolon, tab or |"));
        CHECK(contains(refusal_of_content("a,b,a\n"), "the header names the column 'a' twice"));
        CHECK(contains(refusal_of_content("A,b, a\n"), "the header names the column 'a' twice"));
        std::vector<samples::table_layout> const two{{{"id", "number"}, {"sum"}}, {{"key"}}};
        scratch_file file{"id,x\n"};
        CHECK_THROWS_WITH_AS(samples::csv_file(file.path(), two),
                             doctest::Contains("there is no column 'sum'; the header names id, x. "
                                               "A table has the columns id (or number), sum; or "
                                               "key"),
                             samples::input_error);
    }

    TEST_CASE("csv: the error names the layout that lacks the fewest columns") {
        std::vector<samples::table_layout> const two{{{"id"}, {"sum"}},
                                                     {{"id"}, {"amount"}, {"bank"}}};
        CHECK(samples::find_columns(two, {"id"}).problem == "there is no column 'sum'");
        CHECK(samples::find_columns(two, {"x"}).problem == "there is no column 'id'");
        CHECK(samples::find_columns(two, {"id", "bank"}).problem == "there is no column 'amount'");
    }

    TEST_CASE("csv: delimiters vary, and column names ignore case, spaces and unseen characters") {
        for (std::string const delimiter : {",", ";", "\t", "|"}) {
            for (std::string const first : {"a", "A", " a ", "\"a\"",
                                            "\xC2\xA0"
                                            "a",
                                            "\xEF\xBB\xBF"
                                            "a",
                                            "_A", "a\xE2\x80\x8B"}) {
                CAPTURE(first + delimiter);
                auto const text = first + delimiter + "b\n1" + delimiter + "2\n";
                auto const rows = rows_of(text);
                REQUIRE(rows.size() == 1);
                CHECK(rows[0].fields == fields{"1", "2"});
            }
        }
        auto const rows = rows_of("sep=;\r\na;b\r\n1;2,5\r\n");
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].line == 3);
        CHECK(rows[0].fields == fields{"1", "2,5"});
        // If two columns match a name, the exact spelling counts.
        scratch_file file{"A,a,b\n1,2,3\n"};
        samples::csv_file table{file.path(), letters};
        samples::csv_row row;
        REQUIRE(table.next(row));
        CHECK(table.value(row, 0) == "2");
    }

    TEST_CASE("csv: lines that are not rows are skipped, and noted if not blank") {
        auto const rows = rows_of("a,b\n,\n  \n\"\",\"\"\n\xC2\xA0,\t\n1,2\n"
                                  "\xEF\xBB\xBF A ,B\nTotal\n#5\nb,a\n3,4\n");
        REQUIRE(rows.size() == 6);
        CHECK(rows[0].line == 6);
        CHECK(rows[0].fields == fields{"1", "2"});
        struct noted {
            std::size_t at;
            std::uint64_t line;
            std::string_view note;
        };
        for (noted const& expected :
             {noted{1, 7, "the header is repeated"}, noted{2, 8, "a line of sums"},
              noted{4, 10, "another header begins"}}) {
            CAPTURE(expected.line);
            auto const& row = rows[expected.at];
            CHECK(row.line == expected.line);
            CHECK_FALSE(row);
            CHECK(row.problem.empty());
            CHECK(contains(row.note, expected.note));
        }
        CHECK_MESSAGE(!rows[3].problem.empty(), "a line with too few fields is a damaged row");
        CHECK(rows[5].fields == fields{"3", "4"});
    }

    TEST_CASE("csv: a row is a row, whatever its first field begins with") {
        for (std::string const id : {"#EU1001", "#1001", "# 2", "#", "--", "--x", "//7", "// 2"}) {
            CAPTURE(id);
            for (auto const& text : {id + ",x", '"' + id + "\",x"}) {
                auto const rows = rows_of("a,b\n1,2\n" + text + "\n3,4\n");
                REQUIRE(rows.size() == 3);
                CHECK(rows[1]);
                CHECK(rows[1].fields == fields{id, "x"});
            }
            auto const short_row = rows_of("a,b\n" + id + "\n");
            REQUIRE(short_row.size() == 1);
            CHECK(contains(short_row[0].problem, "1 field where the header has 2"));
            CHECK(short_row[0].note.empty());
        }
        CHECK(contains(rows_of("a,b\n#\"x,2\n")[0].problem, "a quote"));
        CHECK(rows_of("#,a,b\n1,x,y\n")[0].fields == fields{"1", "x", "y"});
    }

    TEST_CASE("csv: before the header, a line of one field that begins with # is a comment") {
        for (std::string const comment : {"# made on Friday", " # x", "#\"x", "#EU1001"}) {
            CAPTURE(comment);
            auto const rows = rows_of(comment + "\n\n# more\na,b\n3,4\n");
            REQUIRE(rows.size() == 3);
            CHECK(rows[0].line == 1);
            CHECK(rows[1].line == 3);
            CHECK(contains(rows[1].note, "before the header is passed over as a comment"));
            CHECK(rows[2].fields == fields{"3", "4"});
        }
        CHECK(contains(refusal_of_content("#EU1,2\na,b\n"), "there is no column 'a'"));
        CHECK(contains(refusal_of_content("-- x\na,b\n"), "there is no column 'a'"));
        CHECK(contains(refusal_of_content("# a comment\n"), "the file is empty"));
        CHECK(contains(refusal_of_content("# a comment\nx,y\n"), "there is no column 'a'"));
    }

    TEST_CASE("csv: a second header applies from its line on") {
        scratch_file file{"a,b\n1,2\nb,x,a\n3,4,5\n6,7\n"};
        samples::csv_file table{file.path(), letters};
        samples::csv_row row;
        REQUIRE(table.next(row));
        CHECK(table.value(row, 0) == "1");
        REQUIRE(table.next(row));
        CHECK_FALSE(row.note.empty());
        REQUIRE(table.next(row));
        CHECK(table.value(row, 0) == "5");
        CHECK(table.value(row, 1) == "3");
        REQUIRE(table.next(row));
        CHECK(contains(row.problem, "2 fields where the header has 3"));
    }

    TEST_CASE("csv: columns that are not read may hold anything") {
        auto const rows = rows_of("x,a,\xFF,b\n\xFF,1,\xFE,2\n1,\xFF,1,2\n");
        REQUIRE(rows.size() == 2);
        CHECK(rows[0]);
        CHECK(rows[1].problem == "field 2 is not valid UTF-8");
    }

    TEST_CASE("csv: unusable files are refused") {
        CHECK(contains(refusal_of("/nowhere/at-all.csv"), "at-all.csv: there is no such file"));
        CHECK(contains(refusal_of(std::filesystem::temp_directory_path()), "this is a directory"));
        CHECK(contains(refusal_of_content(""), "the file is empty"));
        CHECK(contains(refusal_of_content("\xEF\xBB\xBF\r\n\n"), "the file is empty"));
        CHECK(
            contains(refusal_of_content("a,\"b\n"), "line 1: a quote that opens is never closed"));
        CHECK(contains(refusal_of_content({"a\0,\0b\0\n\0", 9}),
                       "is the file in UTF-16? Save it as"));
        for (std::string const text : {"a,b\rc,d\r", "a,b\rc,d", "# x\ra,b\rc,d\r"}) {
            CHECK(contains(refusal_of_content(text),
                           "the lines end with carriage returns only; save "));
        }
    }

    TEST_CASE("csv: a bad row has its reason and does not affect later rows") {
        struct damage {
            std::string_view bad, problem;
            fields kept;
        };
        damage const cases[] = {
            {"x,y,z",
             "the line has 3 fields where the header has 2; a field that contains a comma must be "
             "in quotes",
             {"x"}},
            {"x", "the line has 1 field where the header has 2", {"x"}},
            {"x;y",
             "the line has 1 field where the header has 2; is its delimiter a semicolon instead of "
             "a comma?",
             {"x;y"}},
            {"\"x,y\"",
             "the line has 1 field where the header has 2; the whole line is in quotes",
             {"x,y"}},
            {"x,\"y", "a quote that opens is never closed", {"x"}},
            {"x,\"y\"z", "a quote or a carriage return is not allowed at this position", {"x"}},
            {"x,y\"z", "a quote or a carriage return is not allowed at this position", {"x"}},
            {"x,y\rz,1",
             "a quote or a carriage return is not allowed at this position",
             {"x", "y"}},
            {"x,\xC3(", "field 2 is not valid UTF-8", {"x"}},
            {"\xFF,y", "field 1 is not valid UTF-8", {}},
            {{"x,y\0", 4}, "field 2 holds a NUL byte", {"x"}},
        };
        for (damage const& each : cases) {
            CAPTURE(each.bad);
            auto const rows = rows_of("a,b\n1,2\n" + std::string{each.bad} + "\n3,4\n5,6\n");
            REQUIRE(rows.size() == 4);
            CHECK(rows[1].line == 3);
            CHECK_FALSE(rows[1]);
            CHECK(rows[1].problem == each.problem);
            CHECK(rows[1].fields == each.kept);
            CHECK(rows[2].fields == fields{"3", "4"});
            CHECK(rows[2].line == 4);
            CHECK(rows[3].fields == fields{"5", "6"});
            CHECK(rows[3]);
        }
    }

    TEST_CASE("csv: a stray quote does not reach a later quoted field") {
        auto const rows = rows_of("a,b\n\"1,2\n3,4\n5,\"x, y\"\n");
        REQUIRE(rows.size() == 3);
        CHECK_FALSE(rows[0]);
        CHECK(rows[1].fields == fields{"3", "4"});
        CHECK(rows[2].fields == fields{"5", "x, y"});
    }

    TEST_CASE("csv: an overlong row is refused, and later rows are read") {
        std::string const endless(samples::line_reader::longest + 10, 'x');
        auto const rows = rows_of("a,b\n" + endless + "\n1,2\n");
        REQUIRE(rows.size() == 2);
        CHECK(contains(rows[0].problem, "longer than 1 MiB"));
        CHECK(rows[1].line == 3);
        CHECK(rows[1].fields == fields{"1", "2"});
    }

    TEST_CASE("csv: lines that cross the reader's blocks stay whole") {
        std::string content = "a,b\n";
        for (std::size_t row = 0; row < 5000; ++row) {
            content += std::to_string(row) + "," + std::string(row % 97, 'q') + "\r\n";
        }
        auto const rows = rows_of(content);
        REQUIRE(rows.size() == 5000);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            REQUIRE(rows[row].line == row + 2);
            REQUIRE(rows[row].fields == fields{std::to_string(row), std::string(row % 97, 'q')});
        }
    }

    TEST_CASE("csv: the samples' own files are read whole") {
        samples::csv_file orders{sample("transfer/payment_orders.csv"), {{{"order_id"}}}};
        std::set<std::string> ids;
        samples::csv_row row;
        while (orders.next(row)) {
            REQUIRE(row);
            ids.insert(orders.value(row, 0));
        }
        CHECK(ids.size() == 6471);
        CHECK(row.line == 6472);

        samples::csv_file retail{sample("payment/online_retail.csv"), {{{"InvoiceNo"}}}};
        std::set<std::string> invoices;
        while (retail.next(row)) {
            REQUIRE(row);
            invoices.insert(retail.value(row, 0));
        }
        CHECK(invoices.size() == 512);
        CHECK(row.line == 10000);
        CHECK(retail.share() == doctest::Approx(1.0));
    }
}
