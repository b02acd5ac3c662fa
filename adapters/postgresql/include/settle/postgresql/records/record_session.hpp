// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database.
#pragma once

#include <settle/adapter/sql/record_session.hpp>
#include <settle/postgresql/log/log_session.hpp>
#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/bound_table.hpp>
#endif

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template std::shared_ptr<detail::one_phase_store<postgresql::log_session>>
detail::sql::make_record_store<postgresql::detail::parts>(
    postgresql::detail::pool&, std::string const&,
    std::span<detail::collection_descriptor const* const>);
#endif
namespace postgresql {

template <typename... Collections>
using record_session = settle::detail::sql::record_session<detail::parts, Collections...>;

} // namespace postgresql
SETTLE_END
