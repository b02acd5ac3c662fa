// SPDX-License-Identifier: BSL-1.0
// The parts of an engine: one log, a session for each store, types, limits, an environment.
#pragma once

#include <settle/running/calls/doubts.hpp>
#include <settle/running/calls/finisher.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/shared_windows.hpp>
#include <settle/running/calls/wrong_calls.hpp>
#include <settle/running/construction/argument_lists.hpp>
#include <settle/running/construction/home.hpp>
#include <settle/running/construction/horizon.hpp>
#include <settle/running/construction/owner.hpp>
#include <settle/running/construction/prepared_binding.hpp>
#include <settle/running/driving/seam_driver.hpp>

SETTLE_BEGIN

template <typename Calls, typename Environment, typename Observer>
class driver;

namespace detail {

template <typename Log, typename Sessions>
class container_calls;
template <typename Assembly, typename Direction>
class container_window;

template <typename Argument>
struct held_argument {
    using type = Argument;
};
template <typename Argument>
    requires is_database<Argument>
struct held_argument<Argument> {
    using type = Argument&; // an engine refers to a database and never copies it
};

/// True if an argument binds a collection to a database of this type.
template <typename Argument, typename Host>
inline constexpr bool holds_collection_in = false;
template <typename Target, typename Host>
inline constexpr bool holds_collection_in<store_binding<Target, Host>, Host> =
    is_collection<Target>;

/// The arguments of an engine, and the role of each.
template <typename... Arguments>
class engine_arguments {
public:
    using gathered = gather<type_list<>, type_list<>, Arguments...>;
    using left_over = typename unbound_by<typename gathered::targets, Arguments...>::type;
    static constexpr std::size_t databases = (std::size_t{0} + ... + is_database<Arguments>);
    static constexpr std::size_t logs = (std::size_t{0} + ... + is_log<Arguments>);
    static constexpr bool each_once = all_differ<typename role<Arguments>::type...>;

    template <typename... Given>
    explicit engine_arguments(Given&&... given) : arguments_(std::forward<Given>(given)...) {}

    auto bind_log() {
        auto& given = std::get<log_at>(arguments_);
        if constexpr (databases == 1) return given.bind_log();
        else return given.database.bind_log();
    }
    auto bind_stores(std::string const& log_name) {
        return std::apply(
            [&](auto&... given) { return std::tuple_cat(bind_store(given, log_name)...); },
            arguments_);
    }
    /// Calls `function(session)` for each session of collections that the log's own database holds.
    template <typename Function>
    void with_own_stores(std::string const& log_name, Function&& function) {
        auto& argument = std::get<log_at>(arguments_);
        auto& host = [&]() -> auto& {
            if constexpr (databases == 1) return argument;
            else return argument.database;
        }();
        std::apply([&](auto&... each) { (with_own_store(each, host, log_name, function), ...); },
                   arguments_);
    }
    /// The index of the first session of records in the log's own database; their number if there
    /// is none.
    [[nodiscard]] std::size_t own_store() {
        auto& argument = std::get<log_at>(arguments_);
        auto& host = [&]() -> auto& {
            if constexpr (databases == 1) return argument;
            else return argument.database;
        }();
        std::size_t index = 0;
        bool is_found = false;
        std::apply(
            [&](auto&... each) {
                ((is_found = is_found || is_own(each, host),
                  index += is_found ? 0 : sessions_of<std::remove_cvref_t<decltype(each)>>),
                 ...);
            },
            arguments_);
        return index;
    }
    /// Errors:  throws settle::failure when an option is invalid
    [[nodiscard]] settle::options limits() const {
        settle::options limits;
        if constexpr (options_at < sizeof...(Arguments)) limits = std::get<options_at>(arguments_);
        if (auto problem = check_options(limits); !problem.empty()) throw failure(problem);
        return limits;
    }
    [[nodiscard]] settle::phases phases() const {
        if constexpr (phases_at < sizeof...(Arguments)) return std::get<phases_at>(arguments_);
        else return settle::phases::one;
    }
    [[nodiscard]] auto const& environment() const {
        if constexpr (environment_at < sizeof...(Arguments)) {
            return std::get<environment_at>(arguments_).value;
        } else {
            static constexpr system_environment machine{};
            return machine;
        }
    }
    [[nodiscard]] auto& observer() {
        if constexpr (observer_at < sizeof...(Arguments)) {
            return std::get<observer_at>(arguments_).value;
        } else {
            static no_observer unobserved;
            return unobserved;
        }
    }

private:
    /// The index of the first argument that passes a test; their number if none does.
    template <typename Test>
    static constexpr std::size_t position(Test test) {
        std::size_t index = 0;
        static_cast<void>(((test(std::type_identity<Arguments>{}) || (++index, false)) || ...));
        return index;
    }
    template <typename Role>
    static constexpr std::size_t position_of = position(
        []<typename Argument>(std::type_identity<Argument>) { return has_role<Argument, Role>; });
    static constexpr std::size_t environment_at = position_of<environment_binding<void>>;
    static constexpr std::size_t observer_at = position_of<observer_binding<void>>;
    static constexpr std::size_t options_at = position_of<settle::options>;
    static constexpr std::size_t phases_at = position_of<settle::phases>;
    static constexpr std::size_t log_at =
        position([]<typename Argument>(std::type_identity<Argument>) {
            return is_database<Argument> || is_log<Argument>;
        });

