// SPDX-License-Identifier: BSL-1.0
// Native transactions of a replica set: repeated after conflicts, and committed again until the
// outcome is known.
#pragma once

#include <settle/adapter/isolation.hpp>
#include <settle/adapter/retry_pauses.hpp>
#include <settle/base/chrono.hpp>
#include <settle/base/function_view.hpp>
#include <settle/mongodb/connection/bulk.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::commit_result;
using settle::detail::commit_status;
using settle::detail::held_up;
using settle::detail::in_halves;
using settle::detail::retry_pauses;

/// Runs the work that opens a database, and repeats it from the start when the primary is lost: a
/// new primary is elected within seconds.
/// Shape:   function(link) - may be called several times
template <typename Function>
void while_opening(server& database_server, Function&& function) {
    for (retry_pauses between;;) {
        try {
            auto with = database_server.connect();
            return function(with);
        } catch (failure const& caught) {
            if (!is_lost_primary(caught.problem().code) || !between.next()) throw;
        }
    }
}

/// How long an operation is repeated after conflicts before its caller learns of them.
struct effort {
    std::chrono::milliseconds longest; ///< time limit of the repetitions
    bool names;                        ///< then finds out which document is held
};
/// For callers that do not repeat.
inline constexpr effort for_long{retry_pauses::longest_effort, true};
/// For a wave, whose driver repeats and checks deadlines in between.
/// Shape:   first - no document is known to be held. The conflicting transaction either commits
///          soon or holds its document for long: then the wave is split, so that the document does
///          not block the rest
[[nodiscard]] constexpr effort effort_for(std::size_t count, bool first) noexcept {
    using std::chrono::milliseconds;
    if (count == 1) return {milliseconds{first ? 50 : 0}, true};
    // After a client with a whole wave has vanished, every part is held: each part is tried once.
    return {milliseconds{first ? 100 : 0}, false};
}

/// Whether only a conflict undid the work, so that its parts may be tried alone. After an unknown
/// outcome they may not: the work may still have taken effect.
[[nodiscard]] inline bool is_conflict(commit_result const& ended) noexcept {
    return ended.status == commit_status::undone && is_conflict(ended.problem);
}

/// Runs a function in a native transaction.
/// Shape:   function(link) - called again from the start after each conflict; throws
///          settle::failure to abort
class native_transaction {
public:
    /// Shape:   follows - it reads a state that has all writes that the set has acknowledged so far
    /// Errors:  throws command_failure if the engine's caller waits no longer, or if no primary
    ///          proves to be one
    explicit native_transaction(server& database_server, bool follows = false);

    using action = settle::detail::function_view<void(link&)>;

    /// Shape:   longest - time limit of the repetitions
    [[nodiscard]] commit_result perform(action function, std::chrono::milliseconds longest);

private:
    commit_result try_once(action function);

    commit_result commit();

    void abort();
    /// Lets the session read no state before the present one.
    void follow_primary(document const& sure_read);

    link link_;
    error problem_; ///< why there is no session
    bool again_ = false;
};

/// The result of a bulk outside of a native transaction.
[[nodiscard]] inline commit_result commit_result_of(bulk_result const& result) {
    if (result.problem.empty()) return {commit_status::committed, {}};
    return {result.untouched ? commit_status::undone : commit_status::unknown, result.problem};
}

/// Reads on a replica set of one member, in a native transaction whose commit makes the journal
/// write at once: a linearizable read waits there for the journal's timer, a tenth of a second.
/// False when the set may have more members: another member may be the primary then. Shape:
/// read(link) - called again from the start after each conflict Errors:  throws settle::failure
[[nodiscard]] bool read_on_sole_primary(server& database_server, native_transaction::action read);

/// Reads documents as of one moment of this call. No newer primary contradicts the read.
/// Shape:   read(link) - called again from the start after each conflict
/// Errors:  throws settle::failure
/// Cost:    a read that waits for a majority, the reads, and a commit
void read_at_one_moment(server& database_server, native_transaction::action read);

/// Calls `function(document)` for every document found.
/// Shape:   sure - the options of a linearizable read, or empty; options - others of the find
/// Errors:  throws settle::failure, also when no majority answers in time
template <typename Function>
void find_surely(server& database_server, std::string_view name, document const& filter,
                 document sure, document const& options, std::string_view phase,
                 Function&& function) {
    std::vector<document> documents;
    auto const read = [&](link& client) {
        documents.clear();
        client.find(name, filter, document{options.native()}, phase,
                    [&](document document) { documents.push_back(std::move(document)); });
    };
    if (!sure.empty() && read_on_sole_primary(database_server, read)) {
        for (auto& one : documents) function(std::move(one));
        return;
    }
    bson_concat(sure.native(), options.native());
    database_server.connect().find(name, filter, std::move(sure), phase, function);
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/native.ipp>
#endif
