// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_session.hpp declares.
#pragma once

#include <settle/sqlite/records/record_session.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/sqlite/records/record_waves.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::shared_ptr<record_store>
make_record_store(file& file, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound) {
    std::shared_ptr<record_store> store; // its deleter needs the file unlocked
    auto const guard = file.alone();
    using settle::detail::owner_metadata;
    settle::detail::give_to_log(
        log_name, [&] { return known_metadata(file.with().on(), owner_metadata); },
        [&] {
            file.check();
            store = {new held_tables{file, bound}, alone_deleter<held_tables>{&file}};
        },
        [&] { return get_or_init_metadata(file.with(), owner_metadata, log_name); },
        &settle::detail::refuse_other_log);
    return store;
}

} // namespace sqlite::detail
SETTLE_END