    template <typename Argument>
    static auto bind_store(Argument& argument, std::string const& log_name) {
        if constexpr (is_binding<Argument>) {
            using bound = typename role<Argument>::type;
            return session_for(type_list<bound>{}, argument.database, log_name);
        } else if constexpr (is_database<Argument>) {
            return session_for(left_over{}, argument, log_name);
        } else {
            return std::tuple<>{};
        }
    }

    /// The number of sessions that an argument gives.
    template <typename Argument>
    static constexpr std::size_t sessions_of = std::tuple_size_v<decltype(bind_store(
        std::declval<Argument&>(), std::declval<std::string const&>()))>;
    template <typename Argument, typename Host>
    static bool is_own(Argument& argument, Host& host) {
        if constexpr (is_database<Argument>) return sessions_of<Argument> != 0;
        else if constexpr (holds_collection_in<Argument, Host>) return &argument.database == &host;
        else return false;
    }

    template <typename Argument, typename Host, typename Function>
    static void with_own_store(Argument& argument, Host& host, std::string const& log_name,
                               Function& function) {
        auto const visit = [&] {
            std::apply([&](auto... session) { (function(session), ...); },
                       bind_store(argument, log_name));
        };
        if constexpr (is_database<Argument>) {
            visit();
        } else if constexpr (holds_collection_in<Argument, Host>) {
            if (&argument.database == &host) visit();
        }
    }

    std::tuple<typename held_argument<Arguments>::type...> arguments_;
};

/// The largest wave that the log or a session prefers, within the limit of each session.
template <typename Log, typename Sessions>
struct widest;
template <typename Log, typename... Sessions>
struct widest<Log, std::tuple<Sessions...>> {
    static constexpr std::size_t wave =
        std::min({std::max({capabilities<Log>.wave_size, capabilities<Sessions>.wave_size...}),
                  capabilities<Sessions>.largest_window...});
};

template <std::size_t Index, typename Session, typename Log>
struct indexed_port {
    port_of_store<Session, Log> port;
};
/// A port for each session of an engine.
template <typename Index, typename Log, typename... Sessions>
struct indexed_ports;
template <std::size_t... Index, typename Log, typename... Sessions>
struct indexed_ports<std::index_sequence<Index...>, Log, Sessions...>
    : indexed_port<Index, Sessions, Log>... {
    indexed_ports(Log& log, std::tuple<Sessions...>& sessions)
        : indexed_port<Index, Sessions, Log>{{std::get<Index>(sessions), log}}...,
          ports{&static_cast<indexed_port<Index, Sessions, Log>&>(*this).port...} {}

    std::array<store_port*, sizeof...(Sessions)> const ports;
};

/// The ports of an engine's log, stores, environment and observer.
template <typename Targets, typename Rules, typename Log, typename Sessions>
class ports;
template <typename... Targets, typename Rules, typename Log, typename... Sessions>
class ports<type_list<Targets...>, Rules, Log, std::tuple<Sessions...>> {
public:
    template <typename Environment, typename Observer>
    ports(Log& log, std::tuple<Sessions...>& sessions, Environment const& given_environment,
          Observer& given_observer)
        : environment(given_environment), observer(given_observer), log_(log),
          held_(log, sessions) {}

