// SPDX-License-Identifier: BSL-1.0
// The clause that explains refused parameters: it names the condition, amount or sum, and shows its
// values.
#pragma once

#include <settle/definition/canonical.hpp>
#include <settle/protocol/reversal.hpp>

SETTLE_BEGIN
namespace detail {

/// A longer text is shown as its length.
inline constexpr std::size_t longest_shown = 64;

/// As describe_text, but also escapes control characters, which could end the line or control a
/// terminal.
void put_text(std::string& out, std::string_view text);

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

std::string locator_of(part_name const& where);

/// The cause of a refusal, as a clause.
/// Shape:   items - of the type; refused - the result of the check of `parameters`
[[nodiscard]] std::string explain_refusal(definition_item const* items, void const* parameters,
                                          refusal const& refused);

template <auto const& Type>
std::string explain(std::type_identity<forward<Type>>,
                    typename forward<Type>::parameters const& given, refusal const& refused) {
    return explain_refusal(items_of_type<Type>.data(), &given, refused);
}

template <auto const& Type>
std::string explain(std::type_identity<backward<Type>>, typename backward<Type>::parameters const&,
                    refusal const& refused) {
    return locator_of(refused.where) + (refused.why == reason::overflow
                                            ? "the gain of the transaction exceeds 64 bits"
                                            : "the entry has no readable image of the record");
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/protocol/explanation.ipp>
#endif
