// SPDX-License-Identifier: BSL-1.0
// The calls that a database of a server has on every server: it binds collections and its log.
#pragma once

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/sql/metadata_table.hpp>
#include <settle/adapter/sql/record_session.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class database {
    using pool_type = typename Sql::pool;
    using log_session = typename Sql::log_session;

public:
    database(database const&) = delete;
    database& operator=(database const&) = delete;

    /// Errors:  throws settle::failure when a table does not fit its collection, or when the
    ///          database's records belong to another log
    template <typename... Collections>
    record_session<Sql, Collections...> bind(std::string const& log_name) {
        return {*pool_, log_name};
    }

    /// As bind(), for any_database.
    std::shared_ptr<one_phase_store<log_session>>
    bind_described(std::string const& log_name,
                   std::span<collection_descriptor const* const> bound) {
        return make_record_store<Sql>(*pool_, log_name, bound);
    }

    /// True if both objects were given one address: an engine then takes them for one store.
    [[nodiscard]] bool is_same(database const& other) const { return pool_->is_same(*other.pool_); }

    /// Errors:  throws settle::failure when the database cannot be read or written
    log_session bind_log() {
        auto const fresh = fresh_log_name(std::string{Sql::page} + '-');
        return {*pool_, metadata_table<Sql>{*pool_}.get_or_init("log", fresh)};
    }

    /// The round trips to the server up to now, without the round trips that connect.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return pool_->round_trips(); }

protected:
    explicit database(std::unique_ptr<pool_type> pool) : pool_(std::move(pool)) {}
    ~database() = default;

    [[nodiscard]] pool_type& from() const noexcept { return *pool_; }

private:
    std::unique_ptr<pool_type> pool_;
};

} // namespace detail::sql
SETTLE_END
