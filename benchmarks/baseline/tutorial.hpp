// SPDX-License-Identifier: BSL-1.0
// A transfer in two phases by hand, as in MongoDB's tutorial "Perform Two Phase Commits": a state
// on the transaction, a pending mark on each account, one durable write after another.
#pragma once

#include "one_phase.hpp"

#include <algorithm>

namespace baseline {

/// Where an account's pending marks are kept.
enum class marks : std::uint8_t {
    table, ///< a row of a separate table
    column ///< a member of a JSON object beside the balance
};

/// The last step of a batch. A recovery does the later steps.
enum class last_step : std::uint8_t { applied_to_accounts, set_applied, done };

/// The tutorial's transaction. It has no epoch, no owner and no attempts.
[[nodiscard]] inline std::string tutorial_log_sql(log_layout layout) {
    bool const by_id = layout == log_layout::by_id;
    return std::string{"CREATE TABLE log("} +
           (by_id ? "id TEXT PRIMARY KEY NOT NULL"
                  : "number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE") +
           ", type INTEGER, state INTEGER NOT NULL, created INTEGER NOT NULL, "
           "modified INTEGER NOT NULL, parameters TEXT)" +
           (by_id ? " WITHOUT ROWID" : "");
}

inline constexpr char const* mark_table_sql =
    "CREATE TABLE mark(id TEXT NOT NULL, account TEXT NOT NULL, PRIMARY KEY(id, account)) "
    "WITHOUT ROWID";

/// The tutorial's log.
class tutorial_log {
public:
    explicit tutorial_log(connection const& connection)
        : commits_(connection),
          insert_(connection, "INSERT INTO log(id, type, state, created, modified, parameters) "
                              "VALUES(?1, 1, 0, ?2, ?2, ?3)"),
          change_(connection,
                  "UPDATE log SET state = ?3, modified = ?4 WHERE id = ?1 AND state = ?2") {}

    [[nodiscard]] commits const& begin() const noexcept { return commits_; }
    void insert(bench::transfer_request const& request, std::int64_t time) {
        auto const& [id, transfer] = request;
        write_json(json_, transfer.source, transfer.destination, transfer.amount);
        insert_.changes_one(id, time, json_);
    }
    void change(std::string_view id, state from, state to, std::int64_t time) const {
        if (!change_.changes_one(id, static_cast<std::int64_t>(from), static_cast<std::int64_t>(to),
                                 time)) {
            throw std::runtime_error("by hand: a transaction is not in its state");
        }
    }

private:
    commits commits_;
    statement insert_;
    statement change_;
    std::string json_;
};

/// The accounts of one table, with their marks.
class tutorial_accounts {
public:
    tutorial_accounts(connection const& connection, std::string const& table, marks kept)
        : kept_(kept), commits_(connection),
          debit_(connection,
                 kept == marks::table
                     ? "UPDATE " + table +
                           " SET balance = balance - ?1 WHERE id = ?2 AND balance >= ?1"
                     : "UPDATE " + table +
                           " SET balance = balance - ?1, pending = json_set(pending, ?3, 1) "
                           "WHERE id = ?2 AND balance >= ?1 AND json_type(pending, ?3) IS "
                           "NULL"),
          credit_(connection,
                  kept == marks::table
                      ? "UPDATE " + table + " SET balance = balance + ?1 WHERE id = ?2"
                      : "UPDATE " + table +
                            " SET balance = balance + ?1, pending = json_set(pending, ?3, 1) "
                            "WHERE id = ?2 AND json_type(pending, ?3) IS NULL"),
          mark_(connection,
                kept == marks::table
                    ? "INSERT INTO mark(id, account) VALUES(?1, ?2) ON CONFLICT DO NOTHING"
                    : "SELECT 1 WHERE ?1 = ?2"),
          pull_(connection, kept == marks::table
                                ? "DELETE FROM mark WHERE id = ?1 AND account = ?2"
                                : "UPDATE " + table +
                                      " SET pending = json_remove(pending, ?1) WHERE id = ?2") {}

    [[nodiscard]] commits const& begin() const noexcept { return commits_; }
    [[nodiscard]] marks kept() const noexcept { return kept_; }

