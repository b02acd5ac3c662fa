// SPDX-License-Identifier: BSL-1.0
// The operations of a wave on records. An apply knows its step and type at compile time, so that a
// plain container costs no more than a loop by hand; the end of a part is the same code for all
// types.
#pragma once

#include <settle/protocol/conditional.hpp>
#include <settle/store/function_view.hpp>
#include <settle/store/wave.hpp>

SETTLE_BEGIN

/// A step as an operation knows it: one that applies in its type, so that a store that is a plain
/// container pays for nothing else.
template <step Step>
struct applying_step {
    static constexpr bool applies = true;
    [[nodiscard]] static constexpr step at() noexcept { return Step; }
};
/// One that ends parts in a variable, so that all of them are compiled once.
struct ending_step {
    static constexpr bool applies = false;
    [[nodiscard]] constexpr step at() const noexcept { return wanted; }

    step wanted;
};

template <step Step>
[[nodiscard]] constexpr auto kind_of() noexcept {
    if constexpr (applies(Step)) return applying_step<Step>{};
    else return ending_step{Step};
}

/// Ends a part in a record of one collection: the same code for all transaction types.
template <typename Collection>
class part_end {
public:
    using record = typename Collection::record_type;

    [[gnu::always_inline]] part_end(job const& work, step at, part_number part)
        : work_(work), part_(part), at_(at) {}

    [[nodiscard]] transaction_id const& id() const { return work_.id; }
    [[nodiscard]] part_number part() const { return part_; }

    [[SETTLE_INLINED]] record_answer<record> execute(record_slot<record>& slot) const {
        auto const& c = work_.coordinator;
        if (at_ != step::confirm) return undo(slot);
        return settle::finish(slot, work_.id, part_, c.committed());
    }

    /// Ends a part in one phase: its mark never leaves the native transaction.
    record_answer<record> end_one_phase(record_slot<record>& slot, bool confirmed) const {
        epoch const under = work_.coordinator.one_phase_epoch();
        return confirmed ? settle::finish(slot, work_.id, part_, under)
                         : undo_exactly(slot, work_.id, part_, under);
    }

private:
    /// Kept out of line: most parts are finished, not undone.
    [[gnu::noinline]] record_answer<record> undo(record_slot<record>& slot) const {
        auto const& c = work_.coordinator;
        if (at_ == step::compensate) return settle::undo(slot, work_.id, part_, c.latest());
        return undo_exactly(slot, work_.id, part_, c.epoch_number());
    }

    job const& work_;
    part_number part_;
    step at_;
};

namespace detail {

/// The image that an entry keeps of an exclusive effect.
template <Described Record>
[[nodiscard]] image image_of(part_number part, exclusive_effect<Record> const& effect) {
    return {part.participant, part.line, effect.image,
            effect.erases ? std::string{} : encode_json(effect.confirmed)};
}

/// Keeps the image of an exclusive effect for the entry.
template <Described Record>
[[gnu::noinline]] void keep_image(job& work, part_number part,
                                  exclusive_effect<Record> const& effect) {
    image kept = image_of(part, effect);
    for (image& one : work.images) {
        if (one.participant == kept.participant && one.line == kept.line) {
            one = std::move(kept);
            return;
        }
    }
    work.images.push_back(std::move(kept));
}

} // namespace detail

/// One operation of a wave: one part of one transaction at one step.
/// Shape:   Kind - `applying_step` or `ending_step`
template <typename Kind, typename Direction, std::size_t Index>
class operation {
public:
    static constexpr bool applies = Kind::applies;
    using kind = Kind;
    using collection = typename Direction::template collection_of<Index>;
    using record = typename collection::record_type;

    [[gnu::always_inline]] operation(job& work, Kind how, std::size_t flat, std::size_t line_number)
        : work_(work), flat_(flat), line_(line_number), kind_(how) {}

    [[nodiscard, gnu::always_inline]] step at() const { return kind_.at(); }
    [[nodiscard, gnu::always_inline]] transaction_id const& id() const { return work_.id; }
    [[nodiscard, gnu::always_inline]] part_number part() const {
        return {static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(line_)};
    }
    [[nodiscard, gnu::always_inline]] job& work() const { return work_; }
    /// The part's number among all parts of the transaction.
    [[nodiscard, gnu::always_inline]] std::size_t flat_part() const { return flat_; }
    [[nodiscard, gnu::always_inline]] auto key() const {
        return Direction::template key<Index>(Direction::user(parameters()), line_);
    }
    [[nodiscard, gnu::always_inline]] auto intent() const {
        return Direction::template intent<Index>(parameters(), line_);
    }

