// SPDX-License-Identifier: BSL-1.0
// Wraps a database and injects the faults that a test plans: lost answers, late writes, crashes
// before or after a call.
//
//   settle::testing::faulty fragile{db};
//   fragile.plan(settle::testing::fault_at(3, settle::testing::fault_kind::late));
//   settle::engine engine{fragile, settle::type<…>};
//   engine.run(…);
//   fragile.deliver_late();
#pragma once

#include <settle/testing/fault_plan.hpp>
#include <settle/testing/kept_calls.hpp>

#include <deque>
#include <functional>
#include <map>
#include <mutex>

SETTLE_BEGIN
namespace testing {

namespace detail {

/// True if a fault hits an operation of a wave.
[[nodiscard]] constexpr bool hits(fault const& planned, std::size_t operation) {
    return (planned.operations >> (operation % 64) & 1U) != 0;
}
/// True if the operations that a fault hits take no effect before the call returns.
[[nodiscard]] constexpr bool takes_no_effect(fault_kind kind) {
    return kind == fault_kind::unavailable || kind == fault_kind::late ||
           kind == fault_kind::unknown_before;
}

[[nodiscard]] inline error lost(fault_kind kind) {
    return {make_error_code(errc::store_unreachable),
            "settle: a test injected this fault: " + std::string{name_of(kind)}};
}

/// The answer of a write that a fault hits.
inline void lose(write_result& result, fault_kind kind) {
    bool const certain = kind == fault_kind::unavailable;
    result.reply = certain ? log_answer::unavailable : log_answer::unknown;
    result.problem = lost(kind);
}

} // namespace detail

/// State shared by the sessions of a faulty database: plan, number of calls, late writes.
class fault_source {
public:
    void plan(fault_plan plan) { plan_ = std::move(plan); }

    /// The number of calls so far.
    [[nodiscard]] std::size_t calls() const {
        std::lock_guard const guard{mutex_};
        return calls_;
    }
    /// The number of undelivered late writes.
    [[nodiscard]] std::size_t late() const {
        std::lock_guard const guard{mutex_};
        return late_.size();
    }

    /// Performs one late write and drops its answer. False when there is no such write.
    /// Shape:   index - into the late writes, in the order in which they were sent
    bool deliver_one(std::size_t index = 0) {
        std::function<void()> write;
        {
            std::lock_guard const guard{mutex_};
            if (index >= late_.size()) return false;
            auto const chosen = late_.begin() + static_cast<std::ptrdiff_t>(index);
            write = std::move(*chosen);
            late_.erase(chosen);
        }
        write();
        return true;
    }
    /// Performs every late write, the oldest first.
    std::size_t deliver_late() {
        std::size_t count = 0;
        while (deliver_one()) ++count;
        return count;
    }

    // Called by the sessions:

    [[nodiscard]] fault next_fault(std::string_view name, bool to_log, std::size_t operations) {
        call current;
        {
            std::lock_guard const guard{mutex_};
            current = {++calls_, name, to_log, operations};
        }
        fault const planned = plan_ ? plan_(current) : fault{};
        if (planned.kind == fault_kind::crash_before) throw crash{};
        return planned;
    }
    void keep(std::function<void()> write) {
        std::lock_guard const guard{mutex_};
        late_.push_back(std::move(write));
    }

private:
    mutable std::mutex mutex_;
    std::size_t calls_ = 0;
    std::deque<std::function<void()>> late_;
    fault_plan plan_;
};

/// A session for the records of a faulty database.
template <typename Database, typename... Collections>
class faulty_records {
    using session_type =
        decltype(std::declval<Database&>().template bind<Collections...>(std::string{}));

public:
    template <typename C>
    using holds = typename session_type::template holds<C>;

    faulty_records(fault_source& source, Database& inner, std::string log_name)
        : source_(&source), inner_(&inner), log_name_(std::move(log_name)),
          session_(inner.template bind<Collections...>(log_name_)) {}

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        sent_wave wave = begin(requests);
        if (!wave.sent.empty()) session_.execute(wave.to_send(), std::span{wave.results});
        end(wave, results);
    }

    void expect_others()
        requires(settle::detail::capabilities<session_type>.overlaps_others)
    {
        session_.expect_others();
    }
    void start(std::span<part_request const> requests, std::span<part_result> results)
        requires(settle::detail::capabilities<session_type>.overlaps_others)
    {
        sent_wave& wave = waves_[results.data()] = begin(requests);
        if (!wave.sent.empty()) session_.start(wave.to_send(), std::span{wave.results});
    }
    void finish(std::span<part_result> results)
        requires(settle::detail::capabilities<session_type>.overlaps_others)
    {
        sent_wave wave = std::move(waves_.extract(results.data()).mapped());
        if (!wave.sent.empty()) session_.finish(std::span{wave.results});
        end(wave, results);
    }
    void abandon(std::span<part_result> results) noexcept
        requires(settle::detail::capabilities<session_type>.overlaps_others)
    {
        auto const position = waves_.find(results.data());
        if (position == waves_.end()) return;
        if (!position->second.sent.empty()) session_.abandon(std::span{position->second.results});
        waves_.erase(position);
    }

