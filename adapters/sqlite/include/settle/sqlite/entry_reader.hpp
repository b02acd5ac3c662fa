// SPDX-License-Identifier: BSL-1.0
// Reads entries, whole and by pages, on the reader's connection.
#pragma once

#include <settle/sqlite/entry_wave.hpp>
#include <settle/sqlite/record_sql.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class entry_reader {
public:
    explicit entry_reader(connection const& on)
        : begin_(on, "BEGIN", "begin to read"), end_(on, "COMMIT", "end reading"),
          one_(on, select() + "WHERE e.id = ?1", "read an entry"),
          all_(on, page(""), "read entries"), state_(on, page("AND e.state = ?5 "), "read entries"),
          // So spelled, the index of unfinished entries answers these two.
          open_state_(on, page("AND e.open = 1 AND e.state = ?5 "), "read entries"),
          unfinished_(on, page("AND e.open = 1 AND e.state NOT IN (0, 3, 5) "), "read entries"),
          next_(on,
                std::string{"SELECT number, "}.append(is_old).append(
                    " FROM settle_entry WHERE number > ?1 ORDER BY number LIMIT ?3"),
                "look for old entries") {}

    /// Errors:  throws errc::damaged, naming the column
    [[nodiscard]] std::optional<entry> read(transaction_id const& id) const;

    /// Calls a function that reads many entries: all of them from one state of the file, which is
    /// looked for once.
    /// Errors:  throws settle::failure when the file cannot be read; nothing was called then
    template <typename Function>
    void from_one_state(Function&& function) const {
        run{begin_}.change();
        // It changes nothing, so there is nothing that its end could fail to keep.
        struct finish {
            sqlite3_stmt* end;
            ~finish() {
                sqlite3_step(end);
                sqlite3_reset(end);
            }
        } const at_last{end_.get()};
        function();
    }

    [[nodiscard]] std::vector<entry> list(entry_filter const& filter, transaction_id const& after,
                                          std::size_t limit) const;

    /// The numbers of finished entries that are old, at most so many. Entries of wrong clocks stand
    /// anywhere, so that no young entry says where the search may end.
    /// Shape:   passed - the number behind which it looks; then of the last that it has looked at;
    ///          more - whether there may be more behind that
    [[nodiscard]] std::vector<std::int64_t> find_old(timestamp before, std::size_t limit,
                                                     std::int64_t& passed, bool& more) const;

private:
    static std::string select();
    static std::string page(std::string_view condition);

    [[nodiscard]] statement const& statement_for(entry_filter const& filter) const {
        if (!filter.state) return filter.unfinished ? unfinished_ : all_;
        return is_final(*filter.state) ? state_ : open_state_;
    }

    statement begin_;
    statement end_;
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
#include <settle/sqlite/entry_reader.ipp>
#endif
