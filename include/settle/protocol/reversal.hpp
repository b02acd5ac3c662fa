// SPDX-License-Identifier: BSL-1.0
// The reversal of a transaction type: derived from the type, and run like any type.
//
// A net gain is subtracted at apply, with a guard; a net loss is added at confirm. An assigned
// field gets its old value back only if it still has the assigned value. A created record is
// erased; an erased record is created from its native image.
#pragma once

#include <settle/definition/codec.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/protocol/entry.hpp>

SETTLE_BEGIN

/// The parameters of a reversal: the parameters and the images in the original's entry.
template <typename Parameters>
struct reversal_parameters {
    BOOST_HANA_DEFINE_STRUCT(reversal_parameters, (Parameters, parameters),
                             (std::vector<image>, images));
};

namespace detail {

/// The same for all types, so it is compiled once.
template <>
struct value_functions<std::vector<image>> {
    static void write(std::string& out, void const* value, secrets shown);
    static bool read(json_reader& reader, void* value, json_form form);
    static bool same(void const* left, void const* right);
    static std::string_view bad_text(void const* value, std::string& path);
};

template <typename Record, auto Member, typename Moment>
inline constexpr bool member_may_pass_zero = false;
template <typename Record, auto Member, bool C, bool E, typename... Effects>
inline constexpr bool member_may_pass_zero<Record, Member, moment<C, E, Effects...>> =
    ((same_field<Record, Member, Effects::member> && Effects::may_pass_zero) || ...);

template <typename Record, typename Moment>
inline constexpr std::uint64_t assigned_fields = 0;
template <typename Record, bool C, bool E, typename... Effects>
inline constexpr std::uint64_t assigned_fields<Record, moment<C, E, Effects...>> =
    (std::uint64_t{0} | ... |
     (Effects::kind == effect_kind::assign
          ? std::uint64_t{1} << member_index<Record, Effects::member>
          : std::uint64_t{0}));

} // namespace detail

/// The intent of one part of a reversal.
template <typename Participant, typename Parameters>
class backward_intent {
public:
    using original = forward_intent<Participant, Parameters>;
    using record_type = typename Participant::record_type;
    using line_type = typename original::line_type;
    using collection = typename Participant::collection_type;

    static constexpr bool commutes = original::commutes;
    static constexpr bool creates = original::erases;
    static constexpr bool erases = original::creates;
    static constexpr std::uint64_t apply_fields = creates ? ~std::uint64_t{0} : 0;
    static constexpr std::uint64_t confirm_fields =
        commutes ? 0 : original::apply_fields | original::confirm_fields;
    static constexpr std::uint64_t exact_fields = 0;

    backward_intent(Participant const& participant, Parameters const& parameters,
                    line_type const* line, image const* kept)
        : original_(participant, parameters, line), kept_(kept) {
        if constexpr (!commutes) decode();
    }

    void deltas(integers<record_type>& apply, integers<record_type>& confirm,
                bool& overflow) const {
        integers<record_type> const net = gained(overflow);
        for (std::size_t i = 0; i < net.size(); ++i) {
            auto& given_back = net[i] > 0 ? apply[i] : confirm[i];
            given_back =
                detail::checked<operation_kind::subtract>(std::int64_t{0}, net[i], overflow);
        }
    }

    /// A member must still hold the net gain that the reversal subtracts.
    template <typename Function>
    void for_each_bound(Function&& function, bool& overflow) const {
        if constexpr (commutes) {
            integers<record_type> const net = gained(overflow);
            for_each_integer<record_type>([&](auto m, auto position) {
                if constexpr (!may_pass_zero<decltype(m)::pointer>) {
                    if (net[position] > 0) {
                        function(std::integral_constant<std::size_t, decltype(m)::index>{},
                                 bound_side::lower, net[position]);
                    }
                }
            });
        }
    }

    bool exact_guards_hold(record_type const& record, bool&) const {
        if constexpr (commutes || creates) {
            static_cast<void>(record);
            return true;
        } else {
            bool unchanged = true;
            for_each_member<record_type>([&](auto m) {
                if (((unchanged_fields >> m.index) & 1U) == 0) return;
                unchanged = unchanged && detail::same_value(m.in(record), m.in(after_));
            });
            return unchanged;
        }
    }

    bool apply_to(record_type& record, bool&) const {
        if constexpr (creates) {
            for_each_member<record_type>([&](auto m) {
                if (m.index == member_index<record_type, collection::key_member>) return;
                m.in(record) = m.in(before_);
            });
        }
        return true;
    }

