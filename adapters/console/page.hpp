// SPDX-License-Identifier: BSL-1.0
// The page of a console: files that it serves as they are.
#pragma once

#include <settle/version.hpp>

#include <string_view>

SETTLE_BEGIN
namespace detail {

/// The page of every view. `{base}` stands for console_options::base_path.
[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_style();
/// Two parts of one script.
[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view page_parts_script();

} // namespace detail
SETTLE_END
