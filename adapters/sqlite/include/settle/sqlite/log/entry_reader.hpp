// SPDX-License-Identifier: BSL-1.0
// Reads entries, whole and by pages, on the reader's connection.
#pragma once

#include <settle/sqlite/log/entry_wave.hpp>
#include <settle/sqlite/records/record_sql.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class entry_reader {
public:
    explicit entry_reader(connection const& connection)
        : one_(connection, select() + "WHERE e.id = ?1", "read an entry"),
          all_(connection, page(""), "read entries"),
          state_(connection, page("AND e.state = ?5 "), "read entries"),
          // With `open = 1`, the index of unfinished entries answers these two statements.
          open_state_(connection, page("AND e.open = 1 AND e.state = ?5 "), "read entries"),
          unfinished_(connection, page("AND e.open = 1 AND e.state NOT IN (0, 3, 5) "),
                      "read entries"),
          next_(connection,
                std::string{"SELECT number, "}.append(is_old).append(
                    " FROM settle_entry WHERE number > ?1 ORDER BY number LIMIT ?3"),
                "look for old entries") {}

    /// Errors:  throws errc::damaged, naming the column
    [[nodiscard]] std::optional<entry> read(transaction_id const& id) const;

    [[nodiscard]] std::vector<entry> list(entry_filter const& filter, transaction_id const& after,
                                          std::size_t limit) const;

    /// The numbers of at most `limit` finished entries that are old. An entry with a wrong time may
    /// have any number, so a young entry does not end the search.
    /// Shape:   passed - the number after which the search begins; gets the number of the last
    ///          entry that it read; more - whether there may be old entries after that number
    [[nodiscard]] std::vector<std::int64_t> find_old(timestamp before, std::size_t limit,
                                                     std::int64_t& passed, bool& more) const;

private:
    static std::string select();
    static std::string page(std::string_view condition);

    [[nodiscard]] statement const& statement_for(entry_filter const& filter) const {
        if (!filter.state) return filter.unfinished ? unfinished_ : all_;
        return is_final(*filter.state) ? state_ : open_state_;
    }

    statement one_;
    statement all_;
    statement state_;
    statement open_state_;
    statement unfinished_;
    statement next_;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/log/entry_reader.ipp>
#endif
