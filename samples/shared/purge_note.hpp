// SPDX-License-Identifier: BSL-1.0
// A note in the store that entries were purged: from then on the log is incomplete.
#pragma once

#include <settle/settle.hpp>

#include <string>

namespace samples {

/// A note on the whole database.
struct note {
    std::string id;
    std::string text;
};

struct note_change {
    std::string id;
    std::string text;
};

} // namespace samples

BOOST_HANA_ADAPT_STRUCT(samples::note, id, text);
BOOST_HANA_ADAPT_STRUCT(samples::note_change, id, text);

namespace samples {

inline constexpr settle::collection<note, "notes", &note::id> notes;

/// Binds the notes to the engine.
inline constexpr auto note_type = settle::transaction<note_change, "note">(
    settle::participant<"note">(notes, settle::param<&note_change::id>)
        .confirm(settle::field<&note::text> = settle::param<&note_change::text>));

inline std::string const purge_note = "purged";

} // namespace samples
