// SPDX-License-Identifier: BSL-1.0
// Records and types for the laws: every width, every kind of field, effects that read fields.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace law_test {

enum class colour : std::int16_t { red = -1, green = 0, blue = 700 };
enum class size : std::uint8_t { small, large = 255 };
using second = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;
using day = std::chrono::time_point<std::chrono::system_clock,
                                    std::chrono::duration<std::int32_t, std::ratio<86400>>>;

/// One member of every kind and width.
struct thing {
    std::string id;
    std::int64_t wide;
    std::int64_t other;
    std::int32_t word;
    std::int16_t half;
    std::int8_t tiny;
    std::uint32_t count;
    std::uint16_t port;
    std::uint8_t byte;
    bool open;
    bool seen;
    std::string label;
    std::string title;
    colour shade;
    size extent;
    second made;
    day due;
    std::optional<std::int64_t> limit;
    std::optional<std::uint8_t> share;
    std::optional<std::string> note;
    std::optional<bool> flag;
    std::optional<colour> tint;
    std::optional<second> ended;
};

struct row {
    std::string id;
    std::int64_t amount;
    std::int16_t few;
};

struct wish {
    std::string id;
    std::int64_t amount;
    std::int64_t other;
    std::int32_t word;
    std::uint32_t count;
    std::int8_t tiny;
    std::uint8_t byte;
    bool open;
    std::string label;
    colour shade;
    size extent;
    second made;
    day due;
    std::optional<std::int64_t> limit;
    std::optional<std::uint8_t> share;
    std::optional<std::string> note;
    std::optional<bool> flag;
    std::optional<colour> tint;
    std::optional<second> ended;
    std::vector<row> rows;
};

} // namespace law_test
BOOST_HANA_ADAPT_STRUCT(law_test::thing, id, wide, other, word, half, tiny, count, port, byte, open,
                        seen, label, title, shade, extent, made, due, limit, share, note, flag,
                        tint, ended);
BOOST_HANA_ADAPT_STRUCT(law_test::row, id, amount, few);
BOOST_HANA_ADAPT_STRUCT(law_test::wish, id, amount, other, word, count, tiny, byte, open, label,
                        shade, extent, made, due, limit, share, note, flag, tint, ended, rows);

namespace law_test {

using settle::each;
using settle::field;
using settle::line;
using settle::lit;
using settle::may_pass_zero;
using settle::param;
using settle::participant;
using settle::signed_operand;
using settle::transaction;

inline constexpr settle::collection<thing, "things", &thing::id> things;
using things_type = std::remove_const_t<decltype(things)>;

/// Sums in every width, at both moments, under bounds of every spelling.
inline constexpr auto sums_type = transaction<wish, "sums">(
    participant<"plain">(things, param<&wish::id>)
        .require(field<&thing::wide> - param<&wish::amount> * 2 > param<&wish::other>)
        .require(100 - field<&thing::tiny> >= param<&wish::tiny>)
        .require(field<&thing::byte> + lit<1> < 200)
        .apply(may_pass_zero(signed_operand(field<&thing::wide> += param<&wish::amount> -
                                                                   param<&wish::other>)),
               may_pass_zero(signed_operand(field<&thing::tiny> -= param<&wish::tiny>)),
               may_pass_zero(field<&thing::count> -= param<&wish::count>))
        .compensate(settle::inverse)
        .confirm(field<&thing::byte> += param<&wish::byte>,
                 may_pass_zero(signed_operand(field<&thing::wide> -= -param<&wish::other>)),
                 may_pass_zero(signed_operand(field<&thing::half> -= param<&wish::word>)),
                 may_pass_zero(field<&thing::wide> = field<&thing::wide> - param<&wish::count>)),
    participant<"lines">(things, each<&wish::rows>, line<&row::id>)
        .require(field<&thing::other> >= line<&row::amount>)
        .apply(field<&thing::other> -= line<&row::amount>)
        .compensate(field<&thing::other> += line<&row::amount>)
        .confirm(field<&thing::port> += lit<3>));

/// Guards that need exact values of fields that other transactions may change.
inline constexpr auto exact_type = transaction<wish, "exact">(
    participant<"thing">(things, param<&wish::id>)
        .require(field<&thing::wide> != field<&thing::other> || field<&thing::open>)
        .require(!(field<&thing::word> * field<&thing::half> > param<&wish::amount>))
        .confirm(field<&thing::port> += lit<1>),
    participant<"stranger">(things, param<&wish::label>)
        .confirm(may_pass_zero(signed_operand(field<&thing::wide> += param<&wish::amount>))));

/// Effects that read the fields which the same or the previous moment changes.
inline constexpr auto swap_type = transaction<wish, "swap">(
    participant<"thing">(things, param<&wish::id>)
        .require(field<&thing::wide> <= param<&wish::amount>)
        .apply(field<&thing::wide> = field<&thing::other>,
               field<&thing::other> = field<&thing::wide>,
               field<&thing::label> = field<&thing::title>,
               may_pass_zero(signed_operand(field<&thing::tiny> += field<&thing::half>)))
        .compensate(settle::inverse)
        .confirm(field<&thing::title> = field<&thing::label>,
                 may_pass_zero(signed_operand(field<&thing::half> -= field<&thing::tiny>)),
                 field<&thing::wide> = field<&thing::other> * field<&thing::wide>,
                 field<&thing::note> = param<&wish::note>));

/// Credits and debits beside assignments, which a reversal can only compute from the entry's
/// images.
inline constexpr auto restock_type = transaction<wish, "restock">(
    participant<"filled">(things, param<&wish::id>)
        .require(field<&thing::other> >= param<&wish::amount>)
        .apply(field<&thing::title> = param<&wish::label>,
               field<&thing::other> -= param<&wish::amount>)
        .compensate(settle::inverse)
        .confirm(field<&thing::label> = param<&wish::label>,
                 field<&thing::wide> += param<&wish::amount>,
                 may_pass_zero(field<&thing::tiny> += param<&wish::tiny>)),
    participant<"counted">(things, param<&wish::label>)
        .confirm(field<&thing::wide> += param<&wish::amount>,
                 may_pass_zero(signed_operand(field<&thing::half> -= param<&wish::word>))));

/// An assignment with a compensation by hand, and sums of other transactions beside it.
inline constexpr auto close_type = transaction<wish, "close">(
    participant<"thing">(things, param<&wish::id>)
        .require(field<&thing::open> == lit<true>)
        .require(field<&thing::label> == "open")
        .apply(field<&thing::open> = lit<false>, field<&thing::label> = lit<"closed">,
               field<&thing::byte> += param<&wish::byte>)
        .compensate(settle::inverse)
        .confirm(field<&thing::limit> = std::nullopt, field<&thing::tint> = param<&wish::tint>),
    participant<"pinned">(things, param<&wish::label>)
        .require(field<&thing::open> == lit<false>)
        .apply(field<&thing::open> = lit<true>)
        .compensate(field<&thing::open> = lit<false>),
    participant<"adder">(things, param<&wish::id>)
        .apply(may_pass_zero(field<&thing::wide> -= param<&wish::count>))
        .compensate(settle::inverse));

} // namespace law_test