    [[nodiscard]] bool force(session_moment since)
        requires(settle::detail::capabilities<session_type>.confirms_lazily)
    {
        return session_.force(since);
    }
    static constexpr bool settles_in_one_phase =
        settle::detail::capabilities<session_type>.settles_in_one_phase;
    [[nodiscard]] settle::detail::session_capabilities capabilities() const {
        return settle::detail::capabilities_here(session_);
    }
    /// Counts as one call to the log, because the entries carry its answers.
    template <typename Log>
    void one_phase(std::span<one_phase_request> requests, Log& log, write_context const& context,
                   one_phase_decider& decider)
        requires requires(session_type& session) {
            session.one_phase(requests, log.session(), context, decider);
        }
    {
        fault const planned = source_->next_fault(name_of(step::one_phase), true, requests.size());
        if (planned.kind == fault_kind::none || planned.kind == fault_kind::crash_after) {
            session_.one_phase(requests, log.session(), context, decider);
            if (planned.kind == fault_kind::crash_after) throw crash{};
            return;
        }
        // The requests share a native transaction, so the fault hits all of them.
        auto kept = std::make_shared<detail::kept_one_phase>(requests, context, decider);
        auto const send = [kept, inner = inner_, name = log_name_] {
            kept->send(inner->template bind<Collections...>(name), inner->bind_log());
        };
        if (planned.kind == fault_kind::late) source_->keep(send);
        if (planned.kind == fault_kind::unknown_after) send();
        for (one_phase_request& one : requests) detail::lose(one.result, planned.kind);
    }

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        if (lost("read")) return detail::lost(fault_.kind);
        return session_.template read<C>(key);
    }
    /// A plan has no fault for a create, and does not count it as a call.
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        return session_.template create<C>(record);
    }
    template <typename C>
    result<std::vector<typename C::record_type>>
    scan(std::optional<typename C::key_type> const& after, std::size_t limit) {
        if (lost("scan")) return detail::lost(fault_.kind);
        return session_.template scan<C>(after, limit);
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) {
        if (lost("marks")) return detail::lost(fault_.kind);
        return session_.marks(after, limit);
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        fault_ = source_->next_fault("resolve", false, 1);
        if (fault_.kind == fault_kind::unavailable) return detail::lost(fault_.kind);
        if (fault_.kind == fault_kind::late) {
            source_->keep([inner = inner_, name = log_name_, locator, confirmed] {
                auto later = inner->template bind<Collections...>(name);
                static_cast<void>(later.resolve(locator, confirmed));
            });
        }
        bool const skip =
            fault_.kind == fault_kind::late || fault_.kind == fault_kind::unknown_before;
        auto resolved =
            skip ? result<answer>{answer::unknown} : session_.resolve(locator, confirmed);
        if (fault_.kind == fault_kind::crash_after) throw crash{};
        if (fault_.kind == fault_kind::unknown_after) return answer::unknown;
        return resolved;
    }

private:
    [[nodiscard]] bool lost(std::string_view name) {
        fault_ = source_->next_fault(name, false, 1);
        if (fault_.kind == fault_kind::crash_after) throw crash{};
        return fault_.kind != fault_kind::none;
    }

    /// A wave whose fault is known.
    struct sent_wave {
        fault planned{};
        std::vector<std::size_t> sent{}; ///< the indexes of the requests that reach the store
        std::vector<part_request> requests{};
        std::vector<part_result> results{};

        [[nodiscard]] std::span<part_request const> to_send() const { return requests; }
    };

    sent_wave begin(std::span<part_request const> requests) {
        sent_wave wave;
        if (requests.empty()) return wave;
        wave.planned =
            source_->next_fault(name_of(requests.front().action), false, requests.size());
        std::vector<part_request> hit;
        bool const holds_back = detail::takes_no_effect(wave.planned.kind);
        for (std::size_t index = 0; index < requests.size(); ++index) {
            if (holds_back && detail::hits(wave.planned, index)) {
                hit.push_back(requests[index]);
            } else {
                wave.sent.push_back(index);
                wave.requests.push_back(requests[index]);
            }
        }
        wave.results.resize(wave.sent.size());
        if (wave.planned.kind == fault_kind::late) {
            source_->keep(
                [kept = std::make_shared<detail::kept_parts>(std::move(hit)), inner = inner_,
                 name = log_name_] { kept->send(inner->template bind<Collections...>(name)); });
        }
        return wave;
    }

    static void end(sent_wave& wave, std::span<part_result> results) {
        auto const kind = wave.planned.kind;
        if (kind == fault_kind::crash_after) throw crash{};
        for (std::size_t at = 0; at < wave.sent.size(); ++at) {
            results[wave.sent[at]] = std::move(wave.results[at]);
        }
        if (kind == fault_kind::none) return;
        // With unknown_after, the whole wave has taken effect; only the answers are lost.
        answer const reply =
            kind == fault_kind::unavailable ? answer::unavailable : answer::unknown;
        for (std::size_t at = 0; at < results.size(); ++at) {
            if (detail::hits(wave.planned, at)) results[at].fail(reply, detail::lost(kind));
        }
    }

    fault_source* source_;
    Database* inner_;
    std::string log_name_;
    session_type session_;
    fault fault_;
    std::map<part_result const*, sent_wave> waves_; ///< under way, by their results
};

