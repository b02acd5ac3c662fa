// SPDX-License-Identifier: BSL-1.0
// The arguments of an engine: a log, stores for collections and other targets, types, limits, an
// observer.
#pragma once

#include <settle/kinds/prepared/prepared_session.hpp>
#include <settle/kinds/services/service_function.hpp>
#include <settle/kinds/services/service_session.hpp>
#include <settle/protocol/reversal.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/observer.hpp>
#include <settle/store/seam.hpp>

#include <tuple>

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
auto bind(Target const&, Given&& given) {
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
        return client_binding<Target, client>{client{std::forward<Given>(given)}};
    } else if constexpr (detail::check_database<Given>()) {
        return store_binding<Target, database_type>{given};
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

namespace detail {

template <typename... Types>
struct type_list {};

template <typename List, typename T>
struct append_unique;
template <typename... Types, typename T>
struct append_unique<type_list<Types...>, T> {
    using type = std::conditional_t<(std::is_same_v<Types, T> || ...), type_list<Types...>,
                                    type_list<Types..., T>>;
};

template <typename List, typename... Added>
struct append_all {
    using type = List;
};
template <typename List, typename First, typename... Rest>
struct append_all<List, First, Rest...> {
    using type = typename append_all<typename append_unique<List, First>::type, Rest...>::type;
};

template <typename List, typename Definition>
struct append_targets;
template <typename List, typename P, fixed_string Name, typename Guards, typename... Participants>
struct append_targets<List, transaction_definition<P, Name, Guards, Participants...>> {
    using type = typename append_all<List, typename Participants::target_type...>::type;
};

template <typename Target>
inline constexpr bool is_collection = requires { typename Target::record_type; };

/// The collections of a list of targets.
template <typename List, typename... Targets>
struct collections_among {
    using type = List;
};
template <typename... Found, typename First, typename... Rest>
struct collections_among<type_list<Found...>, First, Rest...>
    : std::conditional_t<is_collection<First>,
                         collections_among<type_list<Found..., First>, Rest...>,
                         collections_among<type_list<Found...>, Rest...>> {};
template <typename Targets>
struct collections_of;
template <typename... Targets>
struct collections_of<type_list<Targets...>> : collections_among<type_list<>, Targets...> {};

// The contribution of each argument of an engine. A database without a binding is log and store.
template <typename Argument>
struct contribution {
    static constexpr bool is_database = true;
};
template <auto const& Type>
struct contribution<type_tag<Type>> {
    static constexpr bool is_database = false;
    static constexpr bool is_type = true;
};
template <typename Database>
struct contribution<log_binding<Database>> {
    static constexpr bool is_database = false;
    static constexpr bool is_log = true;
};
template <typename Target, typename Database>
struct contribution<store_binding<Target, Database>> {
    static constexpr bool is_database = false;
    static constexpr bool is_binding = true;
    using target = Target;
};
template <typename Service, typename Client>
struct contribution<client_binding<Service, Client>> {
    static constexpr bool is_database = false;
    static constexpr bool is_binding = true;
    using target = Service;
};
template <typename Environment>
struct contribution<environment_binding<Environment>> {
    static constexpr bool is_database = false;
    using role = environment_binding<void>;
};
template <typename Observer>
struct contribution<observer_binding<Observer>> {
    static constexpr bool is_database = false;
    using role = observer_binding<void>;
};
template <>
struct contribution<refused_binding> {
    static constexpr bool is_database = false;
};
template <>
struct contribution<options> {
    static constexpr bool is_database = false;
};
template <>
struct contribution<phases> {
    static constexpr bool is_database = false;
};

template <typename Argument>
inline constexpr bool is_database = contribution<Argument>::is_database;
template <typename Argument>
inline constexpr bool is_log = requires { contribution<Argument>::is_log; };
template <typename Argument>
inline constexpr bool is_binding = requires { contribution<Argument>::is_binding; };
template <typename Argument>
inline constexpr bool is_type = requires { contribution<Argument>::is_type; };

template <typename Argument>
struct role {
    using type = Argument;
};
template <typename Argument>
    requires requires { typename contribution<Argument>::role; }
struct role<Argument> {
    using type = typename contribution<Argument>::role;
};
template <typename Argument>
    requires is_binding<Argument>
struct role<Argument> {
    using type = typename contribution<Argument>::target;
};

template <typename... Types>
inline constexpr bool all_differ = true;
template <typename First, typename... Rest>
inline constexpr bool all_differ<First, Rest...> =
    (!std::is_same_v<First, Rest> && ...) && all_differ<Rest...>;

template <typename Targets>
inline constexpr bool names_differ = true;
template <typename... Targets>
inline constexpr bool names_differ<type_list<Targets...>> =
    all_different<sizeof...(Targets)>({Targets::name...});

template <typename Argument>
inline constexpr bool is_environment = false;
template <typename Environment>
inline constexpr bool is_environment<environment_binding<Environment>> = true;
template <typename Argument>
inline constexpr bool is_observer = false;
template <typename Observer>
inline constexpr bool is_observer<observer_binding<Observer>> = true;

template <typename Argument>
inline constexpr bool is_definition = false;
template <typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool is_definition<transaction_definition<P, Name, Guards, Participants...>> =
    true;

/// True if an engine accepts the argument. A database given by itself must be able to hold a log.
template <typename Argument>
inline constexpr bool is_known_argument = !is_database<Argument> || is_definition<Argument> ||
                                          requires(Argument& given) { given.bind_log(); };

template <typename Moment>
inline constexpr bool makes_or_ends_records = false;
template <bool Creates, bool Erases, typename... Effects>
inline constexpr bool makes_or_ends_records<moment<Creates, Erases, Effects...>> =
    Creates || Erases;

/// True when a participant creates or erases a record of this target.
template <typename Target, typename Definition>
inline constexpr bool changes_existence = false;
template <typename Target, typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool
    changes_existence<Target, transaction_definition<P, Name, Guards, Participants...>> =
        ((std::is_same_v<Target, typename Participants::target_type> &&
          (makes_or_ends_records<typename moments_of<Participants>::apply> ||
           makes_or_ends_records<typename moments_of<Participants>::confirm>)) ||
         ...);

/// True if every participant is a record. Only such a transaction can be reversed.
template <typename Definition>
inline constexpr bool is_reversible = false;
template <typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool is_reversible<transaction_definition<P, Name, Guards, Participants...>> =
    (RecordParticipant<Participants> && ...);

/// A store that cannot create or erase has `static constexpr bool creates_records = false;`.
template <typename Database>
constexpr bool can_create() {
    if constexpr (requires { Database::creates_records; }) return Database::creates_records;
    else return true;
}

/// The types among an engine's arguments, and the targets of their participants.
template <typename Targets, typename Types, typename... Arguments>
struct gather {
    using targets = Targets;
    using collections = typename collections_of<Targets>::type;
    using types = Types;
};
template <typename Targets, typename... Types, auto const& Type, typename... Rest>
struct gather<Targets, type_list<Types...>, type_tag<Type>, Rest...>
    : gather<typename append_targets<Targets, typename type_tag<Type>::definition>::type,
             type_list<Types..., type_tag<Type>>, Rest...> {};
template <typename Targets, typename Types, typename Other, typename... Rest>
struct gather<Targets, Types, Other, Rest...> : gather<Targets, Types, Rest...> {};

/// The targets of a list that no binding names.
template <typename List, typename... Bound>
struct unbound;
template <typename... Bound>
struct unbound<type_list<>, Bound...> {
    using type = type_list<>;
};
template <typename First, typename... Rest, typename... Bound>
struct unbound<type_list<First, Rest...>, Bound...> {
    using rest = typename unbound<type_list<Rest...>, Bound...>::type;
    template <typename List>
    struct with;
    template <typename... Types>
    struct with<type_list<Types...>> {
        using type = type_list<First, Types...>;
    };
    using type = typename std::conditional_t<(std::is_same_v<First, Bound> || ...),
                                             std::type_identity<rest>, with<rest>>::type;
};

template <typename List, typename... Arguments>
struct unbound_by;
template <typename List>
struct unbound_by<List> {
    using type = List;
};
template <typename List, typename First, typename... Rest>
struct unbound_by<List, First, Rest...> {
    using type = typename unbound_by<List, Rest...>::type;
};
template <typename List, typename Target, typename Database, typename... Rest>
struct unbound_by<List, store_binding<Target, Database>, Rest...> {
    using type = typename unbound_by<typename unbound<List, Target>::type, Rest...>::type;
};
template <typename List, typename Service, typename Client, typename... Rest>
struct unbound_by<List, client_binding<Service, Client>, Rest...> {
    using type = typename unbound_by<typename unbound<List, Service>::type, Rest...>::type;
};

template <typename Targets, typename Types>
inline constexpr bool any_existence = false;
template <typename... Targets, auto const&... Types>
inline constexpr bool any_existence<type_list<Targets...>, type_list<type_tag<Types>...>> =
    ([]<typename T>(std::type_identity<T>) {
        return (changes_existence<T, typename type_tag<Types>::definition> || ...);
    }(std::type_identity<Targets>{}) ||
     ...);

template <typename LeftOver, typename Types, typename Argument>
constexpr bool store_can(std::type_identity<Argument>) {
    return can_create<Argument>() || !is_database<Argument> || !any_existence<LeftOver, Types>;
}
template <typename LeftOver, typename Types, typename Target, typename Database>
constexpr bool store_can(std::type_identity<store_binding<Target, Database>>) {
    return can_create<Database>() || !any_existence<type_list<Target>, Types>;
}

/// True when every store has the capabilities that the types require of its collections.
template <typename... Arguments>
constexpr bool stores_can() {
    using gathered = gather<type_list<>, type_list<>, Arguments...>;
    using left_over = typename unbound_by<typename gathered::targets, Arguments...>::type;
    return (store_can<left_over, typename gathered::types>(std::type_identity<Arguments>{}) && ...);
}

/// The direction with these parameters, and how many types have them.
template <typename Parameters, typename Types>
struct find_direction;
template <typename Parameters>
struct find_direction<Parameters, type_list<>> {
    using type = undescribed;
    static constexpr std::size_t count = 0;
};
template <typename Parameters, auto const& Type, typename... Rest>
struct find_direction<Parameters, type_list<type_tag<Type>, Rest...>> {
    using next = find_direction<Parameters, type_list<Rest...>>;
    static constexpr bool fits =
        std::is_same_v<Parameters, typename type_tag<Type>::definition::parameters_type>;
    using type = std::conditional_t<fits, forward<Type>, typename next::type>;
    static constexpr std::size_t count = next::count + (fits ? 1 : 0);
};

/// The only direction with these parameters.
template <typename Parameters, typename Types>
struct direction_search {
    using found = find_direction<Parameters, Types>;
    static_assert(found::count != 0,
                  "settle: no transaction type of this engine takes these parameters. Add it with "
                  "settle::type<your_type>. See running#construction");
    static_assert(found::count <= 1,
                  "settle: two types take these parameters. Say which: run<your_type>(). "
                  "See running#construction");
    using type = typename found::type;
};

template <typename Direction>
struct opposite;
template <auto const& Type>
struct opposite<forward<Type>> {
    using type = backward<Type>;
};

/// Calls `function(std::type_identity<Direction>{})` for every type, forward and backward.
template <auto const&... Types, typename Function>
void for_each_direction(type_list<type_tag<Types>...>, Function&& function) {
    (function(std::type_identity<forward<Types>>{}), ...);
    [[maybe_unused]] auto const call_backward = [&] < auto const & Type > (type_tag<Type>) {
        if constexpr (is_reversible<typename type_tag<Type>::definition>) {
            function(std::type_identity<backward<Type>>{});
        }
    };
    (call_backward(type_tag<Types>{}), ...);
}

/// A tuple of the database's session for these targets, or an empty tuple without targets.
template <typename... Targets, typename Database>
auto session_for(type_list<Targets...>, Database& database, std::string const& log_name) {
    if constexpr (sizeof...(Targets) == 0) {
        static_cast<void>(database);
        static_cast<void>(log_name);
        return std::tuple<>{};
    } else if constexpr (ServiceClient<Database>) {
        return std::make_tuple(service_session<Database, Targets...>{database, log_name});
    } else {
        return std::make_tuple(database.template bind<Targets...>(log_name));
    }
}

} // namespace detail

SETTLE_END
