// SPDX-License-Identifier: BSL-1.0
// Random values of any field and struct: mostly limits of the type and values drawn before.
#pragma once

#include <settle/definition/transaction.hpp>

#include <array>
#include <limits>
#include <random>

SETTLE_BEGIN
namespace testing {

/// A seeded source of values. It repeats values, because a guard that compares two texts would
/// otherwise almost never hold.
class value_source {
public:
    explicit value_source(std::uint64_t seed) : bits_(seed) {}

    [[nodiscard]] std::size_t below(std::size_t limit) { return bits_() % limit; }
    [[nodiscard]] bool one_in(std::size_t many) { return below(many) == 0; }

    /// Forgets the values drawn, and chooses whether the next case has small numbers.
    void begin_case() {
        numbers_ = known_numbers_;
        texts_ = known_texts_;
        small_ = !one_in(4);
    }

    /// Adds a literal of the definition to the values that every case can draw.
    void learn(std::int64_t number) { known_numbers_.push_back(number); }
    void learn(std::string_view text) { known_texts_.emplace_back(text); }

    template <typename T>
    [[nodiscard]] T draw() {
        T value{};
        fill(value);
        return value;
    }

    template <typename T>
    void fill(T& value) {
        if constexpr (Described<T>) {
            for_each_member<T>([&](auto m) { fill(m.in(value)); });
        } else if constexpr (!std::is_void_v<typename settle::detail::vector_element<T>::type>) {
            value.resize(1 + below(3));
            for (auto& element : value) fill(element);
        } else if constexpr (field_traits<T>::optional) {
            value.reset();
            if (!one_in(4)) fill(value.emplace());
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = text();
        } else if constexpr (std::is_same_v<T, bool>) {
            value = one_in(2);
        } else {
            // Cut to the width of the type, so that a narrow type is drawn at its limits, too.
            using width = decltype(width_of<T>());
            static_cast<void>(from_integer(
                static_cast<std::int64_t>(static_cast<width>(number<width>())), value));
            if constexpr (IntegerField<T>) numbers_.push_back(value);
        }
    }

private:
    template <typename T>
    static constexpr auto width_of() {
        if constexpr (std::is_enum_v<T>) return std::underlying_type_t<T>{};
        else if constexpr (settle::detail::time_parts<T>::value) return typename T::rep{};
        else return T{};
    }

    template <typename T>
    std::int64_t number() {
        using limits = std::numeric_limits<T>;
        auto const edge = [&]() -> std::int64_t {
            auto const near = static_cast<std::int64_t>(below(3));
            switch (below(4)) {
            case 0: return static_cast<std::int64_t>(limits::min()) + near;
            case 1: return static_cast<std::int64_t>(limits::max()) - near;
            case 2: return near - 1;
            default: return edges_[below(edges_.size())] - 1 + near;
            }
        };
        if (!numbers_.empty() && one_in(3)) {
            // May wrap around, which also gives a valid number.
            auto const seen = static_cast<std::uint64_t>(numbers_[below(numbers_.size())]);
            return static_cast<std::int64_t>(seen + (one_in(2) ? 0U : below(3)) - 1U);
        }
        if (small_) return static_cast<std::int64_t>(below(14)) - 3;
        if (one_in(2)) return edge();
        return static_cast<std::int64_t>(bits_()) >> below(64);
    }

    std::string text() {
        if (!texts_.empty() && one_in(2)) return texts_[below(texts_.size())];
        // Characters of each length in UTF-8 and of both cases, and characters that SQL or JSON
        // quotes.
        static constexpr std::array<std::string_view, 16> characters{"a",
                                                                     "A",
                                                                     "b",
                                                                     " ",
                                                                     "'",
                                                                     "\"",
                                                                     "\\",
                                                                     "%",
                                                                     "\n",
                                                                     "\x01",
                                                                     "\x7f",
                                                                     "\xc3\xa4",
                                                                     "\xc3\x84",
                                                                     "\xe2\x82\xac",
                                                                     "\xef\xbf\xbf",
                                                                     "\xf0\x9f\x98\x80"};
        std::string text;
        for (std::size_t length = below(4); length > 0; --length) text += characters[below(16)];
        texts_.push_back(text);
        return text;
    }

    static constexpr std::array<std::int64_t, 6> edges_{
        std::int64_t{1} << 7, std::int64_t{1} << 15, std::int64_t{1} << 31, std::int64_t{1} << 32,
        // The square root of the greatest number; the number at which a double begins to round.
        3037000500, std::int64_t{1} << 53};

    std::mt19937_64 bits_;
    std::vector<std::int64_t> known_numbers_;
    std::vector<std::string> known_texts_;
    std::vector<std::int64_t> numbers_;
    std::vector<std::string> texts_;
    bool small_ = true;
};

/// Adds every literal and constant of an expression to a source.
template <typename E>
void learn_from(value_source& source, E const& expression) {
    auto const take = [&](auto const& value) {
        using type = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<type, std::int64_t>) source.learn(value);
        else if constexpr (std::is_same_v<type, std::string_view>) source.learn(value);
    };
    if constexpr (requires { expression.left; }) {
        learn_from(source, expression.left);
        learn_from(source, expression.right);
    } else if constexpr (requires { expression.operand; }) {
        learn_from(source, expression.operand);
    } else if constexpr (requires { E::get(); }) {
        take(E::get());
    } else if constexpr (requires { expression.value; }) {
        take(expression.value);
    }
}

namespace laws {

/// The expression of a guard of any kind.
template <typename Guard>
[[nodiscard]] constexpr auto const& expression_in(Guard const& guard) {
    if constexpr (requires { Guard::side; }) return guard.limit;
    else return guard.condition;
}

template <typename Moment>
void learn_from_moment(value_source& source, Moment const& moment) {
    if constexpr (settle::detail::is_moment<Moment>) {
        for_each_element(moment.effects, [&](auto const& effect) { learn_from(source, effect); });
    }
}

} // namespace laws

/// Adds the literals and constants of a type's guards, keys, applies and confirms to a source.
template <typename Type>
void learn_from_type(value_source& source, Type const& type) {
    auto const learn_guards = [&](auto const& guards) {
        for_each_element(
            guards, [&](auto const& guard) { learn_from(source, laws::expression_in(guard)); });
    };
    learn_guards(type.guards);
    for_each_element(type.participants, [&](auto const& participant) {
        learn_from(source, participant.key);
        learn_guards(participant.guards);
        laws::learn_from_moment(source, participant.applying);
        laws::learn_from_moment(source, participant.confirming);
    });
}

} // namespace testing
SETTLE_END
