// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_session.hpp declares.
#pragma once

#include <settle/sqlite/records/record_session.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/sqlite/records/record_waves.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::shared_ptr<record_store>
make_record_store(file& of, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound) {
    std::shared_ptr<record_store> made; // its deleter needs the file unlocked
    auto const guard = of.alone();
    using settle::detail::owner_metadata;
    settle::detail::give_to_log(
        log_name, [&] { return known_metadata(of.with().on(), owner_metadata); },
        [&] {
            of.check();
            made = {new held_tables{of, bound}, alone_deleter<held_tables>{&of}};
        },
        [&] { return get_or_init_metadata(of.with(), owner_metadata, log_name); },
        &settle::detail::refuse_other_log);
    return made;
}

} // namespace sqlite::detail
SETTLE_END
