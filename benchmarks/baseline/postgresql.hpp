// SPDX-License-Identifier: BSL-1.0
// libpq used by hand: statements prepared once, binary values, and a pipeline for each round trip.
#pragma once

#include "../workload.hpp"
#include "clock.hpp"
#include "json.hpp"

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace baseline::postgresql {

/// The bytes of a number, the most significant byte first.
template <typename Number>
[[nodiscard]] std::array<char, sizeof(Number)> bytes_of(Number value) noexcept {
    std::array<char, sizeof(Number)> bytes{};
    auto left = static_cast<std::uint64_t>(value);
    for (std::size_t at = bytes.size(); at-- > 0; left >>= 8U) {
        bytes[at] = static_cast<char>(left & 0xffU);
    }
    return bytes;
}

/// An array of one dimension in binary form.
class array {
public:
    [[nodiscard]] static array of_texts(std::size_t count) { return {count, 25}; }
    [[nodiscard]] static array of_integers(std::size_t count) { return {count, 20}; }

    void add(std::string_view text) {
        append(static_cast<std::int32_t>(text.size()));
        bytes_ += text;
    }
    void add(std::int64_t value) {
        append(std::int32_t{8});
        append(value);
    }
    [[nodiscard]] std::string const& bytes() const noexcept { return bytes_; }

private:
    /// Shape:   count - the number of elements that are added; element - the type's number
    array(std::size_t count, std::int32_t element) {
        bytes_.reserve(20 + 24 * count);
        for (auto const one : {1, 0, element, static_cast<std::int32_t>(count), 1}) {
            append(one);
        }
    }
    template <typename Number>
    void append(Number value) {
        auto const bytes = bytes_of(value);
        bytes_.append(bytes.data(), bytes.size());
    }
    std::string bytes_;
};

/// A value of a statement in binary form. It borrows a text or an array.
class value {
public:
    value(std::string_view text) noexcept : text_(text) {}
    value(std::string const& text) noexcept : text_(text) {}
    value(array const& all) noexcept : text_(all.bytes()) {}
    value(std::int64_t number) noexcept : number_(bytes_of(number)) {}

    [[nodiscard]] char const* bytes() const noexcept {
        return text_.data() != nullptr ? text_.data() : number_.data();
    }
    [[nodiscard]] int length() const noexcept {
        return static_cast<int>(text_.data() != nullptr ? text_.size() : number_.size());
    }

private:
    std::string_view text_;
    std::array<char, 8> number_{};
};

/// A connection in pipeline mode.
class connection {
public:
    struct statement {
        char const* name;
        std::string sql;
    };

    connection(std::string const& address, std::initializer_list<statement> statements)
        : native_(PQconnectdb(address.c_str())) {
        if (PQstatus(native_.get()) != CONNECTION_OK) refuse(PQerrorMessage(native_.get()));
        for (statement const& each : statements) {
            result const prepared{
                PQprepare(native_.get(), each.name, each.sql.c_str(), 0, nullptr)};
            if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) {
                refuse(PQresultErrorMessage(prepared.get()));
            }
        }
        PQenterPipelineMode(native_.get());
    }

    /// Queues a prepared statement.
    template <typename... Values>
    void send(char const* name, Values const&... values) const {
        constexpr std::size_t count = sizeof...(Values);
        std::array<value, count> const encoded{value{values}...};
        std::array<char const*, count> bytes{};
        std::array<int, count> lengths{};
        std::array<int, count> formats{};
        for (std::size_t index = 0; index < count; ++index) {
            bytes[index] = encoded[index].bytes();
            lengths[index] = encoded[index].length();
            formats[index] = 1;
        }
        check(PQsendQueryPrepared(native_.get(), name, static_cast<int>(count), bytes.data(),
                                  lengths.data(), formats.data(), 1));
    }
    /// Queues SQL that is not prepared: PREPARE TRANSACTION, which takes no parameters.
    void send_sql(std::string const& sql) const {
        check(PQsendQueryParams(native_.get(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr,
                                1));
    }

    /// Sends the queue, without a wait for the results.
    void start() const { check(PQpipelineSync(native_.get())); }
    /// Receives the results.
    /// Errors:  throws if a statement failed
    void finish() const {
        std::string problem;
        for (;;) {
            result const received{PQgetResult(native_.get())};
            auto const status = PQresultStatus(received.get());
            if (status == PGRES_PIPELINE_SYNC) break;
            if (status == PGRES_FATAL_ERROR && problem.empty()) {
                problem = PQresultErrorMessage(received.get());
                if (PQstatus(native_.get()) != CONNECTION_OK) break;
            }
        }
        if (!problem.empty()) refuse(problem);
    }
    /// One round trip.
    void sync() const {
        start();
        finish();
    }

private:
    struct closer {
        void operator()(PGconn* held) const noexcept { PQfinish(held); }
        void operator()(PGresult* held) const noexcept { PQclear(held); }
    };
    using result = std::unique_ptr<PGresult, closer>;

    [[noreturn]] static void refuse(std::string const& problem) {
        throw std::runtime_error("by hand: " + problem);
    }
    void check(int sent) const {
        if (sent != 1) refuse(PQerrorMessage(native_.get()));
    }

    std::unique_ptr<PGconn, closer> native_;
};

/// The statement fails, and so its native transaction, unless it changes the number of rows.
[[nodiscard]] inline std::string changing(std::string const& sql, std::string const& count = "1") {
    return "WITH done AS (" + sql + " RETURNING 1) SELECT 1 / (count(*) = " + count +
           ")::int FROM done";
}

[[nodiscard]] inline std::string debit_sql(std::string const& table) {
    return "UPDATE " + table +
           " SET balance = balance - $2::int8 WHERE id = $1::text AND balance >= $2::int8";
}
[[nodiscard]] inline std::string credit_sql(std::string const& table) {
    return "UPDATE " + table + " SET balance = balance + $2::int8 WHERE id = $1::text";
}

/// The columns of settle's entry that a program by hand uses.
inline constexpr char const* log_columns =
    "log(id, type, definition, parameters, state, epoch, owner, created, modified, attempts)";
inline constexpr char const* log_sql =
    "CREATE TABLE log(id text COLLATE \"C\" PRIMARY KEY, type text, definition text, "
    "parameters text, state smallint NOT NULL, epoch bigint NOT NULL, owner text NOT NULL, "
    "created bigint NOT NULL, modified bigint NOT NULL, attempts bigint NOT NULL)";
/// Shape:   id, parameters, time - the expressions of their values
[[nodiscard]] inline std::string entry_sql(std::string const& id, std::string const& parameters,
                                           std::string const& time) {
    return "INSERT INTO " + std::string{log_columns} + " SELECT " + id +
           ", 'transfer', '0123456789abcdef', " + parameters + ", 3, " + time + ", 'host/1/2', " +
           time + ", " + time + ", 0";
}

/// The changes of many accounts in one statement, which fails unless it changes them all.
[[nodiscard]] inline std::string change_all_sql(std::string const& table) {
    return changing("UPDATE " + table +
                        " AS a SET balance = balance + w.added FROM "
                        "unnest($1::text[], $2::int8[], $3::int8[]) AS w(id, added, needed) "
                        "WHERE a.id = w.id AND balance >= w.needed",
                    "$4::int8");
}
/// The rows of the log for a batch, in one statement.
[[nodiscard]] inline std::string enter_all_sql() {
    return entry_sql("w.id", "w.parameters", "$3::int8") +
           " FROM unnest($1::text[], $2::text[]) AS w(id, parameters)";
}

} // namespace baseline::postgresql
