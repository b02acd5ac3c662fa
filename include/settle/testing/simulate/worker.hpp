// SPDX-License-Identifier: BSL-1.0
// One worker of a simulation, and what it does with its engine.
#pragma once

#include <settle/running/engine.hpp>
#include <settle/testing/simulate/doorway.hpp>
#include <settle/testing/simulate/stage.hpp>

#include <variant>

SETTLE_BEGIN
namespace testing::detail {

template <typename Made>
inline constexpr bool is_variant = false;
template <typename... Parameters>
inline constexpr bool is_variant<std::variant<Parameters...>> = true;

/// Calls `function(parameters)` with what a maker made: parameters, or a variant of them.
template <typename Made, typename Function>
void with_parameters(Made const& made, Function&& function) {
    if constexpr (is_variant<Made>) std::visit(function, made);
    else function(made);
}

/// Shape:   Make - gives the parameters of a transaction for a `dice&`
template <typename Make, typename... Arguments>
class worker {
public:
    using held = std::tuple<typename settle::detail::held_argument<Arguments>::type...>;

    worker(held& arguments, stage& shared, std::size_t number, Make const& make)
        : stage_(shared), number_(number), make_(make) {
        std::apply(
            [&](auto&... given) {
                arguments_ = std::make_tuple(
                    std::make_unique<own_argument<Arguments, stage>>(given, shared, number)...);
            },
            arguments);
    }

    /// The worker's whole life, on a thread of its own.
    void live() {
        stage_.turns().await(number_);
        while (!stage_.over() && !dismissed_) {
            stage_.begin_life(number_);
            try {
                auto engine = make_engine();
                while (!stage_.over() && !dismissed_) act(engine);
            } catch (crash const&) {
                if (stage_.halted()) break;
                stage_.note_crash();
                stage_.pass(number_, chance().up_to(std::chrono::milliseconds{500}));
            } catch (std::exception const& thrown) {
                stage_.seen().complain(std::string{"thrown: "} + thrown.what());
            }
        }
        stage_.turns().leave(number_);
    }

private:
    /// After the faults have ended the first ones stay to bring everything to its end.
    static constexpr std::size_t closers = 3;

    auto make_engine() {
        return std::apply(
            [&](auto&... own) {
                return engine{own->get()...,
                              with_environment(stage_environment{stage_, number_}),
                              stage_.limits().engine};
            },
            arguments_);
    }

    template <typename Engine>
    void act(Engine& engine) {
        if (!stage_.all_begun() || !stage_.calm()) {
            work_on(engine, chance().between(0, 99));
            stage_.pass(number_, chance().up_to(std::chrono::milliseconds{1}));
            return;
        }
        if (!retired_) stage_.retire();
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
        else if (choice == 90 && stage_.limits().purges) purge(engine);
        else if (choice < 92) stage_.seen().note_report(engine.sweep());
        else reverse(engine);
    }

    template <typename Engine>
    void begin(Engine& engine, bool submits) {
        auto const number = stage_.begin_one();
        if (!number) return;
        with_parameters(made(*number), [&](auto const& given) {
            stage_.seen().note_outcome(submits ? engine.submit(name(*number), given, patience())
                                               : engine.run(name(*number), given, patience()));
        });
    }
    /// Several at a time, as many as are of one type in a row.
    template <typename Engine>
    void begin_batch(Engine& engine) {
        auto const first = stage_.begin_one();
        if (!first) return;
        with_parameters(made(*first), [&]<typename Given>(Given const& given) {
            std::vector<std::pair<transaction_id, Given>> batch{{name(*first), given}};
            std::size_t const most = chance().between(std::size_t{2}, std::size_t{12});
            for (bool same = true; same && batch.size() < most;) {
                auto const number = stage_.begin_one();
                if (!number) break;
                same = false;
                with_parameters(made(*number), [&]<typename Next>(Next const& next) {
                    if constexpr (std::is_same_v<Next, Given>) {
                        batch.emplace_back(name(*number), next);
                        same = true;
                    } else {
                        stage_.seen().note_outcome(engine.run(name(*number), next, patience()));
                    }
                });
            }
            batch_options wanted;
            wanted.window = chance().between(std::size_t{1}, std::size_t{16});
            wanted.deadline = patience().deadline;
            for (outcome const& told : engine.run_all(batch, wanted)) {
                stage_.seen().note_outcome(told);
            }
        });
    }

