// SPDX-License-Identifier: BSL-1.0
// The connections of a database, which threads borrow, and its statements.
#pragma once

#include <settle/postgresql/connection.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

SETTLE_BEGIN
namespace postgresql::detail {

/// Threads may share a pool. It outlives the connections on loan.
class pool {
public:
    /// Connects once, so that a wrong address, password or server is refused at once.
    /// Errors:  throws settle::failure with one sentence
    pool(std::string const& text, database_options const& options);
    pool(pool const&) = delete;
    pool& operator=(pool const&) = delete;

    /// A connection on loan. It goes back when the loan ends: an open native transaction is rolled
    /// back, and a lost connection is closed.
    class loan {
    public:
        loan(pool& from, std::unique_ptr<connection> held) noexcept
            : from_(&from), held_(std::move(held)) {}
        loan(loan&&) noexcept = default;
        loan& operator=(loan&&) = delete;
        ~loan() {
            if (held_) from_->put_back(std::move(held_));
        }
        [[nodiscard]] connection& operator*() const noexcept { return *held_; }
        [[nodiscard]] connection* operator->() const noexcept { return held_.get(); }

    private:
        pool* from_;
        std::unique_ptr<connection> held_;
    };

    /// An unused connection that still stands, or a new one. Waits until connect_timeout while all
    /// are in use or the server takes no connections.
    /// Errors:  throws settle::failure; nothing was sent. errc::forked in a forked child
    [[nodiscard]] loan take();

    /// A new connection that is not of the pool. While the server takes no connections, it tries
    /// again until connect_timeout.
    /// Errors:  throws settle::failure; errc::forked in a forked child
    [[nodiscard]] std::unique_ptr<connection> connect() const;

    /// A statement by its text: the same object for the same text, for the life of the pool.
    /// Shape:   phase - as in statement; a literal
    [[nodiscard]] statement const& prepare(std::string const& sql,
                                           std::vector<value_type> const& types, char const* phase);

    /// The facts of the server that was met first.
    [[nodiscard]] server_facts const& server() const noexcept { return server_; }
    /// The schema of the tables, quoted as SQL needs it, with the dot behind it: `"public".`
    [[nodiscard]] std::string const& schema_prefix() const noexcept { return schema_prefix_; }
    [[nodiscard]] database_options const& options() const noexcept { return options_; }

    /// The round trips of all loans that have ended, without the connects.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_.load(); }

private:
    void put_back(std::unique_ptr<connection> one) noexcept;

    process_stamp made_in_;
    detail::address address_;
    database_options options_;
    server_facts server_;
    std::string schema_prefix_;
    std::atomic<std::uint64_t> round_trips_{0};
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<connection>> unused_; ///< the last is used next
    std::size_t count_ = 0;                           ///< of all connections, also those on loan
    std::deque<statement> statements_;
    std::map<std::string, statement const*, std::less<>> by_text_;
};

/// Later than now by a limit that may be very long.
[[nodiscard]] deadline deadline_after(std::chrono::milliseconds limit);

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/pool.ipp>
#endif
