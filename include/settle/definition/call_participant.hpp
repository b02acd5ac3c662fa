// SPDX-License-Identifier: BSL-1.0
// A participant that is a call of a service, or a range of calls: its three moments and its limits.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/definition/call.hpp>

SETTLE_BEGIN
namespace detail {

/// The limits that a participant sets for its calls; 0 is the limit of the engine's options.
struct call_limits {
    std::uint32_t attempts = 0;
    std::int64_t first_pause = 0; ///< in milliseconds, as the longest
    std::int64_t longest_pause = 0;

    friend constexpr bool operator==(call_limits, call_limits) = default;
};

/// The stage of a call until settle::transaction gives it a stage.
inline constexpr std::uint32_t no_stage = ~std::uint32_t{0};

} // namespace detail

/// A participant that calls a service. Every call returns a participant of a new type.
/// Shape:   Limits - a detail::call_limits; Stage - detail::no_stage before settle::transaction
template <fixed_string Name, typename Service, typename Source, typename Apply, typename Compensate,
          typename Confirm, detail::call_limits Limits, std::uint32_t Stage>
struct call_participant {
    using target_type = Service;
    using service_type = Service;
    using source_type = Source;
    /// Calls of two transactions share nothing, so their parts need no key.
    using key_expression = literal_expression<"">;
    using apply_type = Apply;
    using compensate_type = Compensate;
    using confirm_type = Confirm;
    using expressions = boost::hana::tuple<typename detail::arguments_of<Apply>::type,
                                           typename detail::arguments_of<Compensate>::type,
                                           typename detail::arguments_of<Confirm>::type>;
    static constexpr std::string_view name = Name.view();
    static constexpr bool is_range = !std::is_same_v<Source, single>;
    static constexpr std::uint32_t stage = Stage;

    static constexpr bool applies = detail::is_call<Apply>;
    static constexpr bool compensates = detail::is_call<Compensate>;
    static constexpr bool confirms = detail::is_call<Confirm>;
    /// True if the apply may take effect.
    static constexpr bool has_effect = [] {
        if constexpr (applies) return Apply::has_effect;
        else return false;
    }();
    /// True if the apply cannot be undone: then the transaction must commit.
    static constexpr bool is_pivot = has_effect && !compensates;
    static constexpr bool gives_result = applies && Service::gives_result;
    /// True if a moment's call sends the request of the apply.
    template <typename Call>
    static constexpr bool repeats_request = [] {
        if constexpr (detail::is_call<Call>) {
            return Call::size == 0 && member_count<typename Service::request_type> > 0;
        } else {
            return false;
        }
    }();

    /// How often a call is sent; 0: the limit of the engine's options.
    static constexpr std::uint32_t attempts = Limits.attempts;
    /// The first and the longest pause before a call is sent again; 0: the engine's options.
    static constexpr std::chrono::milliseconds first_pause{Limits.first_pause};
    static constexpr std::chrono::milliseconds longest_pause{Limits.longest_pause};

    key_expression key;
    Apply applying;
    Compensate compensating;
    Confirm confirming;

    /// Gives the call while the transaction is pending: settle::call(...) or settle::query(...).
    template <typename... Given>
    constexpr auto apply(Given const&... given) const {
        constexpr auto found =
            detail::moment_check<Service, Source, Apply, detail::applied_calls>::find(
                std::type_identity<boost::hana::tuple<Given...>>{});
        detail::explain_moment<found.fault, Name, found.argument>();
        if constexpr (found.fault == detail::moment_fault::none) {
            return call_participant<Name, Service, Source, Given..., Compensate, Confirm, Limits,
                                    Stage>{{}, given..., compensating, confirming};
        } else {
            return detail::refused_participant{};
        }
    }

    /// Gives the call that undoes the apply.
    template <typename... Given>
    constexpr auto compensate(Given const&... given) const {
        constexpr auto found =
            detail::moment_check<Service, Source, Compensate, detail::ending_calls>::find(
                std::type_identity<boost::hana::tuple<Given...>>{});
        detail::explain_moment<found.fault, Name, found.argument>();
        if constexpr (found.fault == detail::moment_fault::none) {
            return call_participant<Name, Service, Source, Apply, Given..., Confirm, Limits, Stage>{
                {}, applying, given..., confirming};
        } else {
            return detail::refused_participant{};
        }
    }

    /// Gives the call after the commit.
    template <typename... Given>
    constexpr auto confirm(Given const&... given) const {
        constexpr auto found =
            detail::moment_check<Service, Source, Confirm, detail::ending_calls>::find(
                std::type_identity<boost::hana::tuple<Given...>>{});
        detail::explain_moment<found.fault, Name, found.argument>();
        if constexpr (found.fault == detail::moment_fault::none) {
            return call_participant<Name, Service, Source, Apply, Compensate, Given..., Limits,
                                    Stage>{{}, applying, compensating, given...};
        } else {
            return detail::refused_participant{};
        }
    }

