// SPDX-License-Identifier: BSL-1.0
// Waves that run side by side with waves of other stores, each on its own thread.
#pragma once

#include <settle/store/native_wave.hpp>
#include <settle/store/process.hpp>

#include <future>
#include <map>
#include <mutex>
#include <system_error>

SETTLE_BEGIN
namespace detail {

/// Shape:   threads may share one; a wave is known by its first job
/// Cost:    a thread for each wave, which is little beside the wait for a server
template <typename UnitOfWork>
class waves_under_way {
public:
    waves_under_way() = default;
    waves_under_way(waves_under_way const&) = delete;
    waves_under_way& operator=(waves_under_way const&) = delete;
    ~waves_under_way() {
        // A forked child has no threads of its parent, so it does not wait for them.
        if (!made_in_.is_here()) static_cast<void>(new waves(std::move(waves_)));
    }

    using operations = std::vector<erased_operation<UnitOfWork>>;
    using answers = std::vector<kept_answer>;

    /// Begins `perform(operations, answers)`, which gives the ending, on another thread. False when
    /// there is none to be had: then nothing has begun, and the operations are the caller's again.
    /// Shape:   what perform looks at stays until finish() or abandon()
    template <typename Perform>
    [[nodiscard]] bool start(std::span<job> wave, operations& all, Perform perform) {
        std::lock_guard const guard{mutex_};
        one_wave& made = waves_[wave.data()];
        std::swap(made.all, all);
        try {
            made.ended = std::async(std::launch::async, [&made, perform = std::move(perform)] {
                return perform(made.all, made.kept);
            });
            return true;
        } catch (std::system_error const&) {
            std::swap(made.all, all);
            waves_.erase(wave.data());
            return false;
        } catch (...) {
            // No caller may wait for a wave that has not begun.
            waves_.erase(wave.data());
            throw;
        }
    }

    /// Waits for the end of a wave, and answers its operations. Nothing to do for one that was not
    /// started.
    void finish(std::span<job> wave) {
        auto const done = take(wave);
        if (!done) return;
        one_wave& here = done.mapped();
        deliver_all(here.all, here.kept, here.ended.get());
    }

    /// Waits for the end of a wave whose answers are no longer needed.
    void abandon(std::span<job> wave) noexcept {
        auto const done = take(wave);
        if (done) done.mapped().ended.wait();
    }

private:
    struct one_wave {
        operations all{};
        answers kept{};
        std::future<commit_result> ended{};
    };
    using waves = std::map<job const*, one_wave>;

    /// The thread goes on with what stands in the node.
    typename waves::node_type take(std::span<job> wave) {
        std::lock_guard const guard{mutex_};
        return waves_.extract(wave.data());
    }

    process_stamp made_in_;
    std::mutex mutex_;
    waves waves_;
};

} // namespace detail
SETTLE_END
