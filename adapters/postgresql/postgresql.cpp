// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::postgresql: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/adapter/sql/record_session.ipp>
#include <settle/postgresql.ipp>
#include <settle/postgresql/connection/address.ipp>
#include <settle/postgresql/connection/connection.ipp>
#include <settle/postgresql/connection/connection_session.ipp>
#include <settle/postgresql/connection/dialect.ipp>
#include <settle/postgresql/connection/error.ipp>
#include <settle/postgresql/connection/listener.ipp>
#include <settle/postgresql/connection/pool.ipp>
#include <settle/postgresql/connection/schema.ipp>
#include <settle/postgresql/connection/values.ipp>
#include <settle/postgresql/kind.ipp>
#include <settle/postgresql/log/entry_table.ipp>
#include <settle/postgresql/log/log_session.ipp>
#include <settle/postgresql/prepared/resource.ipp>
#include <settle/postgresql/prepared/work_connection.ipp>
#include <settle/postgresql/receiver/receiver.ipp>
#include <settle/postgresql/records/bound_table.ipp>
#include <settle/postgresql/records/record_session.hpp>
#include <settle/postgresql/records/table_check.ipp>

SETTLE_BEGIN
template class detail::sql::database<postgresql::detail::parts>;
template class detail::sql::log_session<postgresql::detail::parts>;
template class detail::sql::receiver_transaction<postgresql::detail::receiver_parts>;
template class detail::sql::receiver_database<postgresql::detail::receiver_parts>;
template std::shared_ptr<detail::one_phase_store<postgresql::log_session>>
detail::sql::make_record_store<postgresql::detail::parts>(
    postgresql::detail::pool&, std::string const&,
    std::span<detail::collection_descriptor const* const>);
SETTLE_END
