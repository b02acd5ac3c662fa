// SPDX-License-Identifier: BSL-1.0
// Looks at the files that a command line names, before any of them is opened.
#pragma once

#include "settings.hpp"

namespace samples {

/// Refuses a command line under which a file would be written over, or read twice that cannot be:
/// a report in the place of a database, of a file beside one or of the input; the database as
/// input; one pipe for two commands.
/// Errors:  input_error, with a sentence
void check_named_files(settings const& given);

} // namespace samples
