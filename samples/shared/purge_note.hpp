// SPDX-License-Identifier: BSL-1.0
// A note beside the records that entries were purged: from then on the log does not have it all.
#pragma once

#include <settle/settle.hpp>

#include <string>

namespace samples {

/// Something to be known of the whole database.
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

/// Binds the collection to the engine.
inline constexpr auto note_type = settle::transaction<note_change, "note">(
    settle::participant<"note">(notes, settle::param<&note_change::id>)
        .confirm(settle::field<&note::text> = settle::param<&note_change::text>));

inline std::string const purge_note = "purged";

} // namespace samples
