// SPDX-License-Identifier: BSL-1.0
// libmariadb used by hand: statements prepared once, and statements that run for each row of an
// array (the bulk protocol).
#pragma once

#include "account_changes.hpp"
#include "clock.hpp"
#include "json.hpp"

#include <mysql.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baseline::mariadb {

/// The server refused a statement.
struct refusal : std::runtime_error {
    refusal(unsigned which, std::string const& text)
        : std::runtime_error("by hand: " + text), number(which) {}
    /// A deadlock, or a lock that another session holds too long.
    [[nodiscard]] bool can_repeat() const noexcept { return number == 1213 || number == 1205; }

    unsigned number;
};

inline void expect(std::uint64_t changed, std::size_t expected) {
    if (changed != expected) throw std::runtime_error("by hand: other rows than expected");
}

/// A session on the loopback, whose counts of rows are those found.
class connection {
public:
    connection(unsigned port, std::string const& database) : native_(mysql_init(nullptr)) {
        mysql_optionsv(native_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
        if (mysql_real_connect(native_.get(), "127.0.0.1", "root", nullptr, database.c_str(), port,
                               nullptr, CLIENT_FOUND_ROWS) == nullptr) {
            throw refusal{mysql_errno(native_.get()), mysql_error(native_.get())};
        }
        // A list of many ids is then a range of the key, and not a join.
        run("SET SESSION tx_isolation = 'READ-COMMITTED', in_predicate_conversion_threshold = 0");
    }

    /// Returns the number of the rows found.
    std::uint64_t run(std::string const& sql) const {
        if (mysql_real_query(native_.get(), sql.data(), sql.size()) != 0) {
            throw refusal{mysql_errno(native_.get()), mysql_error(native_.get())};
        }
        return mysql_affected_rows(native_.get());
    }
    /// Runs some statements as one native transaction.
    template <typename Function>
    void in_one(Function const& function) const {
        run("START TRANSACTION");
        function();
        run("COMMIT");
    }

    [[nodiscard]] MYSQL* native() const noexcept { return native_.get(); }

private:
    struct closer {
        void operator()(MYSQL* held) const noexcept { mysql_close(held); }
    };
    std::unique_ptr<MYSQL, closer> native_;
};

class prepared {
protected:
    prepared(connection const& connection, std::string const& sql)
        : native_(mysql_stmt_init(connection.native())) {
        if (mysql_stmt_prepare(native_.get(), sql.data(), sql.size()) != 0) refuse();
        binds_.resize(mysql_stmt_param_count(native_.get()));
    }
    void bind() {
        if (mysql_stmt_bind_param(native_.get(), binds_.data()) != 0) refuse();
    }
    std::uint64_t execute() {
        if (mysql_stmt_execute(native_.get()) != 0) refuse();
        auto const changed = mysql_stmt_affected_rows(native_.get());
        // The result of a compound statement has an end of its own.
        while (mysql_stmt_more_results(native_.get())) {
            if (mysql_stmt_next_result(native_.get()) > 0) refuse();
        }
        return changed;
    }
    [[noreturn]] void refuse() const {
        throw refusal{mysql_stmt_errno(native_.get()), mysql_stmt_error(native_.get())};
    }

    struct closer {
        void operator()(MYSQL_STMT* held) const noexcept { mysql_stmt_close(held); }
    };
    std::unique_ptr<MYSQL_STMT, closer> native_;
    std::vector<MYSQL_BIND> binds_;
};

/// A prepared statement. It binds its room again only if a text needs more.
class statement : prepared {
public:
    statement(connection const& connection, std::string const& sql) : prepared(connection, sql) {
        room_.resize(binds_.size());
    }

    /// Returns the number of the rows found; of a compound statement, 0.
    template <typename... Values>
    std::uint64_t run(Values const&... values) {
        std::size_t number = 0;
        (set(number++, values), ...);
        if (!std::exchange(is_bound_, true)) bind();
        return execute();
    }

private:
    struct place {
        std::int64_t integer;
        std::vector<char> text;
        unsigned long length;
    };

    void set(std::size_t number, std::int64_t value) {
        room_[number].integer = value;
        if (is_bound_) return;
        binds_[number].buffer_type = MYSQL_TYPE_LONGLONG;
        binds_[number].buffer = &room_[number].integer;
    }
    void set(std::size_t number, std::string_view value) {
        place& into = room_[number];
        if (into.text.size() < value.size() + 1) {
            into.text.resize(2 * value.size() + 1);
            is_bound_ = false;
        }
        std::copy(value.begin(), value.end(), into.text.begin());
        into.length = value.size();
        binds_[number].buffer_type = MYSQL_TYPE_STRING;
        binds_[number].buffer = into.text.data();
        binds_[number].buffer_length = into.text.size();
        binds_[number].length = &into.length;
    }

    std::vector<place> room_;
    bool is_bound_ = false;
};

/// A prepared statement that one message runs for each row of an array.
class bulk_statement : prepared {
public:
    bulk_statement(connection const& connection, std::string const& sql)
        : prepared(connection, sql) {
        columns_.resize(binds_.size());
    }