    /// Has no effect if the account has the mark, as in a recovery.
    void debit(bench::transfer_request const& request) {
        change(debit_, request.first, request.second.source, request.second.amount);
    }
    void credit(bench::transfer_request const& request) {
        change(credit_, request.first, request.second.destination, request.second.amount);
    }
    void pull(std::string_view id, std::string_view account) {
        if (kept_ == marks::column) id = path_of(id);
        if (!pull_.changes_one(id, account)) {
            throw std::runtime_error("by hand: a mark is not there");
        }
    }
    /// From this call on, an account that already has the mark counts as done.
    void expect_marks() noexcept { recovering_ = true; }

private:
    void change(statement const& by, std::string_view id, std::string_view account,
                std::int64_t amount) {
        if (kept_ == marks::table) {
            if (!mark_.changes_one(id, account)) return refuse_marked();
            if (by.changes_one(amount, account)) return;
        } else {
            if (by.changes_one(amount, account, path_of(id))) return;
            return refuse_marked();
        }
        throw std::runtime_error("by hand: an account is missing, or has too little");
    }
    void refuse_marked() const {
        if (!recovering_) throw std::runtime_error("by hand: an account has the mark already");
    }
    std::string_view path_of(std::string_view id) { return path_.assign("$.").append(id); }

    marks kept_;
    commits commits_;
    statement debit_;
    statement credit_;
    statement mark_; ///< runs only if marks are in a table
    statement pull_;
    std::string path_;
    bool recovering_ = false;
};

/// The steps of the tutorial over one file, or over three: the log, the sources, the destinations.
class tutorial {
public:
    tutorial(connection const& all, marks kept)
        : log_(all), sources_(all, "accounts", kept), destinations_(all, "accounts", kept) {}
    tutorial(connection const& log, connection const& sources, connection const& destinations,
             marks kept)
        : log_(log), sources_(sources, "first", kept), destinations_(destinations, "second", kept),
          apart_(true) {}

    /// One transfer; every step is durable before the next step.
    void run(bench::transfer_request const& request) {
        auto const& [id, transfer] = request;
        log_.insert(request, now());
        log_.change(id, state::initial, state::pending, now());
        in_step(sources_, [&] { sources_.debit(request); });
        in_step(destinations_, [&] { destinations_.credit(request); });
        log_.change(id, state::pending, state::applied, now());
        sources_.pull(id, transfer.source);
        destinations_.pull(id, transfer.destination);
        log_.change(id, state::applied, state::done, now());
    }

    /// Many transfers, phase by phase; each phase is one commit to each file.
    void run_batch(std::span<bench::transfer_request const> batch,
                   last_step last = last_step::done) {
        // One reading of the clock serves a whole phase.
        auto const time = now();
        log_.begin().in_one([&] {
            for (auto const& one : batch) log_.insert(one, time);
        });
        set(batch, state::initial, state::pending);
        apply(batch);
        if (last == last_step::applied_to_accounts) return;
        set(batch, state::pending, state::applied);
        if (last == last_step::set_applied) return;
        finish(batch);
    }

    /// Continues a batch that was left pending, with any part of it applied.
    void recover_pending(std::span<bench::transfer_request const> batch) {
        sources_.expect_marks();
        destinations_.expect_marks();
        apply(batch);
        set(batch, state::pending, state::applied);
        finish(batch);
    }
    void recover_applied(std::span<bench::transfer_request const> batch) { finish(batch); }

private:
    /// A mark in a table and the account's own row are two statements of one commit.
    template <typename Function>
    static void in_step(tutorial_accounts const& accounts, Function const& function) {
        if (accounts.kept() == marks::table) accounts.begin().in_one(function);
        else function();
    }

    void set(std::span<bench::transfer_request const> batch, state from, state to) const {
        auto const time = now();
        log_.begin().in_one([&] {
            for (auto const& one : batch) log_.change(one.first, from, to, time);
        });
    }

    void apply(std::span<bench::transfer_request const> batch) {
        on_accounts(
            [&] {
                for (auto const& one : batch) sources_.debit(one);
            },
            [&] {
                for (auto const& one : batch) destinations_.credit(one);
            });
    }

    void finish(std::span<bench::transfer_request const> batch) {
        on_accounts(
            [&] {
                for (auto const& [id, transfer] : batch) sources_.pull(id, transfer.source);
            },
            [&] {
                for (auto const& [id, transfer] : batch) {
                    destinations_.pull(id, transfer.destination);
                }
            });
        set(batch, state::applied, state::done);
    }

    /// All writes to one file share one commit.
    template <typename First, typename Second>
    void on_accounts(First const& first, Second const& second) const {
        if (apart_) {
            sources_.begin().in_one(first);
            destinations_.begin().in_one(second);
        } else {
            sources_.begin().in_one([&] {
                first();
                second();
            });
        }
    }

    tutorial_log log_;
    tutorial_accounts sources_;
    tutorial_accounts destinations_;
    bool apart_ = false;
};

} // namespace baseline
