// SPDX-License-Identifier: BSL-1.0
// Drives the read rule: looks of stores, and questions to the log.
#pragma once

#include <settle/protocol/read_rule.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/driving/ports.hpp>

#include <span>
#include <vector>

SETTLE_BEGIN

/// Keys of one collection, for engine.read_together().
template <typename Collection>
struct record_keys {
    using collection_type = Collection;
    using answer_type = std::vector<std::optional<typename Collection::record_type>>;
    std::vector<typename Collection::key_type> keys{};
};
template <typename Record, fixed_string Name, auto Key>
[[nodiscard]] record_keys<collection<Record, Name, Key>>
keys_of(collection<Record, Name, Key> const&, std::vector<value_of<Key>> keys) {
    return {std::move(keys)};
}
/// All records of one collection, for engine.read_together().
template <typename Collection>
struct all_records {
    using collection_type = Collection;
    using answer_type = std::vector<typename Collection::record_type>;
};
template <typename Record, fixed_string Name, auto Key>
[[nodiscard]] all_records<collection<Record, Name, Key>>
all_of(collection<Record, Name, Key> const&) {
    return {};
}

namespace detail {

/// A read of decided transactions.
/// Shape:   all that it refers to outlives the call
struct committed_read {
    engine_ports ports;
    std::span<target_binding const> targets; ///< the stores of the collections
    std::span<bool const> beside_log; ///< for each store, whether it is of the log's own database
    std::span<looked_record const> records;
    std::span<void const* const> collections; ///< targets: all their records are read
    environment_view environment;
    options const& limits;
    call_options const& call;
};

/// Records without their marks.
struct decided_records {
    std::vector<record_slot<any_record>> slots{}; ///< as those of a look, in the read's order
    std::vector<std::size_t> ends{};              ///< of the collections
};

/// Reads records as the decided transactions stood at one moment of the call.
/// Errors:  errc::no_committed_read within the limit; those of the stores and the log
[[nodiscard]] result<decided_records> read_decided(committed_read const& read);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/committed_read.ipp>
#endif
