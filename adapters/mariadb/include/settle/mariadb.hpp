// SPDX-License-Identifier: BSL-1.0
// A store and a log in one database of a MariaDB server, which any number of programs may share;
// and a database whose native transactions are prepared.
#pragma once

#include <settle/adapter/sql/database.hpp>
#include <settle/mariadb/prepared/resource.hpp>
#include <settle/mariadb/records/record_session.hpp>

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template class detail::sql::database<mariadb::detail::parts>;
#endif
namespace mariadb {

/// One database of a server. Each collection is an ordinary table, created on first use; an
/// existing table is used unchanged if it fits the collection. People read entries in the view
/// settle_entries.
/// Shape:   address - `mariadb://[user[:password]@]host[:port]/database`, or
///          `mariadb://[user[:password]@]/database?socket=path`
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    connections come from a pool. Threads and engines share them
/// Source:  mariadb#address
class database : public settle::detail::sql::database<detail::parts> {
public:
    explicit database(std::string const& address, options const& limits = {});

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<database>> open(std::string const& address,
                                                  options const& limits = {});
};

} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb.ipp>
#endif
