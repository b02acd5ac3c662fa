// SPDX-License-Identifier: BSL-1.0
// One scalar of a native row, and its JSON, which restores it exactly.
#pragma once

#include <settle/base/json_reader.hpp>
#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>
#include <settle/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

SETTLE_BEGIN

using blob = std::vector<std::byte>;

/// A scalar as a store holds it, even if no field of a struct can hold it: `monostate` is null.
using native_value = std::variant<std::monostate, bool, std::int64_t, double, std::string, blob>;

/// Appends a scalar: `null`, `true`, `5`, `5.0`, `"text"`; `{"$real":"inf"}`, `"-inf"` and `"nan"`
/// (without its payload) for doubles that JSON cannot express; `{"$blob":"00ff"}`; and
/// `{"$text":"ff"}` for a native text that is not UTF-8, which must be restored unchanged, too.
void append_native(std::string& out, native_value const& value);

/// Reads the JSON of append_native. False when the reader failed; `value` is then unspecified.
bool read_native(json_reader& reader, native_value& value);

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/native_value.ipp>
#endif
