// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that client.hpp declares.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/connection/set_names.hpp>

#include <settle/store/caller_wait.hpp>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION bool has_label(bson_t const& reply, char const* label) {
    return mongoc_error_has_label(&reply, label);
}

SETTLE_FUNCTION document page_of(std::string_view order, std::size_t limit) {
    document options;
    document sort;
    options.object("sort", sort.integer(order, 1));
    auto const most = std::min<std::size_t>(limit, std::numeric_limits<std::int32_t>::max());
    options.integer("limit", static_cast<std::int64_t>(most));
    return options;
}

SETTLE_FUNCTION document linearizable() {
    document level;
    document options;
    options.object("readConcern", level.text("level", "linearizable"));
    options.integer("maxTimeMS", sure_read_ms);
    return options;
}

SETTLE_FUNCTION command_failure left_call(std::string_view phase, std::string_view limit) {
    bson_error_t problem{};
    std::string text{limit};
    bson_set_error(&problem, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET, "%s",
                   text.append(" has ended the wait").c_str());
    return {describe(problem, phase), false};
}

SETTLE_FUNCTION link::link(mongoc_client_pool_t* pool, driver_threads& threads,
                           std::string const& database)
    : threads_(&threads), database_(&database) {
    mongoc_client_t* client = nullptr;
    if (driver_threads::are_needed()) {
        using settle::detail::store_wait;
        store_wait wait{store_wait::moment::max()};
        while ((client = mongoc_client_pool_try_pop(pool)) == nullptr) {
            auto const left = wait.left();
            if (!left) throw left_call("give a client", wait.limit());
            std::this_thread::sleep_for(std::min(*left, std::chrono::milliseconds{1}));
        }
    } else {
        client = mongoc_client_pool_pop(pool);
    }
    lent_ = std::make_shared<lent_client>(pool, client);
}

SETTLE_FUNCTION lent_client& link::lent() {
    if (!is_free()) throw left_call("go on", "the wait for an earlier call");
    return *lent_;
}

SETTLE_FUNCTION void link::leave_after(std::string_view phase, std::string_view limit) {
    if (limit.empty()) return;
    lent_.reset();
    throw left_call(phase, limit);
}

SETTLE_FUNCTION collection_handle link::collection(std::string_view name) {
    return collection_handle{
        mongoc_client_get_collection(native(), database_->c_str(), std::string{name}.c_str())};
}

SETTLE_FUNCTION void link::append_session(document& options) {
    if (!in_transaction_) return;
    bson_error_t problem{};
    if (!mongoc_client_session_append(session(), options.native(), &problem)) {
        throw command_failure(describe(problem, "use its session"), false);
    }
}

SETTLE_FUNCTION void link::find_each(std::string_view name, document const& filter,
                                     document options, std::string_view phase,
                                     settle::detail::function_view<void(document&&)> function) {
    append_session(options);
    // The server's first batch would hold 101 documents; the rest would cost a round trip.
    options.integer("batchSize", largest_batch);
    struct search {
        std::string database;
        std::string collection;
        document filter;
        document options;
        std::vector<document> documents{};
        bson_error_t problem{};
        bool has_failed = false;
        bool is_transient = false;

        void run(lent_client& client, settle::detail::function_view<void(document&&)> each) {
            collection_handle const from{
                mongoc_client_get_collection(client.native, database.c_str(), collection.c_str())};
            std::unique_ptr<mongoc_cursor_t, void (*)(mongoc_cursor_t*)> const cursor{
                mongoc_collection_find_with_opts(from.get(), filter.native(), options.native(),
                                                 nullptr),
                &mongoc_cursor_destroy};
            bson_t const* current = nullptr;
            while (mongoc_cursor_next(cursor.get(), &current)) each(document{current});
            bson_t const* answer = nullptr;
            has_failed = mongoc_cursor_error_document(cursor.get(), &problem, &answer);
            is_transient = answer != nullptr && has_label(*answer, "TransientTransactionError");
        }
    };
    bool const collects = driver_threads::are_needed();
    auto const own = std::make_shared<search>(
        search{*database_, std::string{name}, document{filter.native()}, std::move(options)});
    ask(phase, [own, collects, function](lent_client& client) {
        if (!collects) return own->run(client, function);
        own->run(client, [&](document&& each) { own->documents.push_back(std::move(each)); });
    });
    for (document& each : own->documents) function(std::move(each));
    if (own->has_failed) throw command_failure(describe(own->problem, phase), own->is_transient);
}

