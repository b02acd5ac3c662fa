// SPDX-License-Identifier: BSL-1.0
// The database of a receiver in one SQLite file: its rows, beside the service's own tables.
#pragma once

#include <settle/receiver.hpp>
#include <settle/sqlite/connection/connection.hpp>
#include <settle/sqlite/connection/database_options.hpp>

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>

SETTLE_BEGIN
namespace sqlite {

namespace detail {

class file;
class transaction;
struct receiver_statements;

template <typename T>
inline constexpr bool is_optional_column = false;
template <typename T>
inline constexpr bool is_optional_column<std::optional<T>> = true;

template <typename Value>
void bind_argument(run& to, Value const& value) {
    // In C++20 nullptr converts to std::string_view.
    if constexpr (std::same_as<Value, std::nullptr_t>) {
        to.bind(nullptr);
    } else if constexpr (is_optional_column<Value>) {
        if (value) bind_argument(to, *value);
        else to.bind(nullptr);
    } else if constexpr (std::convertible_to<Value const&, std::string_view>) {
        to.bind(std::string_view{value});
    } else {
        static_assert(std::integral<Value>,
                      "settle: an argument of a statement is an integer, a text, or an optional. "
                      "Bind other values with session.handle(). See sqlite#receivers");
        to.bind(static_cast<std::int64_t>(value));
    }
}

template <typename Value>
[[nodiscard]] Value read_column(run const& from, int column) {
    if constexpr (is_optional_column<Value>) {
        if (from.type(column) == SQLITE_NULL) return std::nullopt;
        return read_column<typename Value::value_type>(from, column);
    } else if constexpr (std::same_as<Value, std::string>) {
        return std::string{from.text(column)};
    } else {
        static_assert(std::integral<Value>,
                      "settle: a column of a row is an integer, a std::string, or an optional. "
                      "Read other values with session.handle(). See sqlite#receivers");
        return static_cast<Value>(from.integer(column));
    }
}

} // namespace detail

/// The access of a handler to its database, inside the native transaction of the call.
///
/// A handler can neither end the native transaction, nor attach a file, nor write to tables
/// settle_…: SQLite refuses such statements as "not authorized". Statements that a handler leaves
/// running are reset.
/// Shape:   valid during the call of the handler
class receiver_session {
public:
    explicit receiver_session(detail::connection const& connection) : connection_(&connection) {}

    /// The connection, for SQLite's own functions.
    [[nodiscard]] sqlite3* handle() const noexcept { return connection_->get(); }

    /// Runs one statement; returns the number of rows that it changed.
    /// Shape:   values - for ?1, ?2, …: integers, texts, optionals of them, nullptr
    /// Errors:  throws settle::failure
    template <typename... Values>
    std::int64_t change(std::string_view sql, Values const&... values) const {
        auto const statement = prepared(sql);
        detail::run run{statement};
        (detail::bind_argument(run, values), ...);
        return run.change();
    }

    /// Runs one query; returns the columns of its first row, if there is one.
    /// Shape:   Columns - integers, std::string, std::optional of them; values - as for change()
    /// Errors:  throws settle::failure
    template <typename... Columns, typename... Values>
    [[nodiscard]] std::optional<std::tuple<Columns...>> first(std::string_view sql,
                                                              Values const&... values) const {
        auto const statement = prepared(sql);
        detail::run run{statement};
        (detail::bind_argument(run, values), ...);
        if (!run.next()) return std::nullopt;
        return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            return std::tuple<Columns...>{
                detail::read_column<Columns>(run, static_cast<int>(Index))...};
        }(std::index_sequence_for<Columns...>{});
    }

private:
    [[nodiscard]] detail::statement prepared(std::string_view sql) const;

    detail::connection const* connection_;
};

/// An open native transaction of a receiver; see ReceiverDatabase.
class receiver_transaction {
public:
    receiver_transaction(detail::receiver_statements& statements, detail::transaction& native)
        : with_(&statements), native_(&native) {}

    void expect(std::span<service_call const>) noexcept {}
    [[nodiscard]] std::optional<receiver_row> find(std::string_view key);
    void store(receiver_row const& row);
    bool attempt(settle::detail::function_view<bool(receiver_session&)> work);

private:
    detail::receiver_statements* with_;
    detail::transaction* native_;
};

/// The database of a service in one SQLite file. The table settle_receiver is beside the
/// service's own tables, which the service creates itself. Foreign keys are enforced.
/// Shape:   path - a file, created if it does not exist; name - of the receiver. A file belongs to
///          the first receiver that opened it
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    a wave of calls is one native transaction and one sync of the disk. Threads share their
///          commits, so a handler may run on the thread of another caller
class receiver_database {
public:
    using session = receiver_session;
    using transaction = receiver_transaction;
    /// A native transaction keeps other processes from writing.
    static constexpr std::size_t largest_wave = 256;

    explicit receiver_database(std::string const& path, std::string const& name,
                               database_options const& options = {});
    receiver_database(receiver_database const&) = delete;
    receiver_database& operator=(receiver_database const&) = delete;
    ~receiver_database();

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<receiver_database>>
    open(std::string const& path, std::string const& name, database_options const& options = {});

    /// Runs a function of the service in a native transaction, for example to create its tables.
    /// Errors:  condition::unknown if the commit may have succeeded
    [[nodiscard]] result<void>
    change(settle::detail::function_view<void(receiver_session&)> function);

    // The rest is for settle::receiver; see ReceiverDatabase.

    settle::detail::commit_result
    perform(settle::detail::function_view<void(receiver_transaction&)> function);
    result<std::size_t> erase(timestamp before, std::size_t limit);
    result<std::vector<receiver_row>> list(receiver_filter const& filter, std::string_view after,
                                           std::size_t limit);
    result<std::optional<receiver_row>> find(std::string_view key);

private:
    std::unique_ptr<detail::file> file_;
    std::unique_ptr<detail::receiver_statements> statements_;
};

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/receiver/receiver.ipp>
#endif
