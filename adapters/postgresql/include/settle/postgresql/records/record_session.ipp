// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_session.hpp declares.
#pragma once

#include <settle/postgresql/records/record_session.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/sql/record_waves.hpp>
#include <settle/postgresql/connection/schema.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION std::shared_ptr<record_store>
make_record_store(pool& with, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound) {
    std::shared_ptr<record_store> made;
    using settle::detail::owner_metadata;
    settle::detail::give_to_log(
        log_name, [&] { return known_metadata(with, owner_metadata); },
        [&] { made = std::make_shared<settle::detail::sql::record_waves<parts>>(with, bound); },
        [&] { return get_or_init_metadata(with, owner_metadata, log_name); },
        &settle::detail::refuse_other_log);
    return made;
}

} // namespace postgresql::detail
SETTLE_END
