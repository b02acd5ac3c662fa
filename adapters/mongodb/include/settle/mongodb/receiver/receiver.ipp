// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/mongodb/receiver/receiver.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/mongodb/connection/metadata.hpp>
#include <settle/mongodb/connection/native.hpp>

SETTLE_BEGIN
namespace mongodb {
namespace detail {

inline constexpr std::string_view receiver_collection = "settle_receiver";

/// Ends a native transaction whose work was refused. The next native transaction stores the row.
struct begin_again {};

SETTLE_FUNCTION document document_of(receiver_row const& row) {
    auto const number = [](timestamp moment) { return moment.time_since_epoch().count(); };
    document encoded;
    encoded.text("_id", row.key).text("status", name_of(row.standing.status));
    encoded.text("answer", row.answer).text("service", row.service);
    // Without a value in a row that was made without a request, and in rows of earlier releases.
    if (!row.request.empty()) encoded.text("request", row.request);
    encoded.text("transaction", row.transaction).text("participant", row.participant);
    if (row.line) encoded.integer("line", *row.line);
    encoded.boolean("has_apply", row.standing.has_apply);
    encoded.date("last_moment", number(row.standing.last_moment));
    encoded.date("created", number(row.created)).date("modified", number(row.modified));
    // A purge looks only at rows that may be erased.
    if (auto const end = end_of(row.standing)) encoded.date("ends", number(*end));
    return encoded;
}

SETTLE_FUNCTION receiver_row receiver_row_of(document const& from) {
    receiver_row row;
    bool whole = true;
    auto const text = [&](std::string_view name, std::string& to) {
        auto const found = from.find(name);
        if (found && found->text()) to = *found->text();
        else whole = false;
    };
    auto const time = [&](std::string_view name, timestamp& to) {
        auto const found = from.find(name);
        if (found && found->date()) to = timestamp{std::chrono::milliseconds{*found->date()}};
        else whole = false;
    };
    std::string name;
    text("_id", row.key);
    text("status", name);
    text("answer", row.answer);
    text("service", row.service);
    text("transaction", row.transaction);
    text("participant", row.participant);
    time("last_moment", row.standing.last_moment);
    time("created", row.created);
    time("modified", row.modified);
    auto const status = settle::detail::receiver_status_named(name);
    auto const has_apply = from.find("has_apply");
    if (!whole || !status || !has_apply || !has_apply->boolean()) {
        raise(errc::damaged, "settle: the row '" + row.key +
                                 "' of the collection settle_receiver is damaged. Repair it. "
                                 "See errors#damaged");
    }
    if (auto const request = from.find("request"); request && request->text()) {
        row.request = *request->text();
    }
    row.standing.status = *status;
    row.standing.has_apply = *has_apply->boolean();
    if (auto const line = from.find("line"); line && line->integer()) {
        row.line = static_cast<std::uint32_t>(*line->integer());
    }
    return row;
}

SETTLE_FUNCTION std::optional<receiver_row> find_row(link& client, std::string_view key) {
    std::optional<receiver_row> row;
    document query;
    client.find(receiver_collection, query.text("_id", key), {}, "read a row of the receiver",
                [&](document const& document) { row = receiver_row_of(document); });
    return row;
}

/// The error of the first refused write in a reply; nothing if there is none.
SETTLE_FUNCTION std::optional<error> refused_write(reply const& received, std::string_view phase) {
    std::optional<error> refused;
    auto const errors = received.find("writeErrors");
    if (!errors) return refused;
    errors->for_each([&](value_view const& element) {
        bson_error_t problem{};
        auto const code = element.find("code");
        auto const text = element.find("errmsg");
        bson_set_error(&problem, MONGOC_ERROR_SERVER,
                       static_cast<std::uint32_t>(code ? code->integer().value_or(0) : 0), "%s",
                       std::string{text ? text->text().value_or("") : ""}.c_str());
        refused = describe(problem, phase);
        return false;
    });
    return refused;
}

/// Runs a command in the native transaction of a link.
/// Errors:  throws command_failure
SETTLE_FUNCTION void run_inside(link& client, bson_t const& command, std::string_view phase,
                                reply& received) {
    document options;
    client.append_session(options);
    bson_error_t problem{};
    if (!mongoc_client_command_with_opts(client.native(), client.database().c_str(), &command,
                                         nullptr, options.native(), received.fresh(), &problem)) {
        throw command_failure(describe(problem, phase), received.transient());
    }
    if (auto refused = refused_write(received, phase)) {
        throw command_failure(*std::move(refused), received.transient());
    }
}

SETTLE_FUNCTION void prepare_receiver(server& database_server, std::string const& name) {
    while_opening(database_server, [&](link& client) {
        database_server.look(client);
        if (!database_server.has_transactions()) {
            raise(errc::unfit_store,
                  "settle: a receiver needs native transactions, which a single server does not "
                  "have. Name a replica set. See mongodb#receivers");
        }
        check_version(client);
        settle::detail::receiver_storage const storage{"the database '" + client.database() + "'",
                                                       "database", "mongodb"};
        storage.check_name(name);
        storage.check_owner(get_or_init_metadata(client, "receiver", name), name);
        document index;
        index.object("key", document{}.integer("ends", 1)).text("name", "settle_ends");
        index.boolean("sparse", true);
        document command;
        command.text("createIndexes", receiver_collection);
        command.array("indexes", document{}.object_at(0, index));
        reply received;
        client.write_command(command, "create the collection of a receiver", received);
    });
}

} // namespace detail

SETTLE_FUNCTION std::string receiver_session::run(std::string_view command) {
    bson_error_t problem{};
    auto const parsed = detail::document::adopt(
        bson_new_from_json(reinterpret_cast<std::uint8_t const*>(command.data()),
                           static_cast<ssize_t>(command.size()), &problem));
    if (parsed.native() == nullptr) {
        detail::raise(errc::bad_option,
                      "settle: a handler's command is no JSON: " + detail::native_text(problem) +
                          ". See mongodb#receivers");
    }
    bson_t reply;
    run(*parsed.native(), &reply);
    auto text = detail::take_text(bson_as_relaxed_extended_json(&reply, nullptr));
    bson_destroy(&reply);
    return text;
}

SETTLE_FUNCTION void receiver_session::run(bson_t const& command, bson_t* reply) {
    used_ = true;
    detail::reply received;
    try {
        detail::run_inside(*with_, command, "run a handler's command", received);
    } catch (detail::command_failure const& caught) {
        problem_ = caught.problem();
        transient_ = caught.transient();
        throw;
    }
    if (reply != nullptr) bson_copy_to(&received.native(), reply);
}

SETTLE_FUNCTION void receiver_session::fail(bson_error_t const& problem, bson_t const* reply) {
    problem_ = detail::describe(problem, "run a handler's command");
    transient_ = reply != nullptr && detail::has_label(*reply, "TransientTransactionError");
}

SETTLE_FUNCTION std::optional<receiver_row> receiver_transaction::find(std::string_view key) {
    return detail::find_row(*with_, key);
}

SETTLE_FUNCTION void receiver_transaction::store(receiver_row const& row) {
    detail::document query;
    detail::document update;
    update.object("q", query.text("_id", row.key)).object("u", detail::document_of(row));
    update.boolean("upsert", true);
    detail::document command;
    command.text("update", detail::receiver_collection);
    command.array("updates", detail::document{}.object_at(0, update));
    detail::reply received;
    try {
        detail::run_inside(*with_, *command.native(), "store a row of the receiver", received);
    } catch (detail::command_failure const& caught) {
        // Another native transaction has stored the first row of this key.
        if (caught.problem().code != std::error_code{duplicate_key, mongodb_category()}) throw;
        throw detail::command_failure(caught.problem(), true);
    }
}

SETTLE_FUNCTION bool
receiver_transaction::attempt(settle::detail::function_view<bool(receiver_session&)> work) {
    if (skips_) return false;
    receiver_session access{*with_};
    bool const kept = work(access);
    if (!access.problem_.empty() && (kept || access.transient_)) {
        throw detail::command_failure(access.problem_, access.transient_);
    }
    if (kept || (!access.used_ && access.problem_.empty())) return kept;
    throw detail::begin_again{};
}

SETTLE_FUNCTION receiver_database::receiver_database(std::string const& address,
                                                     std::string const& name,
                                                     database_options const& options)
    : server_(address, options) {
    detail::prepare_receiver(server_, name);
}

SETTLE_FUNCTION result<std::unique_ptr<receiver_database>>
receiver_database::open(std::string const& address, std::string const& name,
                        database_options const& options) {
    try {
        return std::make_unique<receiver_database>(address, name, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION settle::detail::commit_result
receiver_database::perform(settle::detail::function_view<void(receiver_transaction&)> function) {
    bool skips = false;
    try {
        for (detail::retry_pauses between;;) {
            bool again = false;
            auto ended = detail::native_transaction{server_}.perform(
                [&](detail::link& client) {
                    again = false;
                    // After a conflict the next native transaction does the work again.
                    receiver_transaction open{client, std::exchange(skips, false)};
                    try {
                        function(open);
                    } catch (detail::begin_again const&) {
                        again = true;
                        throw failure({make_error_code(errc::stopped), {}});
                    }
                },
                detail::for_long.longest);
            if (!again) return ended;
            skips = true;
            if (!between.next()) {
                return {detail::commit_status::undone,
                        {make_error_code(errc::store_unreachable),
                         "settle: conflicts with other native transactions ended a call. Call "
                         "again. See mongodb#receivers"}};
            }
        }
    } catch (failure const& problem) {
        return {detail::commit_status::undone, problem.problem()};
    }
}

SETTLE_FUNCTION result<std::size_t> receiver_database::erase(timestamp before, std::size_t limit) {
    if (limit == 0) return std::size_t{0};
    try {
        auto client = server_.connect();
        auto const earlier = [&] {
            detail::document bound;
            bound.date("$lt", before.time_since_epoch().count());
            return bound;
        };
        detail::document keys;
        std::size_t count = 0;
        client.find(detail::receiver_collection, detail::only("ends", earlier()),
                    detail::page_of("ends", limit), "look for rows of the receiver",
                    [&](detail::document const& stored) {
                        if (auto const key = stored.find("_id")) {
                            keys.copy(std::to_string(count), *key);
                            ++count;
                        }
                    });
        if (count == 0) return std::size_t{0};
        detail::document some;
        detail::document query;
        query.object("_id", some.array("$in", keys)).object("ends", earlier());
        detail::document removal;
        removal.object("q", query).integer("limit", 0);
        detail::document command;
        command.text("delete", detail::receiver_collection);
        command.array("deletes", detail::document{}.object_at(0, removal));
        detail::reply received;
        client.write_command(command, "erase rows of the receiver", received);
        auto const erased = received.find("n");
        return static_cast<std::size_t>(erased ? erased->integer().value_or(0) : 0);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<std::vector<receiver_row>>
receiver_database::list(receiver_filter const& filter, std::string_view after, std::size_t limit) {
    std::vector<receiver_row> rows;
    if (limit == 0) return rows;
    try {
        auto client = server_.connect();
        detail::document greater;
        detail::document query;
        // The driver takes a null pointer for a null.
        query.object("_id", greater.text("$gt", after.empty() ? "" : after));
        if (filter.status) query.text("status", name_of(*filter.status));
        if (!filter.transaction.empty()) query.text("transaction", filter.transaction);
        client.find(detail::receiver_collection, query, detail::page_of("_id", limit),
                    "list rows of the receiver", [&](detail::document const& document) {
                        rows.push_back(detail::receiver_row_of(document));
                    });
        return rows;
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<std::optional<receiver_row>> receiver_database::find(std::string_view key) {
    try {
        auto with = server_.connect();
        return detail::find_row(with, key);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

} // namespace mongodb
SETTLE_END
