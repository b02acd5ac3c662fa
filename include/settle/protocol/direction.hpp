// SPDX-License-Identifier: BSL-1.0
// A direction of a transaction type, forward or backward: its parts, their keys and intents.
#pragma once

#include <settle/protocol/explanation.hpp>
#include <settle/protocol/intent.hpp>

SETTLE_BEGIN

namespace detail {

template <auto... Path, typename Parameters>
constexpr auto const& lines_of(std::type_identity<each_expression<Path...>>,
                               Parameters const& parameters) {
    return follow<Path...>(parameters);
}

/// The common base of forward and backward.
template <auto const& Type>
struct parts_of_type {
    using type = std::remove_cvref_t<decltype(Type)>;
    using user_parameters = typename type::parameters_type;
    static constexpr std::size_t participant_count = type::participant_count;

    static constexpr auto undone_after() { return Type.undone_after(); }
    static constexpr bool undone_by_stage() { return Type.undone_by_stage(); }

    template <std::size_t Index>
    using participant = typename type::template participant_type<Index>;
    /// The collection, or the target of another kind.
    template <std::size_t Index>
    using target_of = typename participant<Index>::target_type;
    template <std::size_t Index>
    using element_of = typename participant<Index>::source_type::element;

    template <std::size_t Index>
    static constexpr auto const& description() {
        return boost::hana::at_c<Index>(Type.participants);
    }

    template <std::size_t Index>
    static constexpr std::size_t lines(user_parameters const& parameters) {
        using source = typename participant<Index>::source_type;
        if constexpr (participant<Index>::is_range) {
            return lines_of(std::type_identity<source>{}, parameters).size();
        } else {
            static_cast<void>(parameters);
            return 1;
        }
    }

    template <std::size_t Index>
    static constexpr element_of<Index> const* element(user_parameters const& parameters,
                                                      std::size_t line) {
        using source = typename participant<Index>::source_type;
        if constexpr (participant<Index>::is_range) {
            return &lines_of(std::type_identity<source>{}, parameters)[line];
        } else {
            static_cast<void>(parameters);
            static_cast<void>(line);
            return nullptr;
        }
    }

    /// The key of a part: an integer, or a view of a text in the parameters.
    template <std::size_t Index>
    static constexpr auto key(user_parameters const& parameters, std::size_t line) {
        bool overflow = false;
        return key<Index>(parameters, line, overflow);
    }
    template <std::size_t Index>
    static constexpr auto key(user_parameters const& parameters, std::size_t line, bool& overflow) {
        scope<nothing, user_parameters, element_of<Index>> const at{
            nullptr, &parameters, element<Index>(parameters, line), &overflow};
        return evaluate(description<Index>().key, at);
    }

    template <typename Function>
    static constexpr void for_each_participant(Function&& function) {
        [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            (function(std::integral_constant<std::size_t, Index>{}), ...);
        }(std::make_index_sequence<participant_count>{});
    }

    static constexpr std::size_t count_parts(user_parameters const& parameters) {
        std::size_t count = 0;
        for_each_participant([&](auto index) { count += lines<index>(parameters); });
        return count;
    }

    template <std::size_t Index>
    static constexpr part_name name_of_line(std::size_t line) {
        part_name made{participant<Index>::name, {}};
        if (participant<Index>::is_range) made.line = static_cast<std::uint32_t>(line);
        return made;
    }

    static constexpr part_name name_part(user_parameters const& parameters, std::size_t part) {
        part_name name;
        std::size_t first = 0;
        for_each_participant([&](auto index) {
            std::size_t const count = lines<index>(parameters);
            if (part >= first && part < first + count) name = name_of_line<index>(part - first);
            first += count;
        });
        return name;
    }
};

/// True if a computed key has the same value in the key's type.
template <typename Key, typename Value>
constexpr bool fits_key(Value const& computed) {
    if constexpr (std::is_integral_v<Value>) {
        return static_cast<Value>(static_cast<Key>(computed)) == computed;
    } else {
        return true;
    }
}

/// Calls `function(std::type_identity<Target>{}, key)` for each part, in order.
template <typename Direction, typename Function>
constexpr void for_each_key(typename Direction::parameters const& parameters, Function&& function) {
    auto const& user = Direction::user(parameters);
    Direction::for_each_participant([&](auto index) {
        constexpr std::size_t position = decltype(index)::value;
        using target = typename Direction::template target_of<position>;
        for (std::size_t line = 0; line < Direction::template lines<position>(user); ++line) {
            function(std::type_identity<target>{}, Direction::template key<position>(user, line));
        }
    });
}

} // namespace detail

/// The direction of a transaction; `backward` is the direction of its reversal.
template <auto const& Type>
struct forward : detail::parts_of_type<Type> {
    using base = detail::parts_of_type<Type>;
    using parameters = typename base::user_parameters;
    static constexpr bool is_reverse = false;

    static std::string const& name() {
        static std::string const text{base::type::name};
        return text;
    }
    static std::uint64_t definition() {
        static std::uint64_t const hash =
            fingerprint(detail::text_of(detail::items_of_type<Type>.data()));
        return hash;
    }
    static constexpr parameters const& user(parameters const& parameters) { return parameters; }

    /// Shape:   Index - of a RecordParticipant
    template <std::size_t Index>
    static constexpr auto intent(parameters const& given, std::size_t line) {
        return forward_intent<typename base::template participant<Index>, parameters>{
            base::template description<Index>(), given, base::template element<Index>(given, line)};
    }

    /// Checks the conditions on the parameters alone, before any write.
    static refusal check(parameters const& values) {
        refusal refused;
        bool overflow = false;
        scope<nothing, parameters, nothing> const scope{nullptr, &values, nullptr, &overflow};
        for_each_element(Type.guards, [&](auto const& guard) {
            if (!evaluate(guard.condition, scope)) refused.why = reason::guard_failed;
        });
        if (overflow) refused.why = reason::overflow;
        base::for_each_participant([&](auto index) {
            constexpr std::size_t at_index = decltype(index)::value;
            for (std::size_t line = 0; line < base::template lines<at_index>(values); ++line) {
                if (refused.why != reason::none) return;
                refused.why = premises<at_index>(values, line);
                if (refused.why == reason::none) continue;
                refused.where = base::template name_of_line<at_index>(line);
            }
        });
        return refused;
    }
    /// The cause of a refusal by check(), as a clause.
    static std::string explain(parameters const& parameters, refusal const& refused) {
        return detail::explain_refusal(detail::items_of_type<Type>.data(), &parameters, refused);
    }

private:
    template <std::size_t Index>
    static constexpr reason premises(parameters const& parameters, std::size_t line) {
        if constexpr (RecordParticipant<typename base::template participant<Index>>) {
            using key_type = typename base::template target_of<Index>::key_type;
            bool overflow = false;
            auto const key = base::template key<Index>(parameters, line, overflow);
            // A key that does not fit would name another record.
            if (overflow || !detail::fits_key<key_type>(key)) return reason::overflow;
            return intent<Index>(parameters, line).premises();
        } else if constexpr (CallParticipant<typename base::template participant<Index>> ||
                             PreparedParticipant<typename base::template participant<Index>>) {
            bool const overflow = base::template description<Index>().overflows(
                parameters, base::template element<Index>(parameters, line));
            return overflow ? reason::overflow : reason::none;
        } else {
            return base::template description<Index>().premises(
                parameters, base::template element<Index>(parameters, line));
        }
    }
};

SETTLE_END