    bool confirm_to(record_type& record, bool& overflow) const {
        bool hold = true;
        if constexpr (!creates && !erases) {
            for_each_member<record_type>([&](auto m) {
                if (((confirm_fields >> m.index) & 1U) == 0) return;
                if (((assigned >> m.index) & 1U) != 0) m.in(record) = m.in(before_);
                else subtract_gain(m, record, hold, overflow);
            });
        }
        return hold;
    }

    /// An exclusive part needs the image of its record in the entry.
    reason premises() const {
        bool overflow = false;
        if constexpr (commutes) static_cast<void>(gained(overflow));
        if (overflow) return reason::overflow;
        return readable_ ? reason::none : reason::record_missing;
    }

    /// The native record that the original erased; empty if it erased none.
    [[nodiscard]] std::string_view native_image() const {
        return creates && kept_ != nullptr ? std::string_view{kept_->before} : std::string_view{};
    }

private:
    template <auto Member>
    static constexpr bool may_pass_zero =
        detail::member_may_pass_zero<record_type, Member, typename original::apply_type> ||
        detail::member_may_pass_zero<record_type, Member, typename original::confirm_type>;
    static constexpr std::uint64_t assigned =
        detail::assigned_fields<record_type, typename original::apply_type> |
        detail::assigned_fields<record_type, typename original::confirm_type>;
    /// The fields that must be unchanged: all fields of a created record, otherwise the assigned
    /// fields.
    static constexpr std::uint64_t unchanged_fields = erases ? ~std::uint64_t{0} : assigned;

    integers<record_type> gained(bool& overflow) const {
        integers<record_type> apply{};
        integers<record_type> confirm{};
        original_.deltas(apply, confirm, overflow);
        for (std::size_t i = 0; i < apply.size(); ++i) {
            apply[i] = detail::checked<operation_kind::add>(apply[i], confirm[i], overflow);
        }
        return apply;
    }

    /// Reverses a sum of an exclusive part: the gain is the difference of the images.
    template <typename Member>
    void subtract_gain(Member m, record_type& record, bool& hold, bool& overflow) const {
        if constexpr (IntegerField<typename Member::type>) {
            auto const gain =
                detail::checked<operation_kind::subtract>(m.in(after_), m.in(before_), overflow);
            auto const rest =
                detail::checked<operation_kind::subtract>(m.in(record), gain, overflow);
            hold = hold && (gain <= 0 || rest >= 0 || may_pass_zero<Member::pointer>);
            store_value(m.in(record), rest, overflow);
        }
    }

    void decode() {
        readable_ = kept_ != nullptr && (erases || read(kept_->before, before_)) &&
                    (creates || read(kept_->after, after_));
    }

    static bool read(std::string const& text, record_type& into) {
        auto found = decode_json<record_type>(text, json_form::row);
        if (!found.has_value()) return false;
        into = std::move(found).value();
        return true;
    }

    original original_;
    image const* kept_;
    record_type before_{};
    record_type after_{};
    bool readable_ = true;
};

/// The direction of a reversal.
template <auto const& Type>
struct backward : detail::parts_of_type<Type> {
    using base = detail::parts_of_type<Type>;
    using parameters = reversal_parameters<typename base::user_parameters>;
    static constexpr bool is_reverse = true;

    static std::string const& name() {
        static std::string const text = forward<Type>::name() + "/reverse";
        return text;
    }
    static std::uint64_t definition() {
        static std::uint64_t const hash =
            fingerprint(detail::text_of(detail::items_of_type<Type>.data()) + "reverse\n");
        return hash;
    }
    static auto const& user(parameters const& parameters) { return parameters.parameters; }

    template <std::size_t Index>
    static auto intent(parameters const& parameters, std::size_t line) {
        image const* kept = nullptr;
        for (image const& one : parameters.images) {
            if (one.participant == Index && one.line == line) kept = &one;
        }
        return backward_intent<typename base::template participant<Index>,
                               typename base::user_parameters>{
            base::template description<Index>(), parameters.parameters,
            base::template element<Index>(parameters.parameters, line), kept};
    }

    static refusal check(parameters const& parameters) {
        refusal refused;
        base::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            for (std::size_t line = 0; line < base::template lines<position>(parameters.parameters);
                 ++line) {
                if (refused.why != reason::none) return;
                refused.why = intent<position>(parameters, line).premises();
                if (refused.why != reason::none) {
                    refused.where = base::template name_of_line<position>(line);
                }
            }
        });
        return refused;
    }
    static std::string explain(parameters const&, refusal const& refused) {
        return detail::explain_reversal(refused);
    }
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/protocol/reversal.ipp>
#endif
