// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mariadb: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/adapter/sql/record_session.ipp>
#include <settle/mariadb.ipp>
#include <settle/mariadb/connection/address.ipp>
#include <settle/mariadb/connection/connection.ipp>
#include <settle/mariadb/connection/connection_results.ipp>
#include <settle/mariadb/connection/dialect.ipp>
#include <settle/mariadb/connection/error.ipp>
#include <settle/mariadb/connection/pool.ipp>
#include <settle/mariadb/connection/schema.ipp>
#include <settle/mariadb/connection/session.ipp>
#include <settle/mariadb/connection/statement.ipp>
#include <settle/mariadb/connection/values.ipp>
#include <settle/mariadb/kind.ipp>
#include <settle/mariadb/log/entry_table.ipp>
#include <settle/mariadb/log/log_session.ipp>
#include <settle/mariadb/prepared/receipts.ipp>
#include <settle/mariadb/prepared/resource.ipp>
#include <settle/mariadb/prepared/xa.ipp>
#include <settle/mariadb/receiver/receiver.ipp>
#include <settle/mariadb/records/bound_table.ipp>
#include <settle/mariadb/records/record_session.hpp>
#include <settle/mariadb/records/table_check.ipp>

SETTLE_BEGIN
template class detail::sql::database<mariadb::detail::parts>;
template class detail::sql::log_session<mariadb::detail::parts>;
template class detail::sql::receiver_transaction<mariadb::detail::receiver_parts>;
template class detail::sql::receiver_database<mariadb::detail::receiver_parts>;
template std::shared_ptr<detail::one_phase_store<mariadb::log_session>>
detail::sql::make_record_store<mariadb::detail::parts>(
    mariadb::detail::pool&, std::string const&,
    std::span<detail::collection_descriptor const* const>);
SETTLE_END
