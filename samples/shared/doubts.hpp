// SPDX-License-Identifier: BSL-1.0
// The lists of prepared parts without an end and of marks without an entry, for an operator.
#pragma once

#include <settle/running/calls/doubts.hpp>
#include <settle/store/seam.hpp>

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

/// The marks of calls that have no entry, a call each, the oldest first, with the next step.
/// Shape:   marks - of engine.marks_without_entry(); program - as above
std::string early_marks_text(std::vector<settle::mark_locator> marks, std::string_view program);

} // namespace samples
