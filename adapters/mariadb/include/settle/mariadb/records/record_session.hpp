// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database.
#pragma once

#include <settle/adapter/sql/record_session.hpp>
#include <settle/mariadb/log/log_session.hpp>
#ifndef SETTLE_COMPILED
#include <settle/mariadb/records/bound_table.hpp>
#endif

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template std::shared_ptr<detail::one_phase_store<mariadb::log_session>>
detail::sql::make_record_store<mariadb::detail::parts>(
    mariadb::detail::pool&, std::string const&,
    std::span<detail::collection_descriptor const* const>);
#endif
namespace mariadb {

template <typename... Collections>
using record_session = settle::detail::sql::record_session<detail::parts, Collections...>;

} // namespace mariadb
SETTLE_END
