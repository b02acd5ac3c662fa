// SPDX-License-Identifier: BSL-1.0
// The log of one database: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/store/seam.hpp>

#include <memory>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

class entry_table;
class file;
struct log_statements;

} // namespace detail

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many entries
class log_session {
public:
    /// Shape:   the caller is alone with the file
    /// Errors:  throws settle::failure
    log_session(detail::file& file, std::string name);

    /// The name that the log got when this file first held a log.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    static constexpr bool keeps_at_insert = true;
    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context);

    /// Erases at most `limit` finished entries that have not moved since a time, in the order of
    /// their insertion.
    /// Shape:   passed - the number of the entry after which it continues
    /// Cost:    a whole purge reads every entry once, and does not block writers; a step reads
    ///          10,000 entries at most
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing);

    /// A text of the log that belongs to no entry.
    result<std::optional<std::string>> metadata(std::string_view name);
    /// Stores it if the stored text is still `seen`.
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text);
    /// The last texts of a range of names, the last name first.
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit);
    result<void> erase_metadata(metadata_range const& names);

    /// Where the file is, and where it was. A file that was renamed inside its file system is the
    /// same, and so is one at its path whose device has another number since a restart.
    result<log_home> home();
    /// Keeps the present home, and renames the log.
    /// Cost:    one native transaction
    result<void> take_home(log_home const& seen, bool renames);

    /// The table of entries, for callers inside a native transaction of this file.
    [[nodiscard]] detail::entry_table& entries();

    /// Cost:    one native transaction that reads, and an index search for each entry
    void look_up(std::span<read_request const> requests, found_function on_found);

    result<std::optional<entry>> read(transaction_id const& id);

    /// Keeps the file's write lock: other programs wait for it as for any writer.
    result<std::unique_ptr<log_hold>> hold_entries();

    /// Entries in the order of their ids, after an id.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit);

private:
    detail::file* file_;
    std::string name_;
    std::shared_ptr<detail::log_statements> held_;
};

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/log/log_session.ipp>
#endif
