// SPDX-License-Identifier: BSL-1.0
// The parts of an engine: one log, a session for each store, types, limits, an environment.
#pragma once

#include <settle/running/calls/doubts.hpp>
#include <settle/running/calls/finisher.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/shared_windows.hpp>
#include <settle/running/calls/wrong_calls.hpp>
#include <settle/running/construction/engine_arguments.hpp>
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
    /// Shape:   executors - for each session, the index of the session that executes its parts
    ports(Log& log, std::tuple<Sessions...>& sessions,
          std::array<std::size_t, sizeof...(Sessions)> const& executors,
          Environment const& given_environment, Observer& given_observer)
        : environment(given_environment), observer(given_observer), log_(log), held_(log, sessions),
          targets_{target_binding{&target_tag<Targets>, executors[session_of<Targets>()]}...} {}

    [[nodiscard]] engine_ports view() {
        return {log_, held_.ports, targets_, pauses_, left_, {observer, environment}, names_};
    }

    any_environment<Rules> const environment;
    any_observer observer;

private:
    template <typename Target>
    static constexpr std::size_t session_of() {
        std::size_t position = 0;
        std::size_t index = 0;
        ((Sessions::template holds<Target>::value ? void(position = index) : void(), ++index), ...);
        return position;
    }
    /// The name of a store is that of its collections, services and other targets.
    [[nodiscard]] std::array<std::string, sizeof...(Sessions)> names_of_stores() const {
        std::array<std::string, sizeof...(Sessions)> names;
        std::array<std::string_view, sizeof...(Targets)> const of_targets{Targets::name...};
        for (std::size_t index = 0; index < targets_.size(); ++index) {
            std::string& name = names[targets_[index].store];
            name.append(name.empty() ? "" : "+").append(of_targets[index]);
        }
        return names;
    }

    port_of_log<Log&> log_;
    indexed_ports<std::index_sequence_for<Sessions...>, Log, Sessions...> held_;
    std::array<target_binding, sizeof...(Targets)> const targets_;
    std::array<std::string, sizeof...(Sessions)> const names_ = names_of_stores();
    call_pauses pauses_{log_, environment};
    left_waves left_; ///< ends before the stores
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
        bool const is_one_store = std::all_of(executors_.begin(), executors_.end(),
                                              [&](auto index) { return index == executors_[0]; });
        if (!is_one_store) {
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

    /// The store of a collection, which no type need use.
    template <typename Target>
    [[nodiscard]] target_binding binding_of() const {
        return {&target_tag<Target>, executors_[session_position<Target>(every{})]};
    }

    /// For each store, whether one native transaction can hold its records and the log's entries.
    [[nodiscard]] std::span<bool const> beside_log() const { return beside_log_; }

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

    /// True if one store holds the log and all records.
    [[nodiscard]] bool settles_in_one_phase_here() const {
        return own_store_ != engine_ports::no_store &&
               std::all_of(executors_.begin(), executors_.end(),
                           [&](auto index) { return index == own_store_; });
    }

    /// True if a late entry takes no effect after its last moment.
    [[nodiscard]] bool inserts_in_time() const {
        return own_store_ != engine_ports::no_store || capabilities_here(log_).keeps_at_insert;
    }
    /// The store whose parts a commit joins: the first session beside the log, which then executes
    /// the parts of the others, too.
    template <std::size_t... Index>
    [[nodiscard]] std::size_t join_own_stores(std::index_sequence<Index...>) {
        std::size_t own = engine_ports::no_store;
        if (is_container || given_.phases() == phases::two) return own;
        auto const look = [&]<std::size_t Each>() {
            // Some stores know only after opening whether they can run one phase.
            auto& session = std::get<Each>(sessions_);
            if (!beside_log_[Each] || !capabilities_here(session).settles_in_one_phase) return;
            if (own == engine_ports::no_store) own = Each;
            else if ((join<Index>(own, session) || ...)) executors_[Each] = own;
        };
        (look.template operator()<Index>(), ...);
        return own;
    }
    template <std::size_t First, typename Session>
    bool join([[maybe_unused]] std::size_t own, [[maybe_unused]] Session& session) {
        auto& first = std::get<First>(sessions_);
        if constexpr (requires { first.join(session); }) {
            return First == own && first.join(session);
        } else {
            return false;
        }
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

    template <std::size_t... Index>
    static constexpr std::array<std::size_t, sizeof...(Index)>
    numbers(std::index_sequence<Index...>) {
        return {Index...};
    }

    using targets = typename given_type::gathered::targets;
    using every = std::make_index_sequence<std::tuple_size_v<sessions_type>>;

    given_type given_;
    settle::options limits_;
    std::string owner_;
    stuck_transactions stuck_;
    log_type log_;
    sessions_type sessions_;
    static constexpr std::size_t session_count = std::tuple_size_v<sessions_type>;
    std::array<bool, session_count> const beside_log_ = given_.template beside_log<session_count>();
    /// For each session, the index of the session that executes its parts.
    std::array<std::size_t, session_count> executors_ = numbers(every{});
    std::size_t const own_store_ = join_own_stores(every{});
    ports<targets, order_rules, log_type, sessions_type> ports_{
        log_, sessions_, executors_, given_.environment(), given_.observer()};
    shared_windows<order_rules> callers_;
    finisher<order_rules> finisher_; ///< ends first: its thread uses all others
};

} // namespace detail
SETTLE_END
