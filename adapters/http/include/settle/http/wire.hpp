// SPDX-License-Identifier: BSL-1.0
// The wire form of a call: its headers and its body, for the client and for a receiver.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/http/options.hpp>
#include <settle/kinds/services/service.hpp>

#include <optional>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace http::detail {

/// Names the call in a request, and again in its answer.
inline constexpr std::string_view key_and_operation = "Idempotency-Key";

/// A text as the value of a header: each byte other than A-Z a-z 0-9 - . _ ~ : / @ becomes %XX.
[[nodiscard]] std::string header_value(std::string_view text);

/// A moment as UTC with milliseconds: 2026-11-26T01:48:31.123Z. A moment before the year 0 or after
/// the year 9999 becomes the first or the last moment of that range.
/// Source:  RFC 3339, section 5.6
[[nodiscard]] std::string utc_text(timestamp moment);
/// Shape:   text - with 0 to 9 digits after the second, and a Z
[[nodiscard]] std::optional<timestamp> moment_of_utc_text(std::string_view text);

/// The text of a header that header_value() has written. A text that it cannot have written stays
/// as it is.
[[nodiscard]] std::string text_of_header(std::string_view value);

/// The key of the call and its operation, as the value of a header: KEY/apply, or its digest.
/// Shape:   without the quotes of options::quoted_key
[[nodiscard]] std::string idempotency_key(service_call const& call,
                                          key_form form = key_form::whole);

/// A value without the quotes around it.
[[nodiscard]] std::string_view without_quotes(std::string_view value);

/// Gives the name and the value of each header of a call; a value is visible ASCII.
void for_each_header(
    service_call const& call,
    settle::detail::function_view<void(std::string_view name, std::string_view value)> take,
    options const& settings = {});

/// Writes the body of a call: {"request":…,"result":…}.
void write_body(std::string& to, service_call const& call, options const& settings = {});

/// Appends JSON in which each whole number beyond 2^53 is a text.
void append_with_large_texts(std::string& to, std::string_view json);

/// A call that a receiver has received; owns its texts.
class received_call {
public:
    using header = std::optional<std::string>;

    /// Shape:   text_of - gives the text of the header of a name, decoded, or none
    ///          operation - the last part of the path
    ///          body - outlives this object
    /// Errors:  throws settle::failure with errc::damaged when it is not the wire form
    received_call(settle::detail::function_view<header(std::string_view)> text_of,
                  std::string_view operation, std::string_view body);

    /// Shape:   valid as long as this object and the body
    [[nodiscard]] service_call call() const;
    /// The value of Idempotency-Key in the answer: as the call had it.
    [[nodiscard]] std::string idempotency_key() const;

private:
    void read_body(std::string_view body);

    std::string service_;
    std::string key_;
    std::string idempotency_key_; ///< decoded
    std::string transaction_;
    std::string participant_;
    std::string traceparent_;
    call_operation operation_ = call_operation::apply;
    std::optional<std::uint32_t> line_;
    epoch epoch_ = 0;
    timestamp last_moment_;
    bool has_apply_ = true;
    std::string_view request_;
    std::string_view result_;
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/wire.ipp>
#endif
