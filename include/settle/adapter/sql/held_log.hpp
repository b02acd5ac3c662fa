// SPDX-License-Identifier: BSL-1.0
// Reads entries of a database of tables: on any connection, and on one that keeps them as they are.
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
                     std::span<result<std::optional<entry>>> found) {
    auto ids = Sql::array::texts();
    for (auto const& request : requests) ids.add(std::string_view{*request.id});
    auto const number = entries.send_read(connection, ids);
    connection.sync();
    for_each_row(connection.result(number), [&](typename Sql::row const& read_row) {
        constexpr int number_column = static_cast<int>(all_entry_fields.size());
        auto const index = static_cast<std::size_t>(read_row.integer(number_column) - 1);
        entry read;
        auto const problem = read_entry(read_row, read);
        if (problem.empty()) found[index] = std::optional<entry>{std::move(read)};
        else found[index] = damaged_entry(*requests[index].id, problem);
    });
}

/// A session with the server keeps a lock that every write of an entry waits for. The server ends
/// both together.
template <typename Sql>
class held_log final : public log_hold {
    using connection = typename Sql::connection;

public:
    /// How long the session may be idle.
    static constexpr std::chrono::seconds longest_idle{2};
    /// How long it may wait for the lock: later writes wait behind it.
    static constexpr std::chrono::milliseconds longest_wait{30};

    /// Shape:   held - for looks; the pool may have no other connection until the end of the hold
    held_log(typename Sql::pool::loan held, typename Sql::entry_table const& entries)
        : held_(std::move(held)), entries_(&entries) {}

    [[nodiscard]] connection& session() const noexcept { return *held_; }
    /// Takes the session that keeps the lock, if that is not the session for looks.
    void keep(std::unique_ptr<connection> locks) noexcept { locks_ = std::move(locks); }

    result<void> look_up(std::span<read_request const> requests, found_function found) override {
        std::vector<result<std::optional<entry>>> all(requests.size(), std::optional<entry>{});
        try {
            look_up_entries<Sql>(*held_, *entries_, requests, all);
            if (locks_ != nullptr) {
                locks_->send_sql("DO 1", "keep decisions waiting");
                locks_->sync();
            }
        } catch (failure const& caught) {
            return caught.problem();
        }
        for (std::size_t i = 0; i < all.size(); ++i) found(i, std::move(all[i]), false);
        return {};
    }

private:
    typename Sql::pool::loan held_;
    std::unique_ptr<connection> locks_{};
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
