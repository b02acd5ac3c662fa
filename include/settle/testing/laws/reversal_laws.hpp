// SPDX-License-Identifier: BSL-1.0
// The laws of a reversal: it takes a gain of its original back only if the record still has the
// gain.
#pragma once

#include <settle/protocol/reversal.hpp>
#include <settle/store/record.hpp>
#include <settle/testing/laws/record_laws.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

/// Sets of members of a record, taken from the effects of one participant.
struct effect_members {
    std::uint64_t assigned = 0;
    std::uint64_t below_zero = 0; ///< members that the definition lets pass below zero
};

template <typename Record, typename Moment>
void add_members(effect_members& to, Moment const& moment) {
    if constexpr (settle::detail::is_moment<Moment>) {
        for_each_element(moment.effects, [&](auto const& effect) {
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            auto const bit = std::uint64_t{1} << member_index<Record, effect_type::member>;
            if (effect_type::kind == effect_kind::assign) to.assigned |= bit;
            if (effect_type::may_pass_zero) to.below_zero |= bit;
        });
    }
}

/// How the record changes between a transaction and its reversal.
enum class interim_change : std::uint8_t {
    none,
    random_sums,  ///< random numbers are added
    exact_gain,   ///< each raised member holds exactly its gain
    gain_less_one ///< each raised member holds its gain less one
};

/// Commits and reverses a transaction with one part, on a record without other marks.
template <auto const& Type, std::size_t Index>
class reversal_trial {
    using direction = forward<Type>;
    using collection = typename direction::template target_of<Index>;
    using record_type = typename collection::record_type;
    using parameters = typename direction::parameters;

public:
    reversal_trial(std::optional<record_type> const& record, case_part<parameters> const& tested)
        : tested_(tested), before_(record) {
        // The key of the record must be the key of the part, since a reversal creates the record
        // under that key.
        if (before_) set_key<Type, Index>(*before_, tested_);
        slot_.record = before_;
        auto const& part = direction::template description<Index>();
        add_members<record_type>(members_, part.applying);
        add_members<record_type>(members_, part.confirming);
    }

    /// Returns: the broken law, if any; empty if the transaction itself is canceled
    broken_law run(interim_change interim) {
        auto const intent = direction::template intent<Index>(tested_.parameters, tested_.line);
        auto const result = apply(intent, 1);
        if (result.what != answer::applied) return {};
        exclusive_ = result.exclusive != nullptr;
        if (exclusive_) kept_ = settle::detail::image_of(part(), *result.exclusive);
        static_cast<void>(settle::finish(slot_, "t", part(), 1));
        after_ = slot_.record;
        if (!gains_fit() || !change(interim)) return {};
        return reverse();
    }

private:
    [[nodiscard]] part_number part() const {
        return {static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(tested_.line)};
    }

    template <typename Intent>
    record_answer<record_type> apply(Intent const& intent, epoch number) {
        record_type created{};
        set_key<Type, Index>(created, tested_);
        auto const image = [&] { return encode_json(*slot_.record); };
        return settle::apply(slot_, number == 1 ? "t" : "t/reverse", part(), number, created,
                             intent, image);
    }

    template <typename Member>
    [[nodiscard]] bool is_assigned(Member m) const {
        return exclusive_ && (members_.assigned >> m.index & 1U) != 0;
    }
    template <typename Member>
    [[nodiscard]] wide gain(Member m) const {
        return widened(m.in(*after_)) - widened(m.in(*before_));
    }

    /// A gain or a loss of more than 64 bits cannot be reversed.
    [[nodiscard]] bool gains_fit() const {
        bool fit = true;
        if (!before_ || !after_) return fit;
        for_each_integer<record_type>(
            [&](auto m, auto) { fit = fit && fits_64(gain(m)) && fits_64(-gain(m)); });
        return fit;
    }