    /// Adds a row. Its texts are borrowed.
    template <typename... Values>
    void add(Values const&... values) {
        std::size_t number = 0;
        (columns_[number++].add(values), ...);
        ++count_;
    }
    /// Returns the number of all rows changed.
    std::uint64_t run() {
        mysql_stmt_attr_set(native_.get(), STMT_ATTR_ARRAY_SIZE, &count_);
        for (std::size_t number = 0; number < binds_.size(); ++number) {
            binds_[number] = columns_[number].bind();
        }
        bind();
        auto const changed = execute();
        for (auto& column : columns_) column = {};
        count_ = 0;
        return changed;
    }

private:
    struct parameter {
        void add(std::int64_t value) { integers.push_back(value); }
        void add(std::string_view value) {
            texts.push_back(value.data());
            lengths.push_back(value.size());
        }
        [[nodiscard]] MYSQL_BIND bind() {
            MYSQL_BIND bound{};
            bound.buffer_type = integers.empty() ? MYSQL_TYPE_STRING : MYSQL_TYPE_LONGLONG;
            bound.buffer = integers.empty() ? static_cast<void*>(texts.data()) : integers.data();
            if (integers.empty()) bound.length = lengths.data();
            return bound;
        }
        std::vector<std::int64_t> integers;
        std::vector<char const*> texts;
        std::vector<unsigned long> lengths;
    };

    std::vector<parameter> columns_;
    unsigned count_ = 0;
};

/// Statements that one message runs as a native transaction.
[[nodiscard]] inline std::string compound(std::string const& statements) {
    return "BEGIN NOT ATOMIC START TRANSACTION; " + statements + " END";
}
/// The rest of a compound statement, which is refused unless the statement before finds the rows.
[[nodiscard]] inline std::string if_found(char const* count, std::string const& statements) {
    return std::string{"IF ROW_COUNT() = "} + count + " THEN " + statements +
           " COMMIT; ELSE ROLLBACK; SIGNAL SQLSTATE '45000'; END IF;";
}

inline constexpr char const* table_options =
    " ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

/// The columns of settle's entry that a program by hand uses. They have no NULL, since a row that
/// grows costs as much as a commit.
[[nodiscard]] inline std::string log_sql() {
    return std::string{"CREATE TABLE log(id VARCHAR(200) PRIMARY KEY, type VARCHAR(64) NOT NULL, "
                       "definition VARCHAR(64) NOT NULL, parameters LONGTEXT NOT NULL, "
                       "state SMALLINT NOT NULL, epoch BIGINT NOT NULL, owner VARCHAR(255) NOT "
                       "NULL, created BIGINT NOT NULL, modified BIGINT NOT NULL, "
                       "attempts BIGINT NOT NULL)"} +
           table_options;
}
/// Takes the id, the parameters, and the time three times.
[[nodiscard]] inline std::string entry_sql(char const* state) {
    return std::string{
               "INSERT INTO log(id, type, definition, parameters, state, epoch, owner, "
               "created, modified, attempts) VALUES(?, 'transfer', '0123456789abcdef', ?, "} +
           state + ", ?, 'host/1/2', ?, ?, 0)";
}

/// Writes the parameters of all transfers of a batch, and adds the rows of the log.
class entry_rows {
public:
    entry_rows(connection const& connection, char const* state)
        : insert_(connection, entry_sql(state)) {}

    void insert(std::span<bench::transfer_request const> batch) {
        json_.resize(std::max(json_.size(), batch.size()));
        auto const time = now();
        for (std::size_t number = 0; number < batch.size(); ++number) {
            auto const& [id, transfer] = batch[number];
            write_json(json_[number], transfer.source, transfer.destination, transfer.amount);
            insert_.add(id, json_[number], time, time, time);
        }
        expect(insert_.run(), batch.size());
    }

private:
    bulk_statement insert_;
    std::vector<std::string> json_;
};

/// Changes the accounts of a batch in one update, in the order of the keys.
class account_updates {
public:
    explicit account_updates(connection const& connection)
        : update_(connection,
                  "UPDATE JSON_TABLE(?, '$[*]' COLUMNS(id VARCHAR(500) CHARACTER SET utf8mb4 "
                  "COLLATE utf8mb4_nopad_bin PATH '$[0]', added BIGINT PATH '$[1]', needed "
                  "BIGINT PATH '$[2]')) AS w STRAIGHT_JOIN accounts AS a ON a.id = w.id "
                  "SET a.balance = a.balance + w.added WHERE a.balance >= w.needed") {}

    void run(std::span<bench::transfer_request const> batch) {
        changes_.clear();
        for (auto const& [id, transfer] : batch) {
            changes_.debit(transfer);
            changes_.credit(transfer);
        }
        auto const merged = changes_.fold();
        json_ = "[";
        for (auto const& change : merged) {
            json_.append(json_.size() == 1 ? R"([")" : R"(,[")").append(change.key) += "\",";
            append_number(json_, change.added);
            json_ += ',';
            append_number(json_, change.needed);
            json_ += ']';
        }
        json_ += ']';
        expect(update_.run(json_), merged.size());
    }

private:
    statement update_;
    account_changes changes_;
    std::string json_;
};

} // namespace baseline::mariadb
