// SPDX-License-Identifier: BSL-1.0
// The table of receipts of a resource.
#pragma once

#include <settle/kinds/prepared/preparing_resource.hpp>
#include <settle/mariadb/connection/session.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace mariadb::detail {

[[nodiscard]] inline timestamp time_of(std::int64_t milliseconds) {
    return timestamp{std::chrono::milliseconds{milliseconds}};
}

/// The table of receipts with its database, as SQL takes it.
[[nodiscard]] std::string receipts_of(std::string_view database);

void make_receipts(session& session, std::string const& receipts);

/// Whether the receipt of a name is written and not committed: its native transaction is open.
[[nodiscard]] bool is_left(session& session, std::string const& receipts,
                           prepared_name const& name);

/// Inserts a receipt with the date of a claim. False if the part has a committed receipt.
/// Shape:   claim - the part, and the epoch of the claim; number - of the receipt
bool write_receipt(session& session, std::string const& receipts, prepared_name const& claim,
                   epoch number);

/// Reads the times of prepares: MariaDB keeps none, so each is the date of the receipt. Without a
/// receipt the time is now.
/// Shape:   all - at least one
void read_times(session& session, std::string const& receipts, std::vector<in_doubt_name>& names);

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/prepared/receipts.ipp>
#endif
