// SPDX-License-Identifier: BSL-1.0
#include "mariadb_session.hpp"

#include <settle/mariadb/connection/address.hpp>

#include <fmt/format.h>
#include <mysql.h>

#include <stdexcept>

namespace samples {

namespace {

MYSQL* native(void* session) { return static_cast<MYSQL*>(session); }

std::runtime_error failure_of(MYSQL* session, std::string const& name, char const* what) {
    return std::runtime_error(fmt::format("{} {}: {}", name, what, mysql_error(session)));
}

} // namespace

void mariadb_session::closing::operator()(void* session) const noexcept {
    mysql_close(native(session));
}

mariadb_session::mariadb_session(std::string name, std::string const& address)
    : name_{std::move(name)}, session_{mysql_init(nullptr)} {
    settle::mariadb::detail::address const to{address};
    MYSQL* const session = native(session_.get());
    mysql_optionsv(session, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    auto const* const socket = to.socket.empty() ? nullptr : to.socket.c_str();
    if (mysql_real_connect(session, to.host.c_str(), to.user.c_str(), to.password.c_str(),
                           to.database.c_str(), to.port, socket, 0) == nullptr) {
        throw failure_of(session, name_, "cannot be reached");
    }
}

std::uint64_t mariadb_session::ask(std::string const& sql, std::function<void(row)> const& visit) {
    MYSQL* const session = native(session_.get());
    if (mysql_real_query(session, sql.data(), sql.size()) != 0) {
        throw failure_of(session, name_, "refuses a statement");
    }
    std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> const rows{mysql_store_result(session),
                                                                &mysql_free_result};
    if (!rows) {
        if (mysql_field_count(session) != 0) throw failure_of(session, name_, "cannot be read");
        return mysql_affected_rows(session);
    }
    while (MYSQL_ROW const values = mysql_fetch_row(rows.get())) {
        visit({values, mysql_num_fields(rows.get())});
    }
    return 0;
}

std::string mariadb_session::quoted(std::string const& text) {
    std::string escaped(2 * text.size() + 1, '\0');
    escaped.resize(
        mysql_real_escape_string(native(session_.get()), escaped.data(), text.data(), text.size()));
    return "'" + escaped + "'";
}

} // namespace samples
