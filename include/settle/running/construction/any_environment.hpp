// SPDX-License-Identifier: BSL-1.0
// An environment and an observer without their types, for the driver that is compiled once.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/running/driving/observer.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

/// Shape:   the environment outlives this view of it, and views that copy it
class environment_view {
public:
    template <typename Environment>
        requires(!std::is_base_of_v<environment_view, Environment>)
    explicit environment_view(Environment const& environment)
        : given_(&environment), functions_(&functions_of<Environment>) {}

    [[nodiscard]] timestamp now() const { return functions_->now(given_); }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return functions_->elapsed(given_); }
    [[nodiscard]] std::uint64_t random() const { return functions_->random(given_); }
    void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const {
        functions_->pause(given_, duration, stop);
    }

protected:
    /// Makes this a view of a copy of the environment, which it owns.
    void own() {
        owned_ = functions_->copy(given_);
        given_ = owned_.get();
    }

private:
    struct functions {
        timestamp (*now)(void const*);
        std::chrono::nanoseconds (*elapsed)(void const*);
        std::uint64_t (*random)(void const*);
        void (*pause)(void const*, std::chrono::nanoseconds, std::stop_token const&);
        std::shared_ptr<void const> (*copy)(void const*);
    };
    template <typename Environment>
    static constexpr functions functions_of{
        [](void const* value) { return static_cast<Environment const*>(value)->now(); },
        [](void const* value) { return static_cast<Environment const*>(value)->elapsed(); },
        [](void const* value) { return static_cast<Environment const*>(value)->random(); },
        [](void const* value, std::chrono::nanoseconds duration, std::stop_token const& stop) {
            static_cast<Environment const*>(value)->pause(duration, stop);
        },
        [](void const* value) -> std::shared_ptr<void const> {
            return std::make_shared<Environment>(*static_cast<Environment const*>(value));
        }};

    void const* given_;
    functions const* functions_;
    std::shared_ptr<void const> owned_{};
};

/// Shape:   Rules - of the order of a window
template <typename Rules>
struct any_environment : environment_view {
    using order_rules = Rules;
    using environment_view::environment_view;

    /// A copy that needs no other environment.
    [[nodiscard]] any_environment own_copy() const {
        any_environment copied = *this;
        copied.own();
        return copied;
    }
};

/// Shape:   the observer outlives this view of it
class any_observer {
public:
    any_observer() = default;
    template <typename Observer>
        requires(!std::is_same_v<Observer, any_observer>)
    explicit any_observer(Observer& observer) {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            given_ = &observer;
            call_ = [](void* to, event const& seen) { (*static_cast<Observer*>(to))(seen); };
        }
    }

    /// False if no observer was given.
    [[nodiscard]] bool watches() const noexcept { return call_ != nullptr; }
    void operator()(event const& seen) const { call_(given_, seen); }

private:
    void* given_ = nullptr;
    void (*call_)(void*, event const&) = nullptr;
};

} // namespace detail
SETTLE_END
