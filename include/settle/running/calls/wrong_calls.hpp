// SPDX-License-Identifier: BSL-1.0
// Calls that no function of an engine takes: one error sentence instead of a candidate list.
#pragma once

#include <settle/definition/collection.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/construction/options.hpp>

#include <type_traits>

SETTLE_BEGIN
namespace detail {

/// Matches any argument, also in braces. A function that takes the argument itself fits better.
struct anything {
    constexpr anything() = default;
    template <typename... Given>
    constexpr anything(Given&&...) {}
};

/// Stands for the session of a collection that the engine does not use. It compiles with every
/// call, so that the compiler prints one sentence.
struct refused_session {
    template <typename Collection>
    result<std::optional<typename Collection::record_type>> read(anything) {
        return {};
    }
    template <typename Collection>
    result<void> create(anything) {
        return {};
    }
    template <typename Collection>
    result<std::vector<typename Collection::record_type>> scan(anything, anything) {
        return {};
    }
    static refused_session& one() {
        static refused_session session;
        return session;
    }
};

/// True if the arguments fit a call for one transaction of a named type.
template <typename Parameters, typename... Given>
inline constexpr bool is_call_for = false;
template <typename Parameters, typename Given>
inline constexpr bool is_call_for<Parameters, Given> = std::is_convertible_v<Given, Parameters>;
template <typename Parameters, typename First, typename Second>
inline constexpr bool is_call_for<Parameters, First, Second> =
    (std::is_convertible_v<First, Parameters> && std::is_convertible_v<Second, call_options>) ||
    (std::is_convertible_v<First, transaction_id> && std::is_convertible_v<Second, Parameters>);
template <typename Parameters, typename First, typename Second, typename Third>
inline constexpr bool is_call_for<Parameters, First, Second, Third> =
    is_call_for<Parameters, First, Second> && std::is_convertible_v<Third, call_options>;

/// Shape:   Engine - brings these functions in among its own
template <typename Engine>
struct wrong_calls {
    outcome run(anything, anything = {}, anything = {}, anything = {}) { return refuse_run(); }
    outcome submit(anything, anything = {}, anything = {}, anything = {}) { return refuse_run(); }

    template <auto const& Type, typename... Given>
        requires(!is_call_for<typename forward<Type>::parameters, Given const&...>)
    outcome run(Given const&...) {
        return refuse_typed<Given...>();
    }
    template <auto const& Type, typename... Given>
        requires(!is_call_for<typename forward<Type>::parameters, Given const&...>)
    outcome submit(Given const&...) {
        return refuse_typed<Given...>();
    }

    // An engine that cannot be changed runs nothing.
    outcome run(anything, anything = {}, anything = {}, anything = {}) const {
        return refuse_const();
    }
    outcome submit(anything, anything = {}, anything = {}, anything = {}) const {
        return refuse_const();
    }
    batch_report run_all(anything, anything = {}, anything = {}, anything = {}) const {
        return refuse_const<batch_report>();
    }
    recovery_report recover(anything = {}) const { return refuse_const<recovery_report>(); }
    outcome cancel(anything, anything = {}) const { return refuse_const(); }

    template <typename Other = Engine>
    nothing run_all(anything, anything = {}, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'run_all' takes a range of parameters, or of pairs of an id and "
                      "parameters, and, if wanted, a function for (std::size_t, settle::outcome). "
                      "See running#many-at-a-time");
        return {};
    }
    template <typename Other = Engine>
    nothing read(anything, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'read' takes a collection and a key of its type. See running#calls");
        return {};
    }
    template <typename Record, fixed_string Name, auto Key, typename Given>
        requires(!std::is_convertible_v<Given const&, value_of<Key>>)
    Record at(collection<Record, Name, Key> const&, Given const&) {
        static_assert(sizeof(Given) == 0,
                      "settle: 'at' takes a collection and a key of its type. See running#calls");
        return {};
    }
    template <typename Other = Engine>
    result<void> create(anything, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'create' takes a collection and a record of its type. "
                      "See running#calls");
        return {};
    }
    template <typename Other = Engine>
    nothing create_all(anything, anything = {}, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'create_all' takes a collection, a range of its records and, if "
                      "wanted, a function for (std::size_t, settle::result<void>). "
                      "See running#calls");
        return {};
    }

private:
    template <typename Report = outcome, typename Other = Engine>
    static Report refuse_const() {
        static_assert(sizeof(Other) == 0,
                      "settle: this engine is const, and a call of it changes its state. Hold it "
                      "by a reference or a pointer that is not const. See running#calls");
        return {};
    }
    template <typename Other = Engine>
    static outcome refuse_run() {
        static_assert(sizeof(Other) == 0,
                      "settle: 'run' and 'submit' take an id, if wanted, then one value of a "
                      "type's parameter struct, then call options. See running#calls");
        return {};
    }
    template <typename... Given>
    static outcome refuse_typed() {
        static_assert(sizeof...(Given) == ~std::size_t{0},
                      "settle: 'run' and 'submit' of a named type take an id, if wanted, then the "
                      "parameters of that type, then call options. See running#calls");
        return {};
    }
};

} // namespace detail
SETTLE_END
