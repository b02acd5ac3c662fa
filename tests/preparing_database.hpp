// SPDX-License-Identifier: BSL-1.0
// A database for tests that prepares native transactions: accounts in memory with locks, prepared
// names and receipts. It keeps the promises of settle/kinds/prepared/preparing_resource.hpp, and a
// test chooses which answers it loses and which prepares land late.
#pragma once

#include <settle/kinds/prepared/preparing_resource.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace preparing_test {

/// The fault of one call.
enum class fault {
    none,
    unavailable, ///< no effect
    lost,        ///< takes effect, and the answer is lost
    late         ///< only a prepare: takes effect when the test calls land()
};

class database {
public:
    static constexpr std::size_t most_name = 128;

    /// A native transaction. Its changes are sums, so that a late copy of it can run again.
    class connection {
    public:
        /// Adds to an account.
        /// Errors:  record_missing; another error if a prepared transaction has changed the account
        settle::result<void> add(std::string const& account, std::int64_t amount) {
            if (!of_.accounts.contains(account)) {
                return {settle::errc::record_missing, "no account " + account};
            }
            changes_[account] += amount;
            locked_ = locked_ || of_.is_locked(account);
            if (locked_) return of_.locked("the account " + account);
            return {};
        }
        [[nodiscard]] std::int64_t balance_of(std::string const& account) const {
            auto const change = changes_.find(account);
            return of_.accounts.at(account) + (change == changes_.end() ? 0 : change->second);
        }

    private:
        friend database;
        explicit connection(database& database) : of_(database) {}

        database& of_;
        std::map<std::string, std::int64_t> changes_;
        bool locked_ = false; ///< the native transaction has failed at a lock
    };

    struct receipt {
        settle::epoch epoch_number = 0;
        settle::timestamp written{};
    };

    std::map<std::string, std::int64_t> accounts;
    std::map<std::string, receipt> receipts; ///< committed, by the text of the part
    settle::timestamp now{std::chrono::milliseconds{1800000000000}};
    settle::timestamp const* clock = nullptr; ///< of the workers
    std::chrono::milliseconds ahead{0};       ///< of their clock
    /// Called before each call with its operation and its name.
    std::function<fault(std::string_view operation, std::string const& name)> disturb =
        [](std::string_view, std::string const&) { return fault::none; };
    bool can_prepare = true;
    int prepares = 0; ///< that took effect

    // ------------------------------------------------------------------------------- the resource

    void bind(std::string const&) {
        if (!can_prepare) {
            throw settle::failure{{settle::make_error_code(settle::errc::unfit_store),
                                   "settle: the test database cannot prepare. Let it"}};
        }
    }

    settle::prepare_result prepare(settle::prepared_name const& name,
                                   settle::work_function<connection> work) {
        using enum settle::prepare_answer;
        std::lock_guard const guard{mutex_};
        auto const what = disturb("prepare", name.text());
        if (what == fault::unavailable) return {unavailable, away()};
        native work_done;
        if (auto given = execute(name, work, work_done); given.what != prepared) return given;
        if (what == fault::late) {
            late_.push_back(kept_for_later(name, std::move(work_done)));
            return {unknown, lost()};
        }
        auto const answer = keep(name.text(), std::move(work_done));
        if (what == fault::lost) return {unknown, lost()};
        return {answer, {}};
    }
    settle::end_result commit(settle::prepared_name const& name) { return end(name, true); }
    settle::end_result roll_back(settle::prepared_name const& name) { return end(name, false); }

    settle::result<std::vector<settle::in_doubt_name>>
    in_doubt(std::string_view prefix, std::string_view after, std::size_t limit) {
        std::lock_guard const guard{mutex_};
        if (disturb("list", std::string{prefix}) != fault::none) return away();
        std::vector<settle::in_doubt_name> names;
        for (auto at = prepared_.upper_bound(std::string{after}); at != prepared_.end(); ++at) {
            if (!at->first.starts_with(prefix)) continue;
            if (names.size() == limit) break;
            names.push_back({at->first, at->second.since});
        }
        return names;
    }

    settle::result<std::optional<settle::epoch>> receipt_of(settle::prepared_part const& part) {
        std::lock_guard const guard{mutex_};
        if (disturb("receipt", part.text()) != fault::none) return away();
        auto const found = receipts.find(part.text());
        if (found == receipts.end()) return std::optional<settle::epoch>{};
        return std::optional{found->second.epoch_number};
    }

    settle::end_result deny(settle::prepared_name const& name) {
        std::lock_guard const guard{mutex_};
        auto const& part = name.of;
        auto const what = disturb("deny", part.text());
        if (what == fault::unavailable || is_locked(part.text())) {
            return {settle::end_answer::unavailable, away()};
        }
        receipts.try_emplace(part.text(), receipt{0, now});
        if (what == fault::lost) return {settle::end_answer::unknown, lost()};
        return {settle::end_answer::ended};
    }

    /// The receipts have dates of their own, see `now`.
    settle::result<settle::timestamp> time() const {
        return clock == nullptr ? now : *clock + ahead;
    }

