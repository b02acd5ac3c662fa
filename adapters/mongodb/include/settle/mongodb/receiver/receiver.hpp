// SPDX-License-Identifier: BSL-1.0
// The database of a receiver in MongoDB: its rows, beside the service's own collections.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/receiver.hpp>

#include <memory>

SETTLE_BEGIN
namespace mongodb {

/// The access of a handler to its database, inside the native transaction of the call.
/// Shape:   valid during the call of the handler
class receiver_session {
public:
    explicit receiver_session(detail::link& link) : with_(&link) {}

    /// The driver's objects, for its own functions: their options must name the session. A handler
    /// that uses them reports each error to this session with fail(). A refusal undoes their
    /// writes, as it undoes those of run().
    /// Errors:  throws settle::failure once the engine's caller has left a call of the driver
    [[nodiscard]] mongoc_client_t* client() {
        used_ = true;
        return with_->native();
    }
    [[nodiscard]] mongoc_client_session_t* native() {
        used_ = true;
        return with_->session();
    }
    [[nodiscard]] std::string const& database() const noexcept { return with_->database(); }

    /// Runs one command of the database in the native transaction.
    /// Shape:   command - JSON of MongoDB, as in run(R"({"find": "flights"})"); the reply is JSON
    /// Errors:  throws settle::failure. The server has then aborted the native transaction. After
    ///          a conflict, settle repeats the call in a new one; after any other error,
    ///          the handler can only refuse the call, and none of its writes is kept
    std::string run(std::string_view command);
    /// Shape:   reply - for a new document, or null
    void run(bson_t const& command, bson_t* reply);

    /// Reports an error of the driver to this session.
    /// Shape:   reply - the server's reply, or null
    void fail(bson_error_t const& problem, bson_t const* reply);

private:
    friend class receiver_transaction;

    detail::link* with_;
    bool used_ = false;      ///< the handler may have written
    bool transient_ = false; ///< the native transaction may be repeated
    error problem_{};
};

/// An open native transaction of a receiver; see ReceiverDatabase.
class receiver_transaction {
public:
    /// Shape:   skips - attempt() does no work: the work failed in the previous native transaction
    receiver_transaction(detail::link& link, bool skips) : with_(&link), skips_(skips) {}

    void expect(std::span<service_call const>) noexcept {}
    [[nodiscard]] std::optional<receiver_row> find(std::string_view key);
    void store(receiver_row const& row);
    bool attempt(settle::detail::function_view<bool(receiver_session&)> work);

private:
    detail::link* with_;
    bool skips_;
};

/// The database of a service in MongoDB. The collection settle_receiver is beside the service's
/// own collections.
/// Shape:   address - as for mongodb::database, of a replica set; name - of the receiver. A
///          database belongs to the first receiver that opened it
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    each call is one native transaction; a refusal after a command of the handler is two
class receiver_database {
public:
    using session = receiver_session;
    using transaction = receiver_transaction;
    /// A refusal undoes the whole native transaction.
    static constexpr std::size_t largest_wave = 1;

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
    detail::server server_;
};

} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/receiver/receiver.ipp>
#endif
