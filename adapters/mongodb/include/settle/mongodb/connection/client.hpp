// SPDX-License-Identifier: BSL-1.0
// Clients from a pool, and the requests that settle sends to a server through them.
#pragma once

#include <settle/base/process.hpp>
#include <settle/mongodb/connection/address.hpp>
#include <settle/mongodb/connection/bson.hpp>
#include <settle/mongodb/connection/error.hpp>

#include <atomic>

SETTLE_BEGIN
namespace mongodb::detail {

/// A failed command, with the labels of its answer.
class command_failure : public failure {
public:
    command_failure(error problem, bool transient)
        : failure(std::move(problem)), transient_(transient) {}
    /// Whether the whole native transaction may be repeated.
    [[nodiscard]] bool transient() const noexcept { return transient_; }

private:
    bool transient_;
};

[[nodiscard]] bool has_label(bson_t const& reply, char const* label);

/// Owns a reply of the driver.
class reply {
public:
    reply() { bson_init(&held_); }
    reply(reply const&) = delete;
    reply& operator=(reply const&) = delete;
    ~reply() { bson_destroy(&held_); }

    /// For a call that initialises the reply.
    [[nodiscard]] bson_t* fresh() {
        bson_destroy(&held_);
        return &held_;
    }
    [[nodiscard]] bson_t const& native() const noexcept { return held_; }
    [[nodiscard]] bool transient() const { return has_label(held_, "TransientTransactionError"); }
    [[nodiscard]] std::optional<value_view> find(char const* name) const {
        bson_iter_t at;
        if (!bson_iter_init_find(&at, &held_, name)) return std::nullopt;
        return value_view{at};
    }

private:
    bson_t held_{};
};

/// The options of a find with a limit, in the order of a field.
[[nodiscard]] document page_of(std::string_view order, std::size_t limit);

/// How long a majority may take to confirm a read.
inline constexpr std::int64_t sure_read_ms = 15'000;

/// The options of a linearizable find: after the read a majority confirms the primary.
[[nodiscard]] document linearizable();

struct collection_destroyer {
    void operator()(mongoc_collection_t* held) const noexcept { mongoc_collection_destroy(held); }
};
using collection_handle = std::unique_ptr<mongoc_collection_t, collection_destroyer>;

/// A client on loan from the pool, alone or inside a native transaction.
class link {
public:
    link(mongoc_client_pool_t* pool, std::string const& database)
        : pool_(pool), client_(mongoc_client_pool_pop(pool)), database_(&database) {}
    link(link const&) = delete;
    link& operator=(link const&) = delete;
    ~link() { mongoc_client_pool_push(pool_, client_); }

    [[nodiscard]] mongoc_client_t* native() noexcept { return client_; }
    [[nodiscard]] std::string const& database() const noexcept { return *database_; }
    [[nodiscard]] collection_handle collection(std::string_view name);
    /// Sets the native transaction of the calls that follow; null for none.
    void enter(mongoc_client_session_t* session) noexcept { session_ = session; }
    [[nodiscard]] bool in_transaction() const noexcept { return session_ != nullptr; }
    [[nodiscard]] mongoc_client_session_t* session() const noexcept { return session_; }

    /// Adds the session of the native transaction.
    void append_session(document& options);

    /// Calls `function(document)` for every document found.
    /// Errors:  throws command_failure
    template <typename Function>
    void find(std::string_view name, document const& filter, document options,
              std::string_view phase, Function&& function) {
        append_session(options);
        // The server's first batch would hold 101 documents; the rest would cost a round trip.
        options.integer("batchSize", largest_batch);
        auto const from = collection(name);
        std::unique_ptr<mongoc_cursor_t, void (*)(mongoc_cursor_t*)> const cursor{
            mongoc_collection_find_with_opts(from.get(), filter.native(), options.native(),
                                             nullptr),
            &mongoc_cursor_destroy};
        bson_t const* current = nullptr;
        while (mongoc_cursor_next(cursor.get(), &current)) function(document{current});
        bson_error_t problem{};
        bson_t const* answer = nullptr;
        if (!mongoc_cursor_error_document(cursor.get(), &problem, &answer)) return;
        bool const transient = answer != nullptr && has_label(*answer, "TransientTransactionError");
        throw command_failure(describe(problem, phase), transient);
    }

    /// Runs a command of the database.
    /// Errors:  throws command_failure
    void command(document const& request, std::string_view phase, reply& received) {
        run(mongoc_client_command_simple, request, phase, received);
    }
    /// The same for a command that writes, with the write concern of the address.
    void write_command(document const& request, std::string_view phase, reply& received) {
        run(mongoc_client_write_command_with_opts, request, phase, received);
    }

private:
    template <typename Call>
    void run(Call call, document const& request, std::string_view phase, reply& received) {
        bson_error_t problem{};
        if (!call(client_, database_->c_str(), request.native(), nullptr, received.fresh(),
                  &problem)) {
            throw command_failure(describe(problem, phase), received.transient());
        }
    }

    static constexpr std::int64_t largest_batch = 100'000;

    mongoc_client_pool_t* pool_;
    mongoc_client_t* client_;
    std::string const* database_;
    mongoc_client_session_t* session_ = nullptr;
};

/// A server or a replica set. Threads may share it.
class server {
public:
    /// Errors:  throws settle::failure when the address is refused
    server(std::string const& text, database_options const& options);

    /// Learns the kind of the server. Called before all other requests.
    /// Errors:  throws settle::failure when the server is unreachable or unfit
    void look(link& client);

    /// Errors:  throws settle::failure in a forked child, which cannot use its copies of the
    ///          sockets and of the driver's threads
    [[nodiscard]] link connect();
    [[nodiscard]] std::string const& database() const noexcept { return address_.database(); }
    /// Whether the server has native transactions over several documents.
    [[nodiscard]] bool has_transactions() const noexcept { return transactions_; }
    [[nodiscard]] read_levels const& reads() const noexcept { return address_.reads(); }
    /// Asks the server whether it is the only member of its replica set, and the primary.
    [[nodiscard]] bool is_sole_primary();
    /// The answer of the last such question.
    [[nodiscard]] bool was_sole_primary() const noexcept { return sole_; }

    /// The options of a linearizable read; a single server needs none.
    [[nodiscard]] document sure_read() const;
    /// The options of a read that decides something. On a new primary, the majority's state may be
    /// older than the writes that the previous primary acknowledged.
    [[nodiscard]] document deciding_read() const {
        return reads().linearizable ? sure_read() : document{};
    }

private:
    /// MongoDB 4.2: the first whose native transactions may be as large as a wave.
    static constexpr std::int64_t oldest = 8;

    [[noreturn]] static void refuse_address(std::string const& text, bson_error_t const& problem);

    [[nodiscard]] static bool is_primary(reply const& hello);
    /// Whether a greeting names only this member.
    [[nodiscard]] static bool names_one_host(reply const& hello);

    [[noreturn]] void refuse_member() const;

    struct destroyer {
        process_stamp made_in;
        void operator()(mongoc_client_pool_t* held) const noexcept {
            // In a child it would end the parent's sessions, and wait for the parent's threads.
            if (made_in.is_here()) mongoc_client_pool_destroy(held);
        }
    };
    process_stamp made_in_;
    address address_;
    std::unique_ptr<mongoc_client_pool_t, destroyer> pool_;
    bool transactions_ = false;
    std::atomic<bool> sole_ = false;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/client.ipp>
#endif
