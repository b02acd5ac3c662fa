// SPDX-License-Identifier: BSL-1.0
// The receiver: the service's side of a call, for services that are written in C++. Its grade is
// `barrier`.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/base/environment.hpp>
#include <settle/base/function_view.hpp>
#include <settle/base/saturating.hpp>
#include <settle/definition/grade.hpp>
#include <settle/kinds/services/receiver_row.hpp>

#include <algorithm>
#include <concepts>
#include <exception>
#include <span>
#include <utility>
#include <vector>

SETTLE_BEGIN

/// A database that keeps the rows of a receiver together with the service's own records.
///
///   session      the access of a handler to the database, inside the native transaction
///   transaction  an open native transaction, with
///                  expect(calls)  is called first, with every call whose key find() will get, so
///                                 that the database may lock and read their rows together
///                  find(key)      the row, if there is one
///                  store(row)     inserts or replaces the row
///                  attempt(work)  calls work(session), and returns whether its writes are kept.
///                                 If work returns false, they are undone. Without savepoints the
///                                 native transaction begins again, and the attempt then returns
///                                 false without another call
///   largest_wave        the largest number of calls in one native transaction
///   perform(function)   calls function(transaction&) in a native transaction and commits it. An
///                       exception undoes it, and may leave perform(). If another transaction
///                       stores a row between a find of its key and the commit of a store, this
///                       one fails. The function may be called again, when its first native
///                       transaction was undone
///   erase(before, limit)        erases rows whose end_of is before a time, at most `limit`
///   list(filter, after, limit)  rows in the order of their keys, beginning after a key
///   find(key)                   the row of a key
template <typename Database>
concept ReceiverDatabase =
    requires(Database& database, typename Database::transaction& native,
             std::span<service_call const> calls, std::string_view key, receiver_row const& row,
             receiver_filter const& filter, timestamp before, std::size_t limit,
             bool (&work)(typename Database::session&),
             void (&function)(typename Database::transaction&)) {
        { Database::largest_wave } -> std::convertible_to<std::size_t>;
        { native.expect(calls) } -> std::same_as<void>;
        { native.find(key) } -> std::same_as<std::optional<receiver_row>>;
        { native.store(row) } -> std::same_as<void>;
        { native.attempt(work) } -> std::same_as<bool>;
        { database.perform(function) } -> std::same_as<detail::commit_result>;
        { database.erase(before, limit) } -> std::same_as<result<std::size_t>>;
        { database.list(filter, key, limit) } -> std::same_as<result<std::vector<receiver_row>>>;
        { database.find(key) } -> std::same_as<result<std::optional<receiver_row>>>;
    };

struct receiver_options {
    /// The longest result that a handler may answer, in bytes.
    std::size_t largest_result = std::size_t{64} * 1024;
    /// The largest difference between the clocks of processes that take calls from one database.
    time_limit clocks = std::chrono::minutes{5};
};

