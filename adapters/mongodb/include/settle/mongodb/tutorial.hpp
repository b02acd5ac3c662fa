// SPDX-License-Identifier: BSL-1.0
// A database of programs that follow MongoDB's tutorial "Perform Two Phase Commits": settle
// finishes their transactions, and stores its own in the same collections and fields.
//
// A bare mark and an entry without an epoch count as epoch 0. A transaction type may take them over
// if it applies its credits, since the tutorial's programs add while a transaction is pending.
#pragma once

#include <settle/mongodb.hpp>
#include <settle/mongodb/layout_check.hpp>
#include <settle/mongodb/tutorial_log.hpp>

SETTLE_BEGIN
namespace mongodb {

/// The records of such a database.
/// Shape:   Type - the type of the other programs' transactions
template <auto const& Type, typename... Collections>
class tutorial_session : public record_session<Collections...> {
    using base = record_session<Collections...>;
    using direction = forward<Type>;

public:
    tutorial_session(detail::server& with, detail::record_layout layout, tutorial_log<Type> log)
        : base(with, std::move(layout)), log_(std::move(log)) {}

    /// As the base does. First it handles commits of other programs without an epoch: it raises
    /// their marks to this claim's epoch and stores that epoch as the committed epoch, so that a
    /// late effect is recognised by its lower epoch.
    template <typename Direction, typename Kind>
    void start(std::span<job> wave, Kind how) {
        std::vector<job*> left_out;
        if constexpr (!Kind::applies) {
            for (job& work : wave) {
                bool const due = how.at() == step::confirm && work.takes(step::confirm);
                if (!due || work.coordinator.committed() != 0) continue;
                if (!take_commit<Direction>(work)) left_out.push_back(&work);
            }
        }
        for (job* const work : left_out) work->resting = true;
        base::template start<Direction>(wave, how);
        for (job* const work : left_out) work->resting = false;
    }

    /// As the base does, without the jobs that cannot be taken over.
    template <typename Direction, typename Judge>
    void one_phase(std::span<job> wave, tutorial_log<Type>& log, write_context const& at,
                   Judge&& decide) {
        log.template without_unfit<step::one_phase>(wave, [&] {
            base::template one_phase<Direction>(wave, log, at, std::forward<Judge>(decide));
        });
    }

    /// Ends a mark; the entry tells the effect of a bare mark.
    result<answer> resolve(mark_locator const& where, bool confirmed) {
        if (where.epoch_number != 0) return base::resolve(where, confirmed);
        auto const found = log_.read(where.id);
        if (!found.has_value()) return found.problem();
        if (!found.value() || found.value()->type != direction::name()) return unknown_mark(where);
        auto const parameters =
            decode_json<typename direction::parameters>(found.value()->parameters);
        if (!parameters.has_value()) return parameters.problem();
        std::optional<result<answer>> reply;
        bool const stands = found.value()->state == state::done;
        direction::for_each_participant([&](auto index) {
            if (!reply) reply = pull_part<index>(where, parameters.value(), stands);
        });
        return reply ? *std::move(reply) : unknown_mark(where);
    }

private:
    /// False on failure: then every due part has its answer.
    template <typename Direction>
    bool take_commit(job& work) {
        auto const each = [&](auto&& function) {
            std::span<job> const alone{&work, 1};
            for_each_operation<base::template holds, Direction>(
                alone, ending_step{step::confirm}, function);
        };
        answer met_answer = answer::applied;
        auto const ended = base::in_units([&](typename base::units_of_work& here,
                                              detail::link& with) {
            met_answer = answer::applied;
            each([&](auto const& one) { here.of(one).expect(one); });
            here.fetch(with);
            each([&](auto const& one) {
                auto const reply = here.of(one).raise_mark(one, work.coordinator.epoch_number());
                if (reply == answer::fenced) met_answer = reply;
            });
        });
        error problem = ended.problem;
        if (ended.status != detail::commit_status::committed) {
            met_answer = settle::detail::answer_of(ended.status);
        } else if (met_answer == answer::applied) {
            log_.store_commit(work);
            if (work.reply == log_answer::taken) {
                work.coordinator.committed_without_epoch();
                return true;
            }
            met_answer = work.reply == log_answer::conflict  ? answer::fenced
                  : work.reply == log_answer::unknown ? answer::unknown
                                                     : answer::unavailable;
            problem = work.problem;
        }
        each([&](auto const& one) { work.answered(one.flat_part(), met_answer, problem); });
        return false;
    }

