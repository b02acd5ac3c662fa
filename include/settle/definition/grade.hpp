// SPDX-License-Identifier: BSL-1.0
// The grade of a receiver: the memory that the service's side of a call has.
#pragma once

#include <settle/version.hpp>

#include <cstdint>

SETTLE_BEGIN

/// The memory that a receiver has of its calls. A definition names the grade that it relies on.
/// Shape:   a structural type, so that it is a template argument of settle::service
struct receiver_grade {
    enum class memory : std::uint8_t {
        nothing, ///< a repeated call takes effect again
        keys,    ///< key and operation: a repeat gets the first answer and takes no effect
        rows     ///< a row for each key, in one native transaction with the receiver's own work: it
                 ///< refuses an apply after its compensation
    };

    memory remembers = memory::nothing;
    bool keeps_refusals = false; ///< a refused key stays refused
    bool closes_keys = false;    ///< a key can be closed before any apply; a later apply is refused

    friend constexpr bool operator==(receiver_grade, receiver_grade) = default;
    /// Joins two grades: the result has the memories of both.
    friend constexpr receiver_grade operator|(receiver_grade left, receiver_grade right) {
        return {left.remembers < right.remembers ? right.remembers : left.remembers,
                left.keeps_refusals || right.keeps_refusals, left.closes_keys || right.closes_keys};
    }
};

inline constexpr receiver_grade plain{};
inline constexpr receiver_grade remembers_keys{receiver_grade::memory::keys};
inline constexpr receiver_grade keeps_refusals{receiver_grade::memory::nothing, true};
inline constexpr receiver_grade closes_keys{receiver_grade::memory::nothing, false, true};
/// A row for each key, with refusals and closing: the grade of settle/receiver.hpp.
inline constexpr receiver_grade barrier{receiver_grade::memory::rows, true, true};

SETTLE_END
