// SPDX-License-Identifier: BSL-1.0
// The store suite in two parts, which a large program compiles apart.
#pragma once

#include <settle/version.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>

SETTLE_BEGIN
namespace testing {

/// A part of the store suite. The second takes the compiler twice as long as the first.
enum class suite_part : std::uint8_t {
    sessions, ///< calls of the sessions of a store and of a log
    engines   ///< calls of an engine
};

/// A fixture whose member `part` is another part has no case of this one.
template <typename Fixture, suite_part Part>
inline constexpr bool has_part = true;
template <typename Fixture, suite_part Part>
    requires requires { Fixture::part; }
inline constexpr bool has_part<Fixture, Part> = Fixture::part == Part;

template <typename Fixture, suite_part Part>
using fixtures_of = std::conditional_t<has_part<Fixture, Part>, std::tuple<Fixture>, std::tuple<>>;
template <typename Fixture>
using in_sessions = fixtures_of<Fixture, suite_part::sessions>;
template <typename Fixture>
using in_engines = fixtures_of<Fixture, suite_part::engines>;

} // namespace testing
SETTLE_END
