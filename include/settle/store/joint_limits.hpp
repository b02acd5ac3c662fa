// SPDX-License-Identifier: BSL-1.0
// The limits of several callers whose work is done together.
#pragma once

#include <settle/store/caller_wait.hpp>

#include <list>
#include <stop_token>
#include <tuple>

SETTLE_BEGIN
namespace detail {

/// How long several callers wait: the earliest limit ends the wait of their stores.
class joint_limits {
public:
    void add(wait_limits const* limits) {
        if (limits == nullptr) return;
        if (limits->deadline && (!all_.deadline || *limits->deadline < *all_.deadline)) {
            all_.deadline = limits->deadline;
        }
        if (!limits->stop.stop_possible()) return;
        if (!source_.stop_possible()) {
            source_ = std::stop_source{};
            all_.stop = source_.get_token();
        }
        callbacks_.emplace_back(limits->stop, stop_all{source_});
    }
    [[nodiscard]] wait_limits const& all() const noexcept { return all_; }

private:
    struct stop_all {
        std::stop_source source;
        void operator()() const { std::ignore = source.request_stop(); }
    };

    wait_limits all_{};
    std::stop_source source_{std::nostopstate};
    std::list<std::stop_callback<stop_all>> callbacks_{};
};

} // namespace detail
SETTLE_END
