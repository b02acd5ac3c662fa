// SPDX-License-Identifier: BSL-1.0
// The driver's calls through the seam: it makes part requests and entry writes from jobs, and takes
// the answers. Nothing here depends on a transaction type, a store or a log.
#pragma once

#include <settle/running/job.hpp>
#include <settle/running/ports.hpp>

SETTLE_BEGIN
namespace detail {

/// The log and the stores of an engine, as the driver sees them.
struct engine_ports {
    log_port& log;
    std::span<std::unique_ptr<store_port> const> stores;
    std::span<target_binding const> targets;
};

/// Makes the part requests of jobs.
[[nodiscard]] part_request request_of(job const& work, part_descriptor const& one,
                                             std::size_t line, step action);

class seam_calls {
public:
    explicit seam_calls(engine_ports const& ports) : ports_(ports), waves_(ports.stores.size()) {}

    static constexpr bool takes_no_time = false;
    static constexpr bool one_phase = true;
    static constexpr bool several_stages = true;
    static constexpr bool one_at_a_time = false;

    /// Nothing is compiled for each direction.
    struct typed {};
    template <typename Direction>
    static constexpr typed const& of() noexcept {
        return nothing_typed;
    }

    template <step Step>
    void write(std::span<job> jobs, write_context const& at) {
        writes_.clear();
        writers_.clear();
        for (job& work : jobs) {
            if (!work.takes(Step)) continue;
            writes_.push_back(write_of<Step>(work));
            writers_.push_back(&work);
        }
        write_all(at);
    }

    /// Calls `found(job, result<std::optional<entry>>, same)` for each job that reads.
    void look_up(std::span<job> jobs,
                 function_view<void(job&, result<std::optional<entry>>&&, bool)> found);

    /// Has the stores execute the due parts of all jobs that take a step, side by side where they
    /// can.
    void execute(step action, std::span<job> jobs, typed const&);

    /// Settles the jobs that take step::one_phase, in the only store.
    void settle(std::span<job> jobs, write_context const& at, one_phase_decider& decider);

private:
    /// The requests to one store, with the job and the number of each part.
    struct wave {
        std::vector<part_request> requests{};
        std::vector<part_result> results{};
        std::vector<std::pair<job*, std::size_t>> parts{};

        void clear() {
            requests.clear();
            results.clear();
            parts.clear();
        }
        void deliver() {
            for (std::size_t at = 0; at < requests.size(); ++at) {
                auto const& [work, number] = parts[at];
                work->take(number, requests[at].part, *requests[at].descriptor, results[at]);
            }
        }
    };

    /// The waves of one step. If anything throws, the destructor ends the stores' waves before the
    /// requests are destroyed.
    class running {
    public:
        explicit running(seam_calls& of) : of_(of), begun_(of.waves_.size()) {}
        running(running const&) = delete;
        running& operator=(running const&) = delete;
        ~running() {
            for (std::size_t at = 0; at < begun_.size(); ++at) {
                if (begun_[at]) of_.ports_.stores[at]->abandon(of_.waves_[at].results);
            }
        }

        /// Stores that overlap others start first.
        void start() {
            for (bool const overlapping : {true, false}) {
                for (std::size_t at = 0; at < begun_.size(); ++at) {
                    store_port& store = *of_.ports_.stores[at];
                    wave& one = of_.waves_[at];
                    if (one.requests.empty() || store.overlaps() != overlapping) continue;
                    one.results.resize(one.requests.size());
                    begun_[at] = true;
                    store.start(one.requests, one.results);
                }
            }
        }
        void finish() {
            for (std::size_t at = 0; at < begun_.size(); ++at) {
                if (!begun_[at]) continue;
                begun_[at] = false;
                of_.ports_.stores[at]->finish(of_.waves_[at].results);
            }
        }

    private:
        seam_calls& of_;
        std::vector<bool> begun_;
    };

    void request_parts(job& work, step action);

    /// An engine binds every target of its types.
    [[nodiscard]] std::size_t store_of(part_descriptor const& one) const;

    void write_all(write_context const& at);

    static constexpr typed nothing_typed{};

    engine_ports ports_;
    std::vector<entry_write> writes_;
    std::vector<write_result> results_;
    std::vector<job*> writers_; ///< of the writes or reads
    std::vector<wave> waves_;   ///< one for each store
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/seam_calls.ipp>
#endif
