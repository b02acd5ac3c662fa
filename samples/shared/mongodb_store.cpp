// SPDX-License-Identifier: BSL-1.0
// Inspects a MongoDB database with MongoDB's own client.
#include "mongodb_store.hpp"

#include <fmt/format.h>
#include <mongoc/mongoc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace samples {

namespace {

using client = std::unique_ptr<mongoc_client_t, decltype(&mongoc_client_destroy)>;

/// Null for an invalid address, and for an address without a database.
client connect(std::string const& address, std::string& database) {
    std::unique_ptr<mongoc_uri_t, decltype(&mongoc_uri_destroy)> const uri{
        mongoc_uri_new(address.c_str()), &mongoc_uri_destroy};
    if (!uri || mongoc_uri_get_database(uri.get()) == nullptr) {
        return {nullptr, &mongoc_client_destroy};
    }
    database = mongoc_uri_get_database(uri.get());
    // Waits for the election of a new primary, as settle does.
    mongoc_uri_set_option_as_bool(uri.get(), MONGOC_URI_SERVERSELECTIONTRYONCE, false);
    if (!mongoc_uri_has_option(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS)) {
        mongoc_uri_set_option_as_int32(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 15'000);
    }
    return {mongoc_client_new_from_uri(uri.get()), &mongoc_client_destroy};
}

[[noreturn]] void fail(std::string_view what, std::string_view name, bson_error_t const& problem) {
    throw std::runtime_error(fmt::format("MongoDB could not {} '{}': {} ({}). See mongodb#errors",
                                         what, name, problem.message, problem.code));
}

} // namespace

void check_collections(std::string const& address, std::span<std::string_view const> expected,
                       bool may_create, std::string_view tutorial_log) {
    std::string name;
    auto const session = connect(address, name);
    std::unique_ptr<mongoc_database_t, decltype(&mongoc_database_destroy)> const database{
        mongoc_client_get_database(session.get(), name.c_str()), &mongoc_database_destroy};
    bson_error_t problem{};
    std::unique_ptr<char*, decltype(&bson_strfreev)> const names{
        mongoc_database_get_collection_names_with_opts(database.get(), nullptr, &problem),
        &bson_strfreev};
    if (!names) fail("list the collections of", name, problem);
    std::vector<std::string> existing;
    bool has_log = false;
    bool has_tutorial_log = false;
    for (char** each = names.get(); *each != nullptr; ++each) {
        std::string_view const collection{*each};
        has_log = has_log || collection == "settle_entries";
        has_tutorial_log = has_tutorial_log || collection == tutorial_log;
        bool const is_other =
            collection.starts_with("system.") || collection.starts_with("settle_");
        if (!is_other) existing.emplace_back(collection);
    }
    if (has_tutorial_log && !has_log) {
        throw std::runtime_error(
            fmt::format("the database '{}' has a collection '{}', as programs of MongoDB's "
                        "tutorial have it, and no log of settle's own; give --layout tutorial, or "
                        "name another database",
                        name, tutorial_log));
    }
    check_own(name, "collection", existing, expected, may_create);
}

bool has_field(std::string const& address, std::string_view collection, std::string_view field) {
    std::string database;
    auto const session = connect(address, database);
    // settle reports the problem of the address when it opens the database.
    if (!session) return false;
    std::unique_ptr<mongoc_collection_t, decltype(&mongoc_collection_destroy)> const documents{
        mongoc_client_get_collection(session.get(), database.c_str(),
                                     std::string{collection}.c_str()),
        &mongoc_collection_destroy};
    bson_error_t problem{};
    auto const json = fmt::format(R"({{"{}": {{"$exists": true}}}})", field);
    bson_t filter;
    bson_init_from_json(&filter, json.data(), static_cast<ssize_t>(json.size()), &problem);
    auto const count = mongoc_collection_count_documents(documents.get(), &filter, nullptr, nullptr,
                                                         nullptr, &problem);
    bson_destroy(&filter);
    if (count < 0) fail("read", collection, problem);
    return count > 0;
}

} // namespace samples
