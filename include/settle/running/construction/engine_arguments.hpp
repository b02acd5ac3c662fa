// SPDX-License-Identifier: BSL-1.0
// The arguments of an engine, and the role of each.
#pragma once

#include <settle/running/calls/refusals.hpp>
#include <settle/running/construction/argument_lists.hpp>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>

SETTLE_BEGIN
namespace detail {

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

    auto bind_log() { return host().bind_log(); }
    auto bind_stores(std::string const& log_name) {
        return std::apply(
            [&](auto&... given) { return std::tuple_cat(bind_store(given, host(), log_name)...); },
            arguments_);
    }
    /// Calls `function(session)` for each session of collections that the log's own database holds.
    template <typename Function>
    void with_own_stores(std::string const& log_name, Function&& function) {
        std::apply([&](auto&... each) { (with_own_store(each, host(), log_name, function), ...); },
                   arguments_);
    }
    /// For each session, whether one native transaction can hold its records and the log's entries.
    template <std::size_t Sessions>
    [[nodiscard]] std::array<bool, Sessions> beside_log() {
        std::array<bool, Sessions> are_beside{};
        std::size_t index = 0;
        auto const look = [&](auto& argument) {
            if constexpr (has_session<std::remove_cvref_t<decltype(argument)>>) {
                are_beside[index++] = is_own(argument, host());
            }
        };
        std::apply([&](auto&... each) { (look(each), ...); }, arguments_);
        return are_beside;
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

    /// The database that holds the log.
    [[nodiscard]] auto& host() {
        auto& argument = std::get<log_at>(arguments_);
        if constexpr (databases == 1) return argument;
        else return argument.database;
    }

    /// The object with which a database's collections are bound, so that one native transaction
    /// can hold their records and the host's log; null if there is none.
    template <typename Database, typename Host>
    static Database* beside(Host& host, Database& database) {
        if constexpr (std::is_same_v<Database, Host>) {
            if (&database == &host) return &host;
            if constexpr (requires { host.is_same(database); }) {
                if (host.is_same(database)) return &host;
            }
            if constexpr (requires { host.shares_clients(database); }) {
                if (host.shares_clients(database)) return &database;
            }
        }
        return nullptr;
    }

    template <typename Argument, typename Host>
    static auto bind_store(Argument& argument, [[maybe_unused]] Host& host,
                           std::string const& log_name) {
        if constexpr (is_binding<Argument>) {
            using bound = typename role<Argument>::type;
            auto* const near = beside(host, argument.database);
            auto& database = near != nullptr ? *near : argument.database;
            return session_for(type_list<bound>{}, database, log_name);
        } else if constexpr (is_database<Argument>) {
            return session_for(left_over{}, argument, log_name);
        } else {
            return std::tuple<>{};
        }
    }

    /// True if an argument gives a session.
    template <typename Argument>
    static constexpr bool has_session =
        is_binding<Argument> || (is_database<Argument> && !std::is_same_v<left_over, type_list<>>);
    template <typename Argument, typename Host>
    static bool is_own(Argument& argument, [[maybe_unused]] Host& host) {
        if constexpr (is_database<Argument>) return true;
        else if constexpr (holds_collection_in<Argument, Host>)
            return beside(host, argument.database) != nullptr;
        else return false;
    }

    template <typename Argument, typename Host, typename Function>
    static void with_own_store(Argument& argument, Host& host, std::string const& log_name,
                               Function& function) {
        auto const visit = [&] {
            std::apply([&](auto... session) { (function(session), ...); },
                       bind_store(argument, host, log_name));
        };
        if constexpr (is_database<Argument>) {
            visit();
        } else if constexpr (holds_collection_in<Argument, Host>) {
            if (beside(host, argument.database) == &host) visit();
        }
    }

    std::tuple<typename held_argument<Arguments>::type...> arguments_;
};

} // namespace detail
SETTLE_END
