// SPDX-License-Identifier: BSL-1.0
// A bank with a console, on SQLite, and transfers whose worker was killed.
#pragma once

#include "bank.hpp"
#include "client.hpp"

#include <settle/sqlite.hpp>

#include <doctest/doctest.h>
#include <sql.hpp>

#include <filesystem>
#include <functional>
#include <tuple>

namespace console_bank {

/// Ends the next run after a step, as a kill would.
struct killer {
    std::optional<settle::step>* after;

    void operator()(settle::event const& seen) const {
        if (*after && seen.taken == **after) throw settle::testing::crash{};
    }
};

/// The path of a database that is not there yet, and is gone afterwards.
class bank_file {
public:
    explicit bank_file(std::string const& name)
        : path_(std::string{SETTLE_SCRATCH_DIR} + "/console-" + name + ".db") {
        remove();
    }
    bank_file(bank_file const&) = delete;
    bank_file& operator=(bank_file const&) = delete;
    ~bank_file() { remove(); }

    [[nodiscard]] std::string const& path() const { return path_; }

private:
    void remove() const {
        for (auto const* const end : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + end);
    }

    std::string path_;
};

class bank {
public:
    explicit bank(std::string const& name)
        : file_(name), database_(file_.path()),
          engine(database_, settle::type<transfer_type>, settle::phases::two,
                 settle::options{.stuck_after = std::chrono::milliseconds{0}},
                 settle::observed_by(killer{&last_step_})) {
        for (auto const* const id : {"anna", "bert"})
            REQUIRE(engine.create(accounts, {id, 100}).has_value());
    }

    /// Leaves a transfer as a worker does that is killed after a step.
    void leave(std::string const& id, settle::step last, std::int64_t amount = 10) {
        last_step_ = last;
        CHECK_THROWS_AS(std::ignore = engine.run(id, transfer{"anna", "bert", amount, "4711"}),
                        settle::testing::crash);
        last_step_.reset();
    }

    [[nodiscard]] std::string const& path() const { return file_.path(); }
    [[nodiscard]] std::int64_t balance(std::string const& id) {
        return engine.at(accounts, id).balance;
    }

    /// Adds younger entries `order-000001` … that are like another one, without its marks.
    void copy(std::string const& id, int count) const {
        auto const columns = [&](std::string const& name) {
            return testing::ask(file_.path(), "SELECT group_concat(" + name +
                                                  ") FROM pragma_table_info('settle_entry') "
                                                  "WHERE name NOT IN ('number', 'id')")[0][0];
        };
        testing::ask(file_.path(),
                     "INSERT INTO settle_entry(id, " + columns("name") +
                         ") WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                         "WHERE i < " +
                         std::to_string(count) + ") SELECT printf('order-%06d', i), " +
                         columns("iif(name = 'created', 'created + 1', name)") +
                         " FROM settle_entry, n WHERE id = '" + id + "'");
    }

    /// Has each read of the log fail.
    void take_log_away() const {
        testing::ask(file_.path(), "ALTER TABLE settle_entry RENAME TO entry_away");
    }
    /// Has each read of an entry find a damaged row.
    void damage(std::string const& id) const {
        testing::ask(file_.path(),
                     "UPDATE settle_entry SET epoch = 'none' WHERE id = '" + id + "'");
    }
    /// Has each call of the accounts fail.
    void take_accounts_away() const {
        testing::ask(file_.path(), "ALTER TABLE settle_mark RENAME TO mark_away");
    }
    /// To years before the log was there.
    void date_actions_back() const {
        testing::ask(file_.path(), "UPDATE settle_meta SET name = 'action/0' || substr(name, 9) "
                                   "WHERE name LIKE 'action/%'");
    }
    /// Has each write of metadata fail.
    void refuse_metadata() const {
        for (auto const* const event : {"INSERT", "UPDATE"}) {
            testing::ask(file_.path(), std::string{"CREATE TRIGGER refuse_"} + event + " BEFORE " +
                                           event +
                                           " ON settle_meta BEGIN SELECT "
                                           "RAISE(ABORT, 'the test refuses it'); END");
        }
    }

private:
    bank_file file_;
    settle::sqlite::database database_;
    std::optional<settle::step> last_step_;

public:
    settle::engine<settle::sqlite::database, settle::type_tag<transfer_type>, settle::phases,
                   settle::options, settle::observer_binding<killer>>
        engine;
};

} // namespace console_bank
