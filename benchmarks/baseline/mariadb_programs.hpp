// SPDX-License-Identifier: BSL-1.0
// Transfers on MariaDB by hand: as a native transaction in one round trip, and in the steps of
// MongoDB's tutorial "Perform Two Phase Commits".
#pragma once

#include "mariadb.hpp"

namespace baseline::mariadb {

/// A native transaction: one update of both accounts, and a row of the log.
class one_phase {
public:
    one_phase(unsigned port, std::string const& database)
        : on_(port, database),
          transfer_(on_, compound("UPDATE accounts SET balance = balance + IF(id = ?, ?, ?) WHERE "
                                  "id IN (?, ?) AND balance >= IF(id = ?, ?, 0); " +
                                  if_found("2", entry_sql("3") + ";"))),
          update_(on_), entries_(on_, "3") {}

    void run(bench::transfer_request const& request) {
        auto const& [id, transfer] = request;
        auto const& [source, destination, amount] = transfer;
        write_json(json_, source, destination, amount);
        auto const time = now();
        for (;;) {
            try {
                transfer_.run(source, -amount, amount, source, destination, source, amount, id,
                              json_, time, time, time);
                return;
            } catch (refusal const& problem) {
                on_.run("ROLLBACK");
                if (!problem.can_repeat()) throw;
            }
        }
    }

    /// All transfers in one native transaction: one update of the accounts, one insert of an array.
    void run_batch(std::span<bench::transfer_request const> batch) {
        on_.in_one([&] {
            update_.run(batch);
            entries_.insert(batch);
        });
    }

private:
    connection on_;
    statement transfer_;
    account_updates update_;
    entry_rows entries_;
    std::string json_;
};

/// Marks are in a table.
class tutorial {
public:
    static std::string mark_sql() {
        return std::string{"CREATE TABLE mark(account VARCHAR(500), id VARCHAR(200), PRIMARY "
                           "KEY(account, id))"} +
               table_options;
    }

    tutorial(unsigned port, std::string const& database)
        : on_(port, database), insert_(on_, entry_sql("0")),
          change_(on_, "UPDATE log SET state = ?, modified = ? WHERE id = ? AND state = ?"),
          debit_(on_, apply("UPDATE accounts SET balance = balance - ? WHERE id = ? AND balance "
                            ">= ?; ")),
          credit_(on_, apply("UPDATE accounts SET balance = balance + ? WHERE id = ?; ")),
          pull_(on_, "DELETE FROM mark WHERE account = ? AND id = ?"), update_(on_),
          entries_(on_, "0"), marks_(on_, "INSERT INTO mark VALUES(?, ?)") {}

    /// One transfer; each of the eight writes is durable before the next.
    void run(bench::transfer_request const& request) {
        auto const& [id, transfer] = request;
        write_json(json_, transfer.source, transfer.destination, transfer.amount);
        auto const time = now();
        expect(insert_.run(id, json_, time, time, time), 1);
        change(id, 0, 1);
        debit_.run(transfer.amount, transfer.source, transfer.amount, transfer.source, id);
        credit_.run(transfer.amount, transfer.destination, transfer.destination, id);
        change(id, 1, 2);
        expect(pull_.run(transfer.source, id), 1);
        expect(pull_.run(transfer.destination, id), 1);
        change(id, 2, 3);
    }

    /// Many transfers, phase by phase; each phase is a native transaction.
    void run_batch(std::span<bench::transfer_request const> batch) {
        ids_.clear();
        all_marks_.clear();
        for (auto const& [id, transfer] : batch) {
            ids_.append(ids_.empty() ? "('" : ", '").append(id) += '\'';
            all_marks_.emplace_back(transfer.source, id);
            all_marks_.emplace_back(transfer.destination, id);
        }
        ids_ += ')';
        std::sort(all_marks_.begin(), all_marks_.end());
        on_.in_one([&] { entries_.insert(batch); });
        change_all(0, 1, batch.size());
        on_.in_one([&] {
            update_.run(batch);
            for (auto const& [account, id] : all_marks_) marks_.add(account, id);
            expect(marks_.run(), all_marks_.size());
        });
        change_all(1, 2, batch.size());
        sql_ = "DELETE FROM mark WHERE (account, id) IN (";
        for (auto const& [account, id] : all_marks_) {
            sql_.append(sql_.back() == '(' ? "('" : ", ('").append(account).append("', '");
            sql_.append(id).append("')");
        }
        expect(on_.run(sql_ += ')'), all_marks_.size());
        change_all(2, 3, batch.size());
    }

private:
    static std::string apply(char const* update) {
        return compound(update + if_found("1", "INSERT INTO mark VALUES(?, ?);"));
    }
    void change(std::string const& id, std::int64_t from, std::int64_t to) {
        expect(change_.run(to, now(), id, from), 1);
    }
    void change_all(int from, int to, std::size_t count) {
        sql_ = "UPDATE log SET state = " + std::to_string(to) +
               ", modified = " + std::to_string(now()) + " WHERE id IN " + ids_ +
               " AND state = " + std::to_string(from);
        expect(on_.run(sql_), count);
    }

    connection on_;
    statement insert_;
    statement change_;
    statement debit_;
    statement credit_;
    statement pull_;
    account_updates update_;
    entry_rows entries_;
    bulk_statement marks_;
    std::string json_;
    std::string ids_;
    std::string sql_;
    std::vector<std::pair<std::string_view, std::string_view>> all_marks_;
};

} // namespace baseline::mariadb
