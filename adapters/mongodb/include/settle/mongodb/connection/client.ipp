// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that client.hpp declares.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/connection/set_names.hpp>

#include <algorithm>
#include <limits>

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

SETTLE_FUNCTION collection_handle link::collection(std::string_view name) {
    return collection_handle{
        mongoc_client_get_collection(client_, database_->c_str(), std::string{name}.c_str())};
}

SETTLE_FUNCTION void link::append_session(document& options) {
    if (session_ == nullptr) return;
    bson_error_t problem{};
    if (!mongoc_client_session_append(session_, options.native(), &problem)) {
        throw command_failure(describe(problem, "use its session"), false);
    }
}

SETTLE_FUNCTION server::server(std::string const& text, database_options const& options)
    : address_(text, options) {
    bson_error_t problem{};
    pool_.reset(mongoc_client_pool_new_with_error(address_.native(), &problem));
    if (!pool_) refuse_address(text, problem);
    mongoc_client_pool_set_error_api(pool_.get(), MONGOC_ERROR_API_VERSION_2);
    // The driver accepts an application name only once.
    if (mongoc_uri_get_appname(address_.native()) == nullptr) {
        mongoc_client_pool_set_appname(pool_.get(), "settle");
    }
}

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
    return {pool_.get(), address_.database()};
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
