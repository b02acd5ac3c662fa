// SPDX-License-Identifier: BSL-1.0
// Distinguishes the rows of a table from headers, lines of sums and comments before the header.
#include "csv.hpp"

#include "printable.hpp"

#include <settle/base/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace samples {

namespace {

constexpr std::string_view delimiters = ",;\t|";

std::string_view name_of(char delimiter) {
    switch (delimiter) {
    case ',': return "comma";
    case ';': return "semicolon";
    case '\t': return "tab";
    default: return "vertical bar";
    }
}

/// Without the spaces and invisible characters at both ends.
std::string_view trimmed(std::string_view text) {
    for (;;) {
        if (std::size_t const unseen = unseen_prefix(text)) text.remove_prefix(unseen);
        else if (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
            text.remove_prefix(1);
        } else break;
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// True for a line of one field that begins with `#`. CSV has no comments: an id may begin so, and
/// only a line before the header cannot be a row.
bool is_comment(std::string_view line) {
    return trimmed(line).starts_with('#') &&
           line.find_first_of(delimiters) == std::string_view::npos;
}

/// True if a carriage return precedes the end of the line.
bool has_lone_return(std::string_view line) {
    auto const at = line.find('\r');
    return at != std::string_view::npos && line.substr(at) != "\r" && line.substr(at) != "\r\n";
}

/// The label before a sum, as in "Total: 10", "Total 10" or "Summe;10".
std::string_view label_of(std::string_view field) {
    auto const text = trimmed(field);
    auto const mark = text.find_first_of(":=,;\t|");
    if (mark != std::string_view::npos) return trimmed(text.substr(0, mark));
    auto const number = text.find_first_of("0123456789");
    bool const apart = number != std::string_view::npos && number > 0 && text[number - 1] == ' ';
    return trimmed(text.substr(0, apart ? number : text.size()));
}

} // namespace

bool is_blank(std::string_view field) { return trimmed(field).empty(); }

bool is_placeholder(std::string_view field) {
    return trimmed(field).find_first_not_of('-') == std::string_view::npos;
}

bool is_total_word(std::string_view field) {
    constexpr std::size_t longest = 24;
    auto const word = label_of(field);
    if (word.empty() || word.size() > longest) return false;
    std::string lower;
    for (char const each : word) {
        if (each == ' ' || each == '-' || each == '_') continue;
        lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(each))));
    }
    constexpr std::array<std::string_view, 14> words{
        "total",  "totals", "grandtotal", "subtotal",    "sum",      "sums",   "summe",
        "gesamt", "somme",  "suma",       "gesamtsumme", "total(s)", "totale", "insgesamt"};
    return std::find(words.begin(), words.end(), lower) != words.end();
}

csv_file::csv_file(std::filesystem::path path, std::vector<table_layout> layouts)
    : lines_(std::move(path)), layouts_(std::move(layouts)) {
    read_header();
}

bool csv_file::next(csv_row& row) {
    if (!notes_.empty()) {
        row = std::move(notes_.front());
        notes_.pop_front();
        return true;
    }
    while (read_row(row, taken_)) {
        if (row && std::all_of(row.fields.begin(), row.fields.end(), is_blank)) continue;
        if (row && is_header(row)) return true;
        check_count(row);
        check_text(row);
        return true;
    }
    return false;
}

input_error csv_file::error(std::string_view sentence) const {
    return input_error(fmt::format("{}: {}", lines_.name(), sentence));
}

/// Skips the comments before the header. A header may itself begin with a column '#'.
void csv_file::read_header() {
    while (!take_header()) {
        numbered_line comment;
        lines_.next(comment);
        csv_row noted;
        noted.line = comment.number;
        noted.note = "the line before the header is passed over as a comment";
        notes_.push_back(std::move(noted));
    }
}

/// Tries the delimiters until the header names all columns. False at a comment.
bool csv_file::take_header() {
    bool comment = false;
    bool lone_return = false;
    csv_row best_header;
    found_columns best;
    char best_delimiter = 0;
    for (char const delimiter : delimiters) {
        parser_.part_at(delimiter);
        csv_row header;
        if (!read_row(header, taken_)) {
            throw error("the file is empty; a line with column names is needed");
        }
        // An unreadable row has kept its first names.
        auto found = find_columns(layouts_, header.fields);
        bool const fits = header && found.problem.empty();
        bool const better =
            best_delimiter == 0 || (header && !best_header) ||
            (bool{header} == bool{best_header} &&
             (found.count > best.count ||
              (found.count == best.count && header.fields.size() > best_header.fields.size())));
        comment = is_comment(taken_.front().text);
        lone_return = has_lone_return(taken_.front().text);
        // read_row() has already put back all but the first line of an unreadable row.
        lines_.unread(std::move(taken_), 0, header ? taken_.size() : 1);
        if (!better && !fits) continue;
        best = std::move(found);
        best_header = std::move(header);
        best_delimiter = delimiter;
        if (fits) break;
    }
    if (!best_header && lone_return) {
        throw error("the lines end with carriage returns only; save it with newlines");
    }
    if (comment && !(best_header && best.problem.empty())) return false;
    if (!best_header) {
        throw error(fmt::format("line {}: {}", best_header.line, best_header.problem));
    }
    if (!best.problem.empty()) throw no_columns(best_header, best);
    parser_.part_at(best_delimiter);
    read_row(best_header, taken_);
    columns_ = std::move(best);
    width_ = best_header.fields.size();
    return true;
}

