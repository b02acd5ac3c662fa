// SPDX-License-Identifier: BSL-1.0
// The server of the MariaDB cases, and a database for each round.
#pragma once

#include "workload.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace bench {

/// A server that the benchmark has started. False if none can be started; the reason is printed
/// once.
[[nodiscard]] bool has_mariadb();

/// A database of one round, dropped with the object. The table of accounts is as settle would
/// create it.
class mariadb_bank {
public:
    /// Shape:   more - statements that create the rest; table - of the accounts
    explicit mariadb_bank(workload const& work, std::initializer_list<std::string> more = {},
                          std::string table = "accounts");
    mariadb_bank(mariadb_bank const&) = delete;
    mariadb_bank& operator=(mariadb_bank const&) = delete;
    ~mariadb_bank();

    [[nodiscard]] std::string address() const;
    [[nodiscard]] static unsigned port();
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// Errors:  throws wrong_result if an account has another balance than expected
    void check(std::vector<std::int64_t> const& expected) const;
    /// Errors:  throws wrong_result if a query counts another number of rows
    void check_count(std::string const& sql, std::size_t expected) const;

private:
    std::string name_;
    std::string table_;
};

} // namespace bench
