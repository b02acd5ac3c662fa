// SPDX-License-Identifier: BSL-1.0
// The intent of one part: its participant's guards and effects, with the parameters filled in.
#pragma once

#include <settle/definition/transaction.hpp>
#include <settle/protocol/mark.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Record, typename Moment>
inline constexpr std::uint64_t fields_of_moment = 0;
template <typename Record, bool C, bool E, typename... Effects>
inline constexpr std::uint64_t fields_of_moment<Record, moment<C, E, Effects...>> =
    (std::uint64_t{0} | ... | (std::uint64_t{1} << member_index<Record, Effects::member>));

template <typename Record, typename Guards>
inline constexpr std::uint64_t exact_fields_of = 0;
template <typename Record, typename... Guards>
inline constexpr std::uint64_t exact_fields_of<Record, boost::hana::tuple<Guards...>> =
    (std::uint64_t{0} | ... | [] {
        if constexpr (requires(Guards g) { g.condition; }) {
            return fields_in<Record, typename Guards::expression_type>::value;
        } else {
            return std::uint64_t{0};
        }
    }());

} // namespace detail

/// The intent of a part in a forward transaction. For a reversal it is `backward_intent`.
template <typename Participant, typename Parameters>
class forward_intent {
public:
    using record_type = typename Participant::record_type;
    using line_type = typename Participant::source_type::element;
    using apply_type = detail::moment_or_none<typename Participant::apply_type>;
    using confirm_type = detail::moment_or_none<typename Participant::confirm_type>;

    static constexpr bool commutes = apply_type::commutes && confirm_type::commutes;
    static constexpr bool creates = apply_type::creates;
    static constexpr bool erases = confirm_type::erases;
    static constexpr std::uint64_t apply_fields = detail::fields_of_moment<record_type, apply_type>;
    static constexpr std::uint64_t confirm_fields =
        detail::fields_of_moment<record_type, confirm_type>;
    static constexpr std::uint64_t exact_fields =
        detail::exact_fields_of<record_type, typename Participant::guards_type>;

    constexpr forward_intent(Participant const& participant, Parameters const& parameters,
                             line_type const* line)
        : participant_(participant), parameters_(parameters), line_(line) {}

    /// Adds the deltas of apply and confirm to the sums. Their operands read no field.
    constexpr void deltas(integers<record_type>& apply, integers<record_type>& confirm,
                          bool& overflow) const {
        add_deltas<apply_type>(participant_.applying, apply, overflow);
        add_deltas<confirm_type>(participant_.confirming, confirm, overflow);
    }

    /// Calls `function(integral_constant<member index>, side, limit)` for every bound.
    template <typename Function>
    constexpr void for_each_bound(Function&& function, bool& overflow) const {
        auto const environment = view(nullptr, overflow);
        for_each_element(participant_.guards, [&](auto const& guard) {
            using guard_type = std::remove_cvref_t<decltype(guard)>;
            if constexpr (requires { guard_type::side; }) {
                constexpr std::size_t index = member_index<record_type, guard_type::member>;
                function(std::integral_constant<std::size_t, index>{}, guard_type::side,
                         evaluate(guard.limit, environment));
            }
        });
    }

    /// True if every guard that is no bound holds.
    constexpr bool exact_guards_hold(record_type const& record, bool& overflow) const {
        bool hold = true;
        auto const environment = view(&record, overflow);
        for_each_element(participant_.guards, [&](auto const& guard) {
            using guard_type = std::remove_cvref_t<decltype(guard)>;
            if constexpr (!requires { guard_type::side; }) {
                hold = evaluate(guard.condition, environment) && hold;
            }
        });
        return hold;
    }

    /// For exclusive intents: apply or confirm on a copy of the record. False if an amount is
    /// negative.
    constexpr bool apply_to(record_type& record, bool& overflow) const {
        return change(participant_.applying, record, overflow);
    }
    constexpr bool confirm_to(record_type& record, bool& overflow) const {
        return change(participant_.confirming, record, overflow);
    }

