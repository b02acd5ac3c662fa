// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that connection.hpp declares.
#pragma once

#include <settle/mariadb/connection/connection.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>

SETTLE_BEGIN
namespace mariadb::detail {

/// The bytes of a message besides its values, at most.
inline constexpr std::size_t bytes_of_header = 1024;
/// Waves of at most so many rows are executed as a list that may name a row twice.
inline constexpr std::size_t most_listed_rows = 2048;
/// Of more rows, an INSERT is a message of its own, whose rows the server inserts one by one.
inline constexpr std::size_t most_rows_of_insert = 100;

SETTLE_FUNCTION connection::connection(address const& to, options const& limits)
    : session_(to, limits, session_use::records),
      settings_(session_sql(limits, session_use::records)) {
    check_server();
}

SETTLE_FUNCTION sql_rows connection::run_work(std::string const& sql,
                                              std::span<sql_value const> values,
                                              char const* phase) {
    sync();
    ++round_trips_;
    return session_.run(sql, values, phase);
}

SETTLE_FUNCTION void connection::queue_renewal() {
    char const* const phase = "put a session right";
    send_sql(settings_, phase);
    send_sql("DO RELEASE_ALL_LOCKS()", phase);
}

SETTLE_FUNCTION void connection::check_server() {
    auto const facts = session_.run(
        "SELECT VERSION(), CONNECTION_ID(), @@max_allowed_packet, "
        "@@innodb_flush_log_at_trx_commit, @@log_bin AND @@binlog_format = 'STATEMENT', "
        "@@read_only, (SELECT COUNT(*) FROM information_schema.GLOBAL_VARIABLES WHERE "
        "VARIABLE_NAME = 'WSREP_ON' AND VARIABLE_VALUE = 'ON'), " +
            std::string{now_sql},
        "read the settings of the server");
    server_ = {facts.text(0, 0), static_cast<std::size_t>(facts.integer(0, 2)), facts.integer(0, 1),
               settle::detail::server_clock{facts.integer(0, 7)}};
    auto const refuse = [](errc code, std::string const& why) {
        raise(code, "settle: this server cannot hold records: " + why + ". See mariadb#servers");
    };
    unsigned major = 0;
    unsigned minor = 0;
    bool const read = std::sscanf(server_.version.c_str(), "%u.%u", &major, &minor) == 2;
    bool const is_old = major < 10 || (major == 10 && minor < 6);
    if (!read || is_old || server_.version.find("MariaDB") == server_.version.npos) {
        refuse(errc::other_version,
               "it is '" + server_.version + "'. Use MariaDB 10.6 or a newer one");
    }
    if (facts.integer(0, 3) != 1) {
        refuse(errc::unfit_store, "a power failure could take what it has committed. SET GLOBAL "
                                  "innodb_flush_log_at_trx_commit = 1");
    }
    if (facts.text(0, 4) == "1") {
        refuse(errc::unfit_store, "its binary log takes no READ COMMITTED. SET GLOBAL "
                                  "binlog_format = ROW");
    }
    if (facts.integer(0, 6) != 0) {
        refuse(errc::unfit_store,
               "a Galera cluster can lose what it has committed. Use a server alone");
    }
    if (facts.integer(0, 5) != 0) {
        throw failure(describe(option_prevents, "", "the server is read-only", "take writes"));
    }
}

SETTLE_FUNCTION std::size_t connection::queue_value(sql_value const& value) {
    auto const* const text = std::get_if<std::string_view>(&value.get());
    constexpr std::size_t most_of_number = 16; // with its type and the length of a text
    if (text == nullptr) {
        values_.push_back(value);
        return most_of_number;
    }
    values_.emplace_back(texts_.emplace_back(*text));
    return text->size() + most_of_number;
}

SETTLE_FUNCTION std::size_t connection::queue_form(statement_form const& form,
                                                   parameters const& values, std::size_t row,
                                                   std::size_t end, std::string& sql) {
    using source = statement_form::source;
    std::size_t bytes = 0;
    std::size_t begin = 0;
    auto const first = row;
    for (std::size_t index = 0; index < form.places.size(); ++index) {
        auto const [from, number] = form.places[index];
        sql += form.texts[index];
        if (from == source::list_begin) {
            begin = index;
            continue;
        }
        if (from == source::list_end) {
            if (++row == end) {
                row = first;
                continue;
            }
            if (number != 0) sql += ", ";
            index = begin;
            continue;
        }
        if (from == source::row_number) {
            sql += std::to_string(row + 1);
            continue;
        }
        sql += '?';
        bytes += queue_value(from == source::value ? values.value(number)
                             : from == source::element
                                 ? values.element(number, std::min(row, *values.wave_size() - 1))
                                 : sql_value{values.wave_json()});
    }
    sql += form.texts.back();
    return bytes;
}

SETTLE_FUNCTION std::size_t connection::send(statement const& sent, parameters const& values) {
    auto const wave = values.wave_size();
    auto const before = values_.size();
    bool const by_row = !sent.row_form.texts.empty() && wave && *wave > 0 &&
                        *wave <= (sent.row_form.repeats ? most_listed_rows : most_single_rows);
    bool const is_list = by_row && sent.row_form.has_list;
    bool const is_bulk = !by_row && sent.inserts && wave && *wave > most_rows_of_insert;
    queued message_sent{
        {}, {},   sent.phase,      0,          0,     by_row && !is_list ? *wave : 1,
        0,  true, sent.has_result, sent.reads, false, is_bulk};
    char const* const count = sent.has_result ? "FOUND_ROWS()" : "ROW_COUNT()";
    // For several rows, one statement takes their number as a value.
    bool const takes_count =
        sent.expects == expectation::all && wave && *wave != 1 && (!by_row || is_list);
    char const* const meant = takes_count ? "?" : sent.expects == expectation::all ? "1" : "0";
    auto const check = [&] {
        // Of one row, the client sees whether it was found.
        message_sent.is_alone = meant == std::string_view{"1"};
        message_sent.after.append(" IF ").append(count).append(" <> ").append(meant).append(
            " THEN ");
        message_sent.after.append(raised_sql(wrong_count)).append("; END IF;");
    };
    if (sent.expects == expectation::no_row || sent.expects == expectation::all) check();
    else if (sent.expects == expectation::counted) message_sent.after = " SELECT ROW_COUNT();";
    // A list of another size is another statement, which must be prepared.
    auto const end = wave && sent.row_form.repeats ? std::bit_ceil(*wave) : wave.value_or(0);
    if (is_bulk) message_sent.executions = *wave;
    for (std::size_t row = 0; row < message_sent.executions; ++row) {
        std::string ignored;
        if (row != 0 && !is_bulk)
            message_sent.sql.append(";").append(message_sent.after).append(" ");
        message_sent.bytes +=
            queue_form(by_row || is_bulk ? sent.row_form : sent.set_form, values, row,
                       is_list ? end : row + 1, is_bulk && row != 0 ? ignored : message_sent.sql);
    }
    message_sent.is_alone = message_sent.is_alone && message_sent.executions == 1;
    if (sent.expects == expectation::all) {
        message_sent.changed = static_cast<std::int64_t>(wave.value_or(1));
    }
    bool const gives_count = message_sent.sql.starts_with("SELECT COUNT");
    if (gives_count) {
        message_sent.sql = "IF (" + message_sent.sql + ") <> " + meant + " THEN " +
                           raised_sql(wrong_count) + "; END IF";
        message_sent.after.clear();
        message_sent.is_alone = false;
    }
    if (takes_count) message_sent.bytes += queue_value(static_cast<std::int64_t>(*wave));
    message_sent.values = values_.size() - before;
    if (message_sent.bytes + bytes_of_header > server_.most_bytes) {
        values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(before), values_.end());
        throw failure(describe(packet_too_large, "",
                               "its values have " + std::to_string(message_sent.bytes) +
                                   " bytes, and the server takes " +
                                   std::to_string(server_.most_bytes) + " in a message",
                               sent.phase));
    }
    queue_.push_back(std::move(message_sent));
    return queue_.size() - 1;
}

