// SPDX-License-Identifier: BSL-1.0
// Books postings through the library, and reads the tables with MariaDB's own client.
#include "ledger.hpp"

#include <shared/money.hpp>

#include <settle/mariadb/connection/address.hpp>

#include <fmt/format.h>
#include <mysql.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace books {

settle::work_result book(settle::mariadb::connection& on, posting const& request) {
    auto const found =
        on.query("SELECT balance FROM account WHERE id = ? FOR UPDATE", request.account);
    if (found.empty()) return settle::work_result::refused("there is no such account");
    if (found.integer(0, 0) < request.debit) return settle::work_result::refused("balance too low");
    on.execute("UPDATE account SET balance = balance + ? WHERE id = ?",
               request.credit - request.debit, request.account);
    on.execute("INSERT INTO posting (order_id, account, debit, credit) VALUES (?, ?, ?, ?)",
               request.order_id, request.account, request.debit, request.credit);
    return settle::work_result::ok();
}

namespace {

MYSQL* native(void* session) { return static_cast<MYSQL*>(session); }

std::runtime_error failure_of(MYSQL* session, char const* what) {
    return std::runtime_error(fmt::format("the ledger {}: {}", what, mysql_error(session)));
}

std::int64_t number(char const* text) { return samples::parse_whole("amount", text); }

} // namespace

void ledger_client::closing::operator()(void* session) const noexcept {
    mysql_close(native(session));
}

ledger_client::ledger_client(std::string const& address) : session_{mysql_init(nullptr)} {
    settle::mariadb::detail::address const to{address};
    MYSQL* const one = native(session_.get());
    mysql_optionsv(one, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    auto const* const socket = to.socket.empty() ? nullptr : to.socket.c_str();
    if (mysql_real_connect(one, to.host.c_str(), to.user.c_str(), to.password.c_str(),
                           to.database.c_str(), to.port, socket, 0) == nullptr) {
        throw failure_of(one, "cannot be reached");
    }
}

void ledger_client::make_tables() {
    // Text that differs in a letter's case or in a space at its end is of two accounts.
    auto const table = [](char const* name, char const* columns) {
        return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = InnoDB CHARACTER SET "
                           "utf8mb4 COLLATE utf8mb4_nopad_bin",
                           name, columns);
    };
    // The bank's own limit of an account: the ledger refuses a credit beyond 10,000,000.00.
    ask(table("account", "id VARCHAR(100) PRIMARY KEY, balance BIGINT NOT NULL, "
                         "opened_with BIGINT NOT NULL, CHECK (balance <= 1000000000)"));
    ask(table("posting", "number BIGINT AUTO_INCREMENT PRIMARY KEY, order_id VARCHAR(200) NOT "
                         "NULL, account VARCHAR(100) NOT NULL, debit BIGINT NOT NULL, credit "
                         "BIGINT NOT NULL, KEY (order_id), KEY (account)"));
}

std::uint64_t ledger_client::open(std::span<std::string const> ids, std::int64_t balance) {
    constexpr std::size_t most = 500;
    std::uint64_t opened = 0;
    while (!ids.empty()) {
        auto const some = ids.first(std::min(most, ids.size()));
        std::string rows;
        for (auto const& id : some) {
            rows += fmt::format("{}({}, {}, {})", rows.empty() ? "" : ", ", quoted(id), balance,
                                balance);
        }
        ask("INSERT IGNORE INTO account (id, balance, opened_with) VALUES " + rows);
        opened += mysql_affected_rows(native(session_.get()));
        ids = ids.subspan(some.size());
    }
    return opened;
}

void ledger_client::each_account(std::function<void(account const&)> const& visit) {
    ask("SELECT id, balance, opened_with FROM account ORDER BY id",
        [&](row found) { visit(account{found[0], number(found[1]), number(found[2])}); });
}

std::vector<posting> ledger_client::postings() {
    std::vector<posting> all;
    ask("SELECT order_id, account, debit, credit FROM posting ORDER BY number", [&](row found) {
        all.push_back({found[0], found[1], number(found[2]), number(found[3])});
    });
    return all;
}

std::vector<std::string> ledger_client::unbalanced() {
    std::vector<std::string> ids;
    ask("SELECT id FROM account LEFT JOIN posting ON account = id GROUP BY id "
        "HAVING max(balance) <> max(opened_with) + coalesce(sum(credit - debit), 0)",
        [&](row found) { ids.emplace_back(found[0]); });
    return ids;
}

void ledger_client::ask(std::string const& sql, std::function<void(row)> const& visit) {
    MYSQL* const one = native(session_.get());
    if (mysql_real_query(one, sql.data(), sql.size()) != 0) {
        throw failure_of(one, "refuses a statement");
    }
    std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> const found{mysql_store_result(one),
                                                                 &mysql_free_result};
    if (!found) {
        if (mysql_field_count(one) != 0) throw failure_of(one, "cannot be read");
        return;
    }
    while (MYSQL_ROW const values = mysql_fetch_row(found.get())) {
        visit({values, mysql_num_fields(found.get())});
    }
}

std::string ledger_client::quoted(std::string const& text) {
    std::string escaped(2 * text.size() + 1, '\0');
    escaped.resize(
        mysql_real_escape_string(native(session_.get()), escaped.data(), text.data(), text.size()));
    return "'" + escaped + "'";
}

} // namespace books
