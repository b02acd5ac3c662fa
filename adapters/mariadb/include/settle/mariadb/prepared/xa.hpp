// SPDX-License-Identifier: BSL-1.0
// The names of prepared transactions as MariaDB has them: xids.
#pragma once

#include <settle/mariadb/connection/session.hpp>

#include <vector>

SETTLE_BEGIN
namespace mariadb::detail {

/// An xid has a format, a global id and a branch qualifier of at most 64 bytes each. A name is cut
/// after its first 64 bytes.
/// Source:  X/Open CAE, Distributed Transaction Processing: The XA Specification, 4.2
inline constexpr std::size_t longest_half = 64;

/// The format of all xids of a database: a hash of the database's name. MariaDB lists the prepared
/// transactions of the whole server, and the format distinguishes the databases. The server finds
/// an xid without its format, so two databases of a server cannot hold the same name.
[[nodiscard]] std::uint32_t format_of(std::string_view database) noexcept;

/// The xid in the form of XA statements: `X'…',X'…',format`.
[[nodiscard]] std::string xid_sql(std::string_view name, std::uint32_t format);

/// The names with the format and the prefix that are prepared, unsorted.
/// Cost:    one round trip; the server sends all of its prepared transactions
[[nodiscard]] std::vector<std::string> prepared_names(session& session, std::uint32_t format,
                                                      std::string_view prefix);

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/prepared/xa.ipp>
#endif
