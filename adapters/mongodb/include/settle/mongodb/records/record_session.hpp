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
                  std::span<bound_collection const> bound);

} // namespace detail

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    on a replica set a wave is one native transaction, whatever its size: a read and a bulk
///          of writes for each collection, and a commit. On a single server it is a read and a bulk
///          that changes each record only if it is unchanged since its read. A single transaction
///          first tries a bulk without reading
template <typename... Collections>
class record_session
    : public settle::detail::overlapping_session<detail::record_store, Collections...> {
    using base = settle::detail::overlapping_session<detail::record_store, Collections...>;

public:
    explicit record_session(detail::server& with, detail::record_layout const& layout = {})
        : base(store_of(with, layout)), with_(&with) {}

    /// Shape:   log - of the same database, which has native transactions
    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) {
        base::store().one_phase(requests, log, at, decider);
    }
    static constexpr bool settles_in_one_phase = true;
    /// False on a single server, which has no native transactions.
    [[nodiscard]] bool can_settle_in_one_phase() const noexcept {
        return with_->has_transactions();
    }

private:
    static std::shared_ptr<detail::record_store> store_of(detail::server& database_server,
                                                          detail::record_layout const& layout) {
        std::array<detail::bound_collection, sizeof...(Collections)> const bound{
            detail::bound_to<Collections>()...};
        return detail::make_record_store(database_server, layout, bound);
    }

    detail::server* with_;
};

} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/record_session.ipp>
#endif