    template <typename Engine>
    void run_again(Engine& engine) {
        std::uint64_t const number = recent_number();
        if (number == 0) return;
        with_parameters(made(number), [&](auto const& given) {
            stage_.seen().note_outcome(engine.run(name(number), given, patience()));
        });
    }
    template <typename Engine>
    void run_without_id(Engine& engine) {
        auto const number = stage_.begin_one();
        if (!number) return;
        with_parameters(made(*number), [&](auto const& given) {
            stage_.seen().note_outcome(engine.run(given, patience()));
        });
    }

    template <typename Engine>
    void work(Engine& engine, std::size_t most) {
        work_options wanted;
        wanted.limit = most;
        stage_.seen().note_report(engine.work(wanted));
    }
    template <typename Engine>
    void recover(Engine& engine) {
        constexpr std::chrono::milliseconds ages[]{std::chrono::milliseconds{0},
                                                   std::chrono::milliseconds{20},
                                                   std::chrono::milliseconds{500}};
        recover_options wanted;
        wanted.older_than = ages[chance().draw() % 3];
        wanted.limit = chance().between(std::size_t{1}, std::size_t{8});
        stage_.seen().note_report(engine.recover(wanted));
    }
    template <typename Engine>
    void purge(Engine& engine) {
        purge_options wanted;
        wanted.older_than = stage_.limits().engine.horizon() + std::chrono::milliseconds{1};
        wanted.step = chance().between(std::size_t{1}, std::size_t{100});
        // That a call of it was lost says the report; the next one goes on.
        static_cast<void>(engine.purge(wanted));
    }
    template <typename Engine>
    void cancel(Engine& engine) {
        cancel_options wanted;
        wanted.even_if_unknown = chance().draw() % 2 == 0;
        wanted.deadline = patience().deadline;
        // Now and then an id that somebody will begin a moment later.
        bool const ahead = wanted.even_if_unknown && chance().draw() % 8 == 0;
        std::uint64_t const next = stage_.report().begun + chance().between(1U, 3U);
        stage_.seen().note_outcome(engine.cancel(ahead ? name(next) : recent(), wanted));
    }

    template <typename Engine>
    void reverse(Engine& engine) {
        // Compilers evaluate arguments in orders of their own, and each draws from the dice.
        transaction_id const chosen = recent();
        stage_.seen().note_outcome(engine.reverse(chosen, patience()));
    }

    /// What whoever cares for a log does, over and over.
    template <typename Engine>
    void close(Engine& engine) {
        recover_options wanted;
        wanted.older_than = std::chrono::seconds{1};
        work(engine, ~std::size_t{0});
        stage_.seen().note_report(engine.recover(wanted));
        stage_.seen().note_report(engine.sweep());
        if (stage_.quiet()) {
            auto const left = engine.marks();
            if (left.has_value() && left.value() == 0 && stage_.quiet()) return stage_.end();
        }
        stage_.pass(number_, std::chrono::milliseconds{chance().between(500, 2'000)});
    }

    /// The parameters of a transaction are those of its number, whoever begins it.
    auto made(std::uint64_t number) {
        dice own{hash_mix(static_cast<std::size_t>(stage_.limits().seed), number)};
        return make_(own);
    }
    static transaction_id name(std::uint64_t number) { return 't' + std::to_string(number); }
    std::uint64_t recent_number() {
        std::uint64_t const begun = stage_.report().begun;
        std::uint64_t const window = std::min<std::uint64_t>(begun, 2 * stage_.limits().workers);
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
    dice& chance() { return stage_.chance(); }

    stage& stage_;
    std::size_t number_;
    Make const& make_;
    std::tuple<std::unique_ptr<own_argument<Arguments, stage>>...> arguments_;
    bool retired_ = false;
    bool dismissed_ = false;
};

} // namespace testing::detail
SETTLE_END
