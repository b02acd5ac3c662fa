// SPDX-License-Identifier: BSL-1.0
// The store: the records of some collections of one database.
#pragma once

#include <settle/mongodb/records/record_store.hpp>

SETTLE_BEGIN
namespace mongodb {
namespace detail {

/// Shape:   the server outlives the store
[[nodiscard]] std::shared_ptr<record_store>
make_record_store(server& database_server, record_layout const& layout,
                  std::span<collection_descriptor const* const> bound);

template <typename... Collections>
using session_base = settle::detail::one_phase_session<
    settle::detail::overlapping_session<record_store, Collections...>, log_session>;

} // namespace detail

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    on a replica set a wave is one native transaction, whatever its size: a read and a bulk
///          of writes for each collection, and a commit. On a single server it is a read and a bulk
///          that changes each record only if it is unchanged since its read. A single transaction
///          first tries a bulk without reading
template <typename... Collections>
class record_session : public detail::session_base<Collections...> {
    using base = detail::session_base<Collections...>;

public:
    explicit record_session(detail::server& database_server,
                            detail::record_layout const& layout = {})
        : base(detail::make_record_store(database_server, layout, base::bound)) {}
};

} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/record_session.ipp>
#endif
