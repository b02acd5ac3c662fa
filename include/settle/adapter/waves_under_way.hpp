// SPDX-License-Identifier: BSL-1.0
// Waves that run side by side with waves of other stores. A wave has its own thread, or was sent to
// its server, and is ended by the thread that waits for it.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/base/process.hpp>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>

SETTLE_BEGIN
namespace detail {

/// Shape:   threads may share an object; the address of its results identifies a wave
/// Cost:    a thread for each wave that was not sent before. On an idle machine this is cheap
///          compared with the wait for a server
class waves_under_way {
public:
    waves_under_way() = default;
    waves_under_way(waves_under_way const&) = delete;
    waves_under_way& operator=(waves_under_way const&) = delete;
    ~waves_under_way() {
        // A forked child has no threads of its parent, so it does not wait for them.
        if (!made_in_.is_here()) static_cast<void>(waves_.release());
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
        try {
            wave.ended = std::async(
                is_sent ? std::launch::deferred : std::launch::async,
                [&wave, perform = std::move(perform)]() mutable { return perform(wave.kept); });
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

    /// Takes a wave out of the map; its thread continues with the node.
    typename waves::node_type take(std::span<part_result> results) {
        std::lock_guard const guard{mutex_};
        return waves_->extract(results.data());
    }

    process_stamp made_in_;
    std::mutex mutex_;
    std::unique_ptr<waves> waves_ = std::make_unique<waves>();
};

} // namespace detail
SETTLE_END
