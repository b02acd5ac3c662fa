// SPDX-License-Identifier: BSL-1.0
// Reads entries of a database of tables: on any connection, and as of a hold of all entries.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/store/log_hold.hpp>

#include <chrono>
#include <memory>
#include <utility>

SETTLE_BEGIN
namespace detail::sql {

/// As look_up() of a log.
/// Cost:    one round trip
template <typename Sql>
void look_up_entries(typename Sql::connection& connection, typename Sql::entry_table const& entries,
                     std::span<read_request const> requests,
                     std::span<result<std::optional<entry>>> results) {
    auto ids = Sql::array::texts();
    for (auto const& request : requests) ids.add(std::string_view{*request.id});
    auto const number = entries.send_read(connection, ids);
    connection.sync();
    for_each_row(connection.result(number), [&](typename Sql::row const& read_row) {
        constexpr int number_column = static_cast<int>(all_entry_fields.size());
        auto const index = static_cast<std::size_t>(read_row.integer(number_column) - 1);
        entry read;
        auto const problem = read_entry(read_row, read);
        if (problem.empty()) results[index] = std::optional<entry>{std::move(read)};
        else results[index] = damaged_entry(*requests[index].id, problem);
    });
}

/// One session with the server keeps a lock that every write of an entry waits for, until the hold
/// or that session ends. Another session reads as of a moment of the hold.
template <typename Sql>
class held_log final : public log_hold {
    using connection = typename Sql::connection;

public:
    /// How long the session of the lock may be idle.
    static constexpr std::chrono::seconds longest_idle{2};
    /// How long it may wait for the lock: later writes wait behind it.
    static constexpr std::chrono::milliseconds longest_wait{30};

    /// Shape:   unlock - ends the lock; locks - keeps it; reads - is in no native transaction
    /// Errors:  throws settle::failure
    held_log(std::string unlock, std::unique_ptr<connection> locks, typename Sql::pool::loan reads,
             typename Sql::entry_table const& entries)
        : unlock_(std::move(unlock)), locks_(std::move(locks)), reads_(std::move(reads)),
          entries_(&entries) {
        reads_.free_place();
        Sql::dialect::begin_snapshot(*reads_);
        // The first read of a table takes the snapshot.
        transaction_id const no_id;
        std::int64_t row = 0;
        read_request const first{&no_id, nullptr, nullptr, &row};
        result<std::optional<entry>> found = std::optional<entry>{};
        look_up_entries<Sql>(*reads_, *entries_, {&first, 1}, {&found, 1});
    }

    /// Each of its statements reads as of the hold.
    [[nodiscard]] connection& session() const noexcept { return *reads_; }

    result<void> look_up(std::span<read_request const> requests, found_function found) override {
        std::vector<result<std::optional<entry>>> results(requests.size(), std::optional<entry>{});
        try {
            look_up_entries<Sql>(*reads_, *entries_, requests, results);
        } catch (failure const& caught) {
            return caught.problem();
        }
        for (std::size_t i = 0; i < results.size(); ++i) found(i, std::move(results[i]), false);
        return {};
    }
    result<void> end() override {
        auto const locks = std::move(locks_);
        try {
            locks->send_sql(unlock_, "let decisions go on");
            locks->sync();
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

private:
    std::string unlock_;
    std::unique_ptr<connection> locks_;
    typename Sql::pool::loan reads_;
    typename Sql::entry_table const* entries_;
};

/// The error of a hold that did not begin in time.
[[nodiscard]] inline error writes_took_too_long() {
    return {make_error_code(errc::no_committed_read),
            "settle: writes of entries took too long for a read that must make them wait. Call it "
            "again, or with a later deadline. See committed_reads#limit"};
}

} // namespace detail::sql
SETTLE_END
