// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that set_names.hpp declares.
#pragma once

#include <settle/mongodb/set_names.hpp>

#include <algorithm>
#include <memory>
#include <optional>

SETTLE_BEGIN

namespace mongodb::detail {

/// The replica set of a host: empty for a host without a set, no value for a host that does not
/// answer.
[[nodiscard]] SETTLE_FUNCTION std::optional<std::string>
set_name_of(mongoc_uri_t const* address, mongoc_host_list_t const& host) {
    constexpr std::int32_t patience_ms = 2'000;
    std::unique_ptr<mongoc_uri_t, void (*)(mongoc_uri_t*)> const uri{
        mongoc_uri_new_for_host_port(host.host, host.port), &mongoc_uri_destroy};
    if (!uri) return std::nullopt;
    // A request for the name alone needs no user.
    for (char const* const name : {MONGOC_URI_TLSCAFILE, MONGOC_URI_TLSCERTIFICATEKEYFILE,
                                   MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD}) {
        char const* const value = mongoc_uri_get_option_as_utf8(address, name, nullptr);
        if (value != nullptr) mongoc_uri_set_option_as_utf8(uri.get(), name, value);
    }
    for (char const* const name : {MONGOC_URI_TLSALLOWINVALIDCERTIFICATES,
                                   MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, MONGOC_URI_TLSINSECURE}) {
        if (mongoc_uri_get_option_as_bool(address, name, false)) {
            mongoc_uri_set_option_as_bool(uri.get(), name, true);
        }
    }
    if (mongoc_uri_get_tls(address)) {
        mongoc_uri_set_option_as_bool(uri.get(), MONGOC_URI_TLS, true);
    }
    mongoc_uri_set_option_as_bool(uri.get(), MONGOC_URI_DIRECTCONNECTION, true);
    for (char const* const name : {MONGOC_URI_SERVERSELECTIONTIMEOUTMS, MONGOC_URI_CONNECTTIMEOUTMS,
                                   MONGOC_URI_SOCKETTIMEOUTMS}) {
        auto const given = mongoc_uri_get_option_as_int32(address, name, patience_ms);
        mongoc_uri_set_option_as_int32(uri.get(), name,
                                       given > 0 ? std::min(given, patience_ms) : patience_ms);
    }
    std::unique_ptr<mongoc_client_t, void (*)(mongoc_client_t*)> const client{
        mongoc_client_new_from_uri(uri.get()), &mongoc_client_destroy};
    if (!client) return std::nullopt;
    document command;
    command.integer("isMaster", 1);
    bson_t received;
    bson_error_t ignored{};
    bool const answered = mongoc_client_command_simple(client.get(), "admin", command.native(),
                                                       nullptr, &received, &ignored);
    std::optional<std::string> name;
    bson_iter_t at;
    if (answered) {
        bool const named =
            bson_iter_init_find(&at, &received, "setName") && BSON_ITER_HOLDS_UTF8(&at);
        name = named ? bson_iter_utf8(&at, nullptr) : "";
    }
    bson_destroy(&received);
    return name;
}

SETTLE_FUNCTION void check_set_names(mongoc_uri_t const* address) {
    char const* const given = mongoc_uri_get_replica_set(address);
    if (given == nullptr || *given == '\0') return;
    for (auto const* host = mongoc_uri_get_hosts(address); host != nullptr; host = host->next) {
        auto const found = set_name_of(address, *host);
        if (!found || *found == given) continue;
        raise(errc::unfit_store,
              "settle: the address asks for the replica set '" + std::string{given} +
                  "', and its host " + host->host_and_port + " belongs to " +
                  (found->empty() ? "none" : "the replica set '" + *found + "'") +
                  ". Correct replicaSet in the address. See mongodb#address");
    }
}

} // namespace mongodb::detail

SETTLE_END
