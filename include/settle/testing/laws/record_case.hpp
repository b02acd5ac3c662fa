// SPDX-License-Identifier: BSL-1.0
// A random case of one record: parts that involve it, and operations on them in any order.
#pragma once

#include <settle/definition/codec.hpp>
#include <settle/testing/laws/record_model.hpp>
#include <settle/testing/laws/shrinker.hpp>
#include <settle/testing/show_record.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

template <typename Guard, typename S, typename Record>
void fit_to_bound(value_source& source, Guard const& guard, S state, Record& record) {
    bool ignored = false;
    if (!source.one_in(2)) return;
    auto const off = static_cast<std::int64_t>(source.below(4)) - 1;
    wide const near = Guard::side == bound_side::lower ? off : -off;
    assign(record.*Guard::member, plain_value(guard.limit, state) + near, ignored);
}
template <auto Member, typename R, typename S, typename Record>
void fit_to_condition(
    value_source& source,
    binary_expression<operation_kind::equal, field_expression<Member>, R> const& condition, S state,
    Record& record) {
    bool ignored = false;
    if (!source.one_in(8)) assign(record.*Member, plain_value(condition.right, state), ignored);
}
template <typename Condition, typename S, typename Record>
void fit_to_condition(value_source&, Condition const&, S const&, Record&) {}

/// Sets members of a record so that the guards of one part just hold or just fail.
template <auto const& Type, std::size_t Index, typename Record>
void fit_to_guards(value_source& source, Record& record,
                   typename forward<Type>::parameters const& parameters, std::size_t line) {
    using direction = forward<Type>;
    if (direction::template lines<Index>(parameters) <= line) return;
    plain_scope<Record, typename direction::parameters,
                typename direction::template element_of<Index>>
        scope{&record, &parameters, direction::template element<Index>(parameters, line)};
    for_each_element(direction::template description<Index>().guards, [&](auto const& guard) {
        if constexpr (requires { guard.limit; }) fit_to_bound(source, guard, scope, record);
        else fit_to_condition(source, guard.condition, scope, record);
    });
}

/// Draws parameters until they pass the guards on the parameters, a limited number of times.
template <auto const& Type>
void fill_parameters(value_source& source, typename forward<Type>::parameters& drawn, int times) {
    for (int tries = 0; tries < times; ++tries) {
        source.fill(drawn);
        if (forward<Type>::check(drawn).why == reason::none) return;
    }
}

/// An action on one part. `finish` and `undo` also undo a mark with a lower epoch.
enum class part_action : std::uint8_t { apply, finish, undo, undo_exactly };

/// One operation of a case.
/// Shape:   part - its index in the case; raised - how far the operation's epoch exceeds 1
struct case_operation {
    BOOST_HANA_DEFINE_STRUCT(case_operation, (part_action, action), (std::uint8_t, part),
                             (std::uint8_t, raised));

    [[nodiscard]] epoch epoch_number() const { return epoch{raised} + 1; }
};

/// One part of a case: of the type under test, or a foreign part of another type.
template <typename Parameters>
struct case_part {
    /// An index among the participants of the record's collection; the next index means foreign.
    std::size_t participant = 0;
    std::size_t line = 0;
    transaction_id id;
    Parameters parameters{};
    /// Of a foreign part: its deltas at apply, then its deltas at confirm.
    std::vector<std::int64_t> foreign_deltas{};
};

/// Gives a record the key of a part.
template <auto const& Type, std::size_t Index, typename Record, typename Parameters>
void set_key(Record& record, case_part<Parameters> const& part) {
    using direction = forward<Type>;
    using collection = typename direction::template target_of<Index>;
    bool overflow = false;
    store_value(record.*collection::key_member,
                direction::template key<Index>(part.parameters, part.line), overflow);
}

/// The intent of a foreign part: it adds numbers to the integer members.
template <Described Record>
class foreign_intent {
public:
    static constexpr bool commutes = true;
    static constexpr bool creates = false;
    static constexpr bool erases = false;
    static constexpr std::uint64_t apply_fields = 0;
    static constexpr std::uint64_t confirm_fields = 0;
    static constexpr std::uint64_t exact_fields = 0;

    /// Shape:   deltas - of the integer members: at apply, then at confirm
    explicit foreign_intent(std::vector<std::int64_t> const& deltas) : deltas_(deltas) {}

    void deltas(integers<Record>& apply, integers<Record>& confirm, bool&) const {
        std::copy_n(deltas_.begin(), apply.size(), apply.begin());
        std::copy_n(deltas_.begin() + static_cast<std::ptrdiff_t>(apply.size()), confirm.size(),
                    confirm.begin());
    }
    template <typename Function>
    void for_each_bound(Function&&, bool&) const {}
    [[nodiscard]] bool exact_guards_hold(Record const&, bool&) const { return true; }

    [[nodiscard]] evaluated_part<Record> evaluate() const {
        evaluated_part<Record> part;
        for (std::size_t i = 0; i < part.apply.size(); ++i) {
            part.apply[i] = deltas_[i];
            part.confirm[i] = deltas_[part.apply.size() + i];
        }
        return part;
    }

private:
    std::vector<std::int64_t> const& deltas_;
};

