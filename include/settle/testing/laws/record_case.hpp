// SPDX-License-Identifier: BSL-1.0
// A random case of one record: parts that involve it, and operations on them in any order.
#pragma once

#include <settle/store/codec.hpp>
#include <settle/testing/laws/history.hpp>
#include <settle/testing/laws/simpler.hpp>
#include <settle/testing/show_record.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

template <typename Guard, typename S, typename Record>
void fit_to_bound(chance& from, Guard const& guard, S at, Record& record) {
    bool ignored = false;
    if (!from.one_in(2)) return;
    auto const off = static_cast<std::int64_t>(from.below(4)) - 1;
    wide const near = Guard::side == bound_side::lower ? off : -off;
    put(record.*Guard::member, plain(guard.limit, at) + near, ignored);
}
template <auto Member, typename R, typename S, typename Record>
void fit_to_condition(
    chance& from,
    binary_expression<operation_kind::equal, field_expression<Member>, R> const& condition, S at,
    Record& record) {
    bool ignored = false;
    if (!from.one_in(8)) put(record.*Member, plain(condition.right, at), ignored);
}
template <typename Condition, typename S, typename Record>
void fit_to_condition(chance&, Condition const&, S const&, Record&) {}

/// Sets members of a record so that the guards of one part just hold or just fail.
template <auto const& Type, std::size_t Index, typename Record>
void fit_to_guards(chance& from, Record& record, typename forward<Type>::parameters const& given,
                   std::size_t line) {
    using direction = forward<Type>;
    if (direction::template lines<Index>(given) <= line) return;
    sight<Record, typename direction::parameters, typename direction::template element_of<Index>>
        at{&record, &given, direction::template element<Index>(given, line)};
    for_each_element(direction::template description<Index>().guards, [&](auto const& guard) {
        if constexpr (requires { guard.limit; }) fit_to_bound(from, guard, at, record);
        else fit_to_condition(from, guard.condition, at, record);
    });
}

enum class verb : std::uint8_t { apply, finish, undo, undo_exactly };

/// One operation of a case.
struct happening {
    BOOST_HANA_DEFINE_STRUCT(happening,
        (verb, what),
        (std::uint8_t, wish),
        (std::uint8_t, number));

    [[nodiscard]] epoch under() const { return epoch{number} + 1; }
};

/// One part of a case: of the type under test, or a foreign part of another type.
template <typename Parameters>
struct wish {
    /// An index among the participants of the record's collection; the next index means foreign.
    std::size_t participant = 0;
    std::size_t line = 0;
    transaction_id id;
    Parameters given{};
    std::vector<std::int64_t> stranger{}; ///< deltas of a foreign part: at apply, then at confirm
};

/// Gives a record the key of a part.
template <auto const& Type, std::size_t Index, typename Record, typename Parameters>
void set_key(Record& record, wish<Parameters> const& by) {
    using direction = forward<Type>;
    using collection = typename direction::template collection_of<Index>;
    bool overflow = false;
    store_value(record.*collection::key_member,
                direction::template key<Index>(by.given, by.line), overflow);
}

/// The intent of a foreign part: it adds numbers to the integer members.
template <Described Record>
class stranger_intent {
public:
    static constexpr bool commutes = true;
    static constexpr bool creates = false;
    static constexpr bool erases = false;
    static constexpr std::uint64_t apply_fields = 0;
    static constexpr std::uint64_t confirm_fields = 0;
    static constexpr std::uint64_t exact_fields = 0;

    explicit stranger_intent(std::vector<std::int64_t> const& numbers) : numbers_(numbers) {}

    void deltas(integers<Record>& apply, integers<Record>& confirm, bool&) const {
        std::copy_n(numbers_.begin(), apply.size(), apply.begin());
        std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(apply.size()), confirm.size(),
                    confirm.begin());
    }
    template <typename Function>
    void for_each_bound(Function&&, bool&) const {}
    [[nodiscard]] bool exact_guards_hold(Record const&, bool&) const { return true; }

    [[nodiscard]] reading<Record> read() const {
        reading<Record> made;
        for (std::size_t i = 0; i < made.apply.size(); ++i) {
            made.apply[i] = numbers_[i];
            made.confirm[i] = numbers_[made.apply.size() + i];
        }
        return made;
    }

private:
    std::vector<std::int64_t> const& numbers_;
};

template <auto const& Type, typename Collection>
struct record_case {
    using direction = forward<Type>;
    using record_type = typename Collection::record_type;
    using parameters = typename direction::parameters;

    std::optional<record_type> record;
    std::vector<wish<parameters>> wishes;
    std::vector<happening> happenings;