    /// Lets the operation meet a record: the one place where a step becomes a call of the rule.
    /// Shape:   native_image - gives the whole record as the store keeps it, as JSON; Inlined - the
    ///          rule is compiled into the caller, where otherwise all who apply this part share it
    template <bool Inlined = false>
    [[gnu::always_inline]] record_answer<record> execute(
        record_slot<record>& slot, detail::function_view<std::string()> native_image) const {
        auto const& c = work_.coordinator;
        if constexpr (applies) {
            record created{};
            auto const wanted = intent();
            using intent_type = std::remove_const_t<decltype(wanted)>;
            if constexpr (intent_type::creates) {
                bool overflow = false;
                store_value(created.*collection::key_member, key(), overflow);
                if (overflow) return detail::refused<record>(answer::overflow);
            }
            if constexpr (Kind::at() == step::one_phase) {
                return apply_one_phase(slot, work_.id, part(), c.one_phase_epoch(), created, wanted,
                                     native_image);
            } else if constexpr (Inlined) {
                return apply_inlined(slot, work_.id, part(), c.epoch_number(), created, wanted,
                                     native_image);
            } else {
                return apply(slot, work_.id, part(), c.epoch_number(), created, wanted,
                             native_image);
            }
        } else {
            return end().execute(slot);
        }
    }
    /// The operation that ends the part, without its type.
    [[nodiscard, gnu::always_inline]] part_end<collection> end() const {
        return {work_, at(), part()};
    }

    /// The conditional update of an unread record; empty if the record rule must see the record.
    [[nodiscard]] std::optional<conditional_change<record>> conditional() const {
        auto const& c = work_.coordinator;
        if constexpr (!applies) {
            if (at() != step::confirm) return std::nullopt;
            return conditional_finish<record>(work_.id, part(), c.committed(), intent());
        } else if constexpr (Kind::at() == step::apply) {
            return conditional_apply<record>(work_.id, part(), c.epoch_number(), intent());
        } else {
            return conditional_apply_one_phase<record>(work_.id, part(), c.one_phase_epoch(),
                                                       intent());
        }
    }

    /// Writes the answer into the coordinator and the entry.
    [[gnu::always_inline]] void answered(record_answer<record> const& result) const {
        work_.coordinator.answered(flat_, result.what);
        if constexpr (applies) {
            if (result.exclusive) detail::keep_image(work_, part(), *result.exclusive);
        }
    }

private:
    [[nodiscard, gnu::always_inline]] auto const& parameters() const {
        return work_.template parameters_of<Direction>();
    }

    job& work_;
    std::size_t flat_;
    std::size_t line_;
    [[no_unique_address]] Kind kind_;
};

/// Calls `function(operation)` for every part of a job that `wanted(part)` and whose collection
/// passes `Holds<collection>`, in the order of the definition.
template <template <typename> typename Holds, typename Direction, typename Kind, typename Wanted,
          typename Function>
void for_each_part(job& work, Kind how, Wanted&& wanted, Function&& function) {
    std::size_t flat = 0;
    auto const& user = Direction::user(work.parameters_of<Direction>());
    Direction::for_each_participant([&](auto index) {
        constexpr std::size_t at = decltype(index)::value;
        std::size_t const lines = Direction::template lines<at>(user);
        if constexpr (Holds<typename Direction::template collection_of<at>>::value) {
            for (std::size_t line_number = 0; line_number < lines; ++line_number) {
                if (!wanted(flat + line_number)) continue;
                function(operation<Kind, Direction, at>{work, how, flat + line_number,
                                                        line_number});
            }
        }
        flat += lines;
    });
}

/// Calls `function(operation)` for every due part of every job that takes the step, in the order of
/// the jobs and of the definition.
template <template <typename> typename Holds, typename Direction, typename Kind, typename Function>
void for_each_operation(std::span<job> wave, Kind how, Function&& function) {
    for (job& work : wave) {
        if (!work.takes(how.at())) continue;
        for_each_part<Holds, Direction>(
            work, how, [&](std::size_t part) { return work.coordinator.due(part); }, function);
    }
}

SETTLE_END
