// SPDX-License-Identifier: BSL-1.0
// Native transactions of a replica set: begun, done again as long as others are in the way, and
// committed until it is known what became of them.
#pragma once

#include <settle/mongodb/bulk.hpp>
#include <settle/store/function_view.hpp>
#include <settle/store/native_wave.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <thread>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::commit_result;
using settle::detail::commit_status;

/// Pauses that grow, and differ from one caller to the next.
class pauses {
public:
    explicit pauses(std::chrono::milliseconds longest_in_all = longest_effort)
        : longest_in_all_(longest_in_all) {}

    static constexpr std::chrono::seconds longest_effort{15};

    /// False when it has been long enough.
    [[nodiscard]] bool next() {
        if (clock::now() - began_ > longest_in_all_) return false;
        thread_local std::minstd_rand chance{std::random_device{}()};
        std::uniform_int_distribution<std::int64_t> any{0, most_.count()};
        std::this_thread::sleep_for(std::chrono::microseconds{any(chance)});
        most_ = std::min(most_ * 2, std::chrono::microseconds{longest});
        return true;
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds longest{50};
    std::chrono::milliseconds longest_in_all_;
    clock::time_point began_ = clock::now();
    std::chrono::microseconds most_{500};
};

/// Does what opens a database, again from the start when the primary was lost meanwhile: another
/// one is elected within seconds.
/// Shape:   function(link) - may be called several times
template <typename Function>
void while_opening(server& at, Function&& function) {
    for (pauses between;;) {
        try {
            auto with = at.connect();
            return function(with);
        } catch (failure const& met) {
            if (!is_lost_primary(met.problem().code) || !between.next()) throw;
        }
    }
}

/// How much is done about the native transactions of others before the caller is told of them.
struct effort {
    std::chrono::milliseconds longest; ///< for which it is done again
    bool names;                        ///< then finds out which document is held
};
/// One whose caller does not try again.
inline constexpr effort for_long{pauses::longest_effort, true};
/// One or several of a wave, whose driver tries again and looks at deadlines in between.
/// Shape:   first - nothing is known to be held. Whoever is in the way of a wave soon commits, or
///          holds a document for long: then the wave is split, so that one document does not keep
///          the others back
[[nodiscard]] constexpr effort effort_for(std::size_t count, bool first) noexcept {
    using std::chrono::milliseconds;
    if (count == 1) return {milliseconds{first ? 50 : 0}, true};
    // Where a client with a whole wave has vanished, every part is held: each is tried once.
    return {milliseconds{first ? 100 : 0}, false};
}

/// Hands all to `attempt(part)`; where that gives false, the halves.
/// Shape:   attempt - gives true for a part of one
template <typename T, typename Attempt>
void in_halves(std::span<T> all, Attempt&& attempt) {
    if (all.empty() || attempt(all)) return;
    auto const half = all.size() / 2;
    in_halves(all.first(half), attempt);
    in_halves(all.subspan(half), attempt);
}

/// Transactions that met a document that another native transaction holds. Each goes alone until it
/// has succeeded, so that no wave has to be split for it again.
class held_up {
public:
    [[nodiscard]] bool contains(transaction_id const& id) {
        if (count_.load(std::memory_order_relaxed) == 0) return false;
        std::lock_guard const guard{mutex_};
        return ids_.contains(id);
    }
    void note(transaction_id const& id, bool is_held_up) {
        if (!is_held_up && count_.load(std::memory_order_relaxed) == 0) return;
        std::lock_guard const guard{mutex_};
        // Those whose callers gave up never succeed, and would stay.
        if (ids_.size() == most) ids_.clear();
        if (is_held_up) ids_.insert(id);
        else ids_.erase(id);
        count_.store(ids_.size(), std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t most = 1000;
    std::mutex mutex_;
    std::set<transaction_id> ids_;
    std::atomic<std::size_t> count_{0};
};

/// Whether another native transaction was in the way, so that nothing was done and parts of it may
/// be done by themselves. After an unknown end none may: it may yet have taken effect.
[[nodiscard]] inline bool is_conflict(commit_result const& ended) noexcept {
    return ended.status == commit_status::undone && is_conflict(ended.problem);
}

/// Does something in a native transaction.
/// Shape:   function(link) - is called anew, from the start, as long as others are in the way;
///          throws settle::failure to leave nothing done
class native_transaction {
public:
    explicit native_transaction(server& with) : link_(with.connect()) {
        std::unique_ptr<mongoc_session_opt_t, void (*)(mongoc_session_opt_t*)> const options{
            mongoc_session_opts_new(), &mongoc_session_opts_destroy};
        mongoc_session_opts_set_causal_consistency(options.get(), false);
        std::unique_ptr<mongoc_read_concern_t, void (*)(mongoc_read_concern_t*)> const reads{
            mongoc_read_concern_new(), &mongoc_read_concern_destroy};
        mongoc_read_concern_set_level(reads.get(), with.reads().native);
        std::unique_ptr<mongoc_transaction_opt_t, void (*)(mongoc_transaction_opt_t*)> const how{
            mongoc_transaction_opts_new(), &mongoc_transaction_opts_destroy};
        mongoc_transaction_opts_set_read_concern(how.get(), reads.get());
        mongoc_session_opts_set_default_transaction_opts(options.get(), how.get());
        bson_error_t problem{};
        session_.reset(mongoc_client_start_session(link_.native(), options.get(), &problem));
        if (!session_) problem_ = describe(problem, "begin a session");
    }

    using action = settle::detail::function_view<void(link&)>;

    /// Shape:   longest - for which it is done again
    [[nodiscard]] commit_result perform(action function, std::chrono::milliseconds longest) {
        if (!session_) return {commit_status::undone, problem_};
        for (pauses between{longest};;) {
            auto const ended = try_once(function);
            if (!again_ || !between.next()) return ended;
        }
    }

private:
    commit_result try_once(action function) {
        again_ = false;
        bson_error_t problem{};
        if (!mongoc_client_session_start_transaction(session_.get(), nullptr, &problem)) {
            return {commit_status::undone, describe(problem, "begin a native transaction")};
        }
        link_.enter(session_.get());
        try {
            function(link_);
        } catch (command_failure const& met) {
            abort();
            again_ = met.transient();
            return {commit_status::undone, met.problem()};
        } catch (failure const& met) {
            abort();
            return {commit_status::undone, met.problem()};
        } catch (...) {
            abort();
            throw;
        }
        link_.enter(nullptr);
        return commit();
    }

    commit_result commit() {
        for (pauses between;;) {
            reply told;
            bson_error_t problem{};
            if (mongoc_client_session_commit_transaction(session_.get(), told.fresh(), &problem)) {
                return {commit_status::committed, {}};
            }
            auto described = describe(problem, "commit");
            // The server says that it is not committed and never will be.
            if (told.transient()) {
                again_ = true;
                return {commit_status::undone, std::move(described)};
            }
            // Else nobody knows, whatever labels the answer has or lacks. Who asks again is told,
            // or commits what would stay open otherwise.
            if (described.code == condition::permanent || !between.next()) {
                return {commit_status::unknown, std::move(described)};
            }
        }
    }

    void abort() {
        link_.enter(nullptr);
        bson_error_t ignored{};
        mongoc_client_session_abort_transaction(session_.get(), &ignored);
    }

    struct destroyer {
        void operator()(mongoc_client_session_t* held) const noexcept {
            mongoc_client_session_destroy(held);
        }
    };
    link link_;
    std::unique_ptr<mongoc_client_session_t, destroyer> session_;
    error problem_;
    bool again_ = false;
};

/// What became of writes outside of a native transaction, as far as the bulk as a whole goes.
[[nodiscard]] inline commit_result ending_of(bulk_result const& result) {
    if (result.problem.empty()) return {commit_status::committed, {}};
    return {result.untouched ? commit_status::undone : commit_status::unknown, result.problem};
}

} // namespace mongodb::detail
SETTLE_END
