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

#include <settle/store/native_wave.hpp>
#include <settle/store/operation.hpp>
#include <settle/testing/fault_plan.hpp>

#include <deque>
#include <mutex>
#include <tuple>

SETTLE_BEGIN
namespace testing {

namespace detail {

/// Copies of jobs, with copies of their parameters, for a write that is sent later.
class kept_jobs {
public:
    /// Shape:   others - jobs of the wave that this write leaves out
    explicit kept_jobs(std::span<job> wave, std::span<job* const> others = {})
        : jobs_(wave.begin(), wave.end()) {
        for (auto const* const one : others) {
            jobs_[static_cast<std::size_t>(one - wave.data())].resting = true;
        }
        for (auto& work : jobs_) {
            owned_.push_back(std::make_unique<std::max_align_t[]>(
                work.direction->size / sizeof(std::max_align_t) + 1));
            work.direction->copy(owned_.back().get(), work.parameters);
            work.parameters = owned_.back().get();
        }
    }
    ~kept_jobs() {
        for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].direction->destroy(owned_[i].get());
    }
    kept_jobs(kept_jobs const&) = delete;
    kept_jobs& operator=(kept_jobs const&) = delete;
    [[nodiscard]] std::span<job> wave() { return jobs_; }

private:
    std::vector<job> jobs_;
    std::vector<std::unique_ptr<std::max_align_t[]>> owned_; ///< storage for the parameters
};

/// A due part: the job's index in the wave and the part's index in the job.
using due_part = std::pair<std::size_t, std::size_t>;

template <template <typename> typename Holds, typename Direction>
std::vector<due_part> due_parts(std::span<job> wave, step at_step) {
    std::vector<due_part> found;
    for (std::size_t at = 0; at < wave.size(); ++at) {
        job const& work = wave[at];
        if (!work.takes(at_step)) continue;
        auto const& user = Direction::user(work.parameters_of<Direction>());
        std::size_t part = 0;
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t participant = decltype(index)::value;
            std::size_t const end = part + Direction::template lines<participant>(user);
            for (; part < end; ++part) {
                using collection = typename Direction::template collection_of<participant>;
                if (Holds<collection>::value && work.coordinator.due(part)) {
                    found.emplace_back(at, part);
                }
            }
        });
    }
    return found;
}

