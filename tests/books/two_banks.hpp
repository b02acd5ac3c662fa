// SPDX-License-Identifier: BSL-1.0
// The sample of two banks in a folder: their servers, the program, and the servers' own views.
#pragma once

#include "../mariadb/servers.hpp"
#include "../postgresql/servers.hpp"

#include <program.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace settle_test {

/// Both servers start with this object, and end with it.
class two_banks {
public:
    explicit two_banks(testing::scratch_folder const& folder) : folder_{&folder} {}

    postgresql_server first;
    mariadb_server second;

    [[nodiscard]] std::unique_ptr<testing::program> begin(std::vector<std::string> more) const {
        std::vector<std::string> command{std::string{SETTLE_BIN_DIR} + "/books", "--accounts",
                                         first.address(), "--ledger", second.address()};
        command.insert(command.end(), more.begin(), more.end());
        return std::make_unique<testing::program>(*folder_, std::move(command));
    }
    [[nodiscard]] testing::ended call(std::vector<std::string> more) const {
        return begin(std::move(more))->wait();
    }

    /// The names that MariaDB holds in doubt, of all programs.
    [[nodiscard]] std::vector<std::string> in_doubt() const {
        mariadb_session session{second.address()};
        std::vector<std::string> names;
        for (auto const& row : session.ask("XA RECOVER")) names.push_back(row.at(3));
        return names;
    }

    /// The number of MariaDB's sessions that execute a statement, besides the test's own.
    [[nodiscard]] int working_sessions() const { return count_sessions(" AND command <> 'Sleep'"); }
    /// The number of MariaDB's sessions besides the test's own.
    [[nodiscard]] int sessions() const { return count_sessions(""); }

    /// Each entry with its state.
    [[nodiscard]] std::map<std::string, std::string> states() const {
        std::map<std::string, std::string> entries;
        for (auto const& row : ask(first.address(), "SELECT id, state FROM settle_entries")) {
            entries.emplace(row.at(0), row.at(1));
        }
        return entries;
    }

    /// The orders of the postings; an order with two postings is there twice.
    [[nodiscard]] std::vector<std::string> booked() const {
        mariadb_session session{second.address()};
        std::vector<std::string> orders;
        for (auto const& row : session.ask("SELECT order_id FROM posting ORDER BY order_id")) {
            orders.push_back(row.at(0));
        }
        return orders;
    }

    /// The money of both banks, in a column of both tables.
    [[nodiscard]] std::int64_t sum(std::string const& column) const {
        auto const sql = "SELECT coalesce(sum(" + column + "), 0) FROM ";
        mariadb_session session{second.address()};
        return std::stoll(ask_one(first.address(), sql + "accounts")) +
               std::stoll(session.ask_one(sql + "account"));
    }

private:
    [[nodiscard]] int count_sessions(std::string const& condition) const {
        mariadb_session session{second.address()};
        return std::stoi(session.ask_one("SELECT count(*) FROM information_schema.processlist "
                                         "WHERE db = DATABASE() AND id <> CONNECTION_ID()" +
                                         condition));
    }

    testing::scratch_folder const* folder_;
};

/// The first and the last orders of the bank's file: payers of the first and of the second bank.
inline std::string orders_of_both(testing::scratch_folder const& folder, std::size_t of_each) {
    std::ifstream file{testing::data_file("transfer/payment_orders.csv")};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    auto text = lines.at(0) + "\n";
    // In blocks, so that a program that is killed is in the middle of either kind.
    constexpr std::size_t block = 20;
    for (std::size_t index = 0; index < of_each; ++index) {
        text += lines.at(1 + index) + "\n";
        if (index % block != block - 1 && index + 1 != of_each) continue;
        for (auto other = index - index % block; other <= index; ++other) {
            text += lines.at(lines.size() - 1 - other) + "\n";
        }
    }
    return folder.write("orders.csv", text);
}

} // namespace settle_test
