// SPDX-License-Identifier: BSL-1.0
// Reports the calls of stores and of the log to an observer that takes them, with their times.
#pragma once

#include <settle/running/construction/any_environment.hpp>

SETTLE_BEGIN
namespace detail {

/// Cost:    no look at a clock, unless the observer takes calls
class call_watch {
public:
    call_watch() = default;
    /// Shape:   both outlive the object
    call_watch(any_observer const& observer, environment_view const& environment)
        : observer_(observer.takes_calls() ? &observer : nullptr), environment_(&environment) {}

    [[nodiscard]] bool takes_calls() const noexcept { return observer_ != nullptr; }
    /// The beginning of a call, for ended().
    [[nodiscard]] std::chrono::nanoseconds begin() const {
        return takes_calls() ? environment_->elapsed() : std::chrono::nanoseconds{0};
    }
    /// Shape:   is_unknown(answer) - true if that answer is of an unknown outcome
    template <typename Answers, typename Unknown>
    void ended(std::string_view store, step taken, std::chrono::nanoseconds begun,
               Answers const& answers, Unknown&& is_unknown) const {
        if (!takes_calls()) return;
        auto const unknown = std::count_if(answers.begin(), answers.end(), is_unknown);
        observer_->called({store, taken, answers.size(), static_cast<std::size_t>(unknown),
                           environment_->elapsed() - begun});
    }

private:
    any_observer const* observer_ = nullptr;
    environment_view const* environment_ = nullptr;
};

/// The name of the log in a store_call.
inline constexpr std::string_view log_name_of_calls = "log";

} // namespace detail
SETTLE_END