namespace detail {

[[nodiscard]] inline receiver_request request_of(service_call const& call) {
    return {call.operation, call.has_apply, call.last_moment};
}

/// The answer of a decision without work.
[[nodiscard]] service_answer answer_of(receiver_decision const& decided, service_call const& call,
                                       std::string_view kept);

[[nodiscard]] receiver_row new_row(service_call const& call, timestamp now);

/// The answer to a call whose request differs from the request of the row; empty if it does not
/// differ. `changed` is true if the row has noted the request, and must be stored.
[[nodiscard]] std::optional<service_answer>
answer_of_another_request(receiver_row& row, service_call const& call, bool& changed);

/// The answer of a handler, as the receiver may keep it.
[[nodiscard]] service_answer checked_answer(service_answer given, service_call const& call,
                                            receiver_options const& options);

[[nodiscard]] service_answer answer_of_missing(service_call const& call);

[[nodiscard]] service_answer answer_of_uncommitted(commit_result const& ended);

/// Makes answers `unknown` that are of undone work, or of a commit that may have failed.
void take_back(std::span<service_answer> answers);

/// The error of a native transaction that did not certainly commit.
[[nodiscard]] error problem_of_uncommitted(commit_result const& ended);

/// The answer of a handler that answered `ok`, and whose work the database has undone.
[[nodiscard]] service_answer answer_of_undone_work(service_call const& call);

/// Throws the error of options that make no sense.
void check_options(receiver_options const& options);

// Whether a handler has an operation: a function or a function object of this name.
template <typename Handler>
concept HasApply = requires { &Handler::apply; };
template <typename Handler>
concept HasQuery = requires { &Handler::query; };
template <typename Handler>
concept HasConfirm = requires { &Handler::confirm; };
template <typename Handler>
concept HasCompensate = requires { &Handler::compensate; };

template <typename Handler, typename Session>
concept TakesApply = requires(Handler& handler, Session& session, service_call const& call) {
    { handler.apply(session, call) } -> std::convertible_to<service_answer>;
};
template <typename Handler, typename Session>
concept TakesQuery = requires(Handler& handler, Session& session, service_call const& call) {
    { handler.query(session, call) } -> std::convertible_to<service_answer>;
};
template <typename Handler, typename Session>
concept TakesConfirm = requires(Handler& handler, Session& session, service_call const& call) {
    { handler.confirm(session, call) } -> std::convertible_to<service_answer>;
};
template <typename Handler, typename Session>
concept TakesCompensate = requires(Handler& handler, Session& session, service_call const& call) {
    { handler.compensate(session, call) } -> std::convertible_to<service_answer>;
};

template <typename Handler, typename Session>
constexpr void check_handler() {
    static_assert(!HasApply<Handler> || TakesApply<Handler, Session>,
                  "settle: the handler's 'apply' must take (session&, settle::service_call const&) "
                  "and return a settle::service_answer. See receivers#handlers");
    static_assert(!HasConfirm<Handler> || TakesConfirm<Handler, Session>,
                  "settle: the handler's 'confirm' must take (session&, settle::service_call "
                  "const&) and return a settle::service_answer. See receivers#handlers");
    static_assert(!HasCompensate<Handler> || TakesCompensate<Handler, Session>,
                  "settle: the handler's 'compensate' must take (session&, settle::service_call "
                  "const&) and return a settle::service_answer. See receivers#handlers");
    static_assert(!HasQuery<Handler> || TakesQuery<Handler, Session>,
                  "settle: the handler's 'query' must take (session&, settle::service_call const&) "
                  "and return a settle::service_answer. See receivers#handlers");
    static_assert(TakesApply<Handler, Session> || TakesConfirm<Handler, Session> ||
                      TakesQuery<Handler, Session>,
                  "settle: the handler has no 'apply', no 'confirm' and no 'query'. Add the "
                  "operation that the service offers. See receivers#handlers");
}

/// Calls the handler's function of an operation.
template <typename Handler, typename Session>
service_answer handle(Handler& handler, Session& session, service_call const& call) {
    switch (call.operation) {
    case call_operation::apply:
        if constexpr (TakesApply<Handler, Session>) return handler.apply(session, call);
        break;
    case call_operation::confirm:
        if constexpr (TakesConfirm<Handler, Session>) return handler.confirm(session, call);
        // The confirm only gives the row an end.
        if (call.has_apply) return service_answer::ok();
        break;
    case call_operation::compensate:
        if constexpr (TakesCompensate<Handler, Session>) return handler.compensate(session, call);
        break;
    case call_operation::query:
        if constexpr (TakesQuery<Handler, Session>) return handler.query(session, call);
        break;
    }
    return answer_of_missing(call);
}

} // namespace detail

/// Takes calls of services: keeps a row for each key in the service's own database, in the same
/// native transaction as the work of the handler.
///
/// A handler is an object with the functions `apply`, `confirm`, `compensate` and `query`, or some
/// of them. Each takes (session&, service_call const&) and returns a service_answer. Its writes to
/// the session are kept only if it answers `ok`; every other answer undoes them. A query must write
/// nothing, since no row keeps it from being answered twice. A handler that throws
/// answers `unavailable`. A call of `confirm` or `compensate` has the result that the apply
/// answered.
///
/// Shape:   the database outlives the receiver. Threads may share the receiver; other processes may
///          have receivers of the same database
/// Errors:  the constructor throws settle::failure when an option makes no sense
template <ReceiverDatabase Database, typename Environment = system_environment>
class receiver {
public:
    using session = typename Database::session;

    explicit receiver(Database& database, receiver_options const& options = {},
                      Environment const& environment = {})
        : database_(&database), options_(options), environment_(environment) {
        detail::check_options(options);
    }

    /// Takes one call.
    /// Errors:  `unavailable` if certainly nothing was stored; `unknown` if the commit may have
    ///          succeeded: the sender calls again with the same key
    /// Cost:    one native transaction; the answer from a row writes nothing
    template <typename Handler>
    [[nodiscard]] service_answer take(service_call const& call, Handler&& handler) {
        service_answer answer;
        take_all({&call, 1}, {&answer, 1}, handler);
        return answer;
    }

    /// Takes the calls of a wave, in order.
    /// Shape:   answers - one for each call
    /// Cost:    one native transaction for Database::largest_wave calls. If an error undoes it, one
    ///          for each call
    template <typename Handler>
    void take_all(std::span<service_call const> calls, std::span<service_answer> answers,
                  Handler&& handler) {
        detail::check_handler<std::remove_reference_t<Handler>, session>();
        // A view does not own its function.
        auto const function = [&handler](session& access, service_call const& call) {
            return detail::handle(handler, access, call);
        };
        handler_view const view{function};
        for (std::size_t begin = 0; begin < calls.size(); begin += Database::largest_wave) {
            auto const count = std::min<std::size_t>(Database::largest_wave, calls.size() - begin);
            take_wave(calls.subspan(begin, count), answers.subspan(begin, count), view);
        }
    }