    /// Checks the parameters alone: guards that read no field, negative amounts, and sums that
    /// leave 64 bits. Returns the reason of a refusal, or `none`.
    constexpr reason premises() const {
        bool overflow = false;
        bool hold = true;
        auto const environment = view(nullptr, overflow);
        for_each_element(participant_.guards, [&](auto const& guard) {
            using guard_type = std::remove_cvref_t<decltype(guard)>;
            if constexpr (requires { guard_type::side; }) {
                static_cast<void>(evaluate(guard.limit, environment));
            } else if constexpr (detail::without_fields<typename guard_type::expression_type>) {
                hold = evaluate(guard.condition, environment) && hold;
            }
        });
        check_amounts(participant_.applying, hold, overflow);
        check_amounts(participant_.confirming, hold, overflow);
        if (overflow) return reason::overflow;
        // A negative amount fails its guard, even if its negation would overflow below.
        if (!hold) return reason::guard_failed;
        integers<record_type> apply{};
        integers<record_type> confirm{};
        deltas(apply, confirm, overflow);
        return overflow ? reason::overflow : reason::none;
    }

    /// Empty: a forward intent creates a record from its parameters alone.
    [[nodiscard]] static constexpr std::string_view native_image() { return {}; }

private:
    constexpr auto view(record_type const* record, bool& overflow) const {
        return scope<record_type, Parameters, line_type>{record, &parameters_, line_, &overflow};
    }

    template <typename Moment, typename Given>
    constexpr void add_deltas(Given const& effects, integers<record_type>& sums,
                              bool& overflow) const {
        if constexpr (detail::is_moment<Given>) {
            auto const environment = view(nullptr, overflow);
            for_each_element(effects.effects, [&](auto const& effect) {
                using effect_type = std::remove_cvref_t<decltype(effect)>;
                if constexpr (is_delta<effect_type>) {
                    constexpr std::size_t index = member_index<record_type, effect_type::member>;
                    auto& sum = sums[integer_position<record_type, index>];
                    constexpr auto kind = effect_type::kind == effect_kind::add
                                              ? operation_kind::add
                                              : operation_kind::subtract;
                    sum =
                        detail::checked<kind>(sum, evaluate(effect.operand, environment), overflow);
                }
            });
        }
    }

    /// Each effect of a moment reads the record as it was before that moment.
    template <typename Given>
    constexpr bool change(Given const& effects, record_type& record, bool& overflow) const {
        bool hold = true;
        if constexpr (detail::is_moment<Given>) {
            record_type const before = record;
            auto const environment = view(&before, overflow);
            for_each_element(effects.effects, [&](auto const& effect) {
                using effect_type = std::remove_cvref_t<decltype(effect)>;
                auto& field = detail::member_in<effect_type::member>(record);
                auto const value = evaluate(effect.operand, environment);
                if constexpr (effect_type::kind == effect_kind::assign) {
                    store_value(field, value, overflow);
                } else {
                    if constexpr (!effect_type::is_signed) hold = hold && value >= 0;
                    constexpr auto kind = effect_type::kind == effect_kind::add
                                              ? operation_kind::add
                                              : operation_kind::subtract;
                    store_value(field, detail::checked<kind>(field, value, overflow), overflow);
                }
            });
        }
        return hold;
    }

    template <typename Given>
    constexpr void check_amounts(Given const& effects, bool& hold, bool& overflow) const {
        if constexpr (detail::is_moment<Given>) {
            auto const environment = view(nullptr, overflow);
            for_each_element(effects.effects, [&](auto const& effect) {
                using effect_type = std::remove_cvref_t<decltype(effect)>;
                if constexpr (is_delta<effect_type> && !effect_type::is_signed) {
                    hold = evaluate(effect.operand, environment) >= 0 && hold;
                }
            });
        }
    }

    Participant const& participant_;
    Parameters const& parameters_;
    line_type const* line_;
};

SETTLE_END
