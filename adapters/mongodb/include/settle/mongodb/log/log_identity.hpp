// SPDX-License-Identifier: BSL-1.0
// Distinguishes the logs that one database can hold: settle's own, and one for each collection of
// transactions of the tutorial's programs. The sweeper of one log would treat the marks of another
// log as stray and undo them.
#pragma once

#include <settle/mongodb/connection/collections.hpp>
#include <settle/mongodb/connection/metadata.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// The name of a log: its database, followed by the collection unless that is settle's own.
/// Shape:   of_database - the stored value of `log`
[[nodiscard]] inline std::string log_name(std::string const& of_database,
                                          entry_layout const& layout) {
    return layout.is_own ? of_database : of_database + '/' + layout.collection;
}

/// Shape:   belongs_to - the log of the database's records
/// Errors:  throws errc::other_log
[[noreturn]] void refuse_log(std::string const& belongs_to, std::string const& refused);

/// Refuses a log of this database when its records belong to another log of the same database.
/// Before that nothing is created or changed but the name of the records' log, if a log was
/// renamed. Errors:  throws errc::other_log
void check_log_of_records(link& client, stored_log const& stored, entry_layout const& layout);

/// Refuses a layout that would find or read entries differently than the stored layout.
/// Errors:  throws errc::other_log
void check_layout_of_log(entry_layout const& layout, std::string const& noted);
void check_layout_of_log(link& client, entry_layout const& layout);
/// Stores the layout of a log after every check: a refused log must not lock others out.
/// Errors:  throws errc::other_log, as another program may have come first
void note_layout_of_log(link& client, entry_layout const& layout);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/log/log_identity.ipp>
#endif
