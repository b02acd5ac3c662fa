// SPDX-License-Identifier: BSL-1.0
// What an engine learns from the types of its arguments: the transaction types, their targets, and
// the argument that stores each target.
#pragma once

#include <settle/protocol/reversal.hpp>
#include <settle/running/construction/binding.hpp>

#include <tuple>

SETTLE_BEGIN
namespace detail {

// ------------------------------------------------------------ lists of types

template <typename... Types>
struct type_list {};

template <typename... Lists>
struct joined {
    using type = type_list<>;
};
template <typename... Types>
struct joined<type_list<Types...>> {
    using type = type_list<Types...>;
};
template <typename... First, typename... Second, typename... Rest>
struct joined<type_list<First...>, type_list<Second...>, Rest...>
    : joined<type_list<First..., Second...>, Rest...> {};

template <bool Keeps, typename T>
using list_if = std::conditional_t<Keeps, type_list<T>, type_list<>>;

/// A list, and the added types that it lacks.
template <typename List, typename... Added>
struct append_all {
    using type = List;
};
template <typename... Types, typename First, typename... Rest>
struct append_all<type_list<Types...>, First, Rest...>
    : append_all<typename joined<type_list<Types...>,
                                 list_if<!(std::is_same_v<Types, First> || ...), First>>::type,
                 Rest...> {};

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

// ------------------------------------------------------------ what each argument is

/// A database without a binding is log and store.
enum class argument_kind : std::uint8_t { database, type, log, binding, other };

template <typename Argument>
inline constexpr argument_kind kind_of_argument = argument_kind::database;
template <auto const& Type>
inline constexpr argument_kind kind_of_argument<type_tag<Type>> = argument_kind::type;
template <typename Database>
inline constexpr argument_kind kind_of_argument<log_binding<Database>> = argument_kind::log;
template <typename Target, typename Database>
inline constexpr argument_kind kind_of_argument<store_binding<Target, Database>> =
    argument_kind::binding;
template <typename Target, typename Client>
inline constexpr argument_kind kind_of_argument<client_binding<Target, Client>> =
    argument_kind::binding;
template <typename Environment>
inline constexpr argument_kind kind_of_argument<environment_binding<Environment>> =
    argument_kind::other;
template <typename Observer>
inline constexpr argument_kind kind_of_argument<observer_binding<Observer>> = argument_kind::other;
template <>
inline constexpr argument_kind kind_of_argument<refused_binding> = argument_kind::other;
template <>
inline constexpr argument_kind kind_of_argument<options> = argument_kind::other;
template <>
inline constexpr argument_kind kind_of_argument<phases> = argument_kind::other;

template <typename Argument>
inline constexpr bool is_database = kind_of_argument<Argument> == argument_kind::database;
template <typename Argument>
inline constexpr bool is_type = kind_of_argument<Argument> == argument_kind::type;
template <typename Argument>
inline constexpr bool is_log = kind_of_argument<Argument> == argument_kind::log;
template <typename Argument>
inline constexpr bool is_binding = kind_of_argument<Argument> == argument_kind::binding;

/// What an engine has only once: each target of a binding, one environment, one observer, and any
/// other argument itself.
template <typename Argument>
struct role {
    using type = Argument;
};
template <typename Target, typename Database>
struct role<store_binding<Target, Database>> {
    using type = Target;
};
template <typename Target, typename Client>
struct role<client_binding<Target, Client>> {
    using type = Target;
};
template <typename Environment>
struct role<environment_binding<Environment>> {
    using type = environment_binding<void>;
};
template <typename Observer>
struct role<observer_binding<Observer>> {
    using type = observer_binding<void>;
};
template <typename Argument, typename Role>
inline constexpr bool has_role = std::is_same_v<typename role<Argument>::type, Role>;
template <typename Argument>
inline constexpr bool is_definition = false;
template <typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool is_definition<transaction_definition<P, Name, Guards, Participants...>> =
    true;

/// True if an engine accepts the argument. A database given by itself must be able to hold a log.
template <typename Argument>
inline constexpr bool is_known_argument = !is_database<Argument> || is_definition<Argument> ||
                                          requires(Argument& given) { given.bind_log(); };

// ------------------------------------------------------------ types and their targets

template <typename List, typename Definition>
struct append_targets;
template <typename List, typename P, fixed_string Name, typename Guards, typename... Participants>
struct append_targets<List, transaction_definition<P, Name, Guards, Participants...>>
    : append_all<List, typename Participants::target_type...> {};

template <typename Target>
inline constexpr bool is_collection = requires { typename Target::record_type; };

/// The collections of a list of targets.
template <typename Targets>
struct collections_of;
template <typename... Targets>
struct collections_of<type_list<Targets...>> : joined<list_if<is_collection<Targets>, Targets>...> {
};

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

template <typename Target, typename... Arguments>
inline constexpr bool is_bound = (has_role<Arguments, Target> || ...);

/// The targets of a list that no binding among the arguments names.
template <typename List, typename... Arguments>
struct unbound_by;
template <typename... Targets, typename... Arguments>
struct unbound_by<type_list<Targets...>, Arguments...>
    : joined<list_if<!is_bound<Targets, Arguments...>, Targets>...> {};

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
    using matches = find_direction<Parameters, Types>;
    static_assert(matches::count != 0,
                  "settle: no transaction type of this engine takes these parameters. Add it with "
                  "settle::type<your_type>. See running#construction");
    static_assert(matches::count <= 1,
                  "settle: two types take these parameters. Say which: run<your_type>(). "
                  "See running#construction");
    using type = typename matches::type;
};

/// True if every participant is a record. Only such a transaction can be reversed.
template <typename Definition>
inline constexpr bool is_reversible = false;
template <typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool is_reversible<transaction_definition<P, Name, Guards, Participants...>> =
    (RecordParticipant<Participants> && ...);

template <typename Direction>
struct opposite;
template <auto const& Type>
struct opposite<forward<Type>> {
    using type = backward<Type>;
};

/// Calls `function(std::type_identity<Direction>{})` for every type, forward and backward.
template <auto const&... Types, typename Function>
constexpr void for_each_direction(type_list<type_tag<Types>...>, Function&& function) {
    (function(std::type_identity<forward<Types>>{}), ...);
    [[maybe_unused]] auto const call_backward = [&] < auto const & Type > (type_tag<Type>) {
        if constexpr (is_reversible<typename type_tag<Type>::definition>) {
            function(std::type_identity<backward<Type>>{});
        }
    };
    (call_backward(type_tag<Types>{}), ...);
}

// ------------------------------------------------------------ what the stores must be able to do

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

/// A store that cannot create or erase has `static constexpr bool creates_records = false;`.
template <typename Database>
constexpr bool can_create() {
    if constexpr (requires { Database::creates_records; }) return Database::creates_records;
    else return true;
}

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

/// A tuple of the database's session for these targets, or an empty tuple without targets.
template <typename... Targets, typename Database>
auto session_for(type_list<Targets...>, [[maybe_unused]] Database& database,
                 [[maybe_unused]] std::string const& log_name) {
    if constexpr (sizeof...(Targets) == 0) {
        return std::tuple<>{};
    } else if constexpr (ServiceClient<Database>) {
        return std::make_tuple(service_session<Database, Targets...>{database, log_name});
    } else {
        return std::make_tuple(database.template bind<Targets...>(log_name));
    }
}

} // namespace detail
SETTLE_END
