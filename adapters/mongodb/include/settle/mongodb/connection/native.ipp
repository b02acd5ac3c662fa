// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that native.hpp declares.
#pragma once

#include <settle/mongodb/connection/native.hpp>

#include <memory>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION native_transaction::native_transaction(server& database_server)
    : link_(database_server.connect()) {
    std::unique_ptr<mongoc_session_opt_t, void (*)(mongoc_session_opt_t*)> const options{
        mongoc_session_opts_new(), &mongoc_session_opts_destroy};
    mongoc_session_opts_set_causal_consistency(options.get(), false);
    std::unique_ptr<mongoc_read_concern_t, void (*)(mongoc_read_concern_t*)> const reads{
        mongoc_read_concern_new(), &mongoc_read_concern_destroy};
    mongoc_read_concern_set_level(reads.get(), database_server.reads().native);
    std::unique_ptr<mongoc_transaction_opt_t, void (*)(mongoc_transaction_opt_t*)> const how{
        mongoc_transaction_opts_new(), &mongoc_transaction_opts_destroy};
    mongoc_transaction_opts_set_read_concern(how.get(), reads.get());
    mongoc_session_opts_set_default_transaction_opts(options.get(), how.get());
    bson_error_t problem{};
    session_.reset(mongoc_client_start_session(link_.native(), options.get(), &problem));
    if (!session_) problem_ = describe(problem, "begin a session");
}

SETTLE_FUNCTION commit_result native_transaction::perform(action function,
                                                          std::chrono::milliseconds longest) {
    if (!session_) return {commit_status::undone, problem_};
    for (retry_pauses between{longest};;) {
        auto const ended = try_once(function);
        if (!again_ || !between.next()) return ended;
    }
}

SETTLE_FUNCTION commit_result native_transaction::try_once(action function) {
    again_ = false;
    bson_error_t problem{};
    if (!mongoc_client_session_start_transaction(session_.get(), nullptr, &problem)) {
        return {commit_status::undone, describe(problem, "begin a native transaction")};
    }
    link_.enter(session_.get());
    try {
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
    link_.enter(nullptr);
    return commit();
}

SETTLE_FUNCTION commit_result native_transaction::commit() {
    for (retry_pauses between;;) {
        reply received;
        bson_error_t problem{};
        if (mongoc_client_session_commit_transaction(session_.get(), received.fresh(), &problem)) {
            return {commit_status::committed, {}};
        }
        auto described = describe(problem, "commit");
        // The server guarantees that the transaction is not committed and never will be.
        if (received.transient()) {
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
    link_.enter(nullptr);
    bson_error_t ignored{};
    mongoc_client_session_abort_transaction(session_.get(), &ignored);
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

} // namespace mongodb::detail

SETTLE_END
