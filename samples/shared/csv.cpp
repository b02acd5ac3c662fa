// SPDX-License-Identifier: BSL-1.0
// Splits the lines of a table with libcsv.
#include "csv.hpp"

#include "interrupt.hpp"
#include "text.hpp"

#include <settle/base/utf8.hpp>

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

namespace samples {

namespace {

/// The fields of a line; false where a quote is misplaced or never closed.
bool split(std::string_view text, std::vector<std::string>& fields) {
    csv_parser parser{};
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    std::unique_ptr<csv_parser, decltype(&csv_free)> const freeing{&parser, &csv_free};
    // By default libcsv trims spaces.
    csv_set_space_func(&parser, [](unsigned char) { return 0; });
    auto const take = [](void* field, std::size_t size, void* to) noexcept {
        static_cast<std::vector<std::string>*>(to)->emplace_back(static_cast<char*>(field), size);
    };
    return csv_parse(&parser, text.data(), text.size(), take, nullptr, &fields) == text.size() &&
           csv_fini(&parser, take, nullptr, &fields) == 0;
}

std::string in_lower_case(std::string text) {
    for (char& each : text) {
        each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    }
    return text;
}

/// A request to stop ends the wait for the writer of a pipe.
std::FILE* open(std::filesystem::path const& path) {
    file_wait const waiting;
    return std::fopen(path.c_str(), "rb");
}

/// Reads a line without its end; false at the end of the file, or at a request to stop.
bool read_until_newline(std::FILE* file, std::string& line) {
    file_wait const waiting;
    char* text = nullptr;
    std::size_t room = 0;
    auto const size = ::getline(&text, &room, file);
    std::unique_ptr<char, decltype(&std::free)> const freeing{text, &std::free};
    if (size < 0) return false;
    line.assign(text, static_cast<std::size_t>(size));
    if (line.ends_with('\n')) line.pop_back();
    return true;
}

} // namespace

csv_file::csv_file(std::filesystem::path const& path, std::vector<table_layout> layouts)
    : name_(path.string()), file_(open(path), &std::fclose) {
    bool const is_stopped = !file_ && errno == EINTR;
    std::error_code ignored;
    auto const* const problem =
        is_stopped ? "a signal ended the program before the file was open"
        : std::filesystem::is_directory(path, ignored) ? "this is a directory, not a file"
        : file_                                        ? nullptr
        : std::filesystem::exists(path, ignored)       ? "the file cannot be opened"
                                                       : "there is no such file";
    if (problem != nullptr) throw input_error(fmt::format("{}: {}", name_, problem));
    read_header(layouts);
}

bool csv_file::next() {
    if (!read_line()) return false;
    if (!problem_.empty()) return true;
    if (fields_.size() != width_) {
        problem_ = fmt::format("the line has {} field{} where the header has {}", fields_.size(),
                               fields_.size() == 1 ? "" : "s", width_);
        if (fields_.size() > width_) problem_ += "; a field with a comma must be in quotes";
        return true;
    }
    for (auto const column : columns_) {
        if (settle::is_utf8(fields_[column])) continue;
        bool const has_nul = fields_[column].find('\0') != std::string::npos;
        problem_ = fmt::format("field {} {}", column + 1,
                               has_nul ? "holds a NUL byte" : "is not valid UTF-8");
    }
    return true;
}

/// Splits the next line that is not empty; false at the end.
bool csv_file::read_line() {
    constexpr std::size_t longest = std::size_t{1} << 20U;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::string text;
    do {
        if (!read_until_newline(file_.get(), text)) {
            if (std::ferror(file_.get()) == 0 || errno == EINTR) return false;
            throw input_error(fmt::format("{}: cannot be read after line {}", name_, line_));
        }
        if (++line_ == 1 && text.starts_with(byte_order_mark)) text.erase(0, 3);
        if (text.ends_with('\r')) text.pop_back();
    } while (text.empty());
    fields_.clear();
    problem_.clear();
    if (text.size() > longest) problem_ = "the line is longer than 1 MiB";
    else if (text.find('\r') != text.npos) problem_ = "a carriage return is inside the line";
    else if (!split(text, fields_)) problem_ = "a quote is misplaced, or not closed in its line";
    return true;
}

void csv_file::read_header(std::vector<table_layout> const& layouts) {
    auto const fail = [&](std::string_view sentence) {
        throw input_error(fmt::format("{}: {}", name_, sentence));
    };
    if (!read_line()) fail("the file is empty; a line with column names is needed");
    if (!problem_.empty()) fail(fmt::format("line {}: {}", line_, problem_));
    width_ = fields_.size();
    std::vector<std::string> names;
    for (auto const& field : fields_) names.push_back(in_lower_case(field));
    std::string missing;
    std::string known;
    for (layout_ = 0; layout_ < layouts.size(); ++layout_) {
        auto const& wanted = layouts[layout_];
        known += fmt::format("{}{}", known.empty() ? "" : "; or ", fmt::join(wanted, ", "));
        columns_.clear();
        auto const lacks = [&](std::string const& name) {
            auto const position = std::find(names.begin(), names.end(), name);
            columns_.push_back(static_cast<std::size_t>(position - names.begin()));
            return position == names.end();
        };
        auto const lacking = std::find_if(wanted.begin(), wanted.end(), lacks);
        for (auto const& name : wanted) {
            if (std::count(names.begin(), names.end(), name) < 2) continue;
            fail(fmt::format("the header names the column '{}' twice", name));
        }
        if (lacking == wanted.end()) return;
        if (missing.empty()) missing = *lacking;
    }
    auto const header = fmt::format("{}", fmt::join(fields_, ", "));
    if (header.find('\0') != header.npos) fail("the file is not UTF-8 text; is it in UTF-16?");
    fail(fmt::format("there is no column '{}'; the header names {}. A table has the columns {}, "
                     "separated by commas",
                     missing, header.substr(0, 200), known));
}

} // namespace samples
