// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/sqlite/records/record_store.hpp>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

/// Shape:   the file outlives the store
/// Errors:  throws settle::failure when a table does not fit its collection, or when the file's
///          records belong to another log
[[nodiscard]] std::shared_ptr<record_store>
make_record_store(file& file, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound);

template <typename... Collections>
using session_base = settle::detail::one_phase_session<
    settle::detail::overlapping_session<record_store, Collections...>, log_session>;

} // namespace detail

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many operations
template <typename... Collections>
class record_session : public detail::session_base<Collections...> {
    using base = detail::session_base<Collections...>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection, or when the file's
    ///          records belong to another log
    record_session(detail::file& file, std::string const& log_name)
        : base(detail::make_record_store(file, log_name, base::bound)) {}
};

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/records/record_session.ipp>
#endif
