// SPDX-License-Identifier: BSL-1.0
// A fresh database as another program sees it: documents put there, and looked at.
#pragma once

#include "shared_servers.hpp"

#include <settle/mongodb.hpp>
#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <string>

namespace settle_test {

struct documents {
    explicit documents(fresh_database::address_of& server) : own(server), shell(own.address()) {}

    void put(std::string const& collection, std::string const& json) {
        auto const answer =
            shell.run("{\"insert\": \"" + collection + "\", \"documents\": [" + json + "]}");
        REQUIRE_MESSAGE(answer.ok, answer.error);
    }
    /// A document as the server holds it, with the type of every value.
    std::string look(std::string const& collection, std::string const& id,
                     std::string const& projection = "{}") {
        auto const found = shell.run("{\"find\": \"" + collection + R"(", "filter": {"_id": ")" +
                                     id + R"("}, "projection": )" + projection + "}");
        REQUIRE_MESSAGE(found.ok, found.error);
        bson_iter_t begin;
        bson_iter_t iterator;
        std::string text;
        if (bson_iter_init(&begin, found.document()) &&
            bson_iter_find_descendant(&begin, "cursor.firstBatch.0", &iterator)) {
            std::uint32_t length = 0;
            std::uint8_t const* bytes = nullptr;
            bson_iter_document(&iterator, &length, &bytes);
            bson_t parsed;
            if (bson_init_static(&parsed, bytes, length)) {
                char* const made = bson_as_canonical_extended_json(&parsed, nullptr);
                text = made;
                bson_free(made);
            }
        }
        return text;
    }

    fresh_database own;
    connection shell;
};

/// Calls function(bank) with a bank on a single server, then on a replica set in one phase and in
/// two phases.
/// Shape:   Bank - made of a server's address and settle::phases
template <typename Bank, typename Function>
void on_every_server(Function const& function) {
    SUBCASE("single server") {
        Bank here{standalone_address, settle::phases::one};
        function(here);
    }
    SUBCASE("replica set, one phase") {
        Bank here{replica_set_address, settle::phases::one};
        function(here);
    }
    SUBCASE("replica set, two phases") {
        Bank here{replica_set_address, settle::two_phases};
        function(here);
    }
}

} // namespace settle_test
