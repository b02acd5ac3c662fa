// SPDX-License-Identifier: BSL-1.0
// Waves that run side by side with waves of other stores. A wave has its own thread, or was sent to
// its server, and is ended by the thread that waits for it.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/base/process.hpp>
#include <settle/store/caller_wait.hpp>

#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Shape:   threads may share an object; the address of its results identifies a wave
/// Cost:    a thread for each wave that was not sent before. On an idle machine this is cheap
///          compared with the wait for a server
class waves_under_way {
public:
    using moment = std::chrono::steady_clock::time_point;

    waves_under_way() = default;
    waves_under_way(waves_under_way const&) = delete;
    waves_under_way& operator=(waves_under_way const&) = delete;
    ~waves_under_way() {
        // A forked child has no threads of its parent, so it does not wait for them.
        if (made_in_.is_here()) return;
        static_cast<void>(waves_.release());
        static_cast<void>(left_.release());
    }

    /// Begins `perform(kept)`, which returns the commit result, on another thread. False if no
    /// thread can be started: then nothing has begun.
    /// Shape:   everything that perform uses stays until finish() or abandon(); is_sent - the wave
    ///          was sent to its server, so finish() calls perform, which waits for the answers
    template <typename Perform>
    [[nodiscard]] bool start(std::span<part_result> results, Perform perform,
                             bool is_sent = false) {
        std::lock_guard const guard{mutex_};
        one_wave& wave = (*waves_)[results.data()];
        auto const* const told = caller_wait::limits();
        auto limits = told == nullptr ? wait_limits{} : *told;
        try {
            wave.ended = std::async(
                is_sent ? std::launch::deferred : std::launch::async,
                [&wave, limits = std::move(limits), perform = std::move(perform)]() mutable {
                    caller_wait const within{limits};
                    return perform(wave.kept);
                });
            return true;
        } catch (std::system_error const&) {
            waves_->erase(results.data());
            return false;
        } catch (...) {
            // No caller may wait for a wave that has not begun.
            waves_->erase(results.data());
            throw;
        }
    }

    /// Waits for the end of a wave, and sets its results. Nothing to do for a wave that was not
    /// started.
    void finish(std::span<part_result> results) {
        auto const done = take(results);
        if (!done) return;
        one_wave& wave = done.mapped();
        set_results(results, wave.kept, wave.ended.get());
    }

    /// As finish_by() of the seam.
    [[nodiscard]] bool finish_by(std::span<part_result> results, moment until,
                                 wave_end const& over) {
        auto const done = std::make_shared<node>(take(results));
        if (done->empty()) return true;
        auto ended = done->mapped().ended.share();
        try {
            // A thread receives the answers of a wave that was sent.
            if (ended.wait_until(until) == std::future_status::deferred) {
                ended = std::async(std::launch::async, [sent = ended] { return sent.get(); });
            }
            if (ended.wait_until(until) != std::future_status::ready) {
                leave(results, done, ended, over);
                return false;
            }
        } catch (std::system_error const&) {
            // No thread can be started, so this one waits.
        }
        set_results(results, done->mapped().kept, ended.get());
        return true;
    }

    /// Waits for the end of a wave whose results are no longer needed.
    void abandon(std::span<part_result> results) noexcept {
        auto const done = take(results);
        if (done) done.mapped().ended.wait();
    }

private:
    struct one_wave {
        std::vector<part_result> kept{};
        std::future<commit_result> ended{};
    };
    using waves = std::map<part_result const*, one_wave>;

    using node = waves::node_type;

    /// Takes a wave out of the map; its thread continues with the node.
    node take(std::span<part_result> results) {
        std::lock_guard const guard{mutex_};
        return waves_->extract(results.data());
    }
    /// Has a thread set the results when the wave is over.
    void leave(std::span<part_result> results, std::shared_ptr<node> const& left,
               std::shared_future<commit_result> const& ended, wave_end const& over) {
        std::lock_guard const guard{mutex_};
        std::erase_if(*left_, [](std::future<void> const& each) {
            return each.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        });
        left_->push_back(std::async(std::launch::async, [results, left, ended, over] {
            set_results(results, left->mapped().kept, result_of(ended));
            *left = {};
            over();
        }));
    }
    [[nodiscard]] static commit_result result_of(std::shared_future<commit_result> const& ended) {
        try {
            return ended.get();
        } catch (std::exception const& thrown) {
            return {commit_status::unknown,
                    {make_error_code(errc::store_unreachable),
                     std::string{"settle: the wave of a store failed: "}
                         .append(thrown.what())
                         .append(". See running#undecided")}};
        }
    }

    process_stamp made_in_;
    std::mutex mutex_;
    std::unique_ptr<waves> waves_ = std::make_unique<waves>();
    /// The waves that were left; their threads end before the object does.
    std::unique_ptr<std::vector<std::future<void>>> left_ =
        std::make_unique<std::vector<std::future<void>>>();
};

} // namespace detail
SETTLE_END
