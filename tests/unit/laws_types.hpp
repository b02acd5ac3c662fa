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

struct request {
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
BOOST_HANA_ADAPT_STRUCT(law_test::request, id, amount, other, word, count, tiny, byte, open, label,
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
inline constexpr auto sums_type = transaction<request, "sums">(
    participant<"plain">(things, param<&request::id>)
        .require(field<&thing::wide> - param<&request::amount> * 2 > param<&request::other>)
        .require(100 - field<&thing::tiny> >= param<&request::tiny>)
        .require(field<&thing::byte> + lit<1> < 200)
        .apply(may_pass_zero(signed_operand(field<&thing::wide> +=
                                            param<&request::amount> - param<&request::other>)),
               may_pass_zero(signed_operand(field<&thing::tiny> -= param<&request::tiny>)),
               may_pass_zero(field<&thing::count> -= param<&request::count>))
        .compensate(settle::inverse)
        .confirm(field<&thing::byte> += param<&request::byte>,
                 may_pass_zero(signed_operand(field<&thing::wide> -= -param<&request::other>)),
                 may_pass_zero(signed_operand(field<&thing::half> -= param<&request::word>)),
                 may_pass_zero(field<&thing::wide> = field<&thing::wide> - param<&request::count>)),
    participant<"lines">(things, each<&request::rows>, line<&row::id>)
        .require(field<&thing::other> >= line<&row::amount>)
        .apply(field<&thing::other> -= line<&row::amount>)
        .compensate(field<&thing::other> += line<&row::amount>)
        .confirm(field<&thing::port> += lit<3>));

/// Guards that need exact values of fields that other transactions may change.
inline constexpr auto exact_type = transaction<request, "exact">(
    participant<"thing">(things, param<&request::id>)
        .require(field<&thing::wide> != field<&thing::other> || field<&thing::open>)
        .require(!(field<&thing::word> * field<&thing::half> > param<&request::amount>))
        .confirm(field<&thing::port> += lit<1>),
    participant<"other">(things, param<&request::label>)
        .confirm(may_pass_zero(signed_operand(field<&thing::wide> += param<&request::amount>))));

/// Effects that read the fields which the same or the previous moment changes.
inline constexpr auto swap_type = transaction<request, "swap">(
    participant<"thing">(things, param<&request::id>)
        .require(field<&thing::wide> <= param<&request::amount>)
        .apply(field<&thing::wide> = field<&thing::other>,
               field<&thing::other> = field<&thing::wide>,
               field<&thing::label> = field<&thing::title>,
               may_pass_zero(signed_operand(field<&thing::tiny> += field<&thing::half>)))
        .compensate(settle::inverse)
        .confirm(field<&thing::title> = field<&thing::label>,
                 may_pass_zero(signed_operand(field<&thing::half> -= field<&thing::tiny>)),
                 field<&thing::wide> = field<&thing::other> * field<&thing::wide>,
                 field<&thing::note> = param<&request::note>));

/// Credits and debits beside assignments, which a reversal can only compute from the entry's
/// images.
inline constexpr auto restock_type = transaction<request, "restock">(
    participant<"filled">(things, param<&request::id>)
        .require(field<&thing::other> >= param<&request::amount>)
        .apply(field<&thing::title> = param<&request::label>,
               field<&thing::other> -= param<&request::amount>)
        .compensate(settle::inverse)
        .confirm(field<&thing::label> = param<&request::label>,
                 field<&thing::wide> += param<&request::amount>,
                 may_pass_zero(field<&thing::tiny> += param<&request::tiny>)),
    participant<"counted">(things, param<&request::label>)
        .confirm(field<&thing::wide> += param<&request::amount>,
                 may_pass_zero(signed_operand(field<&thing::half> -= param<&request::word>))));

/// Assignments with a derived and with a written compensation, and a sum in a third participant.
inline constexpr auto close_type = transaction<request, "close">(
    participant<"thing">(things, param<&request::id>)
        .require(field<&thing::open> == lit<true>)
        .require(field<&thing::label> == "open")
        .apply(field<&thing::open> = lit<false>, field<&thing::label> = lit<"closed">,
               field<&thing::byte> += param<&request::byte>)
        .compensate(settle::inverse)
        .confirm(field<&thing::limit> = std::nullopt, field<&thing::tint> = param<&request::tint>),
    participant<"pinned">(things, param<&request::label>)
        .require(field<&thing::open> == lit<false>)
        .apply(field<&thing::open> = lit<true>)
        .compensate(field<&thing::open> = lit<false>),
    participant<"adder">(things, param<&request::id>)
        .apply(may_pass_zero(field<&thing::wide> -= param<&request::count>))
        .compensate(settle::inverse));

} // namespace law_test
