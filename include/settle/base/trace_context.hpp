// SPDX-License-Identifier: BSL-1.0
// The trace context of W3C: the text `traceparent`, and the texts of the spans below it.
#pragma once

#include <settle/base/error.hpp>

#include <string>
#include <string_view>

SETTLE_BEGIN

/// True if a text is a traceparent of version 00: `00-TRACE-SPAN-FLAGS` in lower-case hexadecimal
/// digits, 55 characters, where neither the trace nor the span is all zeros.
/// Source:  W3C Trace Context, section 3.2
[[nodiscard]] bool is_traceparent(std::string_view text) noexcept;

/// The 32 digits of the trace.
/// Shape:   traceparent - is_traceparent() holds, as for the functions below
[[nodiscard]] constexpr std::string_view trace_of(std::string_view traceparent) {
    return traceparent.substr(3, 32);
}
/// The 16 digits of the span.
[[nodiscard]] constexpr std::string_view span_of(std::string_view traceparent) {
    return traceparent.substr(36, 16);
}

/// The traceparent of a span below another: of the same trace, with the same flags. One parent and
/// one name always give the same span, in each process.
/// Shape:   name - of what the span measures, unlike those of the parent's other spans
/// Source:  W3C Trace Context, section 3.4: a new parent-id, and nothing else
[[nodiscard]] std::string child_of(std::string_view traceparent, std::string_view name);

namespace detail {

/// True if a call refuses a traceparent. A call may have none.
[[nodiscard]] inline bool is_wrong_traceparent(std::string_view text) noexcept {
    return !text.empty() && !is_traceparent(text);
}
[[nodiscard]] error wrong_traceparent(std::string_view text);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/trace_context.ipp>
#endif
