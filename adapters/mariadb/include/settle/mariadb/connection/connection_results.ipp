// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that connection.hpp declares: messages, their results and their errors.
#pragma once

#include <settle/mariadb/connection/connection.hpp>

#include <algorithm>
#include <array>
#include <charconv>

SETTLE_BEGIN
namespace mariadb::detail {

/// How many statements a session keeps prepared.
inline constexpr std::size_t most_prepared = 128;

SETTLE_FUNCTION void connection::run_alone(message const& sent) {
    queued const& statement = sent.statements.front();
    if (statement.is_text) return run_text(sent);
    MYSQL_STMT* const native = prepare(statement.sql, sent);
    rows& into = results_[sent.first];
    expected_result const expected{&into, false};
    execute(native, sent, {&expected, statement.has_result ? 1U : 0U});
    if (statement.has_result) return;
    auto const changed = static_cast<std::int64_t>(mysql_stmt_affected_rows(native));
    // A statement that was meant to change one row has changed none.
    if (statement.changed == 1 && changed != 1) {
        fail(static_cast<unsigned>(raised_number(wrong_count)), "45000", {}, sent);
    }
    into.add_changed(changed);
}

SETTLE_FUNCTION void connection::run_compound(message const& sent, bool starts, bool commits) {
    // Without the handler, an error would leave the native transaction open. The COMMIT is outside
    // of it: what the handler notes was undone before.
    std::string sql{"BEGIN NOT ATOMIC BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION "
                    "BEGIN ROLLBACK; SET @settle_undone = ?; RESIGNAL; END; "};
    if (starts) sql += "START TRANSACTION; ";
    std::vector<expected_result> expected;
    for (std::size_t index = 0; index < sent.statements.size(); ++index) {
        queued const& statement = sent.statements[index];
        sql.append(statement.sql).append(";").append(statement.after).append(" ");
        bool const is_counted = !statement.has_result && statement.changed == 0 &&
                                statement.after.starts_with(" SELECT");
        if (!statement.has_result && !is_counted) continue;
        rows* const into = &results_[sent.first + index];
        expected.insert(expected.end(), statement.executions, {into, is_counted});
    }
    sql += commits ? "END; COMMIT; END" : "END; END";
    execute(prepare(sql, sent), sent, expected);
    for (std::size_t index = 0; index < sent.statements.size(); ++index) {
        results_[sent.first + index].add_changed(sent.statements[index].changed);
    }
}

SETTLE_FUNCTION void connection::run_bulk(message const& sent, bool starts, bool commits) {
    // Only the COMMIT can have an end that is not known.
    auto inserted = sent;
    inserted.may_commit = inserted.is_compound = false;
    queued const& statement = sent.statements.front();
    auto const rows_sent = statement.executions;
    MYSQL_STMT* const native = prepare(statement.sql, inserted);
    if (starts) {
        ++round_trips_;
        if (mysql_query(session_.native(), "START TRANSACTION") != 0) fail_of_session(inserted);
    }
    bulk_binds binds{sent.values, rows_sent};
    ++round_trips_;
    auto const count = static_cast<unsigned>(rows_sent);
    mysql_stmt_attr_set(native, STMT_ATTR_ARRAY_SIZE, &count);
    bool const is_run =
        mysql_stmt_bind_param(native, binds.binds.data()) == 0 && mysql_stmt_execute(native) == 0;
    if (!is_run) fail(native, inserted);
    results_[sent.first].add_changed(static_cast<std::int64_t>(mysql_stmt_affected_rows(native)));
    if (commits) run_text({{}, {}, 0, sent.may_commit, false});
}

SETTLE_FUNCTION MYSQL_STMT* connection::prepare(std::string const& sql, message const& sent) {
    if (auto const known = by_sql_.find(sql); known != by_sql_.end()) {
        prepared_.splice(prepared_.begin(), prepared_, known->second);
        return known->second->second.get();
    }
    if (prepared_.size() >= most_prepared) {
        by_sql_.erase(prepared_.back().first);
        prepared_.pop_back();
    }
    prepared_handle handle{mysql_stmt_init(session_.native()), {}};
    if (!handle) throw std::bad_alloc{};
    my_bool const measures = 1;
    mysql_stmt_attr_set(handle.get(), STMT_ATTR_UPDATE_MAX_LENGTH, &measures);
    ++round_trips_;
    if (mysql_stmt_prepare(handle.get(), sql.data(), sql.size()) != 0) {
        // It was not executed.
        auto refused = sent;
        refused.may_commit = false;
        fail(handle.get(), refused);
    }
    auto& held = prepared_.emplace_front(sql, std::move(handle));
    by_sql_.emplace(held.first, prepared_.begin());
    return held.second.get();
}

SETTLE_FUNCTION void connection::execute(MYSQL_STMT* native, message const& sent,
                                         std::span<expected_result const> results) {
    auto binds = binds_of(sent.values);
    sql_value const number{++messages_};
    if (sent.is_compound) binds.insert(binds.begin(), binds_of({&number, 1}).front());
    if (binds.size() != mysql_stmt_param_count(native)) {
        fail(wrong_number_of_parameters, "", "it has another number of parameters", sent);
    }
    // It may have inserted many rows before, also without success.
    unsigned const no_array = 0;
    mysql_stmt_attr_set(native, STMT_ATTR_ARRAY_SIZE, &no_array);
    ++round_trips_;
    if ((!binds.empty() && mysql_stmt_bind_param(native, binds.data()) != 0) ||
        mysql_stmt_execute(native) != 0) {
        fail(native, sent);
    }
    std::size_t received = 0;
    int next = 0;
    do {
        if (mysql_stmt_field_count(native) != 0) {
            bool const is_read =
                received < results.size() && read_result(native, results[received]);
            if (!is_read) fail(native, sent);
            ++received;
        }
        next = mysql_stmt_next_result(native);
        if (next > 0) fail(native, sent);
    } while (next == 0);
    if (received != results.size()) fail(native, sent);
    // The memory of the last result; no round trip.
    if (received != 0) mysql_stmt_free_result(native);
}

SETTLE_FUNCTION bool connection::read_result(MYSQL_STMT* native, expected_result const& expected) {
    if (mysql_stmt_store_result(native) != 0) return false;
    std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const facts{
        mysql_stmt_result_metadata(native), &mysql_free_result};
    if (!facts) return false;
    std::span<MYSQL_FIELD const> const fields{mysql_fetch_fields(facts.get()),
                                              mysql_num_fields(facts.get())};
    if (!expected.is_count) expected.into->describe(fields);
    struct cell {
        unsigned long size = 0;
        my_bool is_null = 0;
        float real32 = 0;
        double real64 = 0;
        std::string text{};
    };
    std::vector<cell> cells(fields.size());
    std::vector<MYSQL_BIND> binds(fields.size());
    for (std::size_t index = 0; index < fields.size(); ++index) {
        cell& into = cells[index];
        MYSQL_BIND& bind = binds[index];
        bind.length = &into.size;
        bind.is_null = &into.is_null;
        auto const type = fields[index].type;
        bool const is_real = type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE;
        // The client's texts of these lose digits.
        bind.buffer_type = is_real ? type : MYSQL_TYPE_STRING;
        if (type == MYSQL_TYPE_FLOAT) bind.buffer = &into.real32;
        if (type == MYSQL_TYPE_DOUBLE) bind.buffer = &into.real64;
        if (is_real) continue;
        into.text.resize(fields[index].max_length + 1);
        bind.buffer = into.text.data();
        bind.buffer_length = into.text.size();
    }
    if (mysql_stmt_bind_result(native, binds.data()) != 0) return false;
    for (;;) {
        int const fetched = mysql_stmt_fetch(native);
        if (fetched == MYSQL_NO_DATA) return true;
        if (fetched != 0) return false;
        if (expected.is_count) {
            std::int64_t count = 0;
            std::from_chars(cells[0].text.data(), cells[0].text.data() + cells[0].size, count);
            // ROW_COUNT() is -1 after a statement that changes no rows, such as SET.
            expected.into->add_changed(std::max<std::int64_t>(count, 0));
            continue;
        }
        for (std::size_t index = 0; index < cells.size(); ++index) {
            cell const& from = cells[index];
            std::array<char, 32> digits{};
            auto* const end = digits.data() + digits.size();
            auto const type = binds[index].buffer_type;
            if (from.is_null != 0) {
                expected.into->add(nullptr, 0);
            } else if (type == MYSQL_TYPE_STRING) {
                expected.into->add(from.text.data(), from.size);
            } else {
                auto const written = type == MYSQL_TYPE_FLOAT
                                         ? std::to_chars(digits.data(), end, from.real32)
                                         : std::to_chars(digits.data(), end, from.real64);
                expected.into->add(digits.data(),
                                   static_cast<std::size_t>(written.ptr - digits.data()));
            }
        }
    }
}

SETTLE_FUNCTION void connection::run_text(message const& sent) {
    MYSQL* const native = session_.native();
    std::string const& sql = sent.statements.empty() ? "COMMIT" : sent.statements.front().sql;
    ++round_trips_;
    if (mysql_real_query(native, sql.data(), sql.size()) != 0) fail_of_session(sent);
    std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const held{mysql_store_result(native),
                                                                        &mysql_free_result};
    if (!held && mysql_errno(native) != 0) fail_of_session(sent);
    if (sent.statements.empty()) return;
    rows& into = results_[sent.first];
    if (!held) {
        into.add_changed(static_cast<std::int64_t>(mysql_affected_rows(native)));
        return;
    }
    auto const columns = mysql_num_fields(held.get());
    into.describe({mysql_fetch_fields(held.get()), columns});
    while (MYSQL_ROW const values = mysql_fetch_row(held.get())) {
        unsigned long const* const lengths = mysql_fetch_lengths(held.get());
        for (unsigned index = 0; index < columns; ++index) into.add(values[index], lengths[index]);
    }
}

SETTLE_FUNCTION std::string connection::phase_of(message const& sent) {
    std::string phases;
    for (queued const& each : sent.statements) {
        if (phases.find(each.phase) != phases.npos) continue;
        phases.append(phases.empty() ? "" : " or ").append(each.phase);
    }
    return phases.empty() ? "commit" : phases;
}

SETTLE_FUNCTION void connection::fail_of_session(message const& sent) {
    MYSQL* const native = session_.native();
    std::string const state{mysql_sqlstate(native)};
    fail(mysql_errno(native), state, mysql_error(native), sent);
}

SETTLE_FUNCTION void connection::fail(MYSQL_STMT* native, message const& sent) {
    std::string const state{mysql_stmt_sqlstate(native)};
    fail(mysql_stmt_errno(native), state, mysql_stmt_error(native), sent);
}

SETTLE_FUNCTION void connection::fail(unsigned code, std::string_view state, std::string text,
                                      message const& sent) {
    int number = static_cast<int>(code);
    name_raised(number, text, state);
    // Without an error of its own, the client has met results that nobody expected.
    bool const ends_session =
        number == 0 || number == columns_changed || is_lost({number, mariadb_category()});
    bool is_unknown = false;
    if (ends_session) {
        lose();
        is_unknown = sent.may_commit;
        bool const has_name = number != 0 && !is_of_client(number);
        if (!has_name && number != columns_changed) number = connection_lost;
    } else if (number != deadlock && !(sent.is_compound && number == wrong_count)) {
        // These may come when the COMMIT has taken effect, and the first two may pass the handler
        // of a compound by.
        bool const may_come_late = number == query_interrupted || number == statement_timeout ||
                                   number == error_during_commit;
        auto const [is_open, is_undone] = look_for_end();
        is_unknown = sent.may_commit && may_come_late && !is_open && !is_undone;
        if (is_open && mysql_query(session_.native(), "ROLLBACK") != 0) lose();
    }
    auto problem = is_unknown ? describe(commit_unknown, "", text,
                                         "say whether this took effect: " + phase_of(sent))
                              : describe(number, state, text, phase_of(sent));
    if (open_) undone_ = problem;
    is_running_ = false;
    throw failure(std::move(problem));
}

SETTLE_FUNCTION auto connection::look_for_end() noexcept -> end_of_message {
    ++round_trips_;
    MYSQL* const native = session_.native();
    if (mysql_query(native, "SELECT @@in_transaction, @settle_undone") == 0) {
        std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const held{
            mysql_store_result(native), &mysql_free_result};
        MYSQL_ROW const values = held ? mysql_fetch_row(held.get()) : nullptr;
        if (values != nullptr && values[0] != nullptr) {
            bool const is_noted = values[1] != nullptr && std::to_string(messages_) == values[1];
            return {*values[0] == '1', is_noted};
        }
    }
    lose();
    return {};
}

} // namespace mariadb::detail
SETTLE_END
