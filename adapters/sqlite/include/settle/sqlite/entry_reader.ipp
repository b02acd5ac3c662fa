// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_reader.hpp declares.
#pragma once

#include <settle/sqlite/entry_reader.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::optional<entry> entry_reader::read(transaction_id const& id) const {
    run row{one_, id};
    if (!row.next()) return std::nullopt;
    entry found;
    std::string const problem = read_row(row, found);
    if (problem.empty()) return found;
    raise(errc::damaged, "settle: the entry '" + id + "' is damaged: " + problem +
                             ". Repair its row in settle_entry. See errors#damaged");
}

SETTLE_FUNCTION std::vector<entry> entry_reader::list(entry_filter const& filter,
                                                      transaction_id const& after,
                                                      std::size_t limit) const {
    std::vector<entry> found;
    if (filter.unfinished && filter.state &&
        (is_final(*filter.state) || *filter.state == state::initial)) {
        return found;
    }
    auto const count_of = [](std::optional<timestamp> const& time) {
        return std::int64_t{time.value_or(timestamp::max()).time_since_epoch().count()};
    };
    run rows{statement_for(filter), after, count_of(filter.before), limit_of(limit),
             count_of(filter.ahead_of)};
    if (filter.state) rows.bind(static_cast<std::int64_t>(*filter.state));
    while (rows.next()) {
        entry& one = found.emplace_back();
        one.fault = read_row(rows, one);
        if (!one.fault.empty()) one.parameters.clear();
        // The next page begins behind it, whatever it is.
        if (one.id.empty()) one.id = rows.text(0);
    }
    return found;
}

SETTLE_FUNCTION std::vector<std::int64_t> entry_reader::find_old(timestamp before,
                                                                 std::size_t limit,
                                                                 std::int64_t& passed,
                                                                 bool& more) const {
    constexpr std::int64_t most = 10'000;
    std::vector<std::int64_t> old;
    std::int64_t looked_at = 0;
    run rows{next_, passed, std::int64_t{before.time_since_epoch().count()}, most};
    while (old.size() < limit && rows.next()) {
        ++looked_at;
        passed = rows.integer(0);
        if (rows.integer(1) != 0) old.push_back(passed);
    }
    more = looked_at == most || old.size() == limit;
    return old;
}

SETTLE_FUNCTION std::string entry_reader::select() {
    return "SELECT e.id, e.type, t.name, t.definition, e.parameters, e.state, e.epoch, "
           "max(e.committed, 0) AS committed, e.attempts, e.reason, e.owner, o.name, "
           "e.created, e.modified, e.participant, e.line, e.images, e.revision, e.stages_kept, "
           "e.results FROM settle_entry AS e "
           "LEFT JOIN settle_type AS t ON t.number = e.type "
           "LEFT JOIN settle_owner AS o ON o.number = e.owner ";
}

SETTLE_FUNCTION std::string entry_reader::page(std::string_view condition) {
    return select()
        .append("WHERE e.id > ?1 AND (e.modified <= ?2 OR typeof(e.modified) <> 'integer' OR "
                "max(e.created, e.modified) > ?4) ")
        .append(condition)
        .append("ORDER BY e.id LIMIT ?3");
}

SETTLE_FUNCTION std::string entry_reader::read_row(run const& row, entry& into) {
    std::string problem;
    auto const read = [&](int column, auto& value) {
        auto const found = read_field(row, column, value);
        if (!found.empty() && problem.empty()) {
            problem = "its column '" + std::string{row.name(column)} + "' ";
            problem += found;
        }
    };
    read(0, into.id);
    read_type(row, into, read, problem);
    read_enum(row, 5, into.state, state::canceled, problem);
    read_number(row, 6, into.epoch_number, problem);
    read_number(row, 7, into.committed, problem);
    read(8, into.attempts);
    read_enum(row, 9, into.why, reason::record_unusable, problem);
    read(11, into.owner);
    read(12, into.created);
    read(13, into.modified);
    std::optional<std::string> text;
    read(14, text);
    into.participant = text.value_or(std::string{});
    read(15, into.line);
    auto const read_list = [&](int column, auto decode, auto& list) {
        text.reset();
        read(column, text);
        auto decoded = decode(text.value_or(std::string{}));
        if (decoded.has_value()) list = std::move(decoded).value();
        else if (problem.empty()) {
            problem = "its column '" + std::string{row.name(column)} +
                      "': " + decoded.problem().text;
        }
    };
    read_list(16, decode_images, into.images);
    read(17, into.revision);
    read(18, into.stages_kept);
    read_list(19, decode_results, into.results);
    return problem;
}

SETTLE_FUNCTION void entry_reader::read_number(run const& row, int column, epoch& into,
                                               std::string& problem) {
    auto const number = row.integer(column);
    if (row.type(column) == SQLITE_INTEGER && number >= 0) {
        into = static_cast<epoch>(number);
    } else if (problem.empty()) {
        problem = "its column '" + std::string{row.name(column)} + "' holds no epoch";
    }
}

} // namespace sqlite::detail
SETTLE_END
