// SPDX-License-Identifier: BSL-1.0
// The arrays of a batch of transfers for PostgreSQL: one change for each account, and the rows of
// the log.
#pragma once

#include "account_changes.hpp"
#include "postgresql.hpp"

#include <span>

namespace baseline::postgresql {

/// Queues "change_all" with one element for each account.
inline void send_changes(connection const& connection, account_changes& changes) {
    auto const merged = changes.fold();
    auto keys = array::of_texts(merged.size());
    auto added = array::of_integers(merged.size());
    auto needed = array::of_integers(merged.size());
    for (auto const& change : merged) {
        keys.add(change.key);
        added.add(change.added);
        needed.add(change.needed);
    }
    connection.send("change_all", keys, added, needed, static_cast<std::int64_t>(merged.size()));
}

/// Queues "enter_all".
/// Shape:   json - memory that is reused
inline void send_entries(connection const& connection,
                         std::span<bench::transfer_request const> batch, std::string& json) {
    auto ids = array::of_texts(batch.size());
    auto parameters = array::of_texts(batch.size());
    for (auto const& [id, transfer] : batch) {
        ids.add(id);
        write_json(json, transfer.source, transfer.destination, transfer.amount);
        parameters.add(json);
    }
    connection.send("enter_all", ids, parameters, now());
}

} // namespace baseline::postgresql