    /// Closes a key: if it has no row, no apply of it takes effect any more.
    /// Shape:   last_moment - of the key's calls, if it is known: the row may be purged after it
    /// Errors:  condition::unknown if the row may have been stored; close again
    /// Returns the row. The key has no effect if its status is neither `applied` nor `confirmed`.
    [[nodiscard]] result<receiver_row> close(std::string_view key,
                                             timestamp last_moment = timestamp::max()) {
        if (auto fault = detail::fault_of_key(key); !fault.empty()) {
            return {errc::bad_text, std::move(fault)};
        }
        service_call call{};
        call.key = key;
        call.last_moment = last_moment;
        receiver_row closed;
        auto const ended = database_->perform([&](transaction& native) {
            native.expect({&call, 1});
            auto row = native.find(key);
            if (decide_close(row ? &row->standing : nullptr) == receiver_step::note) {
                row = detail::new_row(call, environment_.now());
                native.store(*row);
            }
            closed = *std::move(row);
        });
        if (ended.status != detail::commit_status::committed) {
            return detail::problem_of_uncommitted(ended);
        }
        return closed;
    }

    /// Erases rows that no call needs any more: see end_of. Call it from time to time.
    /// Returns the number of erased rows.
    /// Cost:    one native transaction. With a smaller limit, other writers wait for less time
    [[nodiscard]] result<std::size_t> purge(std::size_t limit = 10'000) {
        return database_->erase(detail::earlier(environment_.now(), options_.clocks), limit);
    }

    /// Rows in the order of their keys.
    /// Shape:   after - the last key of the page before
    [[nodiscard]] result<std::vector<receiver_row>> list(receiver_filter const& filter = {},
                                                         std::string_view after = {},
                                                         std::size_t limit = 1'000) {
        return database_->list(filter, after, limit);
    }

    [[nodiscard]] result<std::optional<receiver_row>> find(std::string_view key) {
        return database_->find(key);
    }

private:
    using handler_view = detail::function_view<service_answer(session&, service_call const&)>;
    using transaction = typename Database::transaction;

    void take_wave(std::span<service_call const> calls, std::span<service_answer> answers,
                   handler_view handler) {
        detail::commit_result ended;
        try {
            ended = database_->perform([&](transaction& native) {
                native.expect(calls);
                for (std::size_t at = 0; at < calls.size(); ++at) {
                    take_within(native, calls[at], handler, answers[at]);
                }
            });
        } catch (...) {
            detail::take_back(answers);
            throw;
        }
        if (ended.status == detail::commit_status::committed) return;
        if (calls.size() == 1 || detail::is_same_for_each(ended)) {
            for (auto& one : answers) one = detail::answer_of_uncommitted(ended);
            return;
        }
        // The error of one call has undone the others.
        detail::take_back(answers);
        for (std::size_t at = 0; at < calls.size(); ++at) {
            take_wave(calls.subspan(at, 1), answers.subspan(at, 1), handler);
        }
    }

    /// Shape:   answer - of the last attempt of this call, which may have been undone
    void take_within(transaction& native, service_call const& call, handler_view handler,
                     service_answer& answer) {
        if (auto fault = detail::fault_of_key(call.key); !fault.empty()) {
            answer = service_answer::unavailable(std::move(fault));
            return;
        }
        // The native transaction may have waited for others, so the clock is read inside of it.
        auto const now = environment_.now();
        auto row = native.find(call.key);
        if (bool noted = false; row) {
            auto other = detail::answer_of_another_request(*row, call, noted);
            if (noted) native.store(*row);
            if (other) {
                answer = *std::move(other);
                return;
            }
        }
        auto const decided = decide(row ? &row->standing : nullptr, detail::request_of(call), now);
        if (decided.step == receiver_step::answer) {
            answer = detail::answer_of(decided, call, row ? row->answer : std::string{});
            return;
        }
        if (!row) row = detail::new_row(call, now);
        row->modified = now;
        if (decided.step == receiver_step::note) {
            row->standing.status = decided.status;
            row->answer = decided.text;
            native.store(*row);
            answer = detail::answer_of(decided, call, row->answer);
            return;
        }
        work(native, call, row->answer, handler, answer);
        auto const after = status_after(call.operation, answer.status);
        if (!after) return;
        row->standing.status = *after;
        if (call.operation == call_operation::apply) row->answer = answer.text;
        native.store(*row);
    }

    void work(transaction& native, service_call call, std::string const& result,
              handler_view handler, service_answer& answer) {
        if (!result.empty()) call.result = result;
        bool const kept = native.attempt([&](session& access) {
            try {
                answer = detail::checked_answer(handler(access, call), call, options_);
            } catch (std::exception const& thrown) {
                answer = service_answer::unavailable(thrown.what());
            } catch (...) {
                answer = service_answer::unavailable("settle: the handler threw an exception of an "
                                                     "unknown type. See receivers#handlers");
            }
            return answer.status == call_status::ok;
        });
        if (!kept && answer.status == call_status::ok) answer = detail::answer_of_undone_work(call);
    }

    Database* database_;
    receiver_options options_;
    [[no_unique_address]] Environment environment_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/receiver.ipp>
#endif