input_error csv_file::no_columns(csv_row const& header, found_columns const& best) const {
    bool const nul = std::any_of(header.fields.begin(), header.fields.end(), [](auto const& name) {
        return name.find('\0') != std::string::npos;
    });
    if (nul) return error("the header holds NUL bytes; is the file in UTF-16? Save it as UTF-8");
    constexpr std::size_t most = 200;
    auto names = fmt::format("{}", fmt::join(header.fields, ", "));
    if (names.size() > most) names = names.substr(0, most) + "…";
    bool const alone = header.fields.size() == 1;
    return error(fmt::format("{}; the header names {}{}. A table has the columns {}, separated by "
                             "comma, semicolon, tab or |",
                             best.problem, names, alone ? " only" : "", names_of(layouts_)));
}

bool csv_file::read_row(csv_row& row, std::vector<numbered_line>& taken) {
    taken.clear();
    std::size_t size = 0;
    for (;;) {
        numbered_line line;
        if (!lines_.next(line)) {
            if (taken.empty()) return false;
            return give_up(row, taken, "a quote that opens is never closed");
        }
        prepare(line);
        if (taken.empty()) {
            if (line.text == "\n" || line.text == "\r\n") continue;
            // The line in which a spreadsheet declares its delimiter.
            bool const hint =
                line.number == 1 && line.text.starts_with("sep=") && line.text.size() <= 7;
            if (hint) continue;
            row = csv_row{};
            row.line = line.number;
        }
        bool const endless = line.too_long || (size += line.text.size()) > line_reader::longest;
        taken.push_back(std::move(line));
        if (endless) {
            return give_up(row, taken, "the row is longer than 1 MiB; is a closing quote missing?");
        }
        auto const reached = parser_.feed(taken.back().text, row.fields);
        if (reached == state::row_complete) return true;
        if (reached == state::malformed) {
            return give_up(row, taken,
                           "a quote or a carriage return is not allowed at this position");
        }
    }
}

/// Removes the byte order mark, and ends the line with a newline, as the parser requires.
void csv_file::prepare(numbered_line& line) const {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (line.number == 1 &&
        (line.text.starts_with("\xFF\xFE") || line.text.starts_with("\xFE\xFF"))) {
        throw error("the file is in UTF-16; save it as UTF-8");
    }
    if (line.text.starts_with(byte_order_mark)) line.text.erase(0, byte_order_mark.size());
    if (!line.text.ends_with('\n') && !line.too_long) line.text.push_back('\n');
}

/// Gives up only the row's first line: a quote opened by mistake must not hide the good rows that
/// follow, so they are read again.
bool csv_file::give_up(csv_row& row, std::vector<numbered_line> const& taken,
                       std::string_view problem) {
    row.problem = problem;
    auto again = taken;
    lines_.unread(std::move(again), 1, again.size());
    parser_.restart();
    return true;
}

/// A cheap test: every header has the first column of some layout.
bool csv_file::may_be_header(csv_row const& row) const {
    constexpr std::size_t longest_name = 40;
    std::vector<std::string> names;
    for (std::string const& field : row.fields) {
        bool const name =
            field.size() <= longest_name && field.find_first_of("0123456789") == std::string::npos;
        if (name) names.push_back(field);
    }
    return std::any_of(layouts_.begin(), layouts_.end(), [&](table_layout const& layout) {
        table_layout const first{layout.front()};
        return find_columns({&first, 1}, names).count > 0;
    });
}

/// A second header, as in concatenated files. Its columns may be in another order, so it applies to
/// the rows that follow.
bool csv_file::is_header(csv_row& row) {
    if (!may_be_header(row)) return false;
    auto found = find_columns(layouts_, row.fields);
    if (!found.problem.empty()) return false;
    bool const same = found.layout == columns_.layout && found.indexes == columns_.indexes;
    columns_ = std::move(found);
    width_ = row.fields.size();
    row.note = same ? "the header is repeated here and skipped"
                    : "another header begins here; it applies to the lines after it";
    return true;
}

void csv_file::check_count(csv_row& row) const {
    auto const count = row.fields.size();
    if (!row || count == width_) return;
    row.problem = fmt::format("the line has {} field{} where the header has {}", count,
                              count == 1 ? "" : "s", width_);
    char const own = parser_.delimiter();
    bool const quoted = count == 1 && row.fields.front().find(own) != std::string::npos;
    if (quoted) row.problem += "; the whole line is in quotes";
    for (char const other : delimiters) {
        if (quoted || count != 1 || row.fields.front().find(other) == std::string::npos) continue;
        row.problem +=
            fmt::format("; is its delimiter a {} instead of a {}?", name_of(other), name_of(own));
        break;
    }
    if (count > width_) {
        row.problem += fmt::format("; a field that contains a {} must be in quotes", name_of(own));
    }
    auto const label = std::find_if_not(row.fields.begin(), row.fields.end(), is_blank);
    if (is_total_word(*label)) {
        row.problem.clear();
        row.note = "the line is passed over as a line of sums";
        return;
    }
    // The count alone does not show which field is missing or extra, so only the first is certain.
    row.fields.resize(1);
}

/// Refuses columns whose text no store accepts; an earlier problem is kept.
void csv_file::check_text(csv_row& row) const {
    for (std::size_t at = 0; at < row.fields.size(); ++at) {
        auto const& indexes = columns_.indexes;
        bool const is_read = std::find(indexes.begin(), indexes.end(), at) != indexes.end();
        std::string_view const field = row.fields[at];
        if (!is_read || settle::is_utf8(field)) continue;
        if (row) {
            bool const nul = field.find('\0') != std::string_view::npos;
            row.problem = nul ? fmt::format("field {} holds a NUL byte", at + 1)
                              : fmt::format("field {} is not valid UTF-8", at + 1);
        }
        row.fields.resize(at);
        return;
    }
}

} // namespace samples