    /// Changes the record; returns false if the record cannot change in this way.
    bool change(interim_change interim) {
        if (interim == interim_change::none) return true;
        if (!before_ || !after_) return false;
        bool overflow = false;
        for_each_integer<record_type>([&](auto m, auto position) {
            auto& member = m.in(*slot_.record);
            if (m.index == member_index<record_type, collection::key_member>) return;
            wide const rest = gain(m) - (interim == interim_change::gain_less_one ? 1 : 0);
            if (interim == interim_change::random_sums) {
                assign(member, widened(member) + tested_.foreign_deltas[position], overflow);
            } else if (!is_assigned(m) && gain(m) > 0) {
                assign(member, rest, overflow);
            }
        });
        return !overflow;
    }

    broken_law reverse() {
        auto const current = slot_;
        bool const allowed = expect();
        reversal_parameters<parameters> const reversed{tested_.parameters, {kept_}};
        auto const intent = backward<Type>::template intent<Index>(reversed, tested_.line);
        if (intent.premises() != reason::none) {
            return {"a reversal reads its images", "an image cannot be read"};
        }
        auto const result = apply(intent, 2);
        if ((result.what == answer::applied) != allowed) {
            return {"a reversal takes only a gain that the record still has, and leaves no member "
                    "below zero",
                    "answered " + std::string{name_of(result.what)} + " for " +
                        show_record(current.record)};
        }
        if (!allowed) {
            if (slot_ == current) return {};
            return {"a reversal that is refused leaves the record as it was",
                    show_record(slot_.record)};
        }
        if (raises_early(current.record)) {
            return {"a pending reversal raises no member", show_record(slot_.record)};
        }
        static_cast<void>(settle::finish(slot_, "t/reverse", part(), 2));
        if (equal_members(slot_.record, expected_)) return {};
        return {"a reversal gives losses back and takes gains back",
                "the record is " + show_record(slot_.record) + ", expected " +
                    show_record(expected_)};
    }

    /// True when a pending reversal has raised an integer member.
    [[nodiscard]] bool raises_early(std::optional<record_type> const& current) const {
        bool early = false;
        if (!current || !slot_.record) return early;
        for_each_integer<record_type>([&](auto m, auto) {
            early = early || widened(m.in(*slot_.record)) > widened(m.in(*current));
        });
        return early;
    }

    /// Evaluates the reversal plainly: returns true if it commits, and sets the expected record.
    bool expect() {
        if (!after_) {
            expected_ = before_;
            return !slot_.record;
        }
        expected_.reset();
        if (!before_) return equal_members(slot_.record, after_);
        expected_ = slot_.record;
        bool allowed = true;
        bool overflow = false;
        for_each_member<record_type>([&](auto m) {
            if (!is_assigned(m)) return;
            allowed = allowed && settle::detail::same_value(m.in(*slot_.record), m.in(*after_));
            m.in(*expected_) = m.in(*before_);
        });
        for_each_integer<record_type>([&](auto m, auto) {
            if (is_assigned(m) || gain(m) == 0) return;
            wide const rest = widened(m.in(*slot_.record)) - gain(m);
            bool const may_pass = (members_.below_zero >> m.index & 1U) != 0;
            allowed = allowed && (gain(m) < 0 || rest >= 0 || may_pass);
            assign(m.in(*expected_), rest, overflow);
        });
        return allowed && !overflow;
    }

    case_part<parameters> const& tested_;
    std::optional<record_type> before_;
    std::optional<record_type> after_;
    std::optional<record_type> expected_;
    record_slot<record_type> slot_;
    effect_members members_;
    image kept_{};
    bool exclusive_ = false;
};

/// Commits and reverses each part of a case alone, with each interim change of the record.
template <auto const& Type, typename Collection>
broken_law reverse_each(record_case<Type, Collection> const& tested) {
    using direction = forward<Type>;
    broken_law law;
    for (auto const& part : tested.parts) {
        if (law || direction::check(part.parameters).why != reason::none) continue;
        record_case<Type, Collection>::visit(part.participant, [&](auto index) {
            if (part.line >= direction::template lines<index>(part.parameters)) return;
            for (interim_change const interim :
                 {interim_change::none, interim_change::random_sums, interim_change::exact_gain,
                  interim_change::gain_less_one}) {
                if (!law) {
                    law = reversal_trial<Type, index>{tested.record, part}.run(interim);
                }
            }
        });
    }
    return law;
}

} // namespace laws
} // namespace testing
SETTLE_END
