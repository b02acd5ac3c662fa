// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that native.hpp declares.
#pragma once

#include <settle/mongodb/connection/metadata.hpp>
#include <settle/mongodb/connection/native.hpp>

#include <memory>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION native_transaction::native_transaction(server& database_server, bool follows)
    : link_(database_server.connect()) {
    std::shared_ptr<mongoc_session_opt_t> const options{mongoc_session_opts_new(),
                                                        &mongoc_session_opts_destroy};
    mongoc_session_opts_set_causal_consistency(options.get(), follows);
    std::unique_ptr<mongoc_read_concern_t, void (*)(mongoc_read_concern_t*)> const reads{
        mongoc_read_concern_new(), &mongoc_read_concern_destroy};
    mongoc_read_concern_set_level(reads.get(), database_server.reads().native);
    std::unique_ptr<mongoc_transaction_opt_t, void (*)(mongoc_transaction_opt_t*)> const how{
        mongoc_transaction_opts_new(), &mongoc_transaction_opts_destroy};
    mongoc_transaction_opts_set_read_concern(how.get(), reads.get());
    mongoc_session_opts_set_default_transaction_opts(options.get(), how.get());
    auto const own = std::make_shared<driver_answer>();
    link_.ask("begin a session", [options, own](lent_client& client) {
        client.session.reset(
            mongoc_client_start_session(client.native, options.get(), &own->problem));
        own->is_good = client.session != nullptr;
    });
    if (!own->is_good) problem_ = describe(own->problem, "begin a session");
    else if (follows) follow_primary(database_server.deciding_read());
}

SETTLE_FUNCTION void native_transaction::follow_primary(document const& sure_read) {
    if (sure_read.empty()) return;
    document request;
    request.text("find", metadata_collection).integer("limit", 1);
    bson_concat(request.native(), sure_read.native());
    reply received;
    link_.command(request, "be reached", received);
    auto const now = received.find("operationTime");
    if (!now || now->type() != BSON_TYPE_TIMESTAMP) return;
    std::uint32_t seconds = 0;
    std::uint32_t number = 0;
    bson_iter_timestamp(now->iterator(), &seconds, &number);
    link_.ask("begin a session", [seconds, number](lent_client& client) {
        mongoc_client_session_advance_operation_time(client.session.get(), seconds, number);
    });
}

SETTLE_FUNCTION commit_result native_transaction::perform(action function,
                                                          std::chrono::milliseconds longest) {
    if (!problem_.empty()) return {commit_status::undone, problem_};
    for (retry_pauses between{longest};;) {
        auto const ended = try_once(function);
        if (!again_ || !between.next()) return ended;
    }
}

SETTLE_FUNCTION commit_result native_transaction::try_once(action function) {
    constexpr std::string_view beginning = "begin a native transaction";
    again_ = false;
    try {
        auto const own = std::make_shared<driver_answer>();
        link_.ask(beginning, [own](lent_client& client) {
            own->is_good = mongoc_client_session_start_transaction(client.session.get(), nullptr,
                                                                   &own->problem);
        });
        if (!own->is_good) return {commit_status::undone, describe(own->problem, beginning)};
        link_.enter(true);
        function(link_);
    } catch (command_failure const& caught) {
        abort();
        again_ = caught.transient();
        return {commit_status::undone, caught.problem()};
    } catch (failure const& caught) {
        abort();
        return {commit_status::undone, caught.problem()};
    } catch (...) {
        abort();
        throw;
    }
    link_.enter(false);
    return commit();
}

SETTLE_FUNCTION commit_result native_transaction::commit() {
    for (retry_pauses between;;) {
        auto const own = std::make_shared<driver_answer>();
        try {
            link_.ask("commit", [own](lent_client& client) {
                own->is_good = mongoc_client_session_commit_transaction(
                    client.session.get(), own->received.fresh(), &own->problem);
            });
        } catch (command_failure const& left) {
            return {commit_status::unknown, left.problem()};
        }
        if (own->is_good) return {commit_status::committed, {}};
        auto described = describe(own->problem, "commit");
        // The server guarantees that the transaction is not committed and never will be.
        if (own->received.transient()) {
            again_ = true;
            return {commit_status::undone, std::move(described)};
        }
        // Otherwise the outcome is unknown, whatever the answer's labels. Repeating the commit
        // reports the outcome, or commits a transaction that is still open.
        if (described.code == condition::permanent || !between.next()) {
            return {commit_status::unknown, std::move(described)};
        }
    }
}

SETTLE_FUNCTION void native_transaction::abort() {
    link_.enter(false);
    // A call that the caller has left aborts it at its end, with the session.
    if (!link_.is_free()) return;
    try {
        link_.ask("abort", [](lent_client& client) {
            bson_error_t ignored{};
            mongoc_client_session_abort_transaction(client.session.get(), &ignored);
        });
    } catch (command_failure const&) {
        // Without a commit, the server ends it.
    }
}

SETTLE_FUNCTION bool read_on_sole_primary(server& database_server,
                                          native_transaction::action read) {
    if (!database_server.was_sole_primary()) return false;
    // The client returns to the pool before another is taken: the pool may be exhausted.
    auto const ended = native_transaction{database_server}.perform(read, for_long.longest);
    if (ended.status != commit_status::committed) throw failure(ended.problem);
    // Only the primary admits a member, so this server still was the only member.
    return database_server.is_sole_primary();
}

SETTLE_FUNCTION void read_at_one_moment(server& database_server, native_transaction::action read) {
    if (read_on_sole_primary(database_server, read)) return;
    auto const ended = native_transaction{database_server, true}.perform(read, for_long.longest);
    if (ended.status != commit_status::committed) throw failure(ended.problem);
}

} // namespace mongodb::detail

SETTLE_END
