// SPDX-License-Identifier: BSL-1.0
// A table of numbers, changed by native transactions of the adapter and read by another program.
#pragma once

#include "failures.hpp"
#include "patiently.hpp"
#include "shared_servers.hpp"

#include <settle/mariadb/connection/row.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace settle_test {

namespace maria = settle::mariadb;
using maria::detail::array_value;
using maria::detail::commit_result;
using maria::detail::commit_status;
using maria::detail::connection;
using maria::detail::native_transaction;
using maria::detail::pool;
using maria::detail::row;
using maria::detail::statement;
using settle::detail::sql::column_kind;
using settle::detail::sql::integer_array;
using settle::detail::sql::integer_value;
using settle::detail::sql::parameter_type;
using settle::detail::sql::text_array;
using settle::detail::sql::text_value;
using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

inline maria::options patient_limits() { return patient_limits<maria::options>(); }

inline void ask(std::string const& address, std::string const& sql) {
    mariadb_session{address}.ask(sql);
}

/// The table `sums` with rows `a`, `b` and `c`, each 0.
inline void make_sums(std::string const& address) {
    ask(address,
        "CREATE TABLE sums (id VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin "
        "PRIMARY KEY, n BIGINT NOT NULL CHECK (n >= -1000)) ENGINE = InnoDB");
    ask(address, "INSERT INTO sums VALUES ('a', 0), ('b', 0), ('c', 0)");
}
inline std::string sum_of(std::string const& address, std::string const& id) {
    return mariadb_session{address}.ask_one("SELECT n FROM sums WHERE id = '" + id + "'");
}

/// Whether each native transaction that wrote to a table comes to its end: this waits for its
/// locks. INNODB_TRX, which lists them, is not refreshed while other tests read it.
template <typename Database>
bool all_are_ended(Database const& own, std::string const& table = "sums") {
    mariadb_session session{own.address()};
    session.ask("SET innodb_lock_wait_timeout = 60");
    return !session.ask_one("SELECT COUNT(*) FROM " + table + " FOR UPDATE").empty();
}

/// The SQL of a wave of parameters in the set form, and nothing in the row form.
inline std::string wave(std::vector<parameter_type> const& types, bool with_number = false) {
    return "\1" + maria::detail::wave_sql(types, with_number) + " STRAIGHT_JOIN \2\3";
}

/// Adds to a row in a native transaction.
/// Shape:   before - is called with the connection before the update
inline commit_result add(pool& to, std::string_view id, std::int64_t by,
                         std::function<void(connection&)> const& before = {}) {
    auto const& update = to.prepare("UPDATE sums SET n = n + $2 WHERE id = $1",
                                    {text_value, integer_value}, "add to a sum");
    native_transaction native{to};
    auto const change = [&](connection& connection) {
        if (before) before(connection);
        connection.send(update, id, by);
    };
    return native.perform(change, 5s);
}

} // namespace settle_test