[[nodiscard]] inline error lost(fault_kind kind) {
    return {make_error_code(errc::store_unreachable),
            "settle: a test made this call " + std::string{name_of(kind)}};
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

    [[nodiscard]] fault ask(std::string_view what, bool to_log, std::size_t operations) {
        call current;
        {
            std::lock_guard const guard{mutex_};
            current = {++calls_, what, to_log, operations};
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

template <typename Database>
class faulty_log;

/// A session for the records of a faulty database.
template <typename Database, typename... Collections>
class faulty_records {
    using session_type =
        decltype(std::declval<Database&>().template bind<Collections...>(std::string{}));

public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    faulty_records(fault_source& source, Database& inner, std::string log_name)
        : source_(&source), inner_(&inner), log_name_(std::move(log_name)),
          session_(inner.template bind<Collections...>(log_name_)) {}

    template <typename Direction, typename Kind>
    void start(std::span<job> wave, Kind how) {
        auto due = detail::due_parts<holds, Direction>(wave, how.at());
        fault_ = {};
        hit_.clear();
        if (!due.empty()) {
            fault_ = source_->ask(name_of(how.at()), false, due.size());
            for (std::size_t i = 0; i < due.size(); ++i) {
                if ((fault_.operations >> (i % 64) & 1U) != 0) hit_.push_back(due[i]);
            }
        }
        if (fault_.kind == fault_kind::late) send_late<Direction>(wave, how, due);
        if (takes_no_effect()) answer_hit(wave, answer::unknown);
        session_.template start<Direction>(wave, how);
    }

    template <typename Direction, typename Kind>
    void finish(std::span<job> wave, Kind how) {
        session_.template finish<Direction>(wave, how);
        if (fault_.kind == fault_kind::crash_after) throw crash{};
        if (fault_.kind == fault_kind::unavailable) answer_hit(wave, answer::unavailable);
        // The whole wave has taken effect; only the answers are lost.
        if (fault_.kind == fault_kind::unknown_after) answer_hit(wave, answer::unknown);
    }

    void expect_others()
        requires settle::detail::overlaps_others<session_type>
    {
        session_.expect_others();
    }
    void abandon(std::span<job> wave)
        requires settle::detail::overlaps_others<session_type>
    {
        session_.abandon(wave);
    }

    /// Counts as one call to the log, because the entries carry its answers.
    template <typename Direction, typename Judge>
    void one_phase(std::span<job> wave, faulty_log<Database>& log, write_context const& at,
                 Judge const& judge) {
        log.template write<step::one_phase>(
            wave, at, [inner = inner_, name = log_name_, judge](auto& entries, auto jobs,
                                                                auto const& when) {
                auto records = inner->template bind<Collections...>(name);
                records.template one_phase<Direction>(jobs, entries, when, judge);
            });
    }
    static constexpr bool settles_in_one_phase = settle::detail::settles_in_one_phase<session_type>;

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        if (lost("read")) return detail::lost(fault_.kind);
        return session_.template read<C>(key);
    }
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        return session_.template create<C>(record);
    }
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        if (lost("scan")) return detail::lost(fault_.kind);
        return session_.template scan<C>(after, limit);
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                          std::size_t limit) {
        if (lost("marks")) return detail::lost(fault_.kind);
        return session_.marks(after, limit);
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        fault_ = source_->ask("resolve", false, 1);
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
    [[nodiscard]] bool takes_no_effect() const {
        return fault_.kind == fault_kind::unavailable || fault_.kind == fault_kind::late ||
               fault_.kind == fault_kind::unknown_before;
    }

    [[nodiscard]] bool lost(std::string_view what) {
        fault_ = source_->ask(what, false, 1);
        if (fault_.kind == fault_kind::crash_after) throw crash{};
        return fault_.kind != fault_kind::none;
    }

    void answer_hit(std::span<job> wave, answer given) {
        for (auto const& [at, part] : hit_) {
            wave[at].answered(part, given, detail::lost(fault_.kind));
        }
    }

    /// Stores copies of the hit operations for late delivery; their answers are dropped.
    template <typename Direction, typename Kind>
    void send_late(std::span<job> wave, Kind how, std::vector<detail::due_part> const& due) {
        auto kept = std::make_shared<detail::kept_jobs>(wave);
        for (auto const& part : due) {
            if (std::find(hit_.begin(), hit_.end(), part) != hit_.end()) continue;
            kept->wave()[part.first].coordinator.answered(part.second, answer::nothing);
        }
        source_->keep([kept, how, inner = inner_, name = log_name_] {
            auto session = inner->template bind<Collections...>(name);
            session.template start<Direction>(kept->wave(), how);
            session.template finish<Direction>(kept->wave(), how);
        });
    }

    fault_source* source_;
    Database* inner_;
    std::string log_name_;
    session_type session_;
    fault fault_;
    std::vector<detail::due_part> hit_;
};

/// A session for the log of a faulty database.
template <typename Database>
class faulty_log {
public:
    faulty_log(fault_source& source, Database& inner)
        : source_(&source), inner_(&inner), session_(inner.bind_log()) {}

    [[nodiscard]] std::string const& name() const { return session_.name(); }

    void insert(std::span<job> wave, write_context const& at) {
        write<step::insert>(wave, at,
                            [](auto& log, auto jobs, auto const& when) { log.insert(jobs, when); });
    }
    template <step Step>
    void change(std::span<job> wave, write_context const& at) {
        write<Step>(wave, at, [](auto& log, auto jobs, auto const& when) {
            log.template change<Step>(jobs, when);
        });
    }

    template <typename Found>
    void look_up(std::span<job> wave, Found&& found) {
        auto const jobs = settle::detail::jobs_of(wave, step::read);
        if (!lost("read", jobs.size())) return session_.look_up(wave, std::forward<Found>(found));
        for (auto* const work : jobs) found(*work, detail::lost(fault_kind::unavailable), false);
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

private:
    template <typename Inner, typename... Collections>
    friend class faulty_records;

    bool lost(std::string_view what, std::size_t operations = 1) {
        fault const planned = source_->ask(what, true, operations);
        if (planned.kind == fault_kind::crash_after) throw crash{};
        return planned.kind != fault_kind::none;
    }

    template <step Step, typename Write>
    void write(std::span<job> wave, write_context const& at, Write const& perform) {
        auto const due = settle::detail::jobs_of(wave, Step);
        fault const planned = source_->ask(name_of(Step), true, due.size());
        if (planned.kind == fault_kind::none || planned.kind == fault_kind::crash_after) {
            perform(session_, wave, at);
            if (planned.kind == fault_kind::crash_after) throw crash{};
            return;
        }
        // The jobs of one phase share a native transaction, so the fault hits all of them.
        auto const spared = Step == step::one_phase ? 0 : ~planned.operations;
        std::vector<job*> usual_jobs;
        std::vector<job*> faulty_jobs;
        for (std::size_t i = 0; i < due.size(); ++i) {
            ((spared >> (i % 64) & 1U) != 0 ? usual_jobs : faulty_jobs).push_back(due[i]);
        }
        auto kept = std::make_shared<detail::kept_jobs>(wave, usual_jobs);
        auto const send = [kept, inner = inner_, now = at.now, owner = at.owner, perform] {
            auto log = inner->bind_log();
            perform(log, kept->wave(), write_context{now, owner});
        };
        if (planned.kind == fault_kind::late) source_->keep(send);
        if (planned.kind == fault_kind::unknown_after) send();
        if (!usual_jobs.empty()) {
            for (auto* const work : faulty_jobs) work->resting = true;
            perform(session_, wave, at);
        }
        for (auto* const work : faulty_jobs) {
            work->resting = false;
            work->reply = planned.kind == fault_kind::unavailable ? log_answer::unavailable
                                                                : log_answer::unknown;
            work->problem = detail::lost(planned.kind);
        }
    }

    using session_type = decltype(std::declval<Database&>().bind_log());

    fault_source* source_;
    Database* inner_;
    session_type session_;
};

/// Wraps any database. Several wrappers may share a `fault_source`; its plan counts all their
/// calls. Shape:   inner - outlives this object, as do the engines that are built on it
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
