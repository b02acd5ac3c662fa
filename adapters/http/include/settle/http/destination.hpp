// SPDX-License-Identifier: BSL-1.0
// The service of a client: its address and its options, checked.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/error.hpp>
#include <settle/http/options.hpp>

#include <string>
#include <string_view>

#include <curl/curl.h>

SETTLE_BEGIN
namespace http::detail {

/// Throws the error of libcurl, if there is one.
void require(CURLcode code);
void require(CURLMcode code);

/// A time in libcurl's form: at least 1 ms, and at most 24 days.
[[nodiscard]] long curl_milliseconds(std::chrono::milliseconds time);

/// Whether a text begins with another text, in any case.
[[nodiscard]] bool begins_like(std::string_view name, std::string_view other);

/// Errors:  throws settle::failure for a header that the user must not give
void check_header(std::string_view name, std::string_view value);

/// True if the host is this one for certain, so that no proxy is between.
[[nodiscard]] bool is_loopback(std::string host);

/// The service of a client, which all sessions of the client share.
struct destination {
    /// Errors:  throws settle::failure for a wrong address or option
    destination(std::string_view address, options options);
    destination(destination const&) = delete;
    destination& operator=(destination const&) = delete;

    options settings;
    std::string base; ///< the address without a slash at its end
    bool loopback = false;
};

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/destination.ipp>
#endif
