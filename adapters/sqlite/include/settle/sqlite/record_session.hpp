// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/sqlite/record_store.hpp>

#include <array>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

/// Shape:   the file outlives the store
/// Errors:  throws settle::failure when a table does not fit its collection, or when the file's
///          records belong to another log
[[nodiscard]] std::shared_ptr<record_store>
make_record_store(file& of, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound);

} // namespace detail

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many operations
template <typename... Collections>
class record_session : public settle::detail::typed_session<detail::record_store, Collections...> {
    using base = settle::detail::typed_session<detail::record_store, Collections...>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection, or when the file's
    ///          records belong to another log
    record_session(detail::file& of, std::string const& log_name)
        : base(detail::make_record_store(of, log_name, bound)) {}

    /// Settles transactions at once, each as the decider says, in the order of the wave: every part
    /// and the entry in one native transaction, which threads share.
    /// Shape:   log - of the same database
    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) {
        base::store().one_phase(requests, log, at, decider);
    }
    static constexpr bool settles_in_one_phase = true;

    /// Marks stand with their records, so those of what stood still may be all over a large table:
    /// the more are taken over at a time, the fewer times each page of it is written.
    static constexpr std::size_t recovery_wave_size = 16'000;

private:
    static constexpr std::array<detail::collection_descriptor const*, sizeof...(Collections)>
        bound{&settle::detail::descriptor_of_collection<Collections>...};
};

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/record_session.ipp>
#endif
