// SPDX-License-Identifier: BSL-1.0
// What a user gives an engine beside its databases: types, the place of the log, the store or
// client of each target, an environment, an observer.
#pragma once

#include <settle/kinds/prepared/prepared_session.hpp>
#include <settle/kinds/services/service_function.hpp>
#include <settle/kinds/services/service_session.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/observer.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN

template <auto const& Type>
struct type_tag {
    using definition = std::remove_cvref_t<decltype(Type)>;
};

/// Names a transaction type in an engine's arguments.
template <auto const& Type>
inline constexpr type_tag<Type> type{};

/// Makes an engine use two phases even where one native transaction could hold everything.
inline constexpr phases two_phases = phases::two;
/// Makes an engine with several stores insert every entry before it applies a part, so that the log
/// names each transaction from its beginning on.
inline constexpr phases early_entries = phases::joined;

template <typename Database>
struct log_binding {
    Database& database;
};

template <typename Target, typename Database>
struct store_binding {
    Database& database;
};

/// Shape:   Client - a ServiceClient, or a prepared_work, which the engine owns
template <typename Target, typename Client>
struct client_binding {
    Client database;
};

template <typename Environment>
struct environment_binding {
    Environment value;
};

template <typename Observer>
struct observer_binding {
    Observer value;
};

namespace detail {

/// The result of a refused binding; an engine accepts it without a further error.
struct refused_binding {};

template <typename T>
inline constexpr bool is_pointer_like =
    std::is_pointer_v<T> || requires(T& given) { given.operator*(); };

/// Shape:   Given - the type of a forwarding reference
template <typename Given>
constexpr bool check_database() {
    using database = std::remove_reference_t<Given>;
    constexpr bool pointer = is_pointer_like<std::remove_cv_t<database>>;
    constexpr bool lives = std::is_lvalue_reference_v<Given>;
    static_assert(!pointer, "settle: settle::log_in and settle::bind are given a pointer. Give "
                            "them the database itself: *database. See running#construction");
    static_assert(lives || pointer,
                  "settle: settle::log_in and settle::bind are given a database that is a "
                  "temporary. Make it a variable that lives longer than the engine. "
                  "See running#construction");
    static_assert(!std::is_const_v<database> || pointer || !lives,
                  "settle: settle::log_in and settle::bind are given a const database. Remove the "
                  "const. See running#construction");
    return !pointer && lives && !std::is_const_v<database>;
}

/// True if a client makes calls, or a store executes the parts of a service.
template <typename Client, typename Service>
inline constexpr bool makes_calls =
    ServiceClient<Client> || requires(Client& client, std::string const& log_name) {
        client.template bind<Service>(log_name);
    };

} // namespace detail

/// Puts the log into this database; settle::bind then names the database of each collection.
/// Shape:   database - outlives the engine
template <typename Database>
auto log_in(Database&& database) {
    using database_type = std::remove_reference_t<Database>;
    if constexpr (detail::check_database<Database>()) return log_binding<database_type>{database};
    else return detail::refused_binding{};
}

/// Puts the records of a collection into this database, has this client make the calls of a
/// service, or has this store execute the parts of a target of another kind.
/// A service in the same process is a function of the request and a service_call that returns a
/// settle::reply. Threads that share the engine call it at the same time. The engine owns a
/// function that is a temporary, and refers to any other.
template <typename Target, typename Given>
auto bind(Target const&, Given&& store) {
    using database_type = std::remove_reference_t<Given>;
    constexpr bool known = requires { kind_of_target<Target>::kind; };
    static_assert(known, "settle: settle::bind takes the collection or service first, then its "
                         "database or client. Write settle::bind(collection, database). "
                         "See running#construction");
    constexpr bool works = !detail::is_prepared<Target>;
    static_assert(works, "settle: settle::bind takes a settle::prepared, its database, and the "
                         "work: a function (connection&, request const&) that returns "
                         "settle::work_result. See running#construction");
    constexpr bool is_function = detail::takes_calls_of<database_type, Target>;
    constexpr bool answers =
        !detail::is_service<Target> || is_function || detail::makes_calls<database_type, Target>;
    static_assert(answers, "settle: settle::bind takes a service and its client, which has "
                           "send(calls, answers), or a function (request const&, "
                           "settle::service_call const&) that returns settle::reply<result>. "
                           "See running#construction");
    if constexpr (!known || !answers || !works) {
        return detail::refused_binding{};
    } else if constexpr (is_function) {
        using client = detail::service_function<Target, Given>;
        return client_binding<Target, client>{client{std::forward<Given>(store)}};
    } else if constexpr (detail::check_database<Given>()) {
        return store_binding<Target, database_type>{store};
    } else {
        return detail::refused_binding{};
    }
}

/// Replaces clock, random numbers and pauses, for tests.
template <typename Environment>
environment_binding<Environment> with_environment(Environment environment) {
    return {std::move(environment)};
}

/// Calls `observer(event const&)` at every step, on the thread that takes the step.
template <typename Observer>
observer_binding<Observer> observed_by(Observer observer) {
    return {std::move(observer)};
}

SETTLE_END
