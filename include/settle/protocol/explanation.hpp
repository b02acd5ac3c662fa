// SPDX-License-Identifier: BSL-1.0
// The clause that explains refused parameters: it names the condition, amount or sum, and shows its
// values.
#pragma once

#include <settle/definition/canonical.hpp>
#include <settle/protocol/reversal.hpp>

SETTLE_BEGIN
namespace detail {

/// A longer text is shown as its length.
inline constexpr std::size_t longest_shown = 64;

/// As describe_text, but also escapes control characters, which could end the line or control a
/// terminal.
void put_text(std::string& out, std::string_view text);

/// A date, and the time of day unless the unit is a day or longer; the count where the year has not
/// four digits.
/// Shape:   count - of units of `numerator` / `denominator` seconds since 1970
void put_time(std::string& out, std::int64_t count, std::intmax_t numerator,
              std::intmax_t denominator);
template <typename Duration>
void put_time(std::string& out, std::int64_t count) {
    using unit = typename Duration::period;
    put_time(out, count, unit::num, unit::den);
}

template <typename T>
void put_value(std::string& out, T const& value) {
    if constexpr (std::is_same_v<T, bool>) {
        put(out, value ? "true" : "false");
    } else if constexpr (std::is_same_v<T, std::string_view>) {
        if (value.size() <= longest_shown) put_text(out, value);
        else out += "a text of " + std::to_string(value.size()) + " bytes";
    } else if constexpr (requires { value.has_value(); }) {
        if (value) put_value(out, *value);
        else put(out, "empty");
    } else {
        out += std::to_string(to_integer(value));
    }
}

/// The type of the last member of a path.
template <auto First, auto... Rest>
struct path_end : path_end<Rest...> {};
template <auto Last>
struct path_end<Last> {
    using type = value_of<Last>;
};

template <typename T>
void put_typed(std::string& out, auto const& value) {
    using plain = typename field_traits<T>::plain_type;
    if constexpr (!time_parts<plain>::value) put_value(out, value);
    else if constexpr (requires { value.has_value(); }) {
        if (value) put_typed<plain>(out, *value);
        else put(out, "empty");
    } else {
        put_time<typename time_parts<plain>::duration>(out, to_integer(value));
    }
}

/// Adds `amount = -5`, unless it is there already; a secret value is shown as `***`.
template <auto... Path>
void put_named(std::string& values, std::string const& name, auto const& value) {
    std::string one = name.substr(1) + " = ";
    if constexpr ((secret<Path> || ...)) put(one, "***");
    else put_typed<typename path_end<Path...>::type>(one, value);
    // Compare whole items of the list: `max = 1` is also the end of `price_max = 1`.
    if ((", " + values + ',').find(", " + one + ',') != std::string::npos) return;
    if (!values.empty()) put(values, ", ");
    put(values, one);
}

/// Adds each parameter of an expression with its value.
template <typename Naming, typename E, typename Scope>
void put_values(std::string&, E const&, Scope const&) {}
template <typename Naming, auto... Path, typename Scope>
void put_values(std::string& values, param_expression<Path...> const& node, Scope const& at) {
    std::string name;
    describe_path<typename Naming::parameters, Path...>(name);
    put_named<Path...>(values, name, evaluate(node, at));
}
template <typename Naming, auto... Path, typename Scope>
void put_values(std::string& values, line_expression<Path...> const& node, Scope const& at) {
    std::string name;
    describe_path<typename Naming::element, Path...>(name);
    put_named<Path...>(values, name, evaluate(node, at));
}
template <typename Naming, operation_kind Operation, typename L, typename R, typename Scope>
void put_values(std::string& values, binary_expression<Operation, L, R> const& node,
                Scope const& at);
template <typename Naming, operation_kind Operation, typename E, typename Scope>
void put_values(std::string& values, unary_expression<Operation, E> const& node, Scope const& at) {
    put_values<Naming>(values, node.operand, at);
}
template <typename Naming, operation_kind Operation, typename L, typename R, typename Scope>
void put_values(std::string& values, binary_expression<Operation, L, R> const& node,
                Scope const& at) {
    put_values<Naming>(values, node.left, at);
    put_values<Naming>(values, node.right, at);
}

/// For people, who look for the condition that they wrote.
template <typename Record, typename Parameters, typename Line>
struct names_as_written : naming<Record, Parameters, Line> {
    static constexpr bool as_written = true;
    template <typename Declared, typename T>
    static void put(std::string& out, T const& value) {
        if constexpr (std::is_same_v<T, std::string_view>) put_value(out, value);
        else put_typed<Declared>(out, value);
    }
};

/// Finds the first expression that causes a refusal.
/// Shape:   Naming - the structs whose members the expressions name
template <typename Naming, typename Scope>
class cause_finder {
public:
    cause_finder(reason why, Scope at, bool& overflow) : why_(why), at_(at), overflow_(&overflow) {}

