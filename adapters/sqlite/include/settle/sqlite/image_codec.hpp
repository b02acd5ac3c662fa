// SPDX-License-Identifier: BSL-1.0
// The images of an entry as JSON in which records are objects, not quoted JSON texts.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/store/codec.hpp>
#include <settle/store/native_value.hpp>

SETTLE_BEGIN
namespace sqlite {

/// `[{"participant":0,"line":0,"before":{…},"after":{…}}]`; null where there was no record.
void append_images(std::string& out, std::vector<image> const& images);

/// Errors:  errc::damaged with the place
[[nodiscard]] result<std::vector<image>> decode_images(std::string_view text);

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/image_codec.ipp>
#endif
