// SPDX-License-Identifier: BSL-1.0
// Calls that no function of an engine takes: one error sentence instead of a candidate list.
#pragma once

#include <settle/protocol/direction.hpp>
#include <settle/running/options.hpp>
#include <settle/running/outcome.hpp>

#include <type_traits>

SETTLE_BEGIN
namespace detail {

/// Matches any argument, also in braces. A function that takes the argument itself fits better.
struct anything {
    constexpr anything() = default;
    template <typename... Given>
    constexpr anything(Given&&...) {}
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

    template <typename Other = Engine>
    void run_all(anything, anything = {}, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'run_all' takes a range of parameters, or of pairs of an id and "
                      "parameters, and, if wanted, a function for (std::size_t, settle::outcome). "
                      "See running#many-at-a-time");
    }
    template <typename Other = Engine>
    void read(anything, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'read' takes a collection and a key of its type. See running#calls");
    }
    template <typename Other = Engine>
    void create(anything, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'create' takes a collection and a record of its type. "
                      "See running#calls");
    }
    template <typename Other = Engine>
    void create_all(anything, anything = {}, anything = {}, anything = {}) {
        static_assert(sizeof(Other) == 0,
                      "settle: 'create_all' takes a collection, a range of its records and, if "
                      "wanted, a function for (std::size_t, settle::result<void>). "
                      "See running#calls");
    }

private:
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
