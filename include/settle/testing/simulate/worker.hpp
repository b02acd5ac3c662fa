// SPDX-License-Identifier: BSL-1.0
// One worker of a simulation: a thread that calls its own engine.
#pragma once

#include <settle/running/engine.hpp>
#include <settle/testing/simulate/shared_state.hpp>
#include <settle/testing/simulate/worker_access.hpp>

#include <variant>

SETTLE_BEGIN
namespace testing::detail {

template <typename Made>
inline constexpr bool is_variant = false;
template <typename... Parameters>
inline constexpr bool is_variant<std::variant<Parameters...>> = true;

/// Calls `function(parameters)` with parameters or with the active alternative of a variant.
template <typename Made, typename Function>
void with_parameters(Made const& made, Function&& function) {
    if constexpr (is_variant<Made>) std::visit(function, made);
    else function(made);
}

/// Shape:   Make - called with a `dice&`; returns the parameters of a transaction
template <typename Make, typename... Arguments>
class worker {
public:
    using held = std::tuple<typename settle::detail::held_argument<Arguments>::type...>;

    worker(held& arguments, shared_state& shared, std::size_t number, Make const& make)
        : shared_(shared), number_(number), make_(make) {
        std::apply(
            [&](auto&... given) {
                arguments_ =
                    std::make_tuple(std::make_unique<own_argument<Arguments, shared_state>>(
                        given, shared, number)...);
            },
            arguments);
    }

    /// The body of the worker's thread.
    void live() {
        shared_.turns().await(number_);
        while (!shared_.over() && !dismissed_) {
            shared_.begin_life(number_);
            try {
                auto engine = make_engine();
                while (!shared_.over() && !dismissed_) act(engine);
            } catch (crash const&) {
                if (shared_.halted()) break;
                shared_.note_crash();
                shared_.pass(number_, chance().up_to(std::chrono::milliseconds{500}));
            } catch (std::exception const& thrown) {
                shared_.seen().complain(std::string{"thrown: "} + thrown.what());
            }
        }
        shared_.turns().leave(number_);
    }

private:
    /// The number of workers that stay after the last fault, to finish every transaction.
    static constexpr std::size_t closers = 3;

    auto make_engine() {
        return std::apply(
            [&](auto&... own) {
                return engine{own->get()...,
                              with_environment(simulated_environment{shared_, number_}),
                              shared_.limits().engine};
            },
            arguments_);
    }

    template <typename Engine>
    void act(Engine& engine) {
        if (!shared_.all_begun() || !shared_.calm()) {
            work_on(engine, chance().between(0, 99));
            shared_.pass(number_, chance().up_to(shared_.limits().longest_rest));
            return;
        }
        if (!retired_) shared_.retire();
        retired_ = true;
        if (number_ >= closers) dismissed_ = true;
        else close(engine);
    }

    template <typename Engine>
    void work_on(Engine& engine, int choice) {
        if (choice < 40) begin(engine, false);
        else if (choice < 50) begin_batch(engine);
        else if (choice < 60) begin(engine, true);
        else if (choice < 70) run_again(engine);
        else if (choice < 73) run_without_id(engine);
        else if (choice < 78) work(engine, 8);
        else if (choice < 82) recover(engine);
        else if (choice < 90) cancel(engine);
        else if (choice == 90 && shared_.limits().purges) purge(engine);
        else if (choice < 92) shared_.seen().note_report(engine.sweep());
        else reverse(engine);
    }

    template <typename Engine>
    void begin(Engine& engine, bool submits) {
        auto const number = shared_.begin_one();
        if (!number) return;
        with_parameters(made(*number), [&](auto const& parameters) {
            shared_.seen().note_outcome(submits
                                            ? engine.submit(name(*number), parameters, patience())
                                            : engine.run(name(*number), parameters, patience()));
        });
    }
    /// Runs a batch of consecutive transactions of one type.
    template <typename Engine>
    void begin_batch(Engine& engine) {
        auto const first = shared_.begin_one();
        if (!first) return;
        with_parameters(made(*first), [&]<typename Given>(Given const& parameters) {
            std::vector<std::pair<transaction_id, Given>> batch{{name(*first), parameters}};
            std::size_t const most = chance().between(std::size_t{2}, std::size_t{12});
            for (bool same = true; same && batch.size() < most;) {
                auto const number = shared_.begin_one();
                if (!number) break;
                same = false;
                with_parameters(made(*number), [&]<typename Next>(Next const& next) {
                    if constexpr (std::is_same_v<Next, Given>) {
                        batch.emplace_back(name(*number), next);
                        same = true;
                    } else {
                        shared_.seen().note_outcome(engine.run(name(*number), next, patience()));
                    }
                });
            }
            batch_options options;
            options.window = chance().between(std::size_t{1}, std::size_t{16});
            options.deadline = patience().deadline;
            for (outcome const& result : engine.run_all(batch, options)) {
                shared_.seen().note_outcome(result);
            }
        });
    }

