// SPDX-License-Identifier: BSL-1.0
// The description of a console's JSON, as OpenAPI.
#pragma once

#include "views.hpp"

SETTLE_BEGIN
namespace detail::openapi {

/// Shape:   base_path - console_options::base_path; has_tokens - each address needs a token
[[nodiscard]] console_json description(std::string const& base_path, bool has_tokens);

} // namespace detail::openapi
SETTLE_END
