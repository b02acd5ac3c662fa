// SPDX-License-Identifier: BSL-1.0
// The connections of a database, which threads borrow, and the limits of its options.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/process.hpp>
#include <settle/base/saturating.hpp>
#include <settle/store/caller_wait.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Checks the limits of a database's options.
/// Shape:   refuse - is called with the rest of a sentence that begins with the options' name
template <typename Options, typename Refuse>
void check_limits(Options const& options, Refuse const& refuse) {
    if (options.connections == 0) refuse("connections is 0. Allow at least 1");
    using limit = std::pair<char const*, std::chrono::milliseconds>;
    for (auto const& option : {limit{"lock_timeout", options.lock_timeout},
                               limit{"statement_timeout", options.statement_timeout},
                               limit{"idle_timeout", options.idle_timeout},
                               limit{"answer_timeout", options.answer_timeout},
                               limit{"connect_timeout", options.connect_timeout}}) {
        if (option.second.count() <= 0) refuse(std::string{option.first} + " is not above 0");
    }
    if (options.answer_timeout <= options.statement_timeout) {
        refuse("answer_timeout is not longer than statement_timeout, so a slow statement would "
               "look like a lost connection");
    }
}

/// Threads may share a pool. It outlives the connections on loan.
/// Shape:   Connection - `alive()` is false if an unused connection is lost
template <typename Connection>
class connection_pool {
public:
    /// Shape:   most - the largest number of connections; longest_wait - for a connection
    connection_pool(std::size_t most, std::chrono::milliseconds longest_wait)
        : most_(most), longest_wait_(longest_wait) {}
    connection_pool(connection_pool const&) = delete;
    connection_pool& operator=(connection_pool const&) = delete;

    /// A connection on loan. It goes back when the loan ends, unless it is lost.
    class loan {
    public:
        loan(connection_pool& from, std::unique_ptr<Connection> held) noexcept
            : from_(&from), held_(std::move(held)) {}
        loan(loan&& other) noexcept
            : from_(std::exchange(other.from_, nullptr)), held_(std::move(other.held_)),
              counts_(other.counts_) {}
        loan& operator=(loan&&) = delete;
        ~loan() {
            if (from_ != nullptr) from_->put_back(std::move(held_), counts_);
        }
        [[nodiscard]] Connection& operator*() const noexcept { return *held_; }
        [[nodiscard]] Connection* operator->() const noexcept { return held_.get(); }

        void close() noexcept { held_.reset(); }
        /// The pool may make another connection instead of this one. At the end of the loan this
        /// one goes back if there is room.
        void free_place() noexcept {
            if (std::exchange(counts_, false)) from_->leave();
        }

    private:
        connection_pool* from_;
        std::unique_ptr<Connection> held_;
        bool counts_ = true; ///< it takes one of the pool's places
    };

    /// A live unused connection, or a new connection. While all connections are in use, or the
    /// server takes none, the call waits for a limited time.
    /// Errors:  throws settle::failure; nothing was sent. errc::forked in a forked child
    [[nodiscard]] loan take() {
        if (!made_in_.is_here()) throw failure(made_before_fork("database"));
        store_wait wait{deadline_after(longest_wait_)};
        std::unique_lock guard{mutex_};
        for (;;) {
            if (auto one = pop_unused()) return {*this, std::move(one)};
            if (count_ < most_) break;
            auto const left = wait.left();
            if (left) returned_.wait_for(guard, *left);
            if (!left && unused_.empty() && count_ >= most_) throw failure(all_in_use(most_));
        }
        ++count_;
        guard.unlock();
        try {
            return {*this, connect()};
        } catch (...) {
            leave();
            throw;
        }
    }

    /// A live unused connection, without a wait. Empty if there is none.
    [[nodiscard]] std::optional<loan> take_unused() {
        if (!made_in_.is_here()) return std::nullopt;
        std::lock_guard const guard{mutex_};
        if (auto one = pop_unused()) return loan{*this, std::move(one)};
        return std::nullopt;
    }

    /// A new connection outside of the pool. While the server takes no connections, the call tries
    /// again, for a limited time and until a stop is requested.
    /// Errors:  throws settle::failure; errc::forked in a forked child
    [[nodiscard]] std::unique_ptr<Connection> connect(std::stop_token const& stop = {}) const {
        if (!made_in_.is_here()) throw failure(made_before_fork("database"));
        return make(stop);
    }

protected:
    ~connection_pool() = default;

private:
    [[nodiscard]] virtual std::unique_ptr<Connection> make(std::stop_token const& stop) const = 0;
    /// Called after a loan. False if the connection cannot be used again.
    virtual bool take_back(Connection& connection) noexcept = 0;
    [[nodiscard]] virtual error all_in_use(std::size_t count) const = 0;

    /// A live unused connection; null if there is none.
    /// Shape:   the mutex is held
    [[nodiscard]] std::unique_ptr<Connection> pop_unused() noexcept {
        while (!unused_.empty()) {
            auto connection = std::move(unused_.back());
            unused_.pop_back();
            if (connection->alive()) return connection;
            --count_;
        }
        return nullptr;
    }
    void put_back(std::unique_ptr<Connection> connection, bool counts) noexcept {
        if (connection == nullptr || !take_back(*connection)) {
            connection.reset();
            if (counts) leave();
            return;
        }
        std::lock_guard const guard{mutex_};
        if (!counts) {
            if (count_ == most_) return;
            ++count_;
        }
        unused_.push_back(std::move(connection));
        returned_.notify_one();
    }
    void leave() noexcept {
        std::lock_guard const guard{mutex_};
        --count_;
        returned_.notify_one();
    }

    process_stamp made_in_;
    std::size_t most_;
    std::chrono::milliseconds longest_wait_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Connection>> unused_; ///< the last is used next
    std::size_t count_ = 0;                           ///< of all connections, also on loan
};

} // namespace detail
SETTLE_END
