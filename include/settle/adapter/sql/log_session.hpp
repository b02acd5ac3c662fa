// SPDX-License-Identifier: BSL-1.0
// The log of one database of tables: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/adapter/isolation.hpp>
#include <settle/adapter/ownership.hpp>
#include <settle/adapter/sql/entry_writes.hpp>
#include <settle/adapter/sql/held_log.hpp>
#include <settle/adapter/sql/metadata_table.hpp>
#include <settle/adapter/sql/native.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail::sql {

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp. The database outlives
///          its sessions; threads may share a session
/// Cost:    a wave of writes is one native transaction in one round trip, however many entries
template <typename Sql>
class log_session {
    using pool = typename Sql::pool;
    using row = typename Sql::row;
    using entry_table = typename Sql::entry_table;

public:
    static constexpr bool keeps_at_insert = true;

    /// Errors:  throws settle::failure
    log_session(pool& connections, std::string name)
        : pool_(&connections), name_(std::move(name)),
          entries_(std::make_shared<entry_table>(connections)) {}

    /// The name that the log got when this database first held a log.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        auto sent = sent_writes(writes, results);
        // In the order of the ids, so that two waves do not wait for each other.
        std::stable_sort(sent.begin(), sent.end(),
                         [](auto const& left, auto const& right) { return *left.id < *right.id; });
        in_halves(std::span<sent_write>{sent},
                  [&](auto some) { return write_together(some, context); });
    }

    /// Cost:    one round trip
    void look_up(std::span<read_request const> requests, found_function found) {
        if (requests.empty()) return;
        std::vector<result<std::optional<entry>>> results(requests.size(), std::optional<entry>{});
        try {
            auto lease = pool_->take();
            look_up_entries<Sql>(*lease, *entries_, requests, results);
        } catch (failure const& caught) {
            for (auto& one : results) one = caught.problem();
        }
        for (std::size_t at = 0; at < results.size(); ++at)
            found(at, std::move(results[at]), false);
    }

    result<std::optional<entry>> read(transaction_id const& id) {
        result<std::optional<entry>> answer{std::optional<entry>{}};
        read_request const request{&id, nullptr, nullptr, nullptr};
        look_up({&request, 1}, [&](std::size_t, result<std::optional<entry>>&& result, bool) {
            answer = std::move(result);
        });
        return answer;
    }

    /// Entries in the order of their ids, after an id.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        std::vector<entry> page;
        if (filter.is_impossible()) return page;
        try {
            auto lease = pool_->take();
            auto const number = entries_->send_page(*lease, filter, after, limit);
            lease->sync();
            for_each_row(lease->result(number),
                         [&](row const& read_row) { read_listed(read_row, page.emplace_back()); });
        } catch (failure const& caught) {
            return caught.problem();
        }
        return page;
    }

    /// A text of the log that belongs to no entry.
    result<std::optional<std::string>> metadata(std::string_view name) {
        try {
            return metadata_table<Sql>{*pool_}.known(name);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    /// Stores it if the stored text is still `seen`.
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text) {
        try {
            metadata_table<Sql> const table{*pool_};
            if (seen) table.replace(name, *seen, text);
            else static_cast<void>(table.get_or_init(name, text));
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    /// The last texts of a range of names, the last name first.
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit) {
        try {
            return metadata_table<Sql>{*pool_}.list(names, limit);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<void> erase_metadata(metadata_range const& names) {
        try {
            metadata_table<Sql>{*pool_}.erase(names);
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    /// Where the database is, and where it was.
    /// Cost:    one round trip, or few
    result<log_home> home() {
        try {
            return look_home(*pool_);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    /// Keeps the present home, and renames the log.
    /// Cost:    one native transaction
    result<void> take_home(log_home const& seen, bool renames) {
        try {
            auto const fresh = fresh_log_name(std::string{Sql::page} + '-');
            metadata_table<Sql>{*pool_}.move_home(seen, name_, renames ? fresh : name_);
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    /// The table of entries, for native transactions of this database.
    [[nodiscard]] entry_table const& entries() const noexcept { return *entries_; }

    /// Writes entries of one action in one native transaction, and sets their results. False when
    /// nothing was done, and each half is to be tried alone.
    /// Shape:   writes - not empty, in the order of the ids
    bool write_together(std::span<sent_write const> writes, write_context const& context) {
        bool const submits = writes.front().inserts &&
                             std::any_of(writes.begin(), writes.end(), [](auto const& one) {
                                 return one.write->change.to == state::initial;
                             });
        bool is_undone = false;
        bool const has_results = commit_together(writes, context, is_undone);
        // It takes a connection. If each thread kept the one of its commit, none would be left.
        if (submits && !is_undone) entries_->wake();
        return has_results;
    }

protected:
    [[nodiscard]] pool& from() const noexcept { return *pool_; }

private:
    /// The commit of this native transaction does not wait for the disk, where the server can.
    static void commit_without_disk([[maybe_unused]] typename Sql::connection& connection) {
        if constexpr (!Sql::dialect::without_disk.empty()) {
            connection.send_sql(std::string{Sql::dialect::without_disk}, "close entries");
        }
    }

    bool commit_together(std::span<sent_write const> writes, write_context const& context,
                         bool& is_undone) {
        bool const inserts = writes.front().inserts;
        bool const may_be_lost = settle::may_be_lost(writes.front().write->action);
        std::size_t number = 0;
        // It is quicker to see first whether each insert takes effect, and, where an UPDATE gives
        // no rows, whether each change does.
        bool takes_all = inserts || !Sql::dialect::returns_changes;
        typename Sql::native_transaction native{*pool_};
        auto ended = commit_result{};
        if (takes_all) {
            ended = native.perform(
                [&](typename Sql::connection& connection) {
                    if (may_be_lost) commit_without_disk(connection);
                    if (inserts) entries_->send_erase_bars(connection, writes);
                    if (inserts) entries_->send_new(connection, writes, context);
                    else entries_->send_certain(connection, writes, context);
                },
                Sql::longest_repetition);
            is_undone = ended.status == commit_status::undone;
            bool const exists = is_undone && Sql::is_overtaken(ended.problem.code);
            takes_all = !exists && !(is_undone && Sql::is_of_count(ended.problem.code));
            if (exists && inserts && writes.size() == 1) {
                writes.front().result->reply = log_answer::conflict;
                return true;
            }
        }
        if (!takes_all) {
            ended = insert_absent<Sql>(native, [&](typename Sql::connection& connection) {
                if (may_be_lost) commit_without_disk(connection);
                if (inserts) entries_->send_erase_bars(connection, writes);
                number = inserts ? entries_->send_insert(connection, writes, context)
                                 : entries_->send_change(connection, writes, context);
            });
        }
        is_undone = ended.status == commit_status::undone;
        if (ended.status == commit_status::committed && takes_all) {
            for (auto const& one : writes) one.result->reply = log_answer::taken;
            return true;
        }
        if (ended.status == commit_status::committed) {
            auto const& answers = native.result(number);
            if (inserts) set_inserted(answers, writes);
            else set_changed(answers, writes);
            return true;
        }
        bool const of_one = is_undone && Sql::is_of_one_record(ended.problem.code);
        if (of_one && writes.size() > 1) return false;
        // The table cannot hold this entry.
        if (of_one) ended.problem.code = make_error_code(errc::bad_parameters);
        for (auto const& one : writes) set_result(*one.result, ended);
        return true;
    }

    pool* pool_;
    std::string name_;
    std::shared_ptr<entry_table const> entries_;
};

} // namespace detail::sql
SETTLE_END
