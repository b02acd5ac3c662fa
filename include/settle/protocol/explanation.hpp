// SPDX-License-Identifier: BSL-1.0
// The clause that explains refused parameters: it names the condition, amount or sum, and shows its
// values.
#pragma once

#include <settle/definition/canonical.hpp>
#include <settle/protocol/state.hpp>

#include <optional>

SETTLE_BEGIN

/// A part as the definition names it.
struct part_name {
    std::string_view participant;
    std::optional<std::uint32_t> line;
};

/// Why parameters are refused before any write, and the part that refuses them, if any.
struct refusal {
    reason why = reason::none;
    part_name where;
};

namespace detail {

/// A date, and the time of day unless the unit is a day or longer; the count where the year has not
/// four digits.
/// Shape:   count - of units of `numerator` / `denominator` seconds since 1970
void put_time(std::string& out, std::int64_t count, std::intmax_t numerator,
              std::intmax_t denominator);
template <typename Duration>
void put_time(std::string& out, std::int64_t count) {
    using unit = typename Duration::period;
    put_time(out, count, unit::num, unit::den);
}

/// The cause of a refusal, as a clause.
/// Shape:   items - of the type; refused - the result of the check of `parameters`
[[nodiscard]] std::string explain_refusal(definition_item const* items, void const* parameters,
                                          refusal const& refused);

/// The same for a reversal.
[[nodiscard]] std::string explain_reversal(refusal const& refused);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/protocol/explanation.ipp>
#endif
