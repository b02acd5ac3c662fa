// SPDX-License-Identifier: BSL-1.0
// Compares column names and ignores differences of spelling.
#include "columns.hpp"

#include "printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace samples {

namespace {

/// The letters and digits of a name in lower case: "Order ID" and "order_id" are equal.
std::string bare(std::string_view name) {
    std::string letters;
    for (std::size_t at = 0; at < name.size(); ++at) {
        auto const each = static_cast<unsigned char>(name[at]);
        if (std::size_t const unseen = unseen_prefix(name.substr(at))) at += unseen - 1;
        else if (each != ' ' && each != '\t' && each != '_' && each != '-') {
            letters.push_back(static_cast<char>(std::tolower(each)));
        }
    }
    return letters;
}

/// The index of a column, or a sentence.
std::size_t index_of(std::vector<std::string> const& names, std::vector<std::string> const& header,
                     std::vector<std::string> const& bare_header, std::string& problem) {
    auto const look = [&](auto const& among, auto&& spelled) {
        for (auto const& name : names) {
            auto const spelling = spelled(name);
            auto const found = std::find(among.begin(), among.end(), spelling);
            if (found == among.end()) continue;
            if (std::find(found + 1, among.end(), spelling) != among.end()) {
                problem = fmt::format("the header names the column '{}' twice", name);
            }
            return static_cast<std::size_t>(found - among.begin());
        }
        return header.size();
    };
    auto const exact = look(header, [](std::string const& name) { return name; });
    if (exact != header.size()) return exact;
    auto const similar = look(bare_header, bare);
    if (similar == header.size()) {
        problem = fmt::format("there is no column '{}'", fmt::join(names, "' or '"));
    }
    return similar;
}

} // namespace

found_columns find_columns(std::span<table_layout const> layouts,
                           std::vector<std::string> const& header) {
    std::vector<std::string> bare_header;
    for (auto const& name : header) bare_header.push_back(bare(name));
    found_columns best;
    for (std::size_t which = 0; which < layouts.size(); ++which) {
        found_columns found;
        found.layout = which;
        for (auto const& names : layouts[which]) {
            std::string problem;
            auto const index = index_of(names, header, bare_header, problem);
            found.indexes.push_back(index);
            if (index != header.size()) ++found.count;
            if (found.problem.empty()) found.problem = problem;
        }
        bool const fewer_missing = found.indexes.size() < best.indexes.size();
        bool const better =
            which == 0 || found.count > best.count || (found.count == best.count && fewer_missing);
        if (found.problem.empty() || better) best = std::move(found);
        if (best.problem.empty()) break;
    }
    return best;
}

std::string names_of(std::span<table_layout const> layouts) {
    std::string text;
    for (auto const& layout : layouts) {
        if (!text.empty()) text += "; or ";
        for (std::size_t at = 0; at < layout.size(); ++at) {
            text += fmt::format("{}{}", at == 0 ? "" : ", ", fmt::join(layout[at], " (or "));
            text.append(layout[at].size() - 1, ')');
        }
    }
    return text;
}

} // namespace samples
