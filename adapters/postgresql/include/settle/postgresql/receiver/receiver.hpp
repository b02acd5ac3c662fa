// SPDX-License-Identifier: BSL-1.0
// The database of a receiver in PostgreSQL: its rows, beside the service's own tables.
#pragma once

#include <settle/adapter/sql_connection.hpp>
#include <settle/postgresql/connection/native.hpp>
#include <settle/receiver.hpp>

#include <map>
#include <memory>

SETTLE_BEGIN
namespace postgresql {

namespace detail {

/// The statements of a receiver.
struct receiver_statements {
    statement const& lock; ///< keys, until the native transaction ends
    statement const& find;
    statement const& store;
    statement const& erase;
    statement const& list;
    statement const& begin_work;
    statement const& undo_work;
    statement const& end_work;
};

} // namespace detail

/// The access of a handler to its database, inside the native transaction of the call.
using receiver_session = sql_connection;

/// An open native transaction of a receiver; see ReceiverDatabase.
class receiver_transaction {
public:
    receiver_transaction(detail::receiver_statements const& send, detail::connection& with)
        : send_(&send), with_(&with) {}

    void expect(std::span<service_call const> calls);
    [[nodiscard]] std::optional<receiver_row> find(std::string_view key) const;
    void store(receiver_row const& row);
    bool attempt(settle::detail::function_view<bool(receiver_session&)> work);

private:
    detail::receiver_statements const* send_;
    detail::connection* with_;
    std::map<std::string, receiver_row, std::less<>> rows_; ///< of the expected calls
};

/// The database of a service in PostgreSQL. The table settle_receiver is beside the service's
/// own tables, which the service creates itself.
/// Shape:   address - as for postgresql::database; name - of the receiver. A schema belongs to the
///          first receiver that opened it
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    a wave of calls is one native transaction: two round trips, and the handler's own
class receiver_database {
public:
    using session = receiver_session;
    using transaction = receiver_transaction;
    /// The savepoints of a native transaction that a session of PostgreSQL keeps in its cache.
    static constexpr std::size_t largest_wave = 64;

    explicit receiver_database(std::string const& address, std::string const& name,
                               database_options const& options = {});

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<receiver_database>>
    open(std::string const& address, std::string const& name, database_options const& options = {});

    // The rest is for settle::receiver; see ReceiverDatabase.

    settle::detail::commit_result
    perform(settle::detail::function_view<void(receiver_transaction&)> function);
    result<std::size_t> erase(timestamp before, std::size_t limit);
    result<std::vector<receiver_row>> list(receiver_filter const& filter, std::string_view after,
                                           std::size_t limit);
    result<std::optional<receiver_row>> find(std::string_view key);

private:
    detail::pool pool_;
    detail::receiver_statements send_;
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/receiver/receiver.ipp>
#endif