    [[nodiscard]] engine_ports view() {
        return {log_, held_.ports, targets, pauses_, {observer, environment}, names_of_stores()};
    }

    any_environment<Rules> const environment;
    any_observer observer;

private:
    template <typename Target>
    static constexpr target_binding binding_of() {
        std::size_t port = 0;
        std::size_t at = 0;
        ((Sessions::template holds<Target>::value ? void(port = at) : void(), ++at), ...);
        return {&target_tag<Target>, port};
    }
    static constexpr std::array<target_binding, sizeof...(Targets)> targets{
        binding_of<Targets>()...};
    /// The name of a store is that of its collections, services and other targets.
    static std::array<std::string, sizeof...(Sessions)> const& names_of_stores() {
        static auto const names = [] {
            std::array<std::string, sizeof...(Sessions)> all;
            std::array<std::string_view, sizeof...(Targets)> const of_targets{Targets::name...};
            for (std::size_t at = 0; at < targets.size(); ++at) {
                std::string& name = all[targets[at].store];
                name.append(name.empty() ? "" : "+").append(of_targets[at]);
            }
            return all;
        }();
        return names;
    }

    port_of_log<Log&> log_;
    indexed_ports<std::index_sequence_for<Sessions...>, Log, Sessions...> held_;
    call_pauses pauses_{log_, environment};
};

template <typename... Arguments>
class assembly {
    using given_type = engine_arguments<Arguments...>;
    using log_type = decltype(std::declval<given_type&>().bind_log());
    using sessions_type =
        decltype(std::declval<given_type&>().bind_stores(std::declval<std::string const&>()));
    using observer_type = std::remove_cvref_t<decltype(std::declval<given_type&>().observer())>;

public:
    using environment_type =
        std::remove_cvref_t<decltype(std::declval<given_type&>().environment())>;
    using order_rules = typename order_rules_of<environment_type>::type;
    using types = typename given_type::gathered::types;

    assembly(assembly const&) = delete;
    assembly& operator=(assembly const&) = delete;
    template <typename... Given>
    explicit assembly(Given&&... given)
        : given_(std::forward<Given>(given)...), limits_(given_.limits()),
          owner_(owner_in(given_.environment())), log_(given_.bind_log()),
          // A store that is bound to the log of a copy would belong to it.
          sessions_((check_home(log_), given_.bind_stores(log_.name()))) {
        // Before the first entry: from now on no purge of another program erases it too early.
        static_cast<void>(keep_horizon(ports_.view().log, limits_.horizon()).value());
        if constexpr (std::tuple_size_v < sessions_type >> 1) {
            std::apply([](auto&... session) { (expect_others(session), ...); }, sessions_);
        }
    }

    [[nodiscard]] log_type& log() { return log_; }
    [[nodiscard]] log_type const& log() const { return log_; }
    [[nodiscard]] sessions_type& sessions() { return sessions_; }
    [[nodiscard]] options const& limits() const { return limits_; }
    [[nodiscard]] std::string const& owner() const { return owner_; }
    [[nodiscard]] environment_type const& environment() const { return given_.environment(); }
    [[nodiscard]] observer_type& observer() { return given_.observer(); }
    [[nodiscard]] stuck_transactions& stuck() { return stuck_; }

