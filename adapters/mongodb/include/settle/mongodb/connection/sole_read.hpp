// SPDX-License-Identifier: BSL-1.0
// Reads on a replica set of one member that return the current state. A linearizable read waits
// there for the journal's timer, a tenth of a second.
#pragma once

#include <settle/mongodb/connection/native.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Reads in a native transaction whose commit makes the journal write at once. False when the set
/// may have more members: another member may be the primary then.
/// Shape:   read(link) - called again from the start after each conflict
/// Errors:  throws settle::failure
[[nodiscard]] bool read_on_sole_primary(server& database_server, native_transaction::action read);

/// Calls `function(document)` for every document found.
/// Shape:   sure - the options of a linearizable read, or empty; options - others of the find
/// Errors:  throws settle::failure, also when no majority answers in time
template <typename Function>
void find_surely(server& database_server, std::string_view name, document const& filter,
                 document sure, document const& options, std::string_view phase,
                 Function&& function) {
    std::vector<document> documents;
    auto const read = [&](link& client) {
        documents.clear();
        client.find(name, filter, document{options.native()}, phase,
                    [&](document one) { documents.push_back(std::move(one)); });
    };
    if (!sure.empty() && read_on_sole_primary(database_server, read)) {
        for (auto& one : documents) function(std::move(one));
        return;
    }
    bson_concat(sure.native(), options.native());
    database_server.connect().find(name, filter, std::move(sure), phase, function);
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/sole_read.ipp>
#endif
