// SPDX-License-Identifier: BSL-1.0
// Fault plans: the calls to a store or a log that fail, and the kind of each fault.
#pragma once

#include <settle/running/driving/observer.hpp>

#include <algorithm>
#include <functional>
#include <ostream>

SETTLE_BEGIN
namespace testing {

enum class fault_kind : std::uint8_t {
    none,
    unavailable,    ///< no effect, and the caller knows it
    unknown_before, ///< no effect, but the caller's outcome is unknown
    unknown_after,  ///< full effect, but the caller's outcome is unknown
    late,           ///< outcome unknown; the effect comes when the test delivers it
    crash_before,   ///< the worker ends before the call
    crash_after     ///< the worker ends after the call
};

[[nodiscard]] constexpr std::string_view name_of(fault_kind value) {
    constexpr std::string_view names[]{"none", "unavailable",  "unknown before", "unknown after",
                                       "late", "crash before", "crash after"};
    return names[static_cast<std::size_t>(value)];
}

/// The fault of one call.
struct fault {
    fault_kind kind = fault_kind::none;
    /// A bit for each operation of the wave: the fault hits the set bits only.
    std::uint64_t operations = ~std::uint64_t{0};
};

/// One call to a store or a log.
struct call {
    std::size_t number = 0; ///< counts all calls to the database, from 1
    /// A step's name, or "read", "list", "scan", "marks", "purge" or "resolve". For a service, the
    /// operation's name. For a resource, also "prepare", "roll back" or "deny".
    std::string_view what;
    bool to_log = false;
    std::size_t operations = 0; ///< the number of operations in the wave

    /// True for a call that is never delivered late: it only fails or succeeds.
    [[nodiscard]] bool only_answers() const {
        constexpr std::string_view all[]{"read", "list", "marks", "scan", "purge"};
        return std::find(std::begin(all), std::end(all), what) != std::end(all);
    }

    friend std::ostream& operator<<(std::ostream& out, call const& shown) {
        return out << "call " << shown.number << " (" << (shown.to_log ? "log: " : "store: ")
                   << shown.what << ')';
    }
};

/// Called before every call to a store or log; returns the fault of that call. It may also run
/// another engine, move the clock or deliver late writes.
using fault_plan = std::function<fault(call const&)>;

/// One fault at call `number`, counted from 1.
[[nodiscard]] inline fault_plan fault_at(std::size_t number, fault_kind kind,
                                         std::uint64_t operations = ~std::uint64_t{0}) {
    return [=](call const& current) {
        return current.number == number ? fault{kind, operations} : fault{};
    };
}

/// A random choice of the operations of a wave, at least one.
/// Shape:   operations - of the wave; drawn - 64 random bits; the result is a mask for
///          fault::operations
[[nodiscard]] constexpr std::uint64_t some_of(std::size_t operations, std::uint64_t drawn) {
    std::size_t const count = std::clamp<std::size_t>(operations, 1, 64);
    std::uint64_t const first = std::uint64_t{1} << drawn % count;
    return drawn | first;
}

/// Random faults; equal seeds give equal faults.
/// Shape:   percent - share of faulty calls; kinds - drawn from with equal probability
[[nodiscard]] inline fault_plan random_faults(std::uint64_t seed, std::uint64_t percent,
                                              std::vector<fault_kind> kinds) {
    return [=, kinds = std::move(kinds)](call const& current) {
        std::uint64_t const drawn = hash_mix(static_cast<std::size_t>(seed), current.number);
        if (drawn % 100 >= percent) return fault{};
        return fault{kinds[(drawn >> 8U) % kinds.size()],
                     some_of(current.operations, hash_mix(1, drawn))};
    };
}

} // namespace testing
SETTLE_END
