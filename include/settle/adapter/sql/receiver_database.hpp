// SPDX-License-Identifier: BSL-1.0
// The database of a receiver: its rows, beside the service's own tables, for the databases of
// tables that a server holds. To the parts that record_waves.hpp lists, an adapter adds:
//
//   options                      of the database
//   work_connection              the handler's, made of a connection
//   largest_wave                 the largest number of calls in one native transaction
//   prepare_receiver(pool)       the statements
//   bind_receiver(pool, name)    makes the tables, and checks the name of their receiver
//   is_fatal(code)               after this error the native transaction cannot go on
//
// Its connection has queue_renewal(), which queues what gives the session its settings again after
// a handler.
#pragma once

#include <settle/adapter/receiver_table.hpp>
#include <settle/adapter/sql/native.hpp>
#include <settle/adapter/sql_connection.hpp>

#include <map>
#include <memory>
#include <set>

SETTLE_BEGIN
namespace detail::sql {

/// The statements of a receiver.
template <typename Statement>
struct receiver_statements {
    Statement const& lock; ///< keys, until the native transaction ends
    Statement const& find;
    Statement const& store;
    Statement const& erase;
    Statement const& list;
    Statement const& begin_work;
    Statement const& undo_work;
    Statement const& end_work;
    Statement const* unlock = nullptr; ///< erases what `lock` has inserted, if nothing is stored
};

/// Calls `take(row)` for each row of a result.
template <typename Sql, typename Take>
void take_receiver_rows(typename Sql::connection& session, std::size_t number, Take&& take) {
    session.sync();
    for_each_row(session.result(number),
                 [&](typename Sql::row const& from) { take(read_receiver_row(from)); });
}

/// An open native transaction of a receiver; see ReceiverDatabase.
template <typename Sql>
class receiver_transaction {
    using connection = typename Sql::connection;
    using array = typename Sql::array;

public:
    receiver_transaction(receiver_statements<typename Sql::statement> const& send,
                         connection& session)
        : send_(&send), session_(&session) {}

    void expect(std::span<service_call const> calls);
    [[nodiscard]] std::optional<receiver_row> find(std::string_view key) const {
        auto const known = rows_.find(key);
        if (known == rows_.end()) return std::nullopt;
        return known->second;
    }
    void store(receiver_row const& row) {
        values_of_receiver_row(
            row, [&](auto const&... values) { session_->send(send_->store, values...); });
        rows_.insert_or_assign(row.key, row);
    }
    bool attempt(function_view<bool(sql_connection&)> work);
    /// Queues the end of what the keys without a row have locked.
    void end();

private:
    receiver_statements<typename Sql::statement> const* send_;
    connection* session_;
    std::set<std::string, std::less<>> keys_;               ///< of the expected calls
    std::map<std::string, receiver_row, std::less<>> rows_; ///< of the expected calls
};

template <typename Sql>
void receiver_transaction<Sql>::expect(std::span<service_call const> calls) {
    // In one order, so that two waves do not wait for each other.
    for (service_call const& call : calls) {
        if (fault_of_key(call.key).empty()) keys_.emplace(call.key);
    }
    if (keys_.empty()) return;
    auto keys = array::texts();
    for (std::string_view const key : keys_) keys.add(key);
    session_->send(send_->lock, keys);
    // A statement that waited does not see a row that was stored meanwhile; the next one does.
    auto const number = session_->send(send_->find, keys);
    take_receiver_rows<Sql>(*session_, number, [&](receiver_row&& row) {
        auto key = row.key;
        rows_.emplace(std::move(key), std::move(row));
    });
}

template <typename Sql>
bool receiver_transaction<Sql>::attempt(function_view<bool(sql_connection&)> work) {
    typename Sql::work_connection access{*session_, "run a handler's statement"};
    session_->send(send_->begin_work);
    bool const kept = work(access);
    auto const& problem = access.problem();
    // A failed statement has left half of the work undone, also if the handler ignores the error.
    if (problem && (kept || Sql::is_fatal(problem.code))) throw failure(problem);
    if (!kept) session_->send(send_->undo_work);
    session_->send(send_->end_work);
    // What a work has set would meet the receiver's own statements, and the next work.
    session_->queue_renewal();
    return kept;
}

template <typename Sql>
void receiver_transaction<Sql>::end() {
    if (send_->unlock == nullptr) return;
    auto left = array::texts();
    for (std::string_view const key : keys_) {
        if (!rows_.contains(key)) left.add(key);
    }
    if (left.size() != 0) session_->send(*send_->unlock, left);
}

/// Errors:  the constructor throws settle::failure with one sentence
template <typename Sql>
class receiver_database {
    using pool = typename Sql::pool;
    using options = typename Sql::options;

public:
    using session = sql_connection;
    using transaction = receiver_transaction<Sql>;
    static constexpr std::size_t largest_wave = Sql::largest_wave;

    explicit receiver_database(std::string const& address, std::string const& name,
                               options const& limits = {})
        : pool_(address, limits), send_(Sql::prepare_receiver(pool_)) {
        Sql::bind_receiver(pool_, name);
    }

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<receiver_database>>
    open(std::string const& address, std::string const& name, options const& limits = {}) {
        return caught<std::unique_ptr<receiver_database>>(
            [&] { return std::make_unique<receiver_database>(address, name, limits); });
    }

    // The rest is for settle::receiver; see ReceiverDatabase.

    commit_result perform(function_view<void(transaction&)> function) {
        typename Sql::native_transaction native{pool_};
        return native.perform(
            [&](typename Sql::connection& to) {
                transaction open{send_, to};
                function(open);
                open.end();
            },
            Sql::longest_repetition);
    }
    result<std::size_t> erase(timestamp before, std::size_t limit) {
        return caught<std::size_t>([&] {
            auto const to = pool_.take();
            auto const time = static_cast<std::int64_t>(before.time_since_epoch().count());
            auto const number = to->send(send_.erase, time, limit_of(limit));
            to->sync();
            return static_cast<std::size_t>(to->result(number).changed());
        });
    }
    result<std::vector<receiver_row>> list(receiver_filter const& filter, std::string_view after,
                                           std::size_t limit) {
        return caught<std::vector<receiver_row>>([&] {
            auto const to = pool_.take();
            std::size_t number = 0;
            page_of_receiver_rows(filter, after, limit, [&](auto const&... values) {
                number = to->send(send_.list, values...);
            });
            std::vector<receiver_row> rows;
            take_receiver_rows<Sql>(*to, number,
                                    [&](receiver_row&& row) { rows.push_back(std::move(row)); });
            return rows;
        });
    }
    result<std::optional<receiver_row>> find(std::string_view key) {
        return caught<std::optional<receiver_row>>([&] {
            auto const to = pool_.take();
            auto const number = to->send(send_.find, Sql::array::texts().add(key));
            std::optional<receiver_row> known;
            take_receiver_rows<Sql>(*to, number,
                                    [&](receiver_row&& row) { known = std::move(row); });
            return known;
        });
    }

private:
    template <typename Value, typename Function>
    static result<Value> caught(Function&& function) {
        try {
            return function();
        } catch (failure const& problem) {
            return problem.problem();
        }
    }

    pool pool_;
    receiver_statements<typename Sql::statement> send_;
};

} // namespace detail::sql
SETTLE_END