/// The record before the first operation, the parts, and the operations in their order.
template <auto const& Type, typename Collection>
struct record_case {
    using direction = forward<Type>;
    using record_type = typename Collection::record_type;
    using parameters = typename direction::parameters;

    std::optional<record_type> record;
    std::vector<case_part<parameters>> parts;
    std::vector<case_operation> operations;

    /// Calls `function(index)` for the participant of a part; returns false for a foreign part.
    template <typename Function>
    static bool visit(std::size_t participant, Function&& function) {
        bool exists = false;
        std::size_t position = 0;
        direction::for_each_participant([&](auto index) {
            if constexpr (is_on_record<index>()) {
                if (position++ == participant) {
                    function(index);
                    exists = true;
                }
            }
        });
        return exists;
    }

    [[nodiscard]] static std::size_t participants() {
        std::size_t count = 0;
        direction::for_each_participant([&](auto index) { count += is_on_record<index>(); });
        return count;
    }

    /// Draws a case in which some parts are likely to be applied.
    /// Shape:   least, most - limits of the number of parts
    static record_case draw(value_source& source, std::size_t least, std::size_t most) {
        record_case made_case;
        source.begin_case();
        std::size_t const count = least + source.below(most - least + 1);
        for (std::size_t at = 0; at < count; ++at) made_case.parts.push_back(draw_part(source, at));
        if (!source.one_in(16)) made_case.record = source.draw<record_type>();
        if (made_case.record) made_case.fit(source);
        std::size_t const steps = 2 + source.below(3 * count + 2);
        for (std::size_t position = 0; position < steps; ++position) {
            constexpr std::array<part_action, 8> actions{
                part_action::apply, part_action::apply,       part_action::apply,
                part_action::apply, part_action::finish,      part_action::finish,
                part_action::undo,  part_action::undo_exactly};
            // First an apply of every part, then operations in any order.
            part_action const action =
                position < count ? part_action::apply : actions[source.below(actions.size())];
            std::size_t const index = position < count ? position : source.below(count);
            std::size_t const raised = source.one_in(4) ? source.below(3) : 1;
            made_case.operations.push_back(
                {action, static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(raised)});
        }
        if (source.one_in(2)) {
            for (std::size_t at = steps; at-- > 1;) {
                std::swap(made_case.operations[at], made_case.operations[source.below(at + 1)]);
            }
        }
        return made_case;
    }

    template <typename StillFails>
    void shrink(shrinker& shrinker, StillFails const& still_fails) {
        bool better = true;
        while (better && shrinker.has_tries()) {
            better = shrinker.shorten(operations, 1, still_fails);
            if (record) better = shrinker.shrink(*record, still_fails) || better;
            for (auto& part : parts) {
                better = shrinker.shrink(part.parameters, still_fails) || better;
                for (auto& delta : part.foreign_deltas) {
                    better = shrinker.shrink(delta, still_fails) || better;
                }
            }
        }
    }

    /// The case as text for a person.
    [[nodiscard]] std::string describe() const {
        std::string out = "record " + (record ? encode_json(*record) : std::string{"none"}) + '\n';
        std::vector<bool> described(parts.size());
        for (case_operation const& operation : operations) {
            auto const& part = parts[operation.part];
            constexpr std::array<std::string_view, 4> names{"apply", "finish", "undo",
                                                            "undo exactly"};
            out.append("  ").append(names[static_cast<std::size_t>(operation.action)]).append(" '");
            out.append(part.id).append("' part ").append(std::to_string(operation.part));
            out.append(" under ").append(std::to_string(operation.epoch_number()));
            if (!described[operation.part]) out.append(": ").append(describe(part));
            described[operation.part] = true;
            out += '\n';
        }
        return out;
    }

private:
    template <std::size_t Index>
    static constexpr bool is_on_record() {
        return std::is_same_v<typename direction::template target_of<Index>, Collection>;
    }

    static case_part<parameters> draw_part(value_source& source, std::size_t position) {
        case_part<parameters> part;
        part.participant = source.below(participants() + (position == 0 ? 0 : 1));
        // Some cases have two parts of one transaction on the record.
        part.id = position > 0 && source.one_in(6) ? "t0" : "t" + std::to_string(position);
        fill_parameters<Type>(source, part.parameters, 8);
        part.foreign_deltas.resize(2 * integer_count<record_type>);
        for (auto& delta : part.foreign_deltas) {
            if (source.one_in(2)) delta = source.draw<std::int64_t>();
        }
        visit(part.participant, [&](auto index) {
            if (std::size_t const lines = direction::template lines<index>(part.parameters)) {
                part.line = source.below(lines);
            }
        });
        return part;
    }

    void fit(value_source& source) {
        for (auto const& part : parts) {
            visit(part.participant, [&](auto index) {
                fit_to_guards<Type, index>(source, *record, part.parameters, part.line);
            });
        }
    }

    [[nodiscard]] static std::string describe(case_part<parameters> const& part) {
        std::string out;
        bool const is_tested = visit(part.participant, [&](auto index) {
            out.append("participant '").append(direction::template participant<index>::name);
            out.append("' line ").append(std::to_string(part.line));
            out.append(" of ").append(encode_json(part.parameters));
        });
        return is_tested ? out : "a foreign part adds " + encode_json(part.foreign_deltas);
    }
};

} // namespace laws
} // namespace testing
SETTLE_END
