// SPDX-License-Identifier: BSL-1.0
// An environment and an observer without their types, for the driver that is compiled once.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/running/driving/observer.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   Rules - of the order of a window; copies share one environment
template <typename Rules>
class any_environment {
public:
    using order_rules = Rules;

    template <typename Environment>
        requires(!std::is_same_v<Environment, any_environment>)
    explicit any_environment(Environment const& given)
        : held_(std::make_shared<holder<Environment>>(given)) {}

    [[nodiscard]] timestamp now() const { return held_->now(); }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return held_->elapsed(); }
    [[nodiscard]] std::uint64_t random() const { return held_->random(); }
    void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const {
        held_->pause(duration, stop);
    }

private:
    class port {
    public:
        port() = default;
        port(port const&) = delete;
        port& operator=(port const&) = delete;
        virtual ~port() = default;
        [[nodiscard]] virtual timestamp now() const = 0;
        [[nodiscard]] virtual std::chrono::nanoseconds elapsed() const = 0;
        [[nodiscard]] virtual std::uint64_t random() const = 0;
        virtual void pause(std::chrono::nanoseconds duration,
                           std::stop_token const& stop) const = 0;
    };
    template <typename Environment>
    class holder final : public port {
    public:
        explicit holder(Environment const& given) : given_(given) {}
        [[nodiscard]] timestamp now() const override { return given_.now(); }
        [[nodiscard]] std::chrono::nanoseconds elapsed() const override { return given_.elapsed(); }
        [[nodiscard]] std::uint64_t random() const override { return given_.random(); }
        void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const override {
            given_.pause(duration, stop);
        }

    private:
        Environment given_;
    };

    std::shared_ptr<port const> held_;
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
