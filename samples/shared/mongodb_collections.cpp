// SPDX-License-Identifier: BSL-1.0
// Inspects the collections of a MongoDB database with MongoDB's own client.
#include "mongodb_collections.hpp"

#include "own_database.hpp"

#include <fmt/format.h>
#include <mongoc/mongoc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace samples {

namespace {

template <typename Held, void (*Destroy)(Held*)>
struct destroyer {
    void operator()(Held* held) const noexcept { Destroy(held); }
};
template <typename Held, void (*Destroy)(Held*)>
using handle = std::unique_ptr<Held, destroyer<Held, Destroy>>;

using client = handle<mongoc_client_t, mongoc_client_destroy>;

/// Null for an invalid address, and for an address without a database.
client connect(std::string const& address, std::string& database) {
    handle<mongoc_uri_t, mongoc_uri_destroy> const uri{mongoc_uri_new(address.c_str())};
    if (!uri || mongoc_uri_get_database(uri.get()) == nullptr) return nullptr;
    database = mongoc_uri_get_database(uri.get());
    // Waits for the election of a new primary, as settle does.
    mongoc_uri_set_option_as_bool(uri.get(), MONGOC_URI_SERVERSELECTIONTRYONCE, false);
    if (!mongoc_uri_has_option(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS)) {
        mongoc_uri_set_option_as_int32(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 15'000);
    }
    return client{mongoc_client_new_from_uri(uri.get())};
}

/// All collections except the server's own.
/// Shape:   address - a valid address of a database
std::vector<std::string> collections_in(std::string const& address, std::string& database) {
    auto const with = connect(address, database);
    handle<mongoc_database_t, mongoc_database_destroy> const found{
        mongoc_client_get_database(with.get(), database.c_str())};
    bson_error_t problem{};
    char** const names =
        mongoc_database_get_collection_names_with_opts(found.get(), nullptr, &problem);
    if (names == nullptr) {
        throw std::runtime_error(fmt::format("MongoDB could not list the collections of '{}': {} "
                                             "({}). See mongodb#errors",
                                             database, problem.message, problem.code));
    }
    std::vector<std::string> all;
    for (char** name = names; *name != nullptr; ++name) {
        std::string_view const each{*name};
        if (!each.starts_with("system.")) all.emplace_back(each);
    }
    bson_strfreev(names);
    return all;
}

} // namespace

void check_collections(std::string const& address, std::span<std::string_view const> expected,
                       bool may_create, std::string_view tutorial_log) {
    std::string database;
    auto existing = collections_in(address, database);
    auto const has = [&](std::string_view name) {
        return std::find(existing.begin(), existing.end(), name) != existing.end();
    };
    if (!tutorial_log.empty() && has(tutorial_log) && !has("settle_entries")) {
        throw std::runtime_error(
            fmt::format("the database '{}' has a collection '{}', as programs of MongoDB's "
                        "tutorial have it, and no log of settle's own; give --layout tutorial, or "
                        "name another database",
                        database, tutorial_log));
    }
    std::erase_if(existing, [](std::string const& name) { return name.starts_with("settle_"); });
    check_own(database, "collection", existing, expected, may_create);
}

bool has_field(std::string const& address, std::string_view collection, std::string_view field) {
    std::string database;
    auto const with = connect(address, database);
    // settle reports the problem of the address when it opens the database.
    if (!with) return false;
    handle<mongoc_collection_t, mongoc_collection_destroy> const in{mongoc_client_get_collection(
        with.get(), database.c_str(), std::string{collection}.c_str())};
    bson_t filter;
    bson_t exists;
    bson_init(&filter);
    bson_append_document_begin(&filter, field.data(), static_cast<int>(field.size()), &exists);
    bson_append_bool(&exists, "$exists", -1, true);
    bson_append_document_end(&filter, &exists);
    handle<mongoc_cursor_t, mongoc_cursor_destroy> const cursor{
        mongoc_collection_find_with_opts(in.get(), &filter, nullptr, nullptr)};
    bson_destroy(&filter);
    bson_t const* found = nullptr;
    if (mongoc_cursor_next(cursor.get(), &found)) return true;
    bson_error_t problem{};
    if (!mongoc_cursor_error(cursor.get(), &problem)) return false;
    throw std::runtime_error(fmt::format("MongoDB could not read '{}': {} ({}). "
                                         "See mongodb#errors",
                                         collection, problem.message, problem.code));
}

} // namespace samples