    /// Calls `function(index)` for the participant of a part; returns false for a foreign part.
    template <typename Function>
    static bool visit(std::size_t participant, Function&& function) {
        bool shared = false;
        std::size_t at = 0;
        direction::for_each_participant([&](auto index) {
            if constexpr (is_ours<index>()) {
                if (at++ == participant) {
                    function(index);
                    shared = true;
                }
            }
        });
        return shared;
    }

    [[nodiscard]] static std::size_t participants() {
        std::size_t count = 0;
        direction::for_each_participant([&](auto index) { count += is_ours<index>(); });
        return count;
    }

    /// Draws a case in which some parts are likely to be applied.
    /// Shape:   least, most - limits of the number of parts
    static record_case draw(chance& from, std::size_t least, std::size_t most) {
        record_case made;
        from.begin_case();
        std::size_t const count = least + from.below(most - least + 1);
        for (std::size_t at = 0; at < count; ++at) made.wishes.push_back(draw_wish(from, at));
        if (!from.one_in(16)) made.record = from.draw<record_type>();
        if (made.record) made.fit(from);
        std::size_t const steps = 2 + from.below(3 * count + 2);
        for (std::size_t at = 0; at < steps; ++at) {
            constexpr std::array<verb, 8> verbs{verb::apply,  verb::apply,  verb::apply,
                                                verb::apply,  verb::finish, verb::finish,
                                                verb::undo,   verb::undo_exactly};
            // First an apply of every part, then operations in any order.
            verb const what = at < count ? verb::apply : verbs[from.below(verbs.size())];
            std::size_t const index = at < count ? at : from.below(count);
            std::size_t const number = from.one_in(4) ? from.below(3) : 1;
            made.happenings.push_back({what, static_cast<std::uint8_t>(index),
                                       static_cast<std::uint8_t>(number)});
        }
        if (from.one_in(2)) {
            for (std::size_t at = steps; at-- > 1;) {
                std::swap(made.happenings[at], made.happenings[from.below(at + 1)]);
            }
        }
        return made;
    }

    template <typename StillFails>
    void simplify(simpler& by, StillFails const& still_fails) {
        bool better = true;
        while (better && by.may_go_on()) {
            better = by.make_shorter(happenings, 1, still_fails);
            if (record) better = by.make(*record, still_fails) || better;
            for (auto& one : wishes) {
                better = by.make(one.given, still_fails) || better;
                for (auto& number : one.stranger) better = by.make(number, still_fails) || better;
            }
        }
    }

    /// The case as text for a person.
    [[nodiscard]] std::string tell() const {
        std::string out = "record " + (record ? encode_json(*record) : std::string{"none"}) + '\n';
        std::vector<bool> described(wishes.size());
        for (happening const& one : happenings) {
            auto const& by = wishes[one.wish];
            constexpr std::array<std::string_view, 4> names{"apply", "finish", "undo",
                                                            "undo exactly"};
            out.append("  ").append(names[static_cast<std::size_t>(one.what)]).append(" '");
            out.append(by.id).append("' part ").append(std::to_string(one.wish));
            out.append(" under ").append(std::to_string(one.under()));
            if (!described[one.wish]) out.append(": ").append(tell(by));
            described[one.wish] = true;
            out += '\n';
        }
        return out;
    }

private:
    template <std::size_t Index>
    static constexpr bool is_ours() {
        return std::is_same_v<typename direction::template collection_of<Index>, Collection>;
    }

    static wish<parameters> draw_wish(chance& from, std::size_t at) {
        wish<parameters> made;
        made.participant = from.below(participants() + (at == 0 ? 0 : 1));
        // Some cases have two parts of one transaction on the record.
        made.id = at > 0 && from.one_in(6) ? "t0" : "t" + std::to_string(at);
        for (int tries = 0; tries < 8; ++tries) {
            from.fill(made.given);
            if (direction::check(made.given).why == reason::none) break;
        }
        made.stranger.resize(2 * integer_count<record_type>);
        for (auto& number : made.stranger) {
            if (from.one_in(2)) number = from.draw<std::int64_t>();
        }
        visit(made.participant, [&](auto index) {
            if (std::size_t const lines = direction::template lines<index>(made.given)) {
                made.line = from.below(lines);
            }
        });
        return made;
    }

    void fit(chance& from) {
        for (auto const& one : wishes) {
            visit(one.participant, [&](auto index) {
                fit_to_guards<Type, index>(from, *record, one.given, one.line);
            });
        }
    }

    [[nodiscard]] static std::string tell(wish<parameters> const& by) {
        std::string out;
        bool const ours = visit(by.participant, [&](auto index) {
            out.append("participant '").append(direction::template participant<index>::name);
            out.append("' line ").append(std::to_string(by.line));
            out.append(" of ").append(encode_json(by.given));
        });
        return ours ? out : "a stranger adds " + encode_json(by.stranger);
    }
};

} // namespace laws
} // namespace testing
SETTLE_END
