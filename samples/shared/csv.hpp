// SPDX-License-Identifier: BSL-1.0
// Reads a table row by row with libcsv; a row that cannot be read says why and stops no other row.
#pragma once

#include "input_error.hpp"
#include "line_reader.hpp"

#include <settle/store/utf8.hpp>

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// One row, or the reason why it cannot be used.
struct csv_row {
    std::uint64_t line = 0;           // where the row begins in the file; the header is line 1
    std::vector<std::string> fields;  // with a problem: the ones before the damage, still certain
    std::string problem;              // a sentence; empty when the row is good

    explicit operator bool() const { return problem.empty(); }
};

namespace detail {

/// libcsv in strict mode, fed one physical line at a time. Its settings keep fields as they stand:
/// by itself it would cut spaces off both ends.
class csv_row_parser {
public:
    enum class state { row_complete, row_goes_on, malformed };

    csv_row_parser() { restart(); }
    ~csv_row_parser() { csv_free(&parser_); }
    csv_row_parser(csv_row_parser const&) = delete;
    csv_row_parser& operator=(csv_row_parser const&) = delete;

    /// Forgets what was fed, for a row that starts afresh.
    void restart() {
        if (started_) csv_free(&parser_);
        if (csv_init(&parser_, CSV_STRICT) != 0) throw std::bad_alloc();
        csv_set_space_func(&parser_, [](unsigned char) { return 0; });
        started_ = true;
        fields_ = nullptr;
    }

    /// Takes one line, which ends with a newline, and adds the fields that end in it.
    state feed(std::string_view line, std::vector<std::string>& fields) {
        fields_ = &fields;
        rows_ = 0;
        fields_after_row_ = false;
        auto const taken = csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this);
        if (taken != line.size()) {
            if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
            return state::malformed;
        }
        // libcsv also ends a row at a lone carriage return; two rows on one line are none.
        if (fields_after_row_ || rows_ > 1) return state::malformed;
        return rows_ == 1 ? state::row_complete : state::row_goes_on;
    }

private:
    static void on_field(void* text, std::size_t size, void* self) noexcept {
        auto& parser = *static_cast<csv_row_parser*>(self);
        if (parser.rows_ > 0) parser.fields_after_row_ = true;
        else parser.fields_->emplace_back(static_cast<char const*>(text), size);
    }

    static void on_row(int, void* self) noexcept { ++static_cast<csv_row_parser*>(self)->rows_; }

    csv_parser parser_{};
    bool started_ = false;
    std::vector<std::string>* fields_ = nullptr;
    std::size_t rows_ = 0;
    bool fields_after_row_ = false;
};

}  // namespace detail

/// A table with a header in a file: UTF-8, comma, quotes as in RFC 4180, with or without a byte
/// order mark, any line ending but a lone carriage return. Blank lines are passed over.
/// Memory:  one row, of at most line_reader::longest bytes
/// Errors:  input_error when the file as a whole cannot be used; a row's own problem is in the row
class csv_file {
public:
    explicit csv_file(std::filesystem::path path) : lines_(std::move(path)) {
        csv_row header;
        if (!read_row(header)) throw error("the file is empty; a line with column names is needed");
        check_text(header);
        if (!header) throw error(fmt::format("line {}: {}", header.line, header.problem));
        columns_ = std::move(header.fields);
    }

    std::vector<std::string> const& columns() const { return columns_; }

    bool has_columns(std::initializer_list<std::string_view> names) const {
        return std::all_of(names.begin(), names.end(), [this](std::string_view name) {
            return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
        });
    }

    /// Where the column of this name stands in a row's fields.
    /// Errors:  input_error, when there is no such column or more than one
    std::size_t column(std::string_view name) const {
        auto const found = std::find(columns_.begin(), columns_.end(), name);
        if (found == columns_.end()) {
            std::string names;
            for (auto const& each : columns_) names += (names.empty() ? "" : ", ") + each;
            throw error(fmt::format("there is no column '{}'; the header names {}", name, names));
        }
        if (std::find(found + 1, columns_.end(), name) != columns_.end()) {
            throw error(fmt::format("the header names the column '{}' twice", name));
        }
        return static_cast<std::size_t>(found - columns_.begin());
    }

    /// Gives the next row, good or not; false at the end of the file.
    bool next(csv_row& row) {
        if (!read_row(row)) return false;
        if (row && row.fields.size() != columns_.size()) {
            auto const count = row.fields.size();
            row.problem = fmt::format("the line has {} field{} where the header has {}", count,
                                      count == 1 ? "" : "s", columns_.size());
            // From the second field on, no one can tell which one is missing or too many.
            row.fields.resize(1);
        }
        check_text(row);
        return true;
    }

    /// The part of the file that has been read, 0 to 1.
    double share() const { return lines_.share(); }

    std::filesystem::path const& path() const { return lines_.path(); }

private:
    using state = detail::csv_row_parser::state;

    input_error error(std::string_view sentence) const {
        return input_error(fmt::format("{}: {}", path().string(), sentence));
    }

    bool read_row(csv_row& row) {
        row.fields.clear();
        row.problem.clear();
        std::vector<numbered_line> taken;
        std::size_t size = 0;
        for (;;) {
            numbered_line line;
            if (!lines_.next(line)) {
                if (taken.empty()) return false;
                return give_up(row, std::move(taken), "a quote that opens is never closed");
            }
            prepare(line);
            if (taken.empty()) {
                if (line.text == "\n" || line.text == "\r\n") continue;
                row.line = line.number;
            }
            bool const endless = line.too_long || (size += line.text.size()) > line_reader::longest;
            taken.push_back(std::move(line));
            if (endless) {
                return give_up(row, std::move(taken),
                               "the row is longer than 1 MiB; is a closing quote missing?");
            }
            auto const met = parser_.feed(taken.back().text, row.fields);
            if (met == state::row_complete) return true;
            if (met == state::malformed) {
                return give_up(row, std::move(taken),
                               "a quote or a carriage return stands where none may be");
            }
        }
    }

    /// The line as the parser needs it: no byte order mark before it, a newline behind it.
    void prepare(numbered_line& line) const {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        if (line.number == 1 &&
            (line.text.starts_with("\xFF\xFE") || line.text.starts_with("\xFE\xFF"))) {
            throw error("the file is in UTF-16; save it as UTF-8");
        }
        if (line.number == 1 && line.text.starts_with(byte_order_mark)) {
            line.text.erase(0, byte_order_mark.size());
        }
        if (!line.text.ends_with('\n') && !line.too_long) line.text.push_back('\n');
    }

    /// Only the line where the row begins is given up: a quote that was opened by mistake must not
    /// hide the good rows behind it, so they are read again.
    bool give_up(csv_row& row, std::vector<numbered_line> taken, std::string_view problem) {
        row.problem = problem;
        lines_.unread(std::move(taken), 1);
        parser_.restart();
        return true;
    }

    /// Refuses what no store would take as text; a problem found before it stays the one told.
    static void check_text(csv_row& row) {
        for (std::size_t at = 0; at < row.fields.size(); ++at) {
            std::string_view const field = row.fields[at];
            bool const nul = field.find('\0') != std::string_view::npos;
            if (settle::is_utf8(field)) continue;
            if (row) {
                row.problem = nul ? fmt::format("field {} holds a NUL byte", at + 1)
                                  : fmt::format("field {} is not valid UTF-8", at + 1);
            }
            row.fields.resize(at);
            return;
        }
    }

    line_reader lines_;
    detail::csv_row_parser parser_;
    std::vector<std::string> columns_;
};

}  // namespace samples
