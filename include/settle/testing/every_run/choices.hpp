// SPDX-License-Identifier: BSL-1.0
// The choices of one run, enumerated so that every run is made once.
#pragma once

#include <settle/testing/explore/replay.hpp>

SETTLE_BEGIN
namespace testing {

/// The forks of one run with the alternative taken at each; `next` moves to the next run.
class run_choices {
public:
    /// Shape:   mishaps - the most mishaps in a run
    explicit run_choices(std::size_t mishaps) : mishaps_(mishaps) {}
    /// Repeats one run and records its trace.
    explicit run_choices(replay const& again) : mishaps_(~std::size_t{0}), tracing_(true) {
        for (auto const taken : again.moves()) forks_.push_back({taken, 0, 0});
    }

    /// Chooses between normal behaviour, 0, and mishaps.
    /// Shape:   alternatives - the number of alternatives
    std::size_t mishap(std::size_t alternatives) {
        std::size_t const taken = choose(alternatives, spent_ == mishaps_ ? 1 : alternatives);
        if (taken != 0) ++spent_;
        return taken;
    }
    /// Chooses between alternatives that are all normal.
    std::size_t turn(std::size_t alternatives) { return choose(alternatives, alternatives); }

    /// Called at the end of a run.
    /// Errors:  throws std::logic_error when the run ended before its last known fork
    void check_end() const {
        if (at_ == forks_.size()) return;
        throw std::logic_error("settle: this run cannot be repeated: it ended after " +
                               std::to_string(at_) + " of " + std::to_string(forks_.size()) +
                               " forks");
    }

    /// Moves to the next run; false after the last run.
    bool next() {
        while (!forks_.empty() && forks_.back().taken + 1 == forks_.back().offered) {
            forks_.pop_back();
        }
        if (forks_.empty()) return false;
        ++forks_.back().taken;
        at_ = spent_ = 0;
        return true;
    }

    [[nodiscard]] std::size_t spent() const noexcept { return spent_; }

    /// The name of the run so far: the alternative at each fork, without the zeros at the end.
    [[nodiscard]] std::string name() const {
        std::size_t last = at_;
        while (last > 0 && forks_[last - 1].taken == 0) --last;
        std::string path;
        for (std::size_t i = 0; i < last; ++i) {
            path += (i == 0 ? "" : ".") + std::to_string(forks_[i].taken);
        }
        return path;
    }

    /// Adds the line `words()` to the trace, when this run records a trace.
    template <typename Words>
    void note(Words const& words) {
        if (!tracing_) return;
        trace_ += words();
        trace_ += '\n';
    }
    [[nodiscard]] std::string const& trace() const noexcept { return trace_; }

private:
    struct fork {
        std::size_t taken;
        std::size_t alternatives; ///< 0 before the first visit
        std::size_t offered;      ///< the number of alternatives that a run may take, from 0
    };

    std::size_t choose(std::size_t alternatives, std::size_t offered) {
        if (alternatives == 1) return 0;
        if (at_ == forks_.size()) forks_.push_back({0, alternatives, offered});
        fork& current = forks_[at_++];
        if (current.alternatives == 0) current.alternatives = alternatives;
        if (current.alternatives != alternatives || current.taken >= alternatives) {
            throw std::logic_error(
                "settle: this run cannot be repeated: there are " + std::to_string(alternatives) +
                " alternatives, where it took number " + std::to_string(current.taken + 1) +
                " of " + std::to_string(current.alternatives));
        }
        return current.taken;
    }

    std::vector<fork> forks_;
    std::size_t mishaps_;
    std::size_t spent_ = 0;
    std::size_t at_ = 0;
    bool tracing_ = false;
    std::string trace_;
};

} // namespace testing
SETTLE_END
