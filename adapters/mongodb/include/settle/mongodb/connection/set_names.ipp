// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that set_names.hpp declares.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/connection/set_names.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

SETTLE_BEGIN

namespace mongodb::detail {

/// What a host says of its replica set.
struct set_membership {
    std::string set;                    ///< empty for a host without a set
    std::vector<std::string> members{}; ///< as the set names them: "host:port"
};

/// No value for a host that does not answer.
[[nodiscard]] SETTLE_FUNCTION std::optional<set_membership>
membership_of(mongoc_uri_t const* address, mongoc_host_list_t const& host) {
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
    reply received;
    bson_error_t ignored{};
    if (!mongoc_client_command_simple(client.get(), "admin", command.native(), nullptr,
                                      received.fresh(), &ignored)) {
        return std::nullopt;
    }
    auto const name = received.find("setName");
    set_membership membership{std::string{name ? name->text().value_or("") : ""}};
    for (char const* const kind : {"hosts", "passives"}) {
        auto const members = received.find(kind);
        if (!members) continue;
        members->for_each([&](value_view const& member) {
            membership.members.emplace_back(member.text().value_or(""));
            return true;
        });
    }
    return membership;
}

/// Whether the address names a member as its replica set does.
[[nodiscard]] SETTLE_FUNCTION bool names_a_member(mongoc_uri_t const* address,
                                                  set_membership const& set) {
    for (auto const* host = mongoc_uri_get_hosts(address); host != nullptr; host = host->next) {
        for (auto const& member : set.members) {
            if (member == host->host_and_port) return true;
        }
    }
    return false;
}

SETTLE_FUNCTION void check_set_names(mongoc_uri_t const* address) {
    char const* const name = mongoc_uri_get_replica_set(address);
    std::string const asked = name != nullptr ? name : "";
    bool const stays = mongoc_uri_get_option_as_bool(address, MONGOC_URI_DIRECTCONNECTION, false);
    for (auto const* host = mongoc_uri_get_hosts(address); host != nullptr; host = host->next) {
        auto const membership = membership_of(address, *host);
        if (!membership) continue;
        if (!asked.empty() && membership->set != asked) {
            raise(errc::unfit_store,
                  "settle: the address asks for the replica set '" + asked + "', and its host " +
                      host->host_and_port + " belongs to " +
                      (membership->set.empty() ? "none"
                                               : "the replica set '" + membership->set + "'") +
                      ". Correct replicaSet in the address. See mongodb#address");
        }
        if (stays || membership->members.empty() || names_a_member(address, *membership)) continue;
        std::string members;
        for (auto const& member : membership->members) {
            members.append(members.empty() ? "" : ", ").append(member);
        }
        raise(errc::store_unreachable,
              "settle: the host " + std::string{host->host_and_port} +
                  " answers, and its replica set '" + membership->set + "' names its members " +
                  members +
                  ", which cannot be reached from here. Make these names known here, or correct "
                  "them with rs.reconfig(). For a set of one member, directConnection=true in the "
                  "address stays with the host. See mongodb#address");
    }
}

} // namespace mongodb::detail

SETTLE_END