    template <typename E>
    void look_at_condition(E const& condition) {
        bool const holds = evaluate(condition, at_);
        if (overflowed(condition)) return;
        if (holds || why_ != reason::guard_failed || !text_.empty()) return;
        text_ = "the condition " + text_of(condition) + " does not hold" + with_values(condition);
    }
    template <typename E>
    void look_at_limit(E const& limit) {
        static_cast<void>(evaluate(limit, at_));
        static_cast<void>(overflowed(limit));
    }
    template <typename Key, typename E>
    void look_at_key(E const& key) {
        auto const value = evaluate(key, at_);
        if (overflowed(key) || fits_key<Key>(value)) return;
        if (why_ != reason::overflow || !text_.empty()) return;
        text_ = "the key " + text_of(key) + " exceeds the range of its type" + with_values(key);
    }
    template <typename E>
    void look_at_amount(E const& operand) {
        auto const amount = evaluate(operand, at_);
        if (overflowed(operand)) return;
        if (amount >= 0 || why_ != reason::guard_failed || !text_.empty()) return;
        text_ = "the amount " + text_of(operand) + " is negative" + with_values(operand);
    }
    [[nodiscard]] std::string const& text() const { return text_; }

private:
    template <typename E>
    bool overflowed(E const& node) {
        bool const left = std::exchange(*overflow_, false);
        if (left && why_ == reason::overflow && text_.empty()) {
            text_ = "the value of " + text_of(node) + " exceeds 64 bits" + with_values(node);
        }
        return left;
    }
    template <typename E>
    [[nodiscard]] std::string text_of(E const& node) const {
        std::string text;
        describe<Naming>(text, node);
        return text;
    }
    template <typename E>
    [[nodiscard]] std::string with_values(E const& node) const {
        std::string values;
        put_values<Naming>(values, node, at_);
        return values.empty() ? values : ": " + values;
    }

    reason why_;
    Scope at_;
    bool* overflow_;
    std::string text_;
};

template <typename Finder, typename Given>
void look_at_amounts(Finder& finder, Given const& given) {
    if constexpr (is_moment<Given>) {
        for_each_element(given.effects, [&](auto const& one) {
            using effect_type = std::remove_cvref_t<decltype(one)>;
            if constexpr (is_delta<effect_type>) {
                if constexpr (effect_type::is_signed) finder.look_at_limit(one.operand);
                else finder.look_at_amount(one.operand);
            }
        });
    }
}

/// The cause in one part; empty if no single expression is the cause.
template <RecordParticipant Participant, typename Parameters, typename Line>
std::string cause_of_part(Participant const& participant, Parameters const& parameters,
                          Line const* line, reason why) {
    bool overflow = false;
    using record = typename Participant::record_type;
    using scope_type = scope<record, Parameters, Line>;
    using names = names_as_written<record, Parameters, Line>;
    scope_type const at{nullptr, &parameters, line, &overflow};
    cause_finder<names, scope_type> finder{why, at, overflow};
    finder.template look_at_key<typename Participant::collection_type::key_type>(participant.key);
    for_each_element(participant.guards, [&](auto const& guard) {
        using guard_type = std::remove_cvref_t<decltype(guard)>;
        if constexpr (requires { guard_type::side; }) finder.look_at_limit(guard.limit);
        else if constexpr (without_fields<typename guard_type::expression_type>)
            finder.look_at_condition(guard.condition);
    });
    look_at_amounts(finder, participant.applying);
    look_at_amounts(finder, participant.confirming);
    if (finder.text().empty() && why == reason::overflow) {
        return "the sum of its effects on one field exceeds 64 bits";
    }
    return finder.text();
}

template <typename Participant, typename Parameters, typename Line>
std::string cause_of_part(Participant const&, Parameters const&, Line const*, reason why) {
    return why == reason::overflow ? "a computation on its parameters exceeds 64 bits"
                                   : "a condition on its parameters does not hold";
}

std::string locator_of(part_name const& where);

/// The cause of a refusal, as a clause.
template <auto const& Type>
std::string explain(std::type_identity<forward<Type>>,
                    typename forward<Type>::parameters const& given, refusal const& refused) {
    using direction = forward<Type>;
    using parameters = typename direction::parameters;
    bool overflow = false;
    using scope_type = scope<nothing, parameters, nothing>;
    scope_type const at{nullptr, &given, nullptr, &overflow};
    cause_finder<names_as_written<nothing, parameters, nothing>, scope_type> finder{refused.why, at,
                                                                                    overflow};
    if (refused.where.participant.empty()) {
        for_each_element(Type.guards,
                         [&](auto const& guard) { finder.look_at_condition(guard.condition); });
        return finder.text();
    }
    std::string text;
    direction::for_each_participant([&](auto index) {
        constexpr std::size_t at_index = decltype(index)::value;
        if (direction::template participant<at_index>::name != refused.where.participant) return;
        text = cause_of_part(
            direction::template description<at_index>(), given,
            direction::template element<at_index>(given, refused.where.line.value_or(0)),
            refused.why);
    });
    return locator_of(refused.where) + text;
}

template <auto const& Type>
std::string explain(std::type_identity<backward<Type>>, typename backward<Type>::parameters const&,
                    refusal const& refused) {
    return locator_of(refused.where) + (refused.why == reason::overflow
                                            ? "the gain of the transaction exceeds 64 bits"
                                            : "the entry has no readable image of the record");
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/protocol/explanation.ipp>
#endif