SETTLE_FUNCTION server::server(std::string const& text, database_options const& options)
    : address_(text, options) {
    bson_error_t problem{};
    pool_ = {mongoc_client_pool_new_with_error(address_.native(), &problem), destroyer{}};
    if (!pool_) refuse_address(text, problem);
    mongoc_client_pool_set_error_api(pool_.get(), MONGOC_ERROR_API_VERSION_2);
    // The driver accepts an application name only once.
    if (mongoc_uri_get_appname(address_.native()) == nullptr) {
        mongoc_client_pool_set_appname(pool_.get(), "settle");
    }
}

SETTLE_FUNCTION server::server(server const& other, std::string const& database)
    : made_in_(other.made_in_), address_(other.address_, database), pool_(other.pool_),
      transactions_(other.transactions_), sole_(other.sole_.load()) {}

SETTLE_FUNCTION void server::look(link& client) {
    reply received;
    document request;
    request.integer("isMaster", 1);
    try {
        client.command(request, "be reached", received);
    } catch (command_failure const& problem) {
        if (is_unreachable(problem.problem().code)) check_set_names(address_.native());
        throw failure({problem.problem().code, problem.problem().text});
    }
    auto const version = received.find("maxWireVersion");
    if (!version || version->integer().value_or(0) < oldest) {
        raise(errc::other_version, "settle: this server is older than MongoDB 4.2, or none of "
                                   "MongoDB's. Use a newer one. See mongodb#address");
    }
    if (auto const kind = received.find("msg"); kind && kind->text() == "isdbgrid") {
        raise(errc::unfit_store, "settle: this is the address of a sharded cluster, which "
                                 "settle does not support. Name a replica set. "
                                 "See mongodb#address");
    }
    transactions_ = received.find("setName").has_value();
    sole_ = transactions_ && reads().linearizable && names_one_host(received);
    if (!is_primary(received)) refuse_member();
    if (transactions_) address_.check_for_replica_set();
}

SETTLE_FUNCTION link server::connect() {
    if (!made_in_.is_here()) throw failure(settle::detail::made_before_fork("database"));
    return {pool_.get(), *threads_, address_.database()};
}

SETTLE_FUNCTION bool server::is_sole_primary() {
    if (!sole_) return false;
    link client = connect();
    reply received;
    document request;
    client.command(request.integer("isMaster", 1), "be reached", received);
    sole_ = names_one_host(received) && is_primary(received);
    return sole_;
}

SETTLE_FUNCTION document server::sure_read() const {
    return transactions_ ? linearizable() : document{};
}

SETTLE_FUNCTION void server::refuse_address(std::string const& text, bson_error_t const& problem) {
    // The driver resolves the hosts and options through the name service first.
    if (text.starts_with("mongodb+srv:")) {
        raise(errc::store_unreachable,
              "settle: the hosts of this mongodb+srv address cannot be found: " +
                  native_text(problem) +
                  ". Check the name after mongodb+srv://, and the "
                  "name service. See mongodb#address");
    }
    raise(errc::unfit_store, "settle: this MongoDB address is refused: " + native_text(problem) +
                                 ". See mongodb#address");
}

SETTLE_FUNCTION bool server::is_primary(reply const& hello) {
    for (char const* const name : {"ismaster", "isWritablePrimary"}) {
        auto const found = hello.find(name);
        if (found && found->boolean().value_or(false)) return true;
    }
    return false;
}

SETTLE_FUNCTION bool server::names_one_host(reply const& hello) {
    int count = 0;
    for (char const* const kind : {"hosts", "passives", "arbiters"}) {
        auto const members = hello.find(kind);
        if (members) members->for_each([&](value_view const&) { return ++count < 2; });
    }
    return count == 1;
}

SETTLE_FUNCTION void server::refuse_member() const {
    // The driver chose the primary of the set, which has stepped down since.
    if (address_.names_set()) {
        throw failure({{not_writable_primary, mongodb_category()},
                       "settle: the primary of this replica set has stepped down. Try again "
                       "when the set has a primary. See mongodb#errors"});
    }
    raise(errc::unfit_store, "settle: this member of a replica set takes no writes. Name "
                             "the whole set: mongodb://host,host/bank?replicaSet=name. "
                             "See mongodb#address");
}

} // namespace mongodb::detail

SETTLE_END
