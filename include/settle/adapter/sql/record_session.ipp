// SPDX-License-Identifier: BSL-1.0
// The body of a function that record_session.hpp declares.
#pragma once

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/sql/mark_table.hpp>
#include <settle/adapter/sql/metadata_table.hpp>
#include <settle/adapter/sql/record_session.hpp>
#include <settle/adapter/sql/record_waves.hpp>

SETTLE_BEGIN
namespace detail::sql {

template <typename Sql>
std::shared_ptr<one_phase_store<typename Sql::log_session>>
make_record_store(typename Sql::pool& from, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound) {
    std::shared_ptr<one_phase_store<typename Sql::log_session>> store;
    metadata_table<Sql> const metadata{from};
    give_to_log(
        log_name, [&] { return metadata.known(owner_metadata); },
        [&] { store = std::make_shared<record_waves<Sql>>(from, bound); },
        [&] { return metadata.get_or_init(owner_metadata, log_name); }, &refuse_other_log);
    return store;
}

} // namespace detail::sql
SETTLE_END
