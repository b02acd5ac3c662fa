// SPDX-License-Identifier: BSL-1.0
// A participant that a database prepares: a request for the user's statements, or a range of
// requests.
#pragma once

#include <settle/definition/call.hpp>
#include <settle/definition/prepared.hpp>

SETTLE_BEGIN

/// A participant that is prepared. The library commits it or rolls it back, so it has an `apply`
/// alone.
template <fixed_string Name, typename Target, typename Source, typename Apply>
struct prepared_participant {
    using target_type = Target;
    using prepared_type = Target;
    using source_type = Source;
    /// The database's own locks keep transactions apart, so a part needs no key.
    using key_expression = literal_expression<"">;
    using expressions = boost::hana::tuple<typename detail::arguments_of<Apply>::type>;
    static constexpr std::string_view name = Name.view();
    static constexpr bool is_range = !std::is_same_v<Source, single>;
    static constexpr bool applies = detail::is_call<Apply>;
    /// Prepared parts are applied beside records.
    static constexpr std::uint32_t stage = 0;

    key_expression key;
    Apply applying;

    /// Gives the request of the statements: settle::call(...).
    template <typename... Given>
    constexpr auto apply(Given const&... given) const {
        constexpr auto found =
            detail::moment_check<Target, Source, Apply, detail::prepared_calls>::find(
                std::type_identity<boost::hana::tuple<Given...>>{});
        detail::explain_moment<found.fault, Name, found.argument>();
        if constexpr (found.fault == detail::moment_fault::none) {
            return prepared_participant<Name, Target, Source, Given...>{{}, given...};
        } else {
            return detail::refused_participant{};
        }
    }

    template <typename... Given>
    constexpr auto compensate(Given const&...) const {
        return refuse_end<sizeof...(Given)>();
    }
    template <typename... Given>
    constexpr auto confirm(Given const&...) const {
        return refuse_end<sizeof...(Given)>();
    }

    /// True if an argument exceeds 64 bits for these parameters.
    /// Shape:   element - of the line, or null
    template <typename Parameters>
    [[nodiscard]] constexpr bool overflows(Parameters const& parameters,
                                           typename Source::element const* element) const {
        return detail::any_overflows(applying.arguments, parameters, element);
    }

private:
    template <std::size_t Given>
    static constexpr auto refuse_end() {
        static_assert(Given == ~std::size_t{0},
                      "settle: a prepared participant has an 'apply' alone: its database commits "
                      "or rolls back the prepared statements. Remove .compensate(...) and "
                      ".confirm(...). See definition#prepared");
        return detail::refused_participant{};
    }
};

/// A participant that a database prepares.
template <typename T>
concept PreparedParticipant = Participant<T> && requires { typename T::prepared_type; };

namespace detail {

template <PreparedParticipant Participant>
constexpr bool review() {
    static_assert(Participant::applies, "settle: a prepared participant has no 'apply'. Add "
                                        ".apply(settle::call(...)). See definition#prepared");
    return Participant::applies;
}

template <fixed_string Name, typename Source, typename Target>
constexpr auto make_prepared_participant() {
    constexpr bool named = is_plain_name(Name.view());
    static_assert(named, "settle: a participant's name is 1 to 48 letters, digits and '_', and "
                         "begins with a letter. See definition#names");
    if constexpr (!named || !Target::sound || std::is_void_v<typename Source::element>) {
        return refused_participant{};
    } else {
        return prepared_participant<Name, Target, Source, not_given>{};
    }
}

} // namespace detail

/// Describes a participant that a database prepares.
template <fixed_string Name, typename Request, fixed_string TargetName>
constexpr auto participant(prepared<Request, TargetName> const&) {
    return detail::make_prepared_participant<Name, single, prepared<Request, TargetName>>();
}

/// Describes a range: one prepared part for each element of a vector among the parameters.
/// Shape:   lines - settle::each<&parameters::vector>
template <fixed_string Name, typename Request, fixed_string TargetName, auto... Path>
constexpr auto participant(prepared<Request, TargetName> const&, each_expression<Path...> const&) {
    return detail::make_prepared_participant<Name, each_expression<Path...>,
                                             prepared<Request, TargetName>>();
}

template <fixed_string Name, typename Request, fixed_string TargetName, typename... Given>
constexpr auto participant(prepared<Request, TargetName> const&, Given const&...) {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: settle::participant takes a settle::prepared, and for a range "
                  "settle::each; it has no key. Give the request in .apply(settle::call(...)). "
                  "See definition#prepared");
    return detail::refused_participant{};
}

SETTLE_END
