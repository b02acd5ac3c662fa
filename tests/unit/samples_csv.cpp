// SPDX-License-Identifier: BSL-1.0
// The samples' table reader, on real files and on every kind of damage the samples must survive.
#include <shared/csv.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace {

/// A file that lives as long as the test.
class scratch_file {
public:
    explicit scratch_file(std::string_view content) {
        std::ofstream{path_, std::ios::binary} << content;
    }
    ~scratch_file() { std::filesystem::remove(path_); }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                  ("settle-samples-" + std::to_string(getpid()) + ".csv");
};

std::vector<samples::csv_row> rows_of(std::string_view content) {
    scratch_file file{content};
    samples::csv_file table{file.path()};
    std::vector<samples::csv_row> rows;
    for (samples::csv_row row; table.next(row);) rows.push_back(row);
    return rows;
}

std::string refusal_of(std::filesystem::path const& path) {
    try {
        samples::csv_file{path};
    } catch (samples::input_error const& error) {
        return error.what();
    }
    return "no refusal";
}

std::string refusal_of_content(std::string_view content) {
    return refusal_of(scratch_file{content}.path());
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::filesystem::path sample(std::string_view name) {
    return std::filesystem::path{SETTLE_DATA_DIR} / name;
}

using fields = std::vector<std::string>;

}  // namespace

TEST_SUITE("samples: csv") {
    TEST_CASE("rows carry the line where they begin") {
        auto const rows = rows_of("a,b\n1,2\n\n3,\"x\ny\"\n5,6\n");
        REQUIRE(rows.size() == 3);
        CHECK(rows[0].line == 2);
        CHECK(rows[0].fields == fields{"1", "2"});
        CHECK(rows[1].line == 4);
        CHECK(rows[1].fields == fields{"3", "x\ny"});
        CHECK(rows[2].line == 6);
    }

    TEST_CASE("byte order mark, CRLF, quotes, commas, spaces and a last line without an end") {
        auto const rows = rows_of("\xEF\xBB\xBF\"a\",b\r\n\"1, \"\"one\"\"\", 2 \r\n,caf\xC3\xA9");
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].fields == fields{"1, \"one\"", " 2 "});
        CHECK(rows[1].fields == fields{"", "caf\xC3\xA9"});
        scratch_file file{"\xEF\xBB\xBFid,x\n"};
        CHECK(samples::csv_file{file.path()}.column("id") == 0);
    }

    TEST_CASE("a missing column is named, and so are those that are there") {
        scratch_file file{"id,amount,id\n"};
        samples::csv_file const table{file.path()};
        CHECK(table.has_columns({"id", "amount"}));
        CHECK_FALSE(table.has_columns({"id", "source"}));
        CHECK(table.column("amount") == 1);
        std::string said;
        try {
            table.column("source");
        } catch (samples::input_error const& error) {
            said = error.what();
        }
        CHECK(has(said, "there is no column 'source'; the header names id, amount, id"));
        CHECK_THROWS_WITH_AS(table.column("id"),
                             doctest::Contains("names the column 'id' twice"),
                             samples::input_error);
    }

    TEST_CASE("files that cannot be used") {
        CHECK(has(refusal_of("/nowhere/at-all.csv"), "at-all.csv: there is no such file"));
        CHECK(has(refusal_of(std::filesystem::temp_directory_path()), "this is a directory"));
        CHECK(has(refusal_of_content(""), "the file is empty"));
        CHECK(has(refusal_of_content("\xEF\xBB\xBF\r\n\n"), "the file is empty"));
        CHECK(has(refusal_of_content("a,\"b\n"), "line 1: a quote that opens is never closed"));
        CHECK(has(refusal_of_content({"a\0,b\n", 5}), "line 1: field 1 holds a NUL byte"));
        CHECK(has(refusal_of_content("a,b\rc,d\r"), "line 1: a quote or a carriage return"));
    }

    TEST_CASE("a bad row says why and leaves the rows behind it alone") {
        struct damage {
            std::string_view bad, problem;
            fields kept;
        };
        damage const cases[] = {
            {"x,y,z", "the line has 3 fields where the header has 2", {"x"}},
            {"x", "the line has 1 field where the header has 2", {"x"}},
            {"\xFF,y,z", "the line has 3 fields where the header has 2", {}},
            {"x,\"y", "a quote that opens is never closed", {"x"}},
            {"x,\"y\"z", "a quote or a carriage return stands where none may be", {"x"}},
            {"x,y\"z", "a quote or a carriage return stands where none may be", {"x"}},
            {"x,y\rz,1", "a quote or a carriage return stands where none may be", {"x", "y"}},
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

    TEST_CASE("a stray quote does not reach into a quoted field further down") {
        auto const rows = rows_of("a,b\n\"1,2\n3,4\n5,\"x, y\"\n");
        REQUIRE(rows.size() == 3);
        CHECK_FALSE(rows[0]);
        CHECK(rows[1].fields == fields{"3", "4"});
        CHECK(rows[2].fields == fields{"5", "x, y"});
    }

    TEST_CASE("an endless row is given up, and what follows is read") {
        std::string const endless(samples::line_reader::longest + 10, 'x');
        auto const rows = rows_of("a,b\n" + endless + "\n1,2\n");
        REQUIRE(rows.size() == 2);
        CHECK(has(rows[0].problem, "longer than 1 MiB"));
        CHECK(rows[1].line == 3);
        CHECK(rows[1].fields == fields{"1", "2"});
    }

    TEST_CASE("lines that cross the reader's blocks stay whole") {
        std::string content = "id,text\n";
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

    TEST_CASE("the samples' own files are read whole") {
        samples::csv_file orders{sample("transfer/payment_orders.csv")};
        std::set<std::string> ids;
        samples::csv_row row;
        while (orders.next(row)) {
            REQUIRE(row);
            ids.insert(row.fields[orders.column("order_id")]);
        }
        CHECK(ids.size() == 6471);
        CHECK(row.line == 6472);

        samples::csv_file retail{sample("payment/online_retail.csv")};
        std::set<std::string> invoices;
        auto const invoice = retail.column("InvoiceNo");
        while (retail.next(row)) {
            REQUIRE(row);
            invoices.insert(row.fields[invoice]);
        }
        CHECK(invoices.size() == 512);
        CHECK(row.line == 10000);
        CHECK(retail.share() == doctest::Approx(1.0));
    }
}