    template <std::size_t Index, typename Parameters>
    std::optional<result<answer>> pull_part(mark_locator const& where, Parameters const& parameters,
                                            bool stands) {
        using collection = typename direction::template collection_of<Index>;
        if (where.collection != collection::name) return std::nullopt;
        auto const& user = direction::user(parameters);
        for (std::size_t line = 0; line < direction::template lines<Index>(user); ++line) {
            auto const key = direction::template key<Index>(user, line);
            typename collection::key_type typed{};
            bool overflow = false;
            store_value(typed, key, overflow);
            if (overflow || key_value{typename detail::unit_of_work<collection>::stored_key(
                                typed)} != where.key) {
                continue;
            }
            return base::template at_record<collection>(typed, [&](auto& table) {
                return table.pull_bare(where.id, stands, [&](auto const& now, auto& taken) {
                    return detail::read_bare_mark<direction, Index>(parameters, line, now,
                                                                    step::compensate, taken);
                });
            });
        }
        return std::nullopt;
    }

    static result<answer> unknown_mark(mark_locator const& where) {
        return {errc::damaged, "settle: a record of '" + where.collection +
                                   "' has the mark '" + where.id +
                                   "' of no transaction that is known, so nobody can say what it "
                                   "did. Look at it, and take it out. "
                                   "See mongodb#coming-from-the-tutorial"};
    }

    tutorial_log<Type> log_;
};

namespace detail {

/// Whether the amounts that a type adds are there while it is pending, as in the tutorial's
/// programs: an amount added at confirm would be added twice.
template <typename Definition>
inline constexpr bool applies_its_sums = false;
template <typename P, fixed_string Name, typename Guards, typename... Participants>
inline constexpr bool
    applies_its_sums<transaction_definition<P, Name, Guards, Participants...>> = ([] {
        using confirm = settle::detail::moment_or_none<typename Participants::confirm_type>;
        return std::is_same_v<confirm, settle::no_moment> || !confirm::commutes;
    }() && ...);

} // namespace detail

/// A database with the tutorial's leftovers. Before it is used, stop the other programs and end
/// their sessions in the server: a late write of theirs on a record whose mark they have already
/// pulled is beyond repair.
/// Shape:   Type - the transaction type that describes the other programs' transactions
/// Errors:  as database, and for an impossible layout
/// Source:  mongodb#coming-from-the-tutorial
template <auto const& Type>
class tutorial_database {
    using direction = forward<Type>;
    using parameters = typename direction::user_parameters;

    static_assert(detail::applies_its_sums<std::remove_cvref_t<decltype(Type)>>,
                  "settle: a type for what other programs left adds in confirm what they have "
                  "applied. Make it .apply(...).compensate(settle::inverse). "
                  "See mongodb#coming-from-the-tutorial");

public:
    explicit tutorial_database(std::string const& address, tutorial_layout layout = {},
                               database_options const& options = {})
        : database_(address, options), layout_(entries_of(std::move(layout))) {}

    /// Errors:  as database::bind
    template <typename... Collections>
    tutorial_session<Type, Collections...> bind(std::string const& log_name) {
        auto const records = record_layout();
        for (std::string_view const name : {Collections::name...}) {
            if (name == layout_.names.transactions) {
                detail::refuse_collection(name, "tutorial_layout::transactions says that it holds "
                                                "the transactions");
            }
        }
        for (auto const& [member, field] : layout_.names.record_fields) {
            bool found = false;
            auto const look = [&, &name = member](auto m) { found = found || m.name == name; };
            (for_each_member<typename Collections::record_type>(look), ...);
            if (!found) {
                detail::refuse_layout("no record has a member '" + member + "', for which it "
                                      "names the field '" + field + "'");
            }
        }
        database_.template prepare<Collections...>(log_name, records);
        return {database_.server_, records, bind_log()};
    }

    /// Errors:  as database::bind_log
    tutorial_log<Type> bind_log() {
        return {database_.server_, record_layout(), database_.bind_log(layout_)};
    }

    /// As in database.
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read_linearizable(collection<Record, Name, Key> const&,
                                                    value_of<Key> const& key) {
        return database_.template read_linearizable<collection<Record, Name, Key>>(record_layout(),
                                                                                   key);
    }
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read_by_quorum(collection<Record, Name, Key> const&,
                                                 value_of<Key> const& key) {
        return database_.template read_by_quorum<collection<Record, Name, Key>>(record_layout(),
                                                                                key);
    }

private:
    [[nodiscard]] detail::record_layout record_layout() const {
        return {layout_.names.key, true, true, layout_.names.record_fields};
    }

    static detail::entry_layout entries_of(tutorial_layout names) {
        detail::entry_layout made;
        made.names = std::move(names);
        made.type = direction::name();
        made.definition = direction::definition();
        for_each_member<parameters>([&](auto m) {
            using type = typename decltype(m)::type;
            using plain = typename field_traits<type>::plain_type;
            made.members.push_back({std::string{m.name}, settle::detail::is_optional<type>,
                                    std::is_same_v<plain, std::string>});
        });
        detail::check_layout(made);
        return made;
    }

    database database_;
    detail::entry_layout layout_;
};

} // namespace mongodb
SETTLE_END
