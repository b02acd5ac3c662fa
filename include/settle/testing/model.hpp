// SPDX-License-Identifier: BSL-1.0
// The world that a search explores: records with their marks, entries, and what the committed
// transactions alone give. Values only, so that a state can be copied, compared and hashed.
#pragma once

#include <settle/protocol/coordinator.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/protocol/record_rule.hpp>
#include <settle/running/binding.hpp>
#include <settle/store/codec.hpp>

#include <functional>
#include <memory>
#include <tuple>

SETTLE_BEGIN
namespace testing {

/// One collection: a slot for every key that the search knows, in the order they were named.
template <typename Collection>
struct model_table {
    using record = typename Collection::record_type;
    std::vector<record_slot<record>> slots;
    std::vector<std::optional<record>> truth; ///< what the committed transactions alone give

    friend bool operator==(model_table const& left, model_table const& right) {
        if (left.slots != right.slots) return false;
        for (std::size_t i = 0; i < left.truth.size(); ++i) {
            bool const both = left.truth[i] && right.truth[i];
            if (left.truth[i].has_value() != right.truth[i].has_value()) return false;
            if (both && !equal_members(*left.truth[i], *right.truth[i])) return false;
        }
        return true;
    }
};

namespace detail {

template <typename T>
std::size_t hash_value(std::size_t seed, T const& value) {
    if constexpr (field_traits<T>::optional) {
        return value ? hash_value(hash_mix(seed, 1), *value) : hash_mix(seed, 0);
    } else if constexpr (field_traits<T>::kind == field_kind::text) {
        return hash_mix(seed, std::hash<std::string>{}(value));
    } else {
        return hash_mix(seed, static_cast<std::uint64_t>(to_integer(value)));
    }
}

template <typename Record>
std::size_t hash_record(std::size_t seed, std::optional<Record> const& record) {
    if (!record) return hash_mix(seed, 0);
    seed = hash_mix(seed, 1);
    for_each_member<Record>([&](auto m) { seed = hash_value(seed, (*record).*m.pointer); });
    return seed;
}

template <typename Record>
std::size_t hash_slot(std::size_t seed, record_slot<Record> const& slot) {
    seed = hash_record(seed, slot.record);
    for (auto const& one : slot.marks) {
        seed = hash_mix(seed, std::hash<std::string>{}(one.id));
        seed = hash_mix(seed, std::uint64_t{one.part.participant} << 32U | one.part.line);
        seed = hash_mix(seed, one.epoch_number);
        for (auto const delta : one.confirm_delta) {
            seed = hash_mix(seed, static_cast<std::uint64_t>(delta));
        }
        if (one.is_exclusive()) {
            seed = hash_record(seed, std::optional<Record>{one.exclusive->undone});
            seed = hash_record(seed, std::optional<Record>{one.exclusive->confirmed});
        }
    }
    return hash_mix(seed, slot.marks.size());
}

} // namespace detail

/// All collections of a search.
template <typename... Collections>
struct model_records {
    std::tuple<model_table<Collections>...> tables;

    friend bool operator==(model_records const&, model_records const&) = default;

    template <typename Function>
    void for_each_table(Function&& function) {
        std::apply([&](auto&... table) { (function(table), ...); }, tables);
    }
    template <typename Function>
    void for_each_table(Function&& function) const {
        std::apply([&](auto const&... table) { (function(table), ...); }, tables);
    }

    [[nodiscard]] std::size_t hash() const {
        std::size_t seed = 0;
        for_each_table([&](auto const& table) {
            for (auto const& slot : table.slots) seed = detail::hash_slot(seed, slot);
            for (auto const& one : table.truth) seed = detail::hash_record(seed, one);
        });
        return seed;
    }

    /// The records and marks as a person reads them in a story.
    [[nodiscard]] std::string text() const {
        std::string out;
        for_each_table([&](auto const& table) {
            for (auto const& slot : table.slots) {
                out += "  ";
                if (slot.record) append_json(out, *slot.record);
                else out += "(none)";
                for (auto const& one : slot.marks) {
                    out += " mark{" + one.id + ", " + std::to_string(one.part.participant) + "." +
                           std::to_string(one.part.line) + ", e" +
                           std::to_string(one.epoch_number) + "}";
                }
            }
        });
        return out;
    }
};

/// An entry as the protocol sees it.
struct model_entry {
    bool present = false;
    bool expired = false;
    standing now;
    reason why = reason::none;

    friend bool operator==(model_entry const& left, model_entry const& right) {
        return left.present == right.present && left.expired == right.expired &&
               left.now.state == right.now.state &&
               left.now.epoch_number == right.now.epoch_number &&
               left.now.committed == right.now.committed &&
               left.now.attempts == right.now.attempts && left.why == right.why;
    }
    [[nodiscard]] std::size_t hash() const {
        std::size_t seed = hash_mix(present ? 1U : 0U, static_cast<std::uint64_t>(now.state));
        seed = hash_mix(seed, now.epoch_number);
        seed = hash_mix(seed, now.committed);
        return hash_mix(seed, (expired ? 1U : 0U) | now.attempts << 1U);
    }

