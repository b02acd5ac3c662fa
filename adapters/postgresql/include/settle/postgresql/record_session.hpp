// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/postgresql/record_store.hpp>

#include <array>

SETTLE_BEGIN
namespace postgresql {
namespace detail {

/// Shape:   the pool outlives the store
/// Errors:  throws settle::failure when a table does not fit its collection, or when the schema's
///          records belong to another log
[[nodiscard]] std::shared_ptr<record_store>
make_record_store(pool& with, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound);

} // namespace detail

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave is one native transaction in two round trips, however many operations: the first
///          locks and reads, the second writes and commits
template <typename... Collections>
class record_session
    : public settle::detail::overlapping_session<detail::record_store, Collections...> {
    using base = settle::detail::overlapping_session<detail::record_store, Collections...>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection, or when the
    ///          schema's records belong to another log
    record_session(detail::pool& with, std::string const& log_name)
        : base(detail::make_record_store(with, log_name, bound)) {}

    /// Settles transactions, each as the decider says, in the order of the wave: every part and the
    /// entry in one native transaction, which threads share.
    /// Shape:   log - of the same database
    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) {
        base::store().one_phase(requests, log, at, decider);
    }
    static constexpr bool settles_in_one_phase = true;

private:
    static constexpr std::array<detail::collection_descriptor const*, sizeof...(Collections)> bound{
        &settle::detail::descriptor_of_collection<Collections>...};
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#    include <settle/postgresql/record_session.ipp>
#endif
