// SPDX-License-Identifier: BSL-1.0
// The list of prepared parts without an end, for an operator.
#pragma once

#include <settle/running/calls/doubts.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// A span of time for people: `2 h 5 min`.
std::string span_text(std::chrono::milliseconds span);

/// The list as text, the oldest first, with what holds each part back, and the next step.
/// Shape:   program - the name of the program, for commands
std::string doubts_text(std::vector<settle::doubtful_part> parts, std::string_view program);

} // namespace samples
