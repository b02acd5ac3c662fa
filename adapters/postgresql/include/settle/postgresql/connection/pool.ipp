// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that pool.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/postgresql/connection/pool.hpp>
#include <settle/postgresql/connection/wave_source.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION pool::pool(std::string const& text, database_options const& options)
    : connection_pool(options.connections, options.connect_timeout), address_(text),
      options_(options) {
    settle::detail::check_limits(options, [](std::string const& why) {
        raise(errc::bad_option, "settle: database_options::" + why + ". See postgresql#options");
    });
    loan const first = take();
    check_session(*first);
    server_ = first->server();
    // The later connections must find the same schema, whatever the user's search path is then.
    options_.schema = server_.schema;
    schema_prefix_ = settle::detail::quoted_name(server_.schema) + ".";
}

SETTLE_FUNCTION std::unique_ptr<connection> pool::make(std::stop_token const& stop) const {
    auto const until = settle::detail::deadline_after(options_.connect_timeout);
    error problem;
    for (settle::detail::retry_pauses between{options_.connect_timeout};;) {
        try {
            auto one = std::make_unique<connection>(address_, options_, until, host_.load());
            host_ = one->server().host;
            return one;
        } catch (failure const& caught) {
            // The last attempt may have had no time to learn the cause.
            bool const is_late = std::chrono::steady_clock::now() >= until;
            if (problem.empty() || !is_late) problem = caught.problem();
            bool const goes_on = problem.code == condition::retryable && !is_late;
            if (!goes_on || stop.stop_requested() || !between.next()) throw failure(problem);
        }
    }
}

SETTLE_FUNCTION bool pool::shares_session(connection& first) const {
    auto const ask = [](connection& connection, std::string const& sql) {
        auto const number = connection.send_sql(sql, "compare two sessions");
        connection.sync();
        return std::string{connection.result(number).text(0, 0)};
    };
    auto const token = std::to_string(PQbackendPID(first.native())) + " " +
                       std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    static_cast<void>(ask(first, "SELECT pg_catalog.set_config('settle.session', " +
                                     quoted_text(token) + ", false)"));
    std::string const own =
        "SELECT coalesce(pg_catalog.current_setting('settle.session', true), '')";
    std::unique_ptr<connection> other;
    try {
        // A pooler whose only session is in use lets the other client wait.
        auto limits = options_;
        limits.answer_timeout = std::min(limits.answer_timeout, limits.connect_timeout);
        other = std::make_unique<connection>(
            address_, limits, settle::detail::deadline_after(limits.connect_timeout), host_.load());
    } catch (failure const& caught) {
        // A new session has no statement yet. Another error is none of the pooler's mode.
        return caught.problem().code == duplicate_statement;
    }
    // An open native transaction keeps the session for this client.
    other->begin();
    bool const met = ask(*other, own) == token;
    bool const shared = met || ask(first, own) != token;
    other->rollback();
    return shared;
}

SETTLE_FUNCTION void pool::check_session(connection& first) const {
    bool const has_pooler = first.server().backend != PQbackendPID(first.native());
    if (!has_pooler || !shares_session(first)) return;
    try {
        // The settings would reach other clients.
        for (auto const* const sql : {"RESET ALL", "DEALLOCATE ALL"}) {
            first.send_sql(sql, "leave the session as it was");
        }
        first.sync();
    } catch (failure const&) {
        // The session is refused all the same.
    }
    raise(errc::unfit_store,
          "settle: a pooler before this server gives a session to several clients in turn. Let it "
          "give each client a session of its own (PgBouncer: pool_mode = session), or name the "
          "server itself. See postgresql#address");
}

SETTLE_FUNCTION bool pool::take_back(connection& connection) noexcept {
    connection.rollback();
    connection.renew();
    round_trips_ += connection.take_round_trips();
    return connection.reusable();
}

SETTLE_FUNCTION error pool::all_in_use(std::size_t count) const {
    return describe(postgresql::all_in_use,
                    "all " + std::to_string(count) + " connections are in use", "be called");
}

SETTLE_FUNCTION statement const&
pool::prepare(std::string const& sql, std::vector<value_type> const& types, char const* phase) {
    std::lock_guard const guard{mutex_};
    auto const place = by_text_.find(sql);
    if (place != by_text_.end()) return *place->second;
    auto const add = [&](std::string text,
                         std::vector<value_type> const& value_types) -> statement& {
        std::vector<Oid> native;
        native.reserve(value_types.size());
        for (value_type const one : value_types) native.push_back(static_cast<Oid>(one));
        return statements_.emplace_back(
            statement{std::move(text), std::move(native), phase, statements_.size()});
    };
    auto& prepared = add(sql, types);
    if (auto single = sql_of_one_row(sql, types); !single.empty()) {
        auto elements = types;
        for (auto& one : elements) one = element_of(one);
        prepared.of_one_row = &add(std::move(single), elements);
    }
    return *by_text_.emplace(sql, &prepared).first->second;
}

} // namespace postgresql::detail
SETTLE_END
