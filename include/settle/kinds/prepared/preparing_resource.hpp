// SPDX-License-Identifier: BSL-1.0
// The promises of a database that can prepare native transactions. The author of a resource reads
// this file first.
//
// A resource is an object that outlives its engines: one database of one server. Threads that share
// an engine call it at the same time. It has
//
//   connection                A type: a connection inside a native transaction, for the user's
//       work. The work neither begins, commits nor prepares.
//   most_name                 The largest number of bytes of a name.
//   bind(log)                 Called by each engine that is built: makes the table of receipts, and
//       checks that the server can prepare. If not, it throws settle::failure with a sentence that
//       names the setting to change.
//   prepare(name, work)       Begins a native transaction, writes the receipt of the part, calls
//       work(connection) once, and prepares the native transaction under the name. See
//       prepare_answer.
//   commit(name), roll_back(name)   End a prepared transaction. See end_answer. A roll back leaves
//       no receipt.
//   in_doubt(prefix, after, limit)  At most `limit` prepared transactions of this database whose
//       names begin with the prefix, after a name, in the order of the bytes of their names. Names
//       of other databases of the server are not listed. A name is listed until its end is
//       complete.
//   receipt_of(part)          The epoch in the committed receipt of a part, or nothing. It waits
//       for no lock.
//   deny(name)                Commits a receipt with epoch 0, if the part of the name has none; the
//       name carries the epoch of the cancel's claim. Answers: ended if the part has a committed
//       receipt now; unavailable also if a prepared transaction of the part holds the row; unknown.
//   forget(prefix, before, limit)   Erases at most `limit` receipts of a date before a time, of
//       parts whose text begins with the prefix, and returns their number.
//   time()                    The time by the clock of the database. A resource may have none; then
//       no purge compares the clocks.
//
// A receipt is a row in a table of the resource: its key is prepared_part::text(), its value the
// epoch. Its date is time_of_epoch() of its claim: the clock of the database may be wrong, and put
// right later. prepare() inserts it in the native transaction, before the work. So a part has one
// prepared transaction at a time; a late prepare after a commit or a cancel is denied; a roll back
// by hand is noticed; and no native transaction is empty.
//
// No call waits without a limit, neither for the server nor for a lock.
#pragma once

#include <settle/base/error.hpp>
#include <settle/base/function_view.hpp>
#include <settle/protocol/entry.hpp>
#include <settle/protocol/prepared_rule.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

SETTLE_BEGIN

/// A part of a transaction, as the names and receipts of a resource show it.
struct prepared_part {
    std::string log; ///< has no '/'
    transaction_id id;
    part_number part;

    /// `settle/<log>/<participant>.<line>/<id>/`: the key of the receipt, and the beginning of each
    /// name of the part.
    [[nodiscard]] std::string text() const;

    friend bool operator==(prepared_part const&, prepared_part const&) = default;
};

/// The name under which a part is prepared.
struct prepared_name {
    prepared_part of;
    epoch epoch_number = 0;

    /// The text of the part, then the epoch.
    [[nodiscard]] std::string text() const;

    friend bool operator==(prepared_name const&, prepared_name const&) = default;
};

/// The beginning of all names and receipts of a log. The names of another log begin differently,
/// since the name of a log has no '/'.
[[nodiscard]] std::string prepared_prefix(std::string_view log);

/// Reads the text of a name; empty if the library writes no such name.
[[nodiscard]] std::optional<prepared_name> read_prepared_name(std::string_view text);

/// The answer of the user's work.
struct work_result {
    enum class status : std::uint8_t {
        ok,
        refused, ///< for good: the transaction is canceled with this reason
        failed   ///< by an error of the connection: the part may be sent again
    };

    status what = status::ok;
    error problem{}; ///< refused: its text is the reason

    [[nodiscard]] static work_result ok() { return {}; }
    [[nodiscard]] static work_result refused(std::string why) {
        return {status::refused, {make_error_code(errc::work_refused), std::move(why)}};
    }
    /// An error that compares equal to condition::conflict makes the part busy.
    [[nodiscard]] static work_result failed(error why) { return {status::failed, std::move(why)}; }
};

/// The answer to a prepare.
/// Shape:   problem - of every answer but `prepared`; refused: the problem of the work
struct prepare_result {
    prepare_answer what = prepare_answer::unknown;
    error problem{};
};

/// The answer to a commit or a roll back of a name, or to a deny.
/// Shape:   problem - of `unavailable` and `unknown`
struct end_result {
    end_answer what = end_answer::unknown;
    error problem{};
};

/// A prepared transaction that is neither committed nor rolled back.
struct in_doubt_name {
    std::string name;
    timestamp prepared; ///< or the date of its receipt, if the database keeps no such time

    friend bool operator==(in_doubt_name const&, in_doubt_name const&) = default;
};

/// The user's work as a resource calls it. It throws nothing.
template <typename Connection>
using work_function = detail::function_view<work_result(Connection&)>;

/// A resource. See the head of this file.
template <typename Resource>
concept PreparingResource =
    requires(Resource& resource, std::string const& log, prepared_part const& part,
             prepared_name const& name, work_function<typename Resource::connection> work,
             std::string_view text, std::size_t limit, timestamp before) {
        { Resource::most_name } -> std::convertible_to<std::size_t>;
        resource.bind(log);
        { resource.prepare(name, work) } -> std::same_as<prepare_result>;
        { resource.commit(name) } -> std::same_as<end_result>;
        { resource.roll_back(name) } -> std::same_as<end_result>;
        {
            resource.in_doubt(text, text, limit)
        } -> std::same_as<result<std::vector<in_doubt_name>>>;
        { resource.receipt_of(part) } -> std::same_as<result<std::optional<epoch>>>;
        { resource.deny(name) } -> std::same_as<end_result>;
        { resource.forget(text, before, limit) } -> std::same_as<result<std::uint64_t>>;
    };

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/kinds/prepared/preparing_resource.ipp>
#endif