    /// Limits how often the apply is sent while its answer is `unavailable` or `unknown`. Then the
    /// transaction cancels. The apply of a pivot, a confirm and a compensation have no limit.
    template <std::uint32_t Count>
    constexpr auto tries() const {
        static_assert(Count > 0, "settle: 'tries' takes the number of times that a call is sent, "
                                 "at least 1. See definition#services");
        return limited<detail::call_limits{Count, Limits.first_pause, Limits.longest_pause}>();
    }

    /// Sets the first and the longest pause before a call is sent again, in milliseconds.
    template <std::int64_t First, std::int64_t Longest>
    constexpr auto pauses() const {
        static_assert(First > 0 && First <= Longest,
                      "settle: 'pauses' takes the first and the longest pause in milliseconds, "
                      "the first at least 1 and the longest no shorter. See definition#services");
        return limited<detail::call_limits{Limits.attempts, First, Longest}>();
    }

    /// The participant in this stage of its transaction.
    template <std::uint32_t Number>
    constexpr auto in_stage() const {
        return call_participant<Name, Service, Source, Apply, Compensate, Confirm, Limits, Number>{
            {}, applying, compensating, confirming};
    }

    /// The arguments of each moment's call.
    [[nodiscard]] constexpr auto const& apply_arguments() const { return applying.arguments; }
    [[nodiscard]] constexpr auto const& compensate_arguments() const {
        return own_or_applied(compensating);
    }
    [[nodiscard]] constexpr auto const& confirm_arguments() const {
        return own_or_applied(confirming);
    }

    /// The calls of a transaction are checked together (stages.hpp).
    static consteval bool review() { return true; }

    /// True if an argument exceeds 64 bits for these parameters. An argument with a result is
    /// evaluated when its call is made.
    /// Shape:   element - of the line, or null
    template <typename Parameters>
    [[nodiscard]] constexpr bool overflows(Parameters const& parameters,
                                           typename Source::element const* element) const {
        bool overflow = false;
        auto const look = [&](auto const& arguments) {
            overflow = overflow || detail::any_overflows(arguments, parameters, element);
        };
        if constexpr (applies) look(apply_arguments());
        if constexpr (compensates) look(compensate_arguments());
        if constexpr (confirms) look(confirm_arguments());
        return overflow;
    }

private:
    template <detail::call_limits Changed>
    constexpr auto limited() const {
        return call_participant<Name, Service, Source, Apply, Compensate, Confirm, Changed, Stage>{
            {}, applying, compensating, confirming};
    }

    template <typename Call>
    constexpr auto const& own_or_applied(Call const& call) const {
        if constexpr (repeats_request<Call>) return applying.arguments;
        else return call.arguments;
    }
};

/// A participant that is a call, or a range of calls.
template <typename T>
concept CallParticipant = Participant<T> && requires { typename T::service_type; };

namespace detail {

template <fixed_string Name, typename Source, typename Service>
constexpr auto make_call_participant() {
    constexpr bool named = is_plain_name(Name.view());
    static_assert(named, "settle: a participant's name is 1 to 48 letters, digits and '_', and "
                         "begins with a letter. See definition#names");
    if constexpr (!named || !Service::sound || std::is_void_v<typename Source::element>) {
        return refused_participant{};
    } else {
        return call_participant<Name, Service, Source, not_given, not_given, not_given,
                                call_limits{}, no_stage>{};
    }
}

} // namespace detail

/// Describes a participant that is one call of a service.
/// Example: samples/trip
template <fixed_string Name, typename Request, typename Result, fixed_string ServiceName,
          receiver_grade Grade>
constexpr auto participant(service<Request, Result, ServiceName, Grade> const&) {
    return detail::make_call_participant<Name, single,
                                         service<Request, Result, ServiceName, Grade>>();
}

/// Describes a range: one call for each element of a vector among the parameters.
/// Shape:   lines - settle::each<&parameters::vector>
template <fixed_string Name, typename Request, typename Result, fixed_string ServiceName,
          receiver_grade Grade, auto... Path>
constexpr auto participant(service<Request, Result, ServiceName, Grade> const&,
                           each_expression<Path...> const&) {
    return detail::make_call_participant<Name, each_expression<Path...>,
                                         service<Request, Result, ServiceName, Grade>>();
}

template <fixed_string Name, typename Request, typename Result, fixed_string ServiceName,
          receiver_grade Grade, typename... Given>
constexpr auto participant(service<Request, Result, ServiceName, Grade> const&, Given const&...) {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: settle::participant takes a service, and for a range settle::each; a "
                  "call has no key. Give its arguments in .apply(settle::call(...)). "
                  "See definition#services");
    return detail::refused_participant{};
}

SETTLE_END
