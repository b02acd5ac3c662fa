// SPDX-License-Identifier: BSL-1.0
// Waves that run side by side with waves of other stores. A wave has its own thread, or was sent to
// its server, and is ended by the thread that waits for it.
#pragma once

#include <settle/adapter/kept_threads.hpp>
#include <settle/adapter/native_wave.hpp>
#include <settle/base/process.hpp>
#include <settle/store/caller_wait.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Shape:   threads may share an object; the address of its results identifies a wave
/// Cost:    a thread, which is kept, for each wave that is under way and was not sent before
class waves_under_way {
public:
    using moment = std::chrono::steady_clock::time_point;

    waves_under_way() = default;
    waves_under_way(waves_under_way const&) = delete;
    waves_under_way& operator=(waves_under_way const&) = delete;
    ~waves_under_way() {
        // A forked child has no threads of its parent, so it does not wait for them.
        if (!made_in_.is_here()) static_cast<void>(threads_.release());
    }

    /// Begins `perform(kept)`, which returns the commit result, on another thread. False if no
    /// thread can be started: then nothing has begun.
    /// Shape:   everything that perform uses stays until the wave is over; is_sent - the wave was
    ///          sent to its server, so whoever waits for it calls perform, which takes the answers
    template <typename Perform>
    [[nodiscard]] bool start(std::span<part_result> results, Perform perform,
                             bool is_sent = false) {
        auto const* const told = caller_wait::limits();
        auto const wave = std::make_shared<one_wave>();
        wave->action = [kept = &wave->kept, limits = told == nullptr ? wait_limits{} : *told,
                        shared = std::make_shared<Perform>(std::move(perform))] {
            caller_wait const within{limits};
            return (*shared)(*kept);
        };
        wave->is_sent = is_sent;
        {
            std::lock_guard const guard{mutex_};
            waves_[results.data()] = wave;
        }
        if (is_sent) return true;
        try {
            perform_beside(wave);
            return true;
        } catch (std::system_error const&) {
            static_cast<void>(take(results));
            return false;
        } catch (...) {
            // No caller may wait for a wave that has not begun.
            static_cast<void>(take(results));
            throw;
        }
    }

    /// Waits for the end of a wave, and sets its results. Nothing to do for a wave that was not
    /// started.
    void finish(std::span<part_result> results) {
        auto const wave = take(results);
        if (wave == nullptr) return;
        wait(*wave);
        if (wave->thrown) std::rethrow_exception(wave->thrown);
        set_results(results, wave->kept, wave->ended);
    }

    /// As finish_by() of the seam.
    [[nodiscard]] bool finish_by(std::span<part_result> results, moment until,
                                 wave_end const& over) {
        auto own_over = over; // what may fail comes before the wave has nobody who waits for it
        auto const wave = take(results);
        if (wave == nullptr) return true;
        try {
            if (wave->is_sent) perform_beside(wave);
        } catch (std::exception const&) {
            perform(*wave); // no thread can be had, so this one waits
        }
        {
            std::unique_lock guard{mutex_};
            if (!changed_.wait_until(guard, until, [&] { return wave->is_over; })) {
                wave->results = results;
                wave->over = std::move(own_over);
                return false;
            }
        }
        if (wave->thrown) std::rethrow_exception(wave->thrown);
        set_results(results, wave->kept, wave->ended);
        return true;
    }

    /// Waits for the end of a wave whose results are no longer needed.
    void abandon(std::span<part_result> results) noexcept {
        auto const wave = take(results);
        if (wave != nullptr) wait(*wave);
    }

private:
    struct one_wave {
        std::function<commit_result()> action{};
        std::vector<part_result> kept{};
        commit_result ended{};
        std::exception_ptr thrown{};
        bool is_sent = false;
        bool is_over = false;
        // Of a wave that was left.
        std::span<part_result> results{};
        wave_end over{};
    };

    /// Takes a wave out of the map; whoever performs it has a pointer of his own.
    [[nodiscard]] std::shared_ptr<one_wave> take(std::span<part_result> results) {
        std::lock_guard const guard{mutex_};
        auto const known = waves_.extract(results.data());
        return known ? known.mapped() : nullptr;
    }
    /// Errors:  throws if no thread can be had; then the wave has not begun
    void perform_beside(std::shared_ptr<one_wave> const& wave) {
        threads_->perform([this, wave] { perform(*wave); });
    }
    void perform(one_wave& wave) noexcept {
        commit_result ended;
        std::exception_ptr thrown;
        try {
            ended = wave.action();
        } catch (...) {
            thrown = std::current_exception();
        }
        std::unique_lock guard{mutex_};
        wave.ended = std::move(ended);
        wave.thrown = thrown;
        wave.is_over = true;
        if (!wave.over) return changed_.notify_all();
        guard.unlock();
        set_left_results(wave);
        wave.over();
    }
    void wait(one_wave& wave) {
        if (wave.is_sent) return perform(wave);
        std::unique_lock guard{mutex_};
        changed_.wait(guard, [&] { return wave.is_over; });
    }
    static void set_left_results(one_wave& wave) {
        if (wave.thrown) {
            wave.ended = {commit_status::unknown,
                          {make_error_code(errc::store_unreachable),
                           "settle: the wave of a store failed by an exception of the library or "
                           "the system. See running#undecided"}};
        }
        set_results(wave.results, wave.kept, wave.ended);
    }

    process_stamp made_in_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<part_result const*, std::shared_ptr<one_wave>> waves_;
    std::unique_ptr<kept_threads> threads_ = std::make_unique<kept_threads>(); ///< end first
};

} // namespace detail
SETTLE_END