    /// Shape:   call - outlives the result
    [[nodiscard]] patience patience_of(call_options const& call) const {
        return {environment_view{given_.environment()}, limits_, call};
    }
    [[nodiscard]] result<std::optional<entry>> read_entry(transaction_id const& id,
                                                          call_options const& call) {
        return patience_of(call)([&] { return log_.read(id); });
    }

    /// Reads an entry with the time that a driver has left.
    /// Shape:   driver - outlives the result
    template <typename Driver>
    [[nodiscard]] auto reader(Driver const& driver) {
        return [this, &driver](transaction_id const& id) { return read_entry(id, driver.rest()); };
    }

    [[nodiscard]] statistics figures() const {
        statistics made{stuck_.count()};
        std::apply([&](auto const&... session) { (append_counts(made, session), ...); }, sessions_);
        return made;
    }

    [[nodiscard]] result<std::vector<doubt_count>> count_in_doubt(call_options const& call) {
        auto patience = patience_of(call);
        return count_doubts_of(sessions_, ports_.view().names, patience);
    }

    /// The session of the store that holds a collection or another target.
    template <typename Target>
    auto& session_of() {
        constexpr std::size_t index = session_position<Target>(every{});
        constexpr bool uses = index < std::tuple_size_v<sessions_type>;
        static_assert(uses,
                      "settle: no type of this engine uses the collection. Add one that does with "
                      "settle::type<your_type>, or ask an engine that has one. See running#calls");
        if constexpr (uses) return std::get<index>(sessions_);
        else return refused_session::one();
    }

    template <typename Target>
    [[nodiscard]] bool is_in_database_of_log() {
        return given_.own_store() == session_position<Target>(every{});
    }

    /// Announces to the log an entry that is about to be inserted.
    void expect_entry([[maybe_unused]] transaction_id const& id) {
        if constexpr (capabilities<log_type>.fetches_ahead) log_.expect(id);
    }
    /// Announces to the stores the records that a transaction is about to change.
    template <typename Direction>
    void expect_records([[maybe_unused]] typename Direction::parameters const& parameters) {
        if constexpr (any_fetches_ahead) {
            for_each_key<Direction>(parameters, [&]<typename Target>(std::type_identity<Target>,
                                                                     auto const& key) {
                auto& session = session_of<Target>();
                if constexpr (capabilities<std::remove_cvref_t<decltype(session)>>.fetches_ahead) {
                    session.template expect<Target>(key);
                }
            });
        }
    }

    /// How many transactions the log and the stores prefer in one wave.
    static constexpr std::size_t wave = widest<log_type, sessions_type>::wave;
    /// How many entries recovery claims in one wave.
    [[nodiscard]] std::size_t recovery_wave() const {
        std::size_t wave_size = capabilities_here(log_).recovery_wave_size;
        std::apply(
            [&](auto const&... session) {
                ((wave_size = std::max(wave_size, capabilities_here(session).recovery_wave_size)),
                 ...);
            },
            sessions_);
        return wave_size;
    }

    /// True if the log and all stores are plain containers of this process.
    static constexpr bool is_container =
        detail::capabilities<log_type>.is_container &&
        []<typename... Sessions>(std::type_identity<std::tuple<Sessions...>>) {
            return (detail::capabilities<Sessions>.is_container && ...);
        }(std::type_identity<sessions_type>{});
    using driver_type =
        driver<container_calls<log_type, sessions_type>, environment_type, observer_type>;

