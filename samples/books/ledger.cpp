// SPDX-License-Identifier: BSL-1.0
// Books postings through the library, and reads the tables with MariaDB's own client.
#include "ledger.hpp"

#include <shared/money.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace books {

settle::work_result book(settle::mariadb::connection& connection, posting const& request) {
    auto const rows =
        connection.query("SELECT balance FROM account WHERE id = ? FOR UPDATE", request.account);
    if (rows.empty()) return settle::work_result::refused("there is no such account");
    if (rows.integer(0, 0) < request.debit) return settle::work_result::refused("balance too low");
    connection.execute("UPDATE account SET balance = balance + ? WHERE id = ?",
                       request.credit - request.debit, request.account);
    connection.execute("INSERT INTO posting (order_id, account, debit, credit) VALUES (?, ?, ?, ?)",
                       request.order_id, request.account, request.debit, request.credit);
    return settle::work_result::ok();
}

namespace {

std::int64_t number(char const* text) { return samples::parse_whole("amount", text); }

} // namespace

ledger_client::ledger_client(std::string const& address) : session_{"the ledger", address} {}

void ledger_client::make_tables() {
    // Text that differs in a letter's case or in a space at its end is of two accounts.
    auto const table = [](char const* name, char const* columns) {
        return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = InnoDB CHARACTER SET "
                           "utf8mb4 COLLATE utf8mb4_nopad_bin",
                           name, columns);
    };
    // The bank's own limit of an account: the ledger refuses a credit beyond 10,000,000.00.
    session_.ask(table("account", "id VARCHAR(100) PRIMARY KEY, balance BIGINT NOT NULL, "
                                  "opened_with BIGINT NOT NULL, CHECK (balance <= 1000000000)"));
    session_.ask(table("posting",
                       "number BIGINT AUTO_INCREMENT PRIMARY KEY, order_id VARCHAR(200) NOT "
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
            rows += fmt::format("{}({}, {}, {})", rows.empty() ? "" : ", ", session_.quoted(id),
                                balance, balance);
        }
        opened +=
            session_.ask("INSERT IGNORE INTO account (id, balance, opened_with) VALUES " + rows);
        ids = ids.subspan(some.size());
    }
    return opened;
}

void ledger_client::each_account(std::function<void(account const&)> const& visit) {
    session_.ask("SELECT id, balance, opened_with FROM account ORDER BY id",
                 [&](auto found) { visit(account{found[0], number(found[1]), number(found[2])}); });
}

std::vector<posting> ledger_client::postings() {
    std::vector<posting> listed;
    session_.ask("SELECT order_id, account, debit, credit FROM posting ORDER BY number",
                 [&](auto found) {
                     listed.push_back({found[0], found[1], number(found[2]), number(found[3])});
                 });
    return listed;
}

std::vector<std::string> ledger_client::unbalanced() {
    std::vector<std::string> ids;
    session_.ask("SELECT id FROM account LEFT JOIN posting ON account = id GROUP BY id "
                 "HAVING max(balance) <> max(opened_with) + coalesce(sum(credit - debit), 0)",
                 [&](auto found) { ids.emplace_back(found[0]); });
    return ids;
}

} // namespace books
