// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sole_read.hpp declares.
#pragma once

#include <settle/mongodb/connection/sole_read.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION bool read_on_sole_primary(server& database_server,
                                          native_transaction::action read) {
    if (!database_server.was_sole_primary()) return false;
    // The client returns to the pool before another is taken: the pool may be exhausted.
    auto const ended = native_transaction{database_server}.perform(read, for_long.longest);
    if (ended.status != commit_status::committed) throw failure(ended.problem);
    // Only the primary admits a member, so this server still was the only member.
    return database_server.is_sole_primary();
}

} // namespace mongodb::detail

SETTLE_END
