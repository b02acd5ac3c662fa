// SPDX-License-Identifier: BSL-1.0
// The answer to a call, from an HTTP answer or from its absence.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/http/options.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

SETTLE_BEGIN
namespace http::detail {

/// An HTTP answer that has arrived whole.
struct http_answer {
    int status = 0;
    std::string_view content_type; ///< empty if it has none
    std::string_view body;
    /// The header that identifies the answered call, if the answer has it.
    std::optional<std::string_view> key;
    std::optional<std::chrono::milliseconds> retry_after;
    bool asks_again = false; ///< the answer has Retry-After, with any value
    bool sent_twice = false; ///< libcurl has sent the request again on another connection
};

/// Reads answers of one service. Threads may share it.
class answer_reader {
public:
    /// Shape:   address - as messages show it
    ///          settings - outlives this object
    answer_reader(std::string address, options const& settings);

    /// Hides the values of these headers in every text, as those of options::headers.
    void hide(header_values const& more);

    [[nodiscard]] service_answer read(service_call const& call, http_answer const& answer) const;

    /// The answer to a call without a whole HTTP answer.
    /// Shape:   sent - whether a byte of the request may have been sent
    ///          problem - the native text
    [[nodiscard]] service_answer missing(service_call const& call, bool sent,
                                         std::string_view problem) const;
    /// The answer to a call that the client itself did not begin.
    /// Shape:   limit - the cause, as a clause
    [[nodiscard]] service_answer unsent(service_call const& call, std::string_view limit) const;

private:
    [[nodiscard]] std::string subject(service_call const& call) const;
    /// True if the answer, a refusal by its status, may say that an earlier request with the key is
    /// under way.
    [[nodiscard]] bool may_be_under_way(service_call const& call, http_answer const& answer) const;
    /// Why the answer cannot mean `ok`, as a clause; empty if it can.
    [[nodiscard]] std::string_view fault_of_result(service_call const& call,
                                                   http_answer const& answer) const;
    /// What to do about a status that is no refusal, as a clause; empty for most.
    [[nodiscard]] static std::string_view advice_about(int status);
    /// A text of the service or of libcurl on one line, shortened, and without secrets.
    [[nodiscard]] std::string shown(std::string text) const;
    /// The reason that a body gives, or an empty text.
    [[nodiscard]] std::string reason_of(http_answer const& answer) const;

    std::string address_;
    options const& settings_;
    std::vector<std::string> secrets_; ///< the values of the user's headers, the longest first
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/answer.ipp>
#endif
