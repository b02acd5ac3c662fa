// SPDX-License-Identifier: BSL-1.0
// The servers of the PostgreSQL cases, and schemas for each round.
#pragma once

#include "workload.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace bench {

/// Two servers that the benchmark has started. Null if no server can be started; the reason is
/// printed once.
class postgresql_pair {
public:
    [[nodiscard]] static postgresql_pair const* get();
    /// Shape:   number - 0 or 1
    [[nodiscard]] std::string address(std::size_t number, std::string const& schema) const;

private:
    postgresql_pair() = default;
};

/// A schema of one round on one server, dropped with the object. A table of accounts is as settle
/// would create it.
class postgresql_bank {
public:
    /// Shape:   table - the table of the accounts; more - statements that create the rest
    postgresql_bank(postgresql_pair const& pair, std::size_t server, workload const& work,
                    std::string table, std::initializer_list<std::string> more = {});
    postgresql_bank(postgresql_bank const&) = delete;
    postgresql_bank& operator=(postgresql_bank const&) = delete;
    ~postgresql_bank();

    [[nodiscard]] std::string const& address() const noexcept { return address_; }
    /// Errors:  throws wrong_result if an account has another balance than expected
    void check(std::vector<std::int64_t> const& expected) const;
    /// Errors:  throws wrong_result if a query counts another number of rows
    void check_count(std::string const& sql, std::size_t expected) const;

private:
    std::string schema_;
    std::string address_;
    std::string table_;
};

} // namespace bench