    /// Shape:   of containers, which have no native transactions
    driver_type make_driver(call_options const& call) {
        return driver_type{{log_, sessions_},
                           given_.environment(),
                           given_.observer(),
                           limits_,
                           owner_,
                           call,
                           stuck_,
                           phases::two,
                           capabilities_here(log_).keeps_at_insert};
    }
    /// What the calls need that are compiled once.
    auto seam() {
        auto view = ports_.view();
        auto how = phases::two;
        auto const asked = given_.phases();
        bool const may_be_late = asked != phases::two && asked != phases::joined;
        if (asked != phases::two && settles_in_one_phase_here()) how = phases::one;
        else if (may_be_late && inserts_in_time()) how = phases::late;
        else if (own_store_ != engine_ports::no_store) how = phases::joined;
        view.own_store = own_store_;
        return seam_context<order_rules>{view,
                                         ports_.environment,
                                         ports_.observer,
                                         limits_,
                                         owner_,
                                         stuck_,
                                         how,
                                         capabilities_here(log_).keeps_at_insert,
                                         callers_,
                                         finisher_};
    }
    /// What runs a transaction at a time in containers.
    auto make_worker() { return worker{container_context<assembly>{*this, given_.environment()}}; }

private:
    /// Errors:  throws errc::bad_option
    template <typename Session>
    static void append_counts([[maybe_unused]] statistics& to,
                              [[maybe_unused]] Session const& session) {
        if constexpr (requires { session.append_counts(to.calls); })
            session.append_counts(to.calls);
    }

    template <typename Session>
    static void expect_others([[maybe_unused]] Session& session) {
        if constexpr (capabilities<Session>.overlaps_others) session.expect_others();
    }

    static constexpr bool any_fetches_ahead =
        []<typename... Sessions>(std::type_identity<std::tuple<Sessions...>>) {
            return (capabilities<Sessions>.fetches_ahead || ...);
        }(std::type_identity<sessions_type>{});

    /// Some stores know only after opening whether they can run one phase.
    [[nodiscard]] bool settles_in_one_phase_here() const {
        // One store holds the log and all records.
        constexpr bool alone = given_type::databases == 1 && std::tuple_size_v<sessions_type> == 1;
        if constexpr (alone && !is_container) {
            return capabilities_here(std::get<0>(sessions_)).settles_in_one_phase;
        } else {
            return false;
        }
    }

    /// True if a late entry takes no effect after its last moment.
    [[nodiscard]] bool inserts_in_time() const {
        return own_store_ != engine_ports::no_store || capabilities_here(log_).keeps_at_insert;
    }
    /// The store whose parts a commit joins.
    [[nodiscard]] std::size_t find_own_store() {
        std::size_t const own = is_container || given_.phases() == phases::two
                                    ? engine_ports::no_store
                                    : given_.own_store();
        std::size_t index = 0;
        bool settles = false;
        std::apply(
            [&](auto const&... session) {
                ((settles = settles ||
                            (index++ == own && capabilities_here(session).settles_in_one_phase)),
                 ...);
            },
            sessions_);
        return settles ? own : engine_ports::no_store;
    }

    template <typename Target, std::size_t... Index>
    static constexpr std::size_t session_position(std::index_sequence<Index...>) {
        std::size_t position = sizeof...(Index);
        ((std::tuple_element_t<Index, sessions_type>::template holds<Target>::value
              ? void(position = Index)
              : void()),
         ...);
        return position;
    }

    using targets = typename given_type::gathered::targets;
    using every = std::make_index_sequence<std::tuple_size_v<sessions_type>>;

    given_type given_;
    settle::options limits_;
    std::string owner_;
    stuck_transactions stuck_;
    log_type log_;
    sessions_type sessions_;
    std::size_t own_store_ = find_own_store();
    ports<targets, order_rules, log_type, sessions_type> ports_{
        log_, sessions_, given_.environment(), given_.observer()};
    shared_windows<order_rules> callers_;
    finisher<order_rules> finisher_; ///< ends first: its thread uses all others
};

} // namespace detail
SETTLE_END