/// A session for the log of a faulty database.
template <typename Database>
class faulty_log {
    using session_type = decltype(std::declval<Database&>().bind_log());

public:
    static constexpr bool keeps_at_insert =
        settle::detail::capabilities<session_type>.keeps_at_insert;
    [[nodiscard]] settle::detail::session_capabilities capabilities() const {
        return settle::detail::capabilities_here(session_);
    }

    faulty_log(fault_source& source, Database& inner)
        : source_(&source), inner_(&inner), session_(inner.bind_log()) {}

    [[nodiscard]] std::string const& name() const { return session_.name(); }

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        if (writes.empty()) return;
        fault const planned =
            source_->next_fault(name_of(writes.front().action), true, writes.size());
        if (planned.kind == fault_kind::none || planned.kind == fault_kind::crash_after) {
            session_.write(writes, results, context);
            if (planned.kind == fault_kind::crash_after) throw crash{};
            return;
        }
        std::vector<std::size_t> usual;
        std::vector<entry_write> usual_writes;
        std::vector<write_result> usual_results;
        std::vector<entry_write> hit;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (detail::hits(planned, i)) {
                hit.push_back(writes[i]);
                detail::lose(results[i], planned.kind);
            } else {
                usual.push_back(i);
                usual_writes.push_back(writes[i]);
                usual_results.push_back(results[i]);
            }
        }
        auto const send = [kept = std::make_shared<detail::kept_writes>(std::move(hit), context),
                           inner = inner_] { kept->send(inner->bind_log()); };
        if (planned.kind == fault_kind::late) source_->keep(send);
        if (planned.kind == fault_kind::unknown_after) send();
        if (usual.empty()) return;
        session_.write(std::span<entry_write const>{usual_writes}, std::span{usual_results},
                       context);
        for (std::size_t i = 0; i < usual.size(); ++i) {
            results[usual[i]] = std::move(usual_results[i]);
        }
    }

    void look_up(std::span<read_request const> requests, found_function found) {
        if (!lost("read", requests.size())) return session_.look_up(requests, found);
        for (std::size_t at = 0; at < requests.size(); ++at) {
            found(at, detail::lost(fault_kind::unavailable), false);
        }
    }
    result<std::optional<entry>> read(transaction_id const& id) {
        if (lost("read")) return detail::lost(fault_kind::unavailable);
        return session_.read(id);
    }
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        if (lost("list")) return detail::lost(fault_kind::unavailable);
        return session_.list(filter, after, limit);
    }
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing) {
        if (lost("purge")) return detail::lost(fault_kind::unavailable);
        return session_.purge(before, limit, passed);
    }

    auto metadata(std::string_view name) { return session_.metadata(name); }
    auto replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                          std::string const& text) {
        return session_.replace_metadata(name, seen, text);
    }
    auto list_metadata(metadata_range const& names, std::size_t limit) {
        return session_.list_metadata(names, limit);
    }
    auto erase_metadata(metadata_range const& names) { return session_.erase_metadata(names); }
    auto home()
        requires(settle::detail::capabilities<session_type>.keeps_home)
    {
        return session_.home();
    }
    auto take_home(log_home const& seen, bool renames)
        requires(settle::detail::capabilities<session_type>.keeps_home)
    {
        return session_.take_home(seen, renames);
    }

    [[nodiscard]] auto& session() { return session_; }

private:
    bool lost(std::string_view name, std::size_t operations = 1) {
        fault const planned = source_->next_fault(name, true, operations);
        if (planned.kind == fault_kind::crash_after) throw crash{};
        return planned.kind != fault_kind::none;
    }

    fault_source* source_;
    Database* inner_;
    session_type session_;
};

/// Wraps any database. Several wrappers may share a `fault_source`; its plan counts all their
/// calls.
/// Shape:   inner - outlives this object and its late writes; this object, or the shared
///          fault_source, outlives every engine that is built on it
template <typename Database>
class faulty {
public:
    explicit faulty(Database& inner)
        : own_(std::make_unique<fault_source>()), source_(own_.get()), inner_(&inner) {}
    faulty(Database& inner, fault_source& shared) : source_(&shared), inner_(&inner) {}

    template <typename... Collections>
    faulty_records<Database, Collections...> bind(std::string const& log_name) {
        return {*source_, *inner_, log_name};
    }
    faulty_log<Database> bind_log() { return {*source_, *inner_}; }

    [[nodiscard]] fault_source& source() { return *source_; }
    void plan(fault_plan plan) { source_->plan(std::move(plan)); }
    [[nodiscard]] std::size_t calls() const { return source_->calls(); }
    std::size_t deliver_late() { return source_->deliver_late(); }

private:
    std::unique_ptr<fault_source> own_;
    fault_source* source_;
    Database* inner_;
};

} // namespace testing
SETTLE_END
