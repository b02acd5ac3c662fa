// SPDX-License-Identifier: BSL-1.0
// A request and an answer of a console, without HTTP's spelling.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/error.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// What a person may do.
enum class console_role : std::uint8_t { none, viewer, acts };

/// How an answer is written.
enum class console_form : std::uint8_t { page, json, text };

/// The parameters of a request's query and of its form, decoded.
using console_fields = std::map<std::string, std::string, std::less<>>;

/// What a server has received.
struct received_request {
    bool is_post = false;
    bool is_other = false;          ///< neither GET, HEAD nor POST
    std::string_view target;        ///< path and query
    std::string_view body;          ///< of a POST: a form
    std::string_view host;          ///< the header Host
    std::string_view origin;        ///< the header Origin, or empty
    std::string_view accept;        ///< the header Accept
    std::string_view authorization; ///< the header Authorization
    std::string_view custom;        ///< the header Settle-Console, which no other site can send
    std::string_view person;        ///< the header of console_options::name_header
};

struct console_answer {
    unsigned status = 200;
    std::string_view type = "text/plain; charset=utf-8";
    std::string body{};
    std::string_view allow{}; ///< the methods of the address, if it does not know that of a request
};

/// A request that has passed all checks that need no store.
struct console_question {
    console_role role = console_role::none;
    console_form form = console_form::text;
    bool is_post = false;
    std::vector<std::string> path{}; ///< its parts, decoded: {"entries", "transfer-1"}
    console_fields fields{};
    std::string person{};
};

/// Decodes `%41`. Empty if the text is not encoded well, or is not UTF-8.
/// Shape:   is_form - `+` is a blank
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool is_form);

/// Encodes every byte but letters, digits and `-._~`.
[[nodiscard]] std::string percent_encoded(std::string_view text);

/// Adds the fields of `a=1&b=2`; false if a field is not encoded well or comes twice.
[[nodiscard]] bool read_fields(std::string_view text, console_fields& fields);

/// The form that a header Accept asks for.
[[nodiscard]] console_form accepted_form(std::string_view accept);

/// Compares without telling by its time how much is equal.
[[nodiscard]] bool is_token(std::string_view presented, std::string_view token);

/// A span such as `90s`, `30m`, `2h` or `1d`. A longer one than ten years is ten years.
[[nodiscard]] std::optional<std::chrono::milliseconds> span_from(std::string_view text);

/// A span in its two largest units: `2 h 5 min`.
[[nodiscard]] std::string span_text(std::chrono::milliseconds span);

} // namespace detail
SETTLE_END