SETTLE_FUNCTION std::size_t connection::send_sql(std::string const& sql, char const* phase) {
    auto const number = send(statement{sql, {}, phase, 0}, parameters{});
    queue_.back().is_text = true;
    return number;
}

SETTLE_FUNCTION void connection::sync() {
    if (!queue_.empty()) run(false);
}

SETTLE_FUNCTION void connection::finish_commit() {
    if (!open_) return;
    // Nothing was sent since begin().
    if (begins_ && queue_.empty()) open_ = begins_ = false;
    else run(true);
}

SETTLE_FUNCTION void connection::rollback() noexcept {
    queue_.clear();
    values_.clear();
    texts_.clear();
    bool const is_sent = open_ && !begins_ && !undone_;
    open_ = begins_ = false;
    undone_ = {};
    // An exception of another kind than settle::failure may have left results unread.
    if (std::exchange(is_running_, false)) lose();
    if (!is_sent || !good()) return;
    ++round_trips_;
    if (mysql_query(session_.native(), "ROLLBACK") != 0) lose();
}

SETTLE_FUNCTION void connection::lose() noexcept {
    session_.close();
    by_sql_.clear();
    prepared_.clear();
}

SETTLE_FUNCTION void connection::run(bool commits) {
    auto const statements = std::exchange(queue_, {});
    auto const values = std::exchange(values_, {});
    auto const texts = std::exchange(texts_, {});
    results_.clear();
    results_.resize(statements.size());
    if (undone_) throw failure(undone_);
    is_running_ = true;
    bool const starts = !open_ || std::exchange(begins_, false);
    commits = commits || !open_;
    message sent{statements, values, 0, false, false};
    // A loss that shows before the COMMIT is sent has a certain end.
    if (!good() || (commits && !alive())) fail(server_gone, "", "the session is lost", sent);
    sent.may_commit =
        commits && (open_ || std::any_of(statements.begin(), statements.end(),
                                         [](auto const& each) { return !each.reads; }));
    if (statements.empty()) {
        run_text(sent);
    } else if (statements.size() == 1 && starts == commits && statements.front().is_alone) {
        run_alone(sent);
    } else {
        auto const budget = server_.most_bytes / 4 * 3;
        std::size_t from = 0;
        std::size_t next = 0;
        std::size_t first_value = 0;
        do {
            std::size_t bytes = 0;
            std::size_t count = 0;
            // Bulk values are a message of their own.
            auto const fits = [&] {
                return next == from || (bytes + statements[next].bytes <= budget &&
                                        !statements[from].is_bulk && !statements[next].is_bulk);
            };
            for (; next < statements.size() && fits(); ++next) {
                bytes += statements[next].bytes;
                count += statements[next].values;
            }
            bool const is_last = next == statements.size();
            message const part{std::span{statements}.subspan(from, next - from),
                               std::span{values}.subspan(first_value, count), from,
                               sent.may_commit && is_last, true};
            if (statements[from].is_bulk) run_bulk(part, starts && from == 0, commits && is_last);
            else run_compound(part, starts && from == 0, commits && is_last);
            from = next;
            first_value += count;
        } while (next < statements.size());
    }
    if (commits) open_ = false;
    is_running_ = false;
}

} // namespace mariadb::detail
SETTLE_END
