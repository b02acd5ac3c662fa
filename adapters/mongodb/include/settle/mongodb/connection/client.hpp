// SPDX-License-Identifier: BSL-1.0
// Clients from a pool, and the requests that settle sends to a server through them.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/base/process.hpp>
#include <settle/mongodb/connection/address.hpp>
#include <settle/mongodb/connection/bson.hpp>
#include <settle/mongodb/connection/driver_threads.hpp>
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
    void take(reply& from) {
        bson_steal(fresh(), &from.held_);
        bson_init(&from.held_); // its content is gone
    }
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

struct session_destroyer {
    void operator()(mongoc_client_session_t* held) const noexcept {
        mongoc_client_session_destroy(held);
    }
};

/// A client on loan from the pool, with its session. It goes back when nobody uses it any more: the
/// caller, or a call of the driver that the caller has left.
struct lent_client {
    mongoc_client_pool_t* pool;
    mongoc_client_t* native;
    std::unique_ptr<mongoc_client_session_t, session_destroyer> session{};

    lent_client(mongoc_client_pool_t* from, mongoc_client_t* taken) : pool(from), native(taken) {}
    lent_client(lent_client const&) = delete;
    lent_client& operator=(lent_client const&) = delete;
    ~lent_client() {
        session.reset();
        mongoc_client_pool_push(pool, native);
    }
};

/// What a call of the driver gives, which its caller may have left.
struct driver_answer {
    reply received{};
    bson_error_t problem{};
    bool is_good = false;
};

/// A client on loan from the pool, alone or inside a native transaction.
class link {
public:
    /// Errors:  throws command_failure if the caller waits no longer for a client
    link(mongoc_client_pool_t* pool, driver_threads& threads, std::string const& database);
    link(link const&) = delete;
    link& operator=(link const&) = delete;
    ~link() = default;

    /// Errors:  throws command_failure once the caller has left a call
    [[nodiscard]] mongoc_client_t* native() { return lent().native; }
    [[nodiscard]] std::string const& database() const noexcept { return *database_; }
    [[nodiscard]] collection_handle collection(std::string_view name);
    /// Has the calls that follow take part in the native transaction of the session, or not.
    void enter(bool native_transaction) noexcept { in_transaction_ = native_transaction; }
    [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }
    [[nodiscard]] mongoc_client_session_t* session() {
        return in_transaction_ ? lent().session.get() : nullptr;
    }
    /// False once the caller has left a call: then the server may still be at it.
    [[nodiscard]] bool is_free() const noexcept { return lent_ != nullptr; }

    /// Makes a call of the driver that may wait for the server.
    /// Shape:   call(lent_client) - owns what it uses, if driver_threads::are_needed()
    /// Errors:  throws command_failure if the engine's caller waits no longer: the outcome is
    ///          unknown, and the link takes no further call
    template <typename Call>
    void ask(std::string_view phase, Call call) {
        if (!driver_threads::are_needed()) return call(lent());
        // Members are destroyed in the reverse order: the client goes back last.
        struct own_call {
            std::shared_ptr<lent_client> client;
            Call call;
            void operator()() { call(*client); }
        };
        static_cast<void>(lent());
        leave_after(phase, threads_->run(own_call{lent_, std::move(call)}));
    }

    /// Adds the session of the native transaction.
    void append_session(document& options);

    /// Calls `function(document)` for every document found.
    /// Errors:  throws command_failure
    template <typename Function>
    void find(std::string_view name, document const& filter, document options,
              std::string_view phase, Function&& function) {
        find_each(name, filter, std::move(options), phase,
                  [&](document&& each) { function(std::move(each)); });
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
        struct exchange : driver_answer {
            exchange(std::string const& in, document const& sent)
                : database(in), request(sent.native()) {}
            std::string database;
            document request;
        };
        auto const own = std::make_shared<exchange>(*database_, request);
        ask(phase, [own, call](lent_client& client) {
            own->is_good = call(client.native, own->database.c_str(), own->request.native(),
                                nullptr, own->received.fresh(), &own->problem);
        });
        received.take(own->received);
        if (!own->is_good)
            throw command_failure(describe(own->problem, phase), received.transient());
    }
    void find_each(std::string_view name, document const& filter, document options,
                   std::string_view phase,
                   settle::detail::function_view<void(document&&)> function);
    [[nodiscard]] lent_client& lent();
    /// Gives the client up, if a limit has ended the wait for a call.
    void leave_after(std::string_view phase, std::string_view limit);

    static constexpr std::int64_t largest_batch = 100'000;

    friend class within_database;

    std::shared_ptr<lent_client> lent_;
    driver_threads* threads_;
    std::string const* database_;
    bool in_transaction_ = false;
};

/// Has the calls of a client go to another database of its set, as long as this object lives.
class within_database {
public:
    within_database(link& client, std::string const& database)
        : link_(&client), before_(std::exchange(client.database_, &database)) {}
    within_database(within_database const&) = delete;
    within_database& operator=(within_database const&) = delete;
    ~within_database() { link_->database_ = before_; }

private:
    link* link_;
    std::string const* before_;
};

/// A server or a replica set. Threads may share it.
class server {
public:
    /// Errors:  throws settle::failure when the address is refused
    server(std::string const& text, database_options const& options);
    /// Another database of the same set, through the same clients.
    /// Errors:  throws settle::failure when the name is refused
    server(server const& other, std::string const& database);

    /// Learns the kind of the server. Called before all other requests.
    /// Errors:  throws settle::failure when the server is unreachable or unfit
    void look(link& client);

    /// Errors:  throws settle::failure in a forked child, which cannot use its copies of the
    ///          sockets and of the driver's threads
    [[nodiscard]] link connect();
    [[nodiscard]] std::string const& database() const noexcept { return address_.database(); }
    [[nodiscard]] bool shares_clients(server const& other) const noexcept {
        return pool_ == other.pool_;
    }
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
        // In a child they would end the parent's sessions, and wait for the parent's threads.
        void operator()(mongoc_client_pool_t* held) const noexcept {
            if (made_in.is_here()) mongoc_client_pool_destroy(held);
        }
        void operator()(driver_threads* held) const noexcept {
            if (made_in.is_here()) delete held;
        }
    };
    process_stamp made_in_;
    address address_;
    std::shared_ptr<mongoc_client_pool_t> pool_;
    std::unique_ptr<driver_threads, destroyer> threads_{new driver_threads};
    bool transactions_ = false;
    std::atomic<bool> sole_ = false;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/client.ipp>
#endif
