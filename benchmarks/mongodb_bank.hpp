// SPDX-License-Identifier: BSL-1.0
// The replica sets of the MongoDB cases, and a database for each round.
#pragma once

#include "baseline/mongodb.hpp"
#include "bench.hpp"

#include <cstddef>
#include <string>

namespace bench {

/// A replica set that the benchmark has started, until another size is needed. Null if no server
/// can be started; the reason is printed once.
class mongodb_set {
public:
    [[nodiscard]] static mongodb_set const* of(std::size_t members);
    [[nodiscard]] std::string address(std::string const& database) const;
    /// Clients that write to a majority's journal, and live as long as the set: the driver takes
    /// half a second to end them.
    /// Shape:   retries - retryWrites, which is on by default in the driver
    [[nodiscard]] baseline::mongodb::pool const& clients(bool retries = true) const;

private:
    mongodb_set() = default;
};

/// A database of one round, dropped with the object. It holds the accounts, as settle creates them.
class mongodb_bank {
public:
    /// Shape:   log - the collection of a baseline's log, which is created; settle creates its own;
    ///          collection - of the accounts
    mongodb_bank(mongodb_set const& set, workload const& work, char const* log = nullptr,
                 char const* collection = "accounts");
    mongodb_bank(mongodb_bank const&) = delete;
    mongodb_bank& operator=(mongodb_bank const&) = delete;
    ~mongodb_bank();

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] std::string address() const { return on_.address(name_); }
    [[nodiscard]] baseline::mongodb::connection by_hand(bool retries = true) const {
        return {on_.clients(retries), name_};
    }
    /// Errors:  throws wrong_result if an account has a mark or another balance than expected, or
    ///          if a transaction of a baseline's log is not done
    void check() const { check(work_.expected); }
    /// Shape:   expected - other balances than those of the work
    void check(std::vector<std::int64_t> const& expected) const;

private:
    void create_log() const;
    void check_accounts(std::vector<std::int64_t> const& expected) const;

    mongodb_set const& on_;
    workload const& work_;
    char const* log_;
    char const* accounts_;
    std::string name_;
};

} // namespace bench