    settle::result<std::uint64_t> forget(std::string_view prefix, settle::timestamp before,
                                         std::size_t limit) {
        std::lock_guard const guard{mutex_};
        if (disturb("forget", std::string{prefix}) != fault::none) return away();
        std::uint64_t gone = 0;
        for (auto at = receipts.begin(); at != receipts.end() && gone < limit;) {
            bool const old = at->first.starts_with(prefix) && at->second.written < before;
            at = old ? receipts.erase(at) : std::next(at);
            gone += old ? 1 : 0;
        }
        return gone;
    }

    // ------------------------------------------------------------------------- for a simulation

    void note_time(settle::timestamp time) { now = time; }
    /// Runs the work now.
    /// Returns: a function that prepares it, and returns true if it could
    std::function<bool()> prepare_later(settle::prepared_name const& name,
                                        settle::work_function<connection> work) {
        std::lock_guard const guard{mutex_};
        native work_done;
        bool const works = execute(name, work, work_done).what == settle::prepare_answer::prepared;
        if (!works) return [] { return false; };
        return kept_for_later(name, std::move(work_done));
    }

    // ----------------------------------------------------------------------------- for the test

    /// Lets the late prepares take effect. True if one is prepared now.
    bool land() {
        std::lock_guard const guard{mutex_};
        bool landed = false;
        for (auto& one : late_) landed = one() || landed;
        late_.clear();
        return landed;
    }

    /// Prepares a native transaction by hand, under any name.
    void prepare_by_hand(std::string const& name, std::string const& account, std::int64_t amount) {
        std::lock_guard const guard{mutex_};
        prepared_.emplace(name, native{{}, 0, {{account, amount}}, now});
    }
    bool roll_back_by_hand(std::string const& name) {
        std::lock_guard const guard{mutex_};
        return prepared_.erase(name) != 0;
    }
    [[nodiscard]] std::vector<std::string> names() {
        std::lock_guard const guard{mutex_};
        std::vector<std::string> all;
        for (auto const& [name, made] : prepared_) all.push_back(name);
        return all;
    }

private:
    struct native {
        std::string receipt_key; ///< empty: none
        settle::epoch epoch_number = 0;
        std::map<std::string, std::int64_t> changes;
        settle::timestamp since{};
    };

    static settle::error away() {
        return {settle::make_error_code(settle::errc::store_unreachable),
                "settle: the test database is away. Wait"};
    }
    static settle::error lost() {
        return {settle::make_error_code(settle::errc::call_unknown),
                "settle: the answer of the test database is lost. Ask again"};
    }
    static settle::error locked(std::string const& what) {
        return {settle::make_error_code(settle::errc::store_unreachable),
                "settle: " + what + " is locked. Wait"};
    }

    /// True if a prepared transaction holds an account, or the row of a receipt.
    [[nodiscard]] bool is_locked(std::string const& row) const {
        for (auto const& [name, made] : prepared_) {
            if (made.receipt_key == row || made.changes.contains(row)) return true;
        }
        return false;
    }

    /// Runs the work in a native transaction.
    settle::prepare_result execute(settle::prepared_name const& name,
                                   settle::work_function<connection> work, native& work_done) {
        using enum settle::prepare_answer;
        connection session{*this};
        auto const key = name.of.text();
        if (receipts.contains(key)) return {denied, locked("the receipt " + key)};
        if (is_locked(key)) return {busy, locked("the receipt " + key)};
        auto const done = work(session);
        if (done.what == settle::work_result::status::refused) return {refused, done.problem};
        if (done.what == settle::work_result::status::failed) {
            return {session.locked_ ? busy : unavailable, done.problem};
        }
        work_done = {key, name.epoch_number, std::move(session.changes_), now};
        return {prepared, {}};
    }
    std::function<bool()> kept_for_later(settle::prepared_name const& name, native work_done) {
        return [this, name = name.text(), work_done = std::move(work_done)]() mutable {
            std::lock_guard const guard{mutex_};
            return keep(name, std::move(work_done)) == settle::prepare_answer::prepared;
        };
    }

    settle::prepare_answer keep(std::string const& name, native&& work_done) {
        using enum settle::prepare_answer;
        if (prepared_.contains(name)) return unknown;
        if (receipts.contains(work_done.receipt_key)) return denied;
        bool locked = is_locked(work_done.receipt_key);
        for (auto const& [account, amount] : work_done.changes)
            locked = locked || is_locked(account);
        if (locked) return busy;
        ++prepares;
        prepared_.emplace(name, std::move(work_done));
        return prepared;
    }

    settle::end_result end(settle::prepared_name const& name, bool commits) {
        std::lock_guard const guard{mutex_};
        auto const what = disturb(commits ? "commit" : "roll back", name.text());
        if (what == fault::unavailable) return {settle::end_answer::unavailable, away()};
        auto const prepared_transaction = prepared_.find(name.text());
        if (prepared_transaction == prepared_.end()) return {settle::end_answer::absent};
        if (commits) {
            native const& made = prepared_transaction->second;
            for (auto const& [account, amount] : made.changes) accounts[account] += amount;
            receipts.try_emplace(made.receipt_key, receipt{made.epoch_number, now});
        }
        prepared_.erase(prepared_transaction);
        if (what == fault::lost) return {settle::end_answer::unknown, lost()};
        return {settle::end_answer::ended};
    }

    std::recursive_mutex mutex_; ///< a test calls land() inside disturb()
    std::map<std::string, native> prepared_;
    std::vector<std::function<bool()>> late_;
};

static_assert(settle::PreparingResource<database>);

} // namespace preparing_test
