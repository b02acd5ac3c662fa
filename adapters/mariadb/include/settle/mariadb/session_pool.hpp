// SPDX-License-Identifier: BSL-1.0
// The sessions of a resource, which threads borrow.
#pragma once

#include <settle/mariadb/session.hpp>

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace mariadb::detail {

/// Threads may share a pool. It outlives the sessions on loan.
class session_pool {
public:
    /// Errors:  throws settle::failure for a wrong address or options; it does not connect
    session_pool(std::string_view text, options const& limits);
    session_pool(session_pool const&) = delete;
    session_pool& operator=(session_pool const&) = delete;

    /// A session on loan. It goes back when the loan ends, unless it is lost.
    class loan {
    public:
        loan(session_pool& from, std::unique_ptr<session> held) noexcept
            : from_(&from), held_(std::move(held)) {}
        loan(loan&& other) noexcept
            : from_(std::exchange(other.from_, nullptr)), held_(std::move(other.held_)) {}
        loan& operator=(loan&&) = delete;
        ~loan() {
            if (from_ != nullptr) from_->put_back(std::move(held_));
        }
        [[nodiscard]] session& operator*() const noexcept { return *held_; }
        [[nodiscard]] session* operator->() const noexcept { return held_.get(); }

        /// Ends the session. The server rolls back its native transaction; a prepared one stays,
        /// and other sessions can end it.
        void close() noexcept { held_.reset(); }

    private:
        session_pool* from_;
        std::unique_ptr<session> held_;
    };

    /// An unused session that still stands, or a new one. Waits until connect_timeout while all are
    /// in use or the server takes no connections.
    /// Errors:  throws settle::failure; nothing was sent. errc::forked in a forked child
    [[nodiscard]] loan take();

    [[nodiscard]] address const& to() const noexcept { return to_; }
    [[nodiscard]] options const& limits() const noexcept { return limits_; }

private:
    [[nodiscard]] std::unique_ptr<session> connect() const;
    void put_back(std::unique_ptr<session> one) noexcept;

    process_stamp made_in_;
    address to_;
    options limits_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<session>> unused_; ///< the last is used next
    std::size_t count_ = 0;                        ///< of all sessions, also those on loan
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#    include <settle/mariadb/session_pool.ipp>
#endif
