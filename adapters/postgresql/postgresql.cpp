// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::postgresql: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/postgresql.ipp>
#include <settle/postgresql/address.ipp>
#include <settle/postgresql/bound_table.ipp>
#include <settle/postgresql/connection.ipp>
#include <settle/postgresql/connection_session.ipp>
#include <settle/postgresql/entry_table.ipp>
#include <settle/postgresql/error.ipp>
#include <settle/postgresql/listener.ipp>
#include <settle/postgresql/log_session.ipp>
#include <settle/postgresql/mark_table.ipp>
#include <settle/postgresql/native.ipp>
#include <settle/postgresql/pool.ipp>
#include <settle/postgresql/receiver.ipp>
#include <settle/postgresql/record_session.ipp>
#include <settle/postgresql/resource.ipp>
#include <settle/postgresql/schema.ipp>
#include <settle/postgresql/table_check.ipp>
#include <settle/postgresql/table_column.ipp>
#include <settle/postgresql/values.ipp>
#include <settle/postgresql/work_connection.ipp>

SETTLE_BEGIN
template class detail::sql::log_session<postgresql::detail::parts>;
SETTLE_END
