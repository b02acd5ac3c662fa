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
            functions_ = &functions_of<Observer>;
        }
    }

    /// False if no observer was given.
    [[nodiscard]] bool watches() const noexcept { return given_ != nullptr; }
    void operator()(event const& seen) const { functions_->see(given_, seen); }
    [[nodiscard]] bool skips_plain_steps() const noexcept { return functions_->skips_plain_steps; }
    void left(std::string_view type) const noexcept {
        if (functions_->left != nullptr) functions_->left(given_, type);
    }
    [[nodiscard]] bool takes_calls() const noexcept {
        return watches() && functions_->called != nullptr;
    }
    void called(store_call const& call) const noexcept { functions_->called(given_, call); }
    void swept(std::uint64_t count) const noexcept {
        if (watches() && functions_->swept != nullptr) functions_->swept(given_, count);
    }

private:
    /// The members that an observer lacks are null.
    struct functions {
        void (*see)(void*, event const&);
        bool skips_plain_steps;
        void (*left)(void*, std::string_view) noexcept = nullptr;
        void (*called)(void*, store_call const&) noexcept = nullptr;
        void (*swept)(void*, std::uint64_t) noexcept = nullptr;
    };
    template <typename Observer>
    static constexpr functions functions_of = [] {
        functions known{[](void* to, event const& seen) { (*static_cast<Observer*>(to))(seen); },
                        skips_steps<Observer>};
        if constexpr (requires(Observer& to) { to.left(std::string_view{}); }) {
            known.left = [](void* to, std::string_view type) noexcept {
                static_cast<Observer*>(to)->left(type);
            };
        }
        if constexpr (requires(Observer& to, store_call const& call) { to.called(call); }) {
            known.called = [](void* to, store_call const& call) noexcept {
                static_cast<Observer*>(to)->called(call);
            };
        }
        if constexpr (requires(Observer& to) { to.swept(std::uint64_t{}); }) {
            known.swept = [](void* to, std::uint64_t count) noexcept {
                static_cast<Observer*>(to)->swept(count);
            };
        }
        return known;
    }();

    void* given_ = nullptr;
    functions const* functions_ = nullptr;
};

} // namespace detail
SETTLE_END
