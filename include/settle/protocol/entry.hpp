// SPDX-License-Identifier: BSL-1.0
// The entry: one transaction in the log, as any program may read it.
#pragma once

#include <settle/protocol/state.hpp>

#include <boost/hana/define_struct.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

SETTLE_BEGIN

/// Wall-clock time in whole milliseconds: what entries carry.
using timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

/// What an exclusive effect did to one record: the whole native record before, the described
/// members after, each as JSON; empty where the record did not exist.
struct image {
    BOOST_HANA_DEFINE_STRUCT(image,
        (std::uint32_t, participant),
        (std::uint32_t, line),
        (std::string, before),
        (std::string, after));

    friend bool operator==(image const&, image const&) = default;
};

/// One transaction in the log.
struct entry {
    transaction_id id;
    std::string type;              ///< the transaction type's name; empty when a cancel made it
    std::uint64_t definition = 0;  ///< the fingerprint of the definition's canonical text
    std::string parameters;        ///< JSON
    settle::state state = settle::state::initial;
    epoch epoch_number = 0;
    epoch committed = 0;           ///< the epoch of the commit; 0 before it
    std::string owner;             ///< who claimed it last: host, process, start
    timestamp created;
    timestamp modified;
    std::uint32_t attempts = 0;    ///< how often it was claimed
    reason why = reason::none;     ///< why it was canceled
    std::string participant;       ///< the participant that failed, when one did
    std::optional<std::uint32_t> line; ///< and its line, in a range
    std::vector<image> images;
    std::string fault; ///< in a listing: what of it cannot be read, where something cannot

    friend bool operator==(entry const&, entry const&) = default;
};

/// What the coordinator needs to know of an entry.
struct standing {
    settle::state state = settle::state::initial;
    epoch epoch_number = 0;
    epoch committed = 0;
    std::uint32_t attempts = 0;
};

/// True when a mark of this epoch is no part of what its transaction is or came to: its transaction
/// is over, and did not commit with it. No commit has the epoch 0, which bare marks of other
/// programs count as.
[[nodiscard]] constexpr bool is_stray(standing const& entry, epoch marked) {
    return entry.state == state::canceled ||
           (entry.state == state::done && (entry.committed != marked || marked == 0));
}

[[nodiscard]] inline standing standing_of(entry const& found) {
    return {found.state, found.epoch_number, found.committed, found.attempts};
}

SETTLE_END