    template <typename Engine>
    void run_again(Engine& engine) {
        std::uint64_t const number = recent_number();
        if (number == 0) return;
        with_parameters(made(number), [&](auto const& parameters) {
            shared_.seen().note_outcome(engine.run(name(number), parameters, patience()));
        });
    }
    template <typename Engine>
    void run_without_id(Engine& engine) {
        auto const number = shared_.begin_one();
        if (!number) return;
        with_parameters(made(*number), [&](auto const& parameters) {
            shared_.seen().note_outcome(engine.run(parameters, patience()));
        });
    }

    template <typename Engine>
    void work(Engine& engine, std::size_t most) {
        work_options options;
        options.limit = most;
        shared_.seen().note_report(engine.work(options));
    }
    template <typename Engine>
    void recover(Engine& engine) {
        constexpr std::chrono::milliseconds ages[]{std::chrono::milliseconds{0},
                                                   std::chrono::milliseconds{20},
                                                   std::chrono::milliseconds{500}};
        recover_options options;
        options.older_than = ages[chance().draw() % 3];
        options.limit = chance().between(std::size_t{1}, std::size_t{8});
        shared_.seen().note_report(engine.recover(options));
    }
    template <typename Engine>
    void purge(Engine& engine) {
        purge_options options;
        options.older_than = shared_.limits().engine.horizon() + std::chrono::milliseconds{1};
        options.step = chance().between(std::size_t{1}, std::size_t{100});
        // A purge that fails is continued by the next purge.
        static_cast<void>(engine.purge(options));
    }
    template <typename Engine>
    void cancel(Engine& engine) {
        cancel_options options;
        options.even_if_unknown = chance().draw() % 2 == 0;
        options.deadline = patience().deadline;
        // Sometimes an id that a worker begins soon after.
        bool const ahead = options.even_if_unknown && chance().draw() % 8 == 0;
        std::uint64_t const next = shared_.report().begun + chance().between(1U, 3U);
        shared_.seen().note_outcome(engine.cancel(ahead ? name(next) : recent(), options));
    }

    template <typename Engine>
    void reverse(Engine& engine) {
        // Both arguments draw from the dice, and their order of evaluation is unspecified.
        transaction_id const chosen = recent();
        shared_.seen().note_outcome(engine.reverse(chosen, patience()));
    }

    /// One round of work, recovery and sweep, as an operator's job does it.
    template <typename Engine>
    void close(Engine& engine) {
        recover_options options;
        options.older_than = std::chrono::seconds{1};
        work(engine, ~std::size_t{0});
        shared_.seen().note_report(engine.recover(options));
        shared_.seen().note_report(engine.sweep());
        if (shared_.quiet()) {
            auto const left = engine.marks();
            if (left.has_value() && left.value() == 0 && shared_.quiet()) return shared_.end();
        }
        shared_.pass(number_, std::chrono::milliseconds{chance().between(500, 2'000)});
    }

    /// The parameters depend on the number alone, so that every worker makes the same.
    auto made(std::uint64_t number) {
        dice own{hash_mix(static_cast<std::size_t>(shared_.limits().seed), number)};
        return make_(own);
    }
    static transaction_id name(std::uint64_t number) { return 't' + std::to_string(number); }
    std::uint64_t recent_number() {
        std::uint64_t const begun = shared_.report().begun;
        std::uint64_t const window = std::min<std::uint64_t>(begun, 2 * shared_.limits().workers);
        return begun - (window == 0 ? 0 : chance().draw() % window);
    }
    transaction_id recent() { return name(recent_number()); }

    call_options patience() {
        call_options call;
        if (chance().draw() % 8 == 0) {
            call.deadline = std::chrono::duration_cast<std::chrono::milliseconds>(
                chance().up_to(std::chrono::milliseconds{200}));
        }
        return call;
    }
    dice& chance() { return shared_.chance(); }

    shared_state& shared_;
    std::size_t number_;
    Make const& make_;
    std::tuple<std::unique_ptr<own_argument<Arguments, shared_state>>...> arguments_;
    bool retired_ = false;
    bool dismissed_ = false;
};

} // namespace testing::detail
SETTLE_END
