// SPDX-License-Identifier: BSL-1.0
// A database of a MariaDB server, as a resource of prepared transactions (XA).
#pragma once

#include <settle/adapter/sql_connection.hpp>
#include <settle/mariadb/connection/session_pool.hpp>
#include <settle/mariadb/prepared/receipts.hpp>
#include <settle/mariadb/prepared/xa.hpp>

#include <map>

SETTLE_BEGIN
namespace mariadb {

/// The connection of the user's work.
using connection = sql_connection;

/// A PreparingResource. Threads and engines may share it; it outlives its engines.
/// Shape:   the tables that the work changes are InnoDB's
/// Cost:    a prepare is five round trips and the work's own. It keeps its session, on which the
///          end is four round trips; options::kept_sessions says how many are kept. Without that
///          session, an end waits a second, also for many names: see detail::detach_pause
/// Errors:  a roll back can be undone by a crash of the server: the name is in doubt again
/// Source:  MariaDB 10.11, "XA Transactions"; adapters/mariadb/README.md
class resource {
public:
    using connection = mariadb::connection;
    static constexpr std::size_t most_name = 2 * detail::longest_half;

    /// The constructor does not connect.
    /// Shape:   address - mariadb://user:password@host:3306/database
    /// Errors:  throws settle::failure: the address or an option makes no sense
    explicit resource(std::string const& address, options const& limits = {});

    /// Makes the table settle_receipt if it is missing, and checks the server.
    /// Errors:  throws settle::failure
    void bind(std::string const& log);

    [[nodiscard]] prepare_result prepare(prepared_name const& name, work_function<connection> work);
    [[nodiscard]] end_result commit(prepared_name const& name);
    [[nodiscard]] end_result roll_back(prepared_name const& name);
    [[nodiscard]] result<std::vector<in_doubt_name>>
    in_doubt(std::string_view prefix, std::string_view after, std::size_t limit);
    [[nodiscard]] result<std::optional<epoch>> receipt_of(prepared_part const& part);
    [[nodiscard]] end_result deny(prepared_name const& name);
    [[nodiscard]] result<std::uint64_t> forget(std::string_view prefix, timestamp before,
                                               std::size_t limit);
    [[nodiscard]] result<timestamp> time();

private:
    [[nodiscard]] std::string xid_of(prepared_name const& name) const {
        return detail::xid_sql(name.text(), format_);
    }
    prepare_result prepare_on(detail::session_pool::loan& loan, prepared_name const& name,
                              work_function<connection> work);
    /// Ends a native transaction that was not prepared.
    void abandon(detail::session_pool::loan& loan, std::string const& xid) noexcept;
    end_result end(prepared_name const& name, std::string const& verb, char const* phase);
    /// Ends a prepared transaction without the session that prepared it.
    end_result end_left(prepared_name const& name, std::string const& verb, char const* phase);
    /// When the session that prepared a name was first seen to be gone, if it is gone.
    /// Shape:   listed - the names that the server lists
    std::optional<std::chrono::steady_clock::time_point>
    gone_since(detail::session& session, std::string const& name,
               std::vector<std::string> const& listed);
    void keep(std::string const& name, detail::session_pool::loan loan);
    /// The session that prepared a name, if it is kept and alive.
    [[nodiscard]] std::optional<detail::session_pool::loan> take_kept(std::string const& name);

    detail::session_pool sessions_;
    std::uint32_t format_;
    std::string receipts_; ///< the table with its database, as SQL takes it
    std::mutex mutex_;
    std::map<std::string, detail::session_pool::loan> kept_; ///< by the name that it prepared
    std::map<std::string, std::chrono::steady_clock::time_point> gone_; ///< of listed names
};

static_assert(PreparingResource<resource>);

} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/prepared/resource.ipp>
#endif
