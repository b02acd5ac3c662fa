// SPDX-License-Identifier: BSL-1.0
// A digest of fixed length, for services that limit the length of a key.
#pragma once

#include <settle/version.hpp>

#include <string>
#include <string_view>

SETTLE_BEGIN
namespace http::detail {

/// The first 128 bits of SHA-256 as 32 hexadecimal digits: two keys do not get one digest.
/// Source:  FIPS 180-4, section 6.2
[[nodiscard]] std::string digest_of(std::string_view text);

} // namespace http::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/http/digest.ipp>
#endif
