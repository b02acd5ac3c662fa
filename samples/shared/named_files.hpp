// SPDX-License-Identifier: BSL-1.0
// Checks the files of a command line before any of them is opened.
#pragma once

#include "settings.hpp"

namespace samples {

/// Refuses a command line that would overwrite a file, or read a stream twice: a report in place of
/// a database, of a file beside a database or of the input; the database as input; one pipe for two
/// commands.
/// Errors:  input_error, with a sentence
void check_named_files(settings const& given);

} // namespace samples
