// SPDX-License-Identifier: BSL-1.0
// The laws of a reversal: it takes back the gains of its original only where they are still there.
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
        for_each_element(moment.effects, [&](auto const& one) {
            using effect_type = std::remove_cvref_t<decltype(one)>;
            auto const bit = std::uint64_t{1} << member_index<Record, effect_type::member>;
            if (effect_type::kind == effect_kind::assign) to.assigned |= bit;
            if (effect_type::may_pass_zero) to.below_zero |= bit;
        });
    }
}

/// How the record changes between a transaction and its reversal.
enum class meanwhile : std::uint8_t {
    nothing,
    sums,     ///< random numbers are added
    all_left, ///< each member holds exactly its gain
    one_gone  ///< each member holds its gain less one
};

/// Commits and reverses a transaction with one part, on a record without other marks.
template <auto const& Type, std::size_t Index>
class reversal_trial {
    using direction = forward<Type>;
    using collection = typename direction::template collection_of<Index>;
    using record_type = typename collection::record_type;
    using parameters = typename direction::parameters;

public:
    reversal_trial(std::optional<record_type> const& record, wish<parameters> const& by)
        : by_(by), before_(record) {
        // The key of the record must be the key of the part, since a reversal creates the record
        // under that key.
        if (before_) set_key<Type, Index>(*before_, by_);
        slot_.record = before_;
        auto const& part = direction::template description<Index>();
        add_members<record_type>(members_, part.applying);
        add_members<record_type>(members_, part.confirming);
    }

    /// Returns: the broken law, if any; nothing where the transaction itself is canceled
    broken_law run(meanwhile between) {
        auto const intent = direction::template intent<Index>(by_.given, by_.line);
        auto const result = act(intent, 1);
        if (result.what != answer::applied) return {};
        exclusive_ = result.exclusive != nullptr;
        if (exclusive_) kept_ = settle::detail::image_of(part(), *result.exclusive);
        static_cast<void>(settle::finish(slot_, "t", part(), 1));
        after_ = slot_.record;
        if (!gains_fit() || !change(between)) return {};
        return reverse();
    }

private:
    [[nodiscard]] part_number part() const {
        return {static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(by_.line)};
    }

    template <typename Intent>
    record_answer<record_type> act(Intent const& intent, epoch number) {
        record_type created{};
        set_key<Type, Index>(created, by_);
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
        return widened((*after_).*m.pointer) - widened((*before_).*m.pointer);
    }

    /// A gain or a loss of more than 64 bits cannot be reversed.
    [[nodiscard]] bool gains_fit() const {
        bool fit = true;
        if (!before_ || !after_) return fit;
        for_each_integer<record_type>([&](auto m, auto) {
            fit = fit && fits_64(gain(m)) && fits_64(-gain(m));
        });
        return fit;
    }

    /// Returns false where the record cannot change in this way.
    bool change(meanwhile between) {
        if (between == meanwhile::nothing) return true;
        if (!before_ || !after_) return false;
        bool overflow = false;
        for_each_integer<record_type>([&](auto m, auto position) {
            auto& member = (*slot_.record).*m.pointer;
            if (m.index == member_index<record_type, collection::key_member>) return;
            wide const left = gain(m) - (between == meanwhile::one_gone ? 1 : 0);
            if (between == meanwhile::sums) {
                put(member, widened(member) + by_.stranger[position], overflow);
            } else if (!is_assigned(m) && gain(m) > 0) {
                put(member, left, overflow);
            }
        });
        return !overflow;
    }

    broken_law reverse() {
        auto const current = slot_;
        bool const allowed = expect();
        reversal_parameters<parameters> const given{by_.given, {kept_}};
        auto const intent = backward<Type>::template intent<Index>(given, by_.line);
        if (intent.premises() != reason::none) return {"a reversal reads its images", "it cannot"};
        auto const result = act(intent, 2);
        if ((result.what == answer::applied) != allowed) {
            return {"a reversal takes only what stands and leaves nothing below zero",
                    "answered " + std::string{name_of(result.what)} + " for " +
                        show_record(current.record)};
        }
        if (!allowed) {
            if (slot_ == current) return {};
            return {"a reversal that is refused leaves the record as it was",
                    show_record(slot_.record)};
        }
        if (gives_early(current.record)) {
            return {"a reversal gives nothing back before it is certain",
                    show_record(slot_.record)};
        }
        static_cast<void>(settle::finish(slot_, "t/reverse", part(), 2));
        if (equal_members(slot_.record, expected_)) return {};
        return {"a reversal gives back what was taken, and takes what was gained",
                "the record is " + show_record(slot_.record) + ", expected " +
                    show_record(expected_)};
    }

    /// True when a pending reversal has raised an integer member.
    [[nodiscard]] bool gives_early(std::optional<record_type> const& current) const {
        bool early = false;
        if (!current || !slot_.record) return early;
        for_each_integer<record_type>([&](auto m, auto) {
            early = early ||
                    widened((*slot_.record).*m.pointer) > widened((*current).*m.pointer);
        });
        return early;
    }

    /// Evaluates the reversal plainly: returns whether it commits, and sets the record it leaves.
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
            allowed = allowed && settle::detail::same_value((*slot_.record).*m.pointer,
                                                            (*after_).*m.pointer);
            (*expected_).*m.pointer = (*before_).*m.pointer;
        });
        for_each_integer<record_type>([&](auto m, auto) {
            if (is_assigned(m) || gain(m) == 0) return;
            wide const rest = widened((*slot_.record).*m.pointer) - gain(m);
            bool const may_pass = (members_.below_zero >> m.index & 1U) != 0;
            allowed = allowed && (gain(m) < 0 || rest >= 0 || may_pass);
            put((*expected_).*m.pointer, rest, overflow);
        });
        return allowed && !overflow;
    }

    wish<parameters> const& by_;
    std::optional<record_type> before_;
    std::optional<record_type> after_;
    std::optional<record_type> expected_;
    record_slot<record_type> slot_;
    effect_members members_;
    image kept_{};
    bool exclusive_ = false;
};

/// Commits and reverses each part of a case alone, with every change of the record in between.
template <auto const& Type, typename Collection>
broken_law reverse_each(record_case<Type, Collection> const& story) {
    using direction = forward<Type>;
    broken_law found;
    for (auto const& by : story.wishes) {
        if (found || direction::check(by.given).why != reason::none) continue;
        record_case<Type, Collection>::visit(by.participant, [&](auto index) {
            if (by.line >= direction::template lines<index>(by.given)) return;
            for (meanwhile const between : {meanwhile::nothing, meanwhile::sums,
                                            meanwhile::all_left, meanwhile::one_gone}) {
                if (!found) {
                    found = reversal_trial<Type, index>{story.record, by}.run(between);
                }
            }
        });
    }
    return found;
}

} // namespace laws
} // namespace testing
SETTLE_END