    log_answer insert(state wanted, epoch first) {
        if (present) return log_answer::conflict;
        present = true;
        now = {wanted, first, 0, 0};
        return log_answer::taken;
    }
    log_answer change(transition const& wanted) {
        if (!present || now.state != wanted.from || now.epoch_number != wanted.from_epoch) {
            return log_answer::conflict;
        }
        now = {wanted.to, wanted.to_epoch, wanted.committed, wanted.attempts};
        if (wanted.why != reason::none) why = wanted.why;
        return log_answer::taken;
    }
};

/// One transaction of a search: its parameters are fixed, its parts can be asked to meet records.
template <typename Records>
class model_transaction {
public:
    model_transaction() = default;
    model_transaction(model_transaction const&) = delete;
    model_transaction& operator=(model_transaction const&) = delete;
    virtual ~model_transaction() = default;

    [[nodiscard]] virtual transaction_id const& id() const = 0;
    [[nodiscard]] virtual std::size_t parts() const = 0;
    [[nodiscard]] virtual part_name name_part(std::size_t part) const = 0;
    /// Lets one part meet its record at one step, under an epoch and with a committed epoch.
    virtual answer meet(Records& records, step at, std::size_t part, epoch under,
                        epoch committed) const = 0;
    /// Adds this transaction to what the committed ones give.
    virtual void commit(Records& records) const = 0;
    /// The epoch of a part's mark, or 0.
    virtual epoch mark_epoch(Records const& records, std::size_t part) const = 0;
    /// Ends every mark of this transaction: by its committed epoch, or undone when that is 0.
    virtual void settle_marks(Records& records, epoch committed) const = 0;
};

/// Shape:   places - where the record of each part stands in its table
template <typename Direction, typename Records>
class typed_transaction final : public model_transaction<Records> {
public:
    using parameters_type = typename Direction::parameters;

    typed_transaction(transaction_id id, parameters_type parameters,
                      std::vector<std::size_t> places)
        : id_(std::move(id)), parameters_(std::move(parameters)), places_(std::move(places)) {}

    [[nodiscard]] transaction_id const& id() const override { return id_; }
    [[nodiscard]] std::size_t parts() const override {
        return Direction::count_parts(Direction::user(parameters_));
    }
    [[nodiscard]] part_name name_part(std::size_t part) const override {
        return Direction::name_part(Direction::user(parameters_), part);
    }

    answer meet(Records& records, step at, std::size_t part, epoch under,
                epoch committed) const override {
        answer said = answer::nothing;
        with_part(records, part, [&](auto& slot, auto&, auto const& intent, part_number number,
                                     auto const& created) {
            switch (at) {
            case step::apply:
                said = settle::apply(slot, id_, number, under, created, intent,
                                     [] { return std::string{}; })
                           .what;
                break;
            case step::confirm: said = finish(slot, id_, number, committed).what; break;
            case step::compensate: said = undo(slot, id_, number).what; break;
            default: said = undo_exactly(slot, id_, number, under).what; break;
            }
        });
        return said;
    }

    void commit(Records& records) const override {
        for (std::size_t part = 0; part < parts(); ++part) {
            with_part(records, part, [&](auto&, auto& truth, auto const& intent, part_number,
                                         auto const& created) {
                using intent_type = std::remove_cvref_t<decltype(intent)>;
                using record = std::remove_cvref_t<decltype(created)>;
                if (intent_type::creates) truth = created;
                if (!truth) return;
                bool overflow = false;
                if constexpr (intent_type::commutes) {
                    integers<record> apply{};
                    integers<record> confirm{};
                    intent.deltas(apply, confirm, overflow);
                    settle::detail::add_to(*truth, apply);
                    settle::detail::add_to(*truth, confirm);
                } else {
                    intent.apply_to(*truth, overflow);
                    intent.confirm_to(*truth, overflow);
                }
                if (intent_type::erases) truth.reset();
            });
        }
    }

    epoch mark_epoch(Records const& records, std::size_t part) const override {
        epoch found = 0;
        with_part(const_cast<Records&>(records), part,
                  [&](auto& slot, auto&, auto const&, part_number number, auto const&) {
                      auto const* const one = slot.marks.find(id_, number);
                      if (one != nullptr) found = one->epoch_number;
                  });
        return found;
    }

    void settle_marks(Records& records, epoch committed) const override {
        for (std::size_t part = 0; part < parts(); ++part) {
            with_part(records, part,
                      [&](auto& slot, auto&, auto const&, part_number number, auto const&) {
                          if (committed != 0) finish(slot, id_, number, committed);
                          else undo(slot, id_, number);
                      });
        }
    }

private:
    template <typename Function>
    void with_part(Records& records, std::size_t part, Function&& function) const {
        auto const& user = Direction::user(parameters_);
        std::size_t first = 0;
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t at = decltype(index)::value;
            using collection = typename Direction::template collection_of<at>;
            std::size_t const lines = Direction::template lines<at>(user);
            if (part >= first && part < first + lines) {
                std::size_t const line_number = part - first;
                auto const key = Direction::template key<at>(user, line_number);
                auto& table = std::get<model_table<collection>>(records.tables);
                std::size_t const place = places_[part];
                typename collection::record_type created{};
                bool overflow = false;
                store_value(created.*collection::key_member, key, overflow);
                function(table.slots[place], table.truth[place],
                         Direction::template intent<at>(parameters_, line_number),
                         part_number{static_cast<std::uint32_t>(at),
                                     static_cast<std::uint32_t>(line_number)},
                         created);
            }
            first += lines;
        });
    }

    transaction_id id_;
    parameters_type parameters_;
    std::vector<std::size_t> places_;
};

} // namespace testing
SETTLE_END
