// SPDX-License-Identifier: BSL-1.0
// Looks at the marks of the bound stores and undoes the stray marks.
#pragma once

#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/marks.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/worker.hpp>

SETTLE_BEGIN
namespace detail {

/// How many marks the stores hold.
inline result<std::uint64_t> count_marks(std::span<store_port* const> stores, patience& patience) {
    std::uint64_t count = 0;
    error problem;
    auto const one_more = [&](mark_locator const&) { return ++count != 0; };
    for (store_port* const store : stores) for_each_mark(*store, patience, problem, one_more);
    if (!problem.empty()) return problem;
    return count;
}

/// Which marks a sweep undoes.
struct swept_marks {
    bool only_births = false; ///< only marks of calls that began before they had an entry
    /// Marks of younger births stay if they have no entry: their calls are probably under way.
    std::chrono::milliseconds older_than{0};
};

template <typename Rules>
class sweeper {
public:
    sweeper(seam_context<Rules> const& context, std::stop_token const& stop, swept_marks swept = {})
        : context_(context), call_{std::nullopt, stop}, patience_(context.patience_of(call_)),
          swept_(swept), now_(context.environment.now()) {}
    sweeper(sweeper const&) = delete;
    sweeper& operator=(sweeper const&) = delete;

    sweep_report sweep(std::span<store_port* const> stores) {
        for (store_port* const store : stores) {
            if (!ends()) sweep_store(*store);
        }
        context_.observer.swept(report_.undone);
        if (thrown_) std::rethrow_exception(thrown_);
        return std::move(report_);
    }

private:
    void sweep_store(store_port& store) {
        for_each_mark(store, patience_, report_.problem, [&](mark_locator const& locator) {
            if (thrown_) return false;
            if (call_.stop.stop_requested()) {
                report_.problem = stopped_early();
                return false;
            }
            ++report_.looked_at;
            if (!locator.fault.empty()) return note_failure(locator.id, locator.fault);
            if (swept_.only_births && !is_birth(locator.epoch_number)) return true;
            auto const stored = entry_of(locator.id, locator.epoch_number);
            if (!stored.has_value()) return note_failure(locator.id, stored.problem());
            bool const stray = is_stray(stored.value(), locator.epoch_number);
            // The commit's own mark outlives its closed entry only if the store was restored from
            // an older backup than the log.
            if (!stray && stored.value().state != state::done) return true;
            auto const ended = patience_([&] { return store.resolve(locator, !stray); });
            if (!ended.has_value()) return note_failure(locator.id, ended.problem());
            if (stray && ended.value() == answer::applied) ++report_.undone;
            return true;
        });
    }

    [[nodiscard]] bool ends() const { return thrown_ || !report_.problem.empty(); }

    /// Reports a failure; true if the sweep goes on. A permanent failure must not keep the sweep
    /// from later marks.
    bool note_failure(transaction_id const& id, error const& problem) {
        if (problem.code == condition::permanent) report_.skipped.push_back({id, problem});
        else report_.problem = problem;
        return report_.problem.empty();
    }

    /// The entry of a mark. For a mark without an entry, inserts one as canceled, or as a bar of
    /// the mark's birth, first: so a later insert finds it.
    result<standing> entry_of(transaction_id const& id, epoch marked) {
        auto const looked_up = patience_([&] { return context_.ports.log.read(id); });
        if (!looked_up.has_value()) return looked_up.problem();
        auto const& entries = looked_up.value();
        bool const is_free = !entries || (entries->state == state::barred && is_birth(marked) &&
                                          entries->epoch_number < marked);
        if (!is_free) return standing_of(*entries);
        // No mark is stray beside a bar of lower births.
        if (is_birth(marked) && is_young(marked)) return standing{state::barred, 0, 0, 0};
        auto buried = worker{context_}.bury(id, marked, call_);
        if (!thrown_) thrown_ = buried.thrown;
        if (buried.is_new) ++report_.tombstones;
        return std::move(buried.entry);
    }

    /// True if the call of a birth is probably under way.
    [[nodiscard]] bool is_young(epoch birth) const {
        auto const age = age_of(time_of_mark(birth), now_, context_.limits.clocks);
        return age < swept_.older_than;
    }

    seam_context<Rules> const& context_;
    call_options call_;
    patience patience_;
    swept_marks swept_;
    timestamp now_;
    sweep_report report_;
    std::exception_ptr thrown_; ///< an exception of the observer, about a tombstone
};

} // namespace detail
SETTLE_END
