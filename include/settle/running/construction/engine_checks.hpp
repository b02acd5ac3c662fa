// SPDX-License-Identifier: BSL-1.0
// Checks of an engine's arguments; the compiler reports only the first fault.
#pragma once

#include <settle/running/construction/assembly.hpp>

#include <functional>

SETTLE_BEGIN

template <typename... Arguments>
class engine;

namespace detail {

enum class engine_fault {
    none,
    reported,
    definition,
    pointer,
    reference,
    bare_observer,
    unknown,
    no_type,
    one_log,
    twice,
    names,
    no_store,
    unbound,
    cannot_create,
    observer,
    environment
};

template <typename Argument>
inline constexpr bool is_refused_argument = std::is_same_v<Argument, refused_binding>;
template <auto const& Type>
inline constexpr bool is_refused_argument<type_tag<Type>> =
    !is_definition<typename type_tag<Type>::definition>;

template <typename Argument>
inline constexpr bool is_reference_wrapper = false;
template <typename T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

template <typename Argument>
inline constexpr bool takes_events = true;
template <typename Observer>
inline constexpr bool takes_events<observer_binding<Observer>> =
    std::is_invocable_v<Observer&, event const&>;

template <typename Argument>
inline constexpr bool is_environment_type = true;
template <typename Environment>
inline constexpr bool is_environment_type<environment_binding<Environment>> = requires(
    Environment const& environment, std::chrono::nanoseconds time, std::stop_token const& stop) {
    environment.now();
    environment.elapsed();
    environment.random();
    environment.pause(time, stop);
};

/// The fault of an argument that an engine does not accept, or none.
template <typename Argument>
consteval engine_fault fault_of_argument() {
    if constexpr (is_refused_argument<Argument>) return engine_fault::reported;
    else if constexpr (is_definition<Argument> || std::is_same_v<Argument, refused_transaction>)
        return engine_fault::definition;
    else if constexpr (!takes_events<Argument>) return engine_fault::observer;
    else if constexpr (!is_environment_type<Argument>) return engine_fault::environment;
    else if constexpr (is_known_argument<Argument>) return engine_fault::none;
    else if constexpr (is_pointer_like<Argument>) return engine_fault::pointer;
    else if constexpr (is_reference_wrapper<Argument>) return engine_fault::reference;
    else if constexpr (std::is_invocable_v<Argument&, event const&>)
        return engine_fault::bare_observer;
    else return engine_fault::unknown;
}

template <typename... Arguments>
consteval engine_fault first_fault_of_arguments() {
    engine_fault found = engine_fault::none;
    ((found = found == engine_fault::none ? fault_of_argument<Arguments>() : found), ...);
    return found;
}

template <typename... Arguments>
consteval engine_fault fault_of_engine() {
    if constexpr (first_fault_of_arguments<Arguments...>() != engine_fault::none) {
        return first_fault_of_arguments<Arguments...>();
    } else {
        using arguments = engine_arguments<Arguments...>;
        using left_over = typename arguments::left_over;
        if constexpr (!(is_type<Arguments> || ...)) return engine_fault::no_type;
        else if constexpr (arguments::databases + arguments::logs != 1)
            return engine_fault::one_log;
        else if constexpr (!arguments::each_once) return engine_fault::twice;
        else if constexpr (!names_differ<left_over>) return engine_fault::names;
        else if constexpr (!std::is_same_v<left_over, typename collections_of<left_over>::type>)
            return engine_fault::no_store;
        else if constexpr (arguments::databases != 1 && !std::is_same_v<left_over, type_list<>>)
            return engine_fault::unbound;
        else if constexpr (!stores_can<Arguments...>()) return engine_fault::cannot_create;
        else return engine_fault::none;
    }
}

template <engine_fault Fault>
consteval bool explain_engine() {
    static_assert(Fault != engine_fault::definition,
                  "settle: a transaction type is given by value. Name it with "
                  "settle::type<your_type>. See running#construction");
    static_assert(Fault != engine_fault::pointer,
                  "settle: an engine is given a pointer. Give it the database itself: *database. "
                  "See running#construction");
    static_assert(Fault != engine_fault::reference,
                  "settle: an engine is given a std::reference_wrapper. Give it the database "
                  "itself; an engine copies none. See running#construction");
    static_assert(Fault != engine_fault::bare_observer,
                  "settle: an engine is given a bare function. To observe, write "
                  "settle::observed_by(function). See running#construction");
    static_assert(Fault != engine_fault::unknown,
                  "settle: an engine takes databases, settle::log_in, settle::bind, settle::type, "
                  "settle::options and settle::observed_by; this is none of them. "
                  "See running#construction");
    static_assert(Fault != engine_fault::observer,
                  "settle: an observer cannot be called with an event. Give it one parameter, "
                  "settle::event const&. See running#construction");
    static_assert(Fault != engine_fault::environment,
                  "settle: an environment needs now(), elapsed(), random() and pause(time, stop), "
                  "as settle::system_environment has them. See running#construction");
    static_assert(Fault != engine_fault::no_type,
                  "settle: an engine needs a transaction type. Add settle::type<your_type>. "
                  "See running#construction");
    static_assert(Fault != engine_fault::one_log,
                  "settle: an engine has one log. Give it one database, or "
                  "settle::log_in(database) and settle::bind(collection, database). "
                  "See running#construction");
    static_assert(Fault != engine_fault::twice,
                  "settle: an engine is given something twice. Bind each collection once, and give "
                  "each type, settle::options, phases and observer once. See running#construction");
    static_assert(Fault != engine_fault::no_store,
                  "settle: a participant of this engine's types is no record, and no store "
                  "executes it. Add settle::bind(service, client), settle::bind(prepared, "
                  "database, work), or settle::bind(target, store) for another kind. "
                  "See running#construction");
    static_assert(Fault != engine_fault::names,
                  "settle: two collections of one name in an engine differ in their record or key. "
                  "Give each a name of its own, or an engine of its own. See definition#names");
    static_assert(Fault != engine_fault::unbound,
                  "settle: a collection is bound to no store. Add settle::bind(collection, "
                  "database). See running#construction");
    static_assert(Fault != engine_fault::cannot_create,
                  "settle: a store cannot create or erase records, and a type of this engine does. "
                  "Bind that collection to another store. See README#stores");
    return true;
}

template <typename Argument>
inline constexpr bool is_engine = false;
template <typename... Arguments>
inline constexpr bool is_engine<engine<Arguments...>> = true;

/// An engine refers to its databases: each is a variable that outlives it and is not const.
template <typename... Given>
constexpr bool check_databases() {
    constexpr bool lives =
        ((!is_database<std::remove_cvref_t<Given>> || std::is_lvalue_reference_v<Given>) && ...);
    constexpr bool changes = ((!is_database<std::remove_cvref_t<Given>> ||
                               !std::is_const_v<std::remove_reference_t<Given>>) &&
                              ...);
    constexpr bool is_new = (!is_engine<std::remove_cvref_t<Given>> && ...);
    static_assert(is_new, "settle: an engine is neither copied nor moved. Construct it where it "
                          "stays, or hold it by a std::unique_ptr. See running#construction");
    static_assert(lives || !is_new,
                  "settle: an engine is given a database that is a temporary. Make it a "
                  "variable that lives longer than the engine. See running#construction");
    static_assert(changes || !lives || !is_new,
                  "settle: an engine is given a const database. Remove the "
                  "const. See running#construction");
    return lives && changes && is_new;
}

/// Replaces the assembly when arguments were refused; never called.
template <typename Parts>
Parts nothing_assembled();

template <typename Parts, typename... Given>
Parts assembled(Given&&... given) {
    if constexpr (check_databases<Given...>()) return Parts(std::forward<Given>(given)...);
    else return nothing_assembled<Parts>();
}

} // namespace detail
SETTLE_END
