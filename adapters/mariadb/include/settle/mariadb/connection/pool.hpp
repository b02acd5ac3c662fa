// SPDX-License-Identifier: BSL-1.0
// The connections of a database, which threads borrow, and its statements.
#pragma once

#include <settle/mariadb/connection/connection.hpp>
#include <settle/mariadb/connection/session_pool.hpp>

#include <atomic>
#include <map>

SETTLE_BEGIN
namespace mariadb::detail {

/// When a loan ends, an open native transaction is rolled back.
class pool final : public address_pool<connection> {
public:
    /// Connects once, so that a wrong address, password or server is refused at once.
    /// Errors:  throws settle::failure with one sentence
    pool(std::string const& text, options const& limits);

    /// A statement by its text: the same object for the same text and expectation, for the life of
    /// the pool.
    /// Shape:   as in statement
    [[nodiscard]] statement const& prepare(std::string const& sql,
                                           std::vector<parameter_type> const& types,
                                           char const* phase,
                                           expectation expects = expectation::none);

    /// The facts of the server of the first connection.
    [[nodiscard]] server_facts const& server() const noexcept { return server_; }
    /// The database of the tables, quoted as SQL needs it, with the dot after it: `` `bank`. ``
    [[nodiscard]] std::string const& schema_prefix() const noexcept { return schema_prefix_; }

    /// True if both pools were given one address.
    [[nodiscard]] bool is_same(pool const& other) const { return to() == other.to(); }

    /// The round trips of all loans that have ended, without the connects.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_.load(); }

private:
    bool take_back(connection& held) noexcept override;

    server_facts server_;
    std::string schema_prefix_;
    std::atomic<std::uint64_t> round_trips_{0};
    std::mutex mutex_; ///< of the statements
    std::deque<statement> statements_;
    std::map<std::pair<std::string, expectation>, statement const*> by_text_;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/pool.ipp>
#endif
