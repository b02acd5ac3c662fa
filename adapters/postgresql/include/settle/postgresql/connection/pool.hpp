// SPDX-License-Identifier: BSL-1.0
// The connections of a database, which threads borrow, and its statements.
#pragma once

#include <settle/adapter/connection_pool.hpp>
#include <settle/postgresql/connection/connection.hpp>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

SETTLE_BEGIN
namespace postgresql::detail {

/// When a loan ends, an open native transaction is rolled back.
class pool final : public settle::detail::connection_pool<connection> {
public:
    /// Connects once, so that a wrong address, password or server is refused at once.
    /// Errors:  throws settle::failure with one sentence
    pool(std::string const& text, database_options const& options);

    /// A statement by its text: the same object for the same text, for the life of the pool. Of a
    /// statement on a wave, connections send another text if the wave has one row.
    /// Shape:   phase - as in statement; a literal
    [[nodiscard]] statement const& prepare(std::string const& sql,
                                           std::vector<value_type> const& types, char const* phase);
    [[nodiscard]] statement const&
    prepare(std::string const& sql, std::vector<settle::detail::sql::parameter_type> const& types,
            char const* phase) {
        std::vector<value_type> native;
        native.reserve(types.size());
        for (auto const& type : types) native.push_back(native_type(type));
        return prepare(sql, native, phase);
    }

    [[nodiscard]] statement const& prepare(std::string const& sql, char const* phase) {
        return prepare(sql, std::vector<value_type>{}, phase);
    }

    /// The facts of the server of the first connection.
    [[nodiscard]] server_facts const& server() const noexcept { return server_; }
    /// The schema of the tables, quoted as SQL needs it, with the dot after it: `"public".`
    [[nodiscard]] std::string const& schema_prefix() const noexcept { return schema_prefix_; }
    [[nodiscard]] database_options const& options() const noexcept { return options_; }

    /// True if both pools were given one address, and use one schema.
    [[nodiscard]] bool is_same(pool const& other) const {
        return address_.hosts() == other.address_.hosts() && schema_prefix_ == other.schema_prefix_;
    }

    /// The round trips of all loans that have ended, without the connects.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_.load(); }

private:
    [[nodiscard]] std::unique_ptr<connection> make(std::stop_token const& stop) const override;
    bool take_back(connection& connection) noexcept override;
    /// Errors:  throws errc::unfit_store if a pooler gives one session of the server to several
    ///          clients
    void check_session(connection& first) const;
    [[nodiscard]] bool shares_session(connection& first) const;
    [[nodiscard]] error all_in_use(std::size_t count) const override;

    detail::address address_;
    database_options options_;
    server_facts server_;
    std::string schema_prefix_;
    mutable std::atomic<std::size_t> host_{0}; ///< the one that answered last
    std::atomic<std::uint64_t> round_trips_{0};
    std::mutex mutex_; ///< of the statements
    std::deque<statement> statements_;
    std::map<std::string, statement const*, std::less<>> by_text_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/pool.ipp>
#endif
