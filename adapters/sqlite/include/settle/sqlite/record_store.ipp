// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_store.hpp declares.
#pragma once

#include <settle/sqlite/record_store.hpp>
#include <settle/sqlite/record_waves.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::shared_ptr<record_store>
make_record_store(file& of, std::span<collection_descriptor const* const> bound) {
    return {new held_tables{of, bound}, alone_deleter<held_tables>{&of}};
}

} // namespace sqlite::detail
SETTLE_END
