// SPDX-License-Identifier: BSL-1.0
// Which call to a store or a log goes wrong, and how.
#pragma once

#include <settle/store/observer.hpp>

#include <algorithm>
#include <functional>
#include <ostream>

SETTLE_BEGIN
namespace testing {

enum class fault_kind : std::uint8_t {
    none,
    unavailable,    ///< it took no effect, and says so
    unknown_before, ///< it took no effect, and nobody knows
    unknown_after,  ///< it took effect, and nobody knows
    late,           ///< nobody knows, and it takes effect when the test delivers it
    crash_before,   ///< the worker ends before the call
    crash_after     ///< the worker ends after the call
};

[[nodiscard]] constexpr std::string_view name_of(fault_kind value) {
    constexpr std::string_view names[]{"none",          "unavailable", "unknown before",
                                       "unknown after", "late",        "crash before",
                                       "crash after"};
    return names[static_cast<std::size_t>(value)];
}

/// What goes wrong with one call.
struct fault {
    fault_kind kind = fault_kind::none;
    /// Of a wave's operations, a bit for each: the others are performed as usual.
    std::uint64_t operations = ~std::uint64_t{0};
};

/// One call to a store or a log.
struct call {
    std::size_t number = 0;     ///< counted over the whole database, from 1
    std::string_view what;      ///< a step's name, or "read", "list", "marks", "resolve"
    bool to_log = false;
    std::size_t operations = 0; ///< how many a wave has due here

    /// Whether it is answered or not, and nothing of it can come late.
    [[nodiscard]] bool only_answers() const {
        constexpr std::string_view all[]{"read", "list", "marks", "scan", "purge"};
        return std::find(std::begin(all), std::end(all), what) != std::end(all);
    }

    friend std::ostream& operator<<(std::ostream& out, call const& shown) {
        return out << "call " << shown.number << " (" << (shown.to_log ? "log: " : "store: ")
                   << shown.what << ')';
    }
};

/// Asked before every call; it may do what it likes meanwhile: let another engine run, move the
/// clock, deliver late writes.
using fault_plan = std::function<fault(call const&)>;

/// One fault at the n-th call, from 1.
[[nodiscard]] inline fault_plan fault_at(std::size_t number, fault_kind kind,
                                         std::uint64_t operations = ~std::uint64_t{0}) {
    return [=](call const& one) {
        return one.number == number ? fault{kind, operations} : fault{};
    };
}

/// Faults by chance, the same for the same seed.
/// Shape:   percent - how many of a hundred calls go wrong; kinds - one of these, chosen evenly
[[nodiscard]] inline fault_plan random_faults(std::uint64_t seed, std::uint64_t percent,
                                              std::vector<fault_kind> kinds) {
    return [=, kinds = std::move(kinds)](call const& one) {
        std::uint64_t const drawn = hash_mix(static_cast<std::size_t>(seed), one.number);
        if (drawn % 100 >= percent) return fault{};
        return fault{kinds[(drawn >> 8U) % kinds.size()], hash_mix(1, drawn)};
    };
}

} // namespace testing
SETTLE_END
