// SPDX-License-Identifier: BSL-1.0
// A transaction type as its model has it: the parts, and their order in each wave.
#pragma once

#include <settle/picture/drawn_type.hpp>

SETTLE_BEGIN
namespace detail::modeling {

using kind = drawing::drawn_part::kind;

/// A participant as the model has it: one part. A range is modeled by one of its lines.
struct modeled_part {
    drawing::drawn_part shape;
    std::string name;
    std::uint32_t stage;
    bool takes;                              ///< its apply has an effect
    bool confirms;                           ///< its confirm has an effect
    bool undoes;                             ///< a cancel sends it something
    std::vector<std::size_t> later_undoes{}; ///< the parts that are compensated before it

    [[nodiscard]] bool is(kind what) const { return shape.what == what; }
    /// False for a call that is made at the commit alone.
    [[nodiscard]] bool applies() const { return !is(kind::call) || !shape.applied.empty(); }
    /// True if a late copy of its apply could take effect: not of a query.
    [[nodiscard]] bool sends_apply() const { return !is(kind::call) || takes; }
    /// True if its receiver remembers keys alone, and it can be compensated.
    [[nodiscard]] bool is_burnt() const {
        return is(kind::call) && undoes && !shape.facts.keeps_rows;
    }
    /// Puts the name of the part for each '$'.
    [[nodiscard]] std::string operator()(std::string_view text) const {
        std::string out;
        for (char const c : text) c == '$' ? out += name : out += c;
        return out;
    }
    /// The changes of its apply, its confirm and the undo of its apply, with another change.
    [[nodiscard]] std::vector<std::string> take(std::string const& last) const {
        return changed(takes ? " + 1" : "", last);
    }
    [[nodiscard]] std::vector<std::string> confirm(std::string const& last) const {
        return changed(confirms ? " + 1" : "", last);
    }
    [[nodiscard]] std::vector<std::string> take_back(std::string const& last) const {
        return changed(takes ? " - 1" : "", last);
    }

private:
    [[nodiscard]] std::vector<std::string> changed(std::string_view by,
                                                   std::string const& last) const {
        std::vector<std::string> changes;
        if (!by.empty()) changes.push_back((*this)("effect_$ = effect_$") + std::string{by});
        changes.push_back((*this)(last));
        return changes;
    }
};

/// The parts of a type, in the order of its definition.
class modeled_type {
public:
    modeled_type(drawing::drawn_type const& type, bool undone_by_stage) : name(type.name) {
        for (drawing::drawn_part const& shape : type.parts) add_part(shape);
        for (modeled_part& part : parts) {
            for (std::size_t number = 0; part.undoes && number < parts.size(); ++number) {
                bool const comes_first =
                    drawing::is_undone_after(part.shape, type.parts[number], undone_by_stage);
                if (comes_first && parts[number].undoes) part.later_undoes.push_back(number);
            }
        }
    }

    std::string name;
    std::vector<modeled_part> parts{};
    std::uint32_t last = 0; ///< the last stage
    bool has_pivot = false;

    template <typename Predicate>
    [[nodiscard]] bool any(Predicate&& predicate) const {
        return std::any_of(parts.begin(), parts.end(), predicate);
    }
    [[nodiscard]] bool has(kind what) const {
        return any([&](modeled_part const& part) { return part.is(what); });
    }
    /// True if a compensation of this type must wait for another.
    [[nodiscard]] bool is_ordered() const {
        return any([&](modeled_part const& part) { return !part.later_undoes.empty(); });
    }
    /// The parts that are compensated before this part.
    [[nodiscard]] std::vector<modeled_part> later_undoes(modeled_part const& part) const {
        std::vector<modeled_part> later;
        later.reserve(part.later_undoes.size());
        for (std::size_t const number : part.later_undoes) later.push_back(parts[number]);
        return later;
    }

    /// The parts of a stage that are applied.
    [[nodiscard]] std::vector<modeled_part> applied_in(std::uint32_t stage) const {
        std::vector<modeled_part> wave;
        for (modeled_part const& part : parts) {
            if (part.stage == stage && part.applies()) wave.push_back(part);
        }
        return wave;
    }
    [[nodiscard]] std::string first_apply(std::uint32_t stage) const {
        auto const wave = applied_in(stage);
        return wave.empty() ? "decide_" + std::to_string(stage) : wave.front()("apply_$");
    }
    [[nodiscard]] std::string first_confirm() const {
        auto const order = confirmed();
        return order.empty() ? "" : order.front()("confirm_$");
    }
    [[nodiscard]] std::vector<modeled_part> confirmed() const {
        std::vector<modeled_part> order;
        for (modeled_part const& part : parts) {
            if (!part.is(kind::call) || part.confirms) order.push_back(part);
        }
        return order;
    }

    /// Without an order that a rule asks for, a cancel compensates in the order of the definition.
    [[nodiscard]] std::string first_undo() const {
        return is_ordered() ? "undo_in_order" : first_of(undo_order(true));
    }
    [[nodiscard]] static std::string first_of(std::vector<modeled_part> const& order) {
        return order.empty() ? "close_canceled" : order.front()("undo_$");
    }

    /// The parts in the order in which a cancel compensates them.
    /// Shape:   waits - a part comes after the later parts that it waits for
    [[nodiscard]] std::vector<modeled_part> undo_order(bool waits) const {
        std::vector<modeled_part> order;
        for (modeled_part const& part : parts) {
            if (part.undoes) order.push_back(part);
        }
        if (waits) {
            std::stable_sort(order.begin(), order.end(), [](auto const& left, auto const& right) {
                bool const left_waits = !left.later_undoes.empty();
                bool const right_waits = !right.later_undoes.empty();
                if (left_waits != right_waits) return right_waits;
                return left_waits && left.stage > right.stage;
            });
        }
        return order;
    }

private:
    void add_part(drawing::drawn_part const& shape) {
        auto const stage = shape.facts.stage;
        bool const is_call = shape.what == kind::call;
        bool const is_prepared = shape.what == kind::prepared;
        bool const undoes = !is_call || !shape.compensated.empty();
        parts.push_back({shape, shape.name, stage, shape.has_effect && !is_prepared,
                         is_prepared || !shape.confirmed.empty(), undoes});
        last = std::max(last, stage);
        has_pivot = has_pivot || shape.facts.is_pivot;
    }
};

} // namespace detail::modeling
SETTLE_END
