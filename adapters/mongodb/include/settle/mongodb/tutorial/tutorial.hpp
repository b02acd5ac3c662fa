// SPDX-License-Identifier: BSL-1.0
// A database of programs that follow MongoDB's tutorial "Perform Two Phase Commits": settle
// finishes their transactions, and stores its own in the same collections and fields.
//
// A bare mark and an entry without an epoch count as epoch 0. A transaction type may take them over
// if it applies its credits, since the tutorial's programs add while a transaction is pending.
#pragma once

#include <settle/mongodb.hpp>
#include <settle/mongodb/records/unit_of_work.hpp>
#include <settle/mongodb/tutorial/layout.hpp>
#include <settle/mongodb/tutorial/tutorial_log.hpp>

SETTLE_BEGIN
namespace mongodb {
/// The records of such a database.
/// Shape:   Type - the type of the other programs' transactions
template <auto const& Type, typename... Collections>
class tutorial_session : public record_session<Collections...> {
    using base = record_session<Collections...>;
    using direction = forward<Type>;
    static constexpr transaction_descriptor const& type = descriptor_of<direction>;

public:
    tutorial_session(detail::server& server, detail::record_layout layout, tutorial_log<Type> log)
        : base(server, layout), log_(std::move(log)) {}

    /// As the base does. First it handles commits of other programs without an epoch: it raises
    /// their marks to this claim's epoch and stores that epoch as the committed epoch, so that a
    /// late effect is recognised by its lower epoch.
    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        if (!has_commit_without_epoch(requests)) return base::execute(requests, results);
        auto commits = commits_of(requests);
        look_up_commits(requests, commits);
        std::vector<part_request> others;
        std::vector<part_result*> answered;
        for (commit& group : commits) {
            auto const some = requests.subspan(group.first, group.count);
            if (group.reply == answer::applied && group.committed == 0) take_commit(some, group);
            for (std::size_t index = group.first; index < group.first + group.count; ++index) {
                if (group.reply != answer::applied) {
                    results[index].fail(group.reply, group.problem);
                    continue;
                }
                others.push_back(requests[index]);
                others.back().committed = group.committed;
                answered.push_back(&results[index]);
            }
        }
        std::vector<part_result> made(others.size());
        base::execute(others, made);
        for (std::size_t at = 0; at < made.size(); ++at) *answered[at] = std::move(made[at]);
    }

    /// As the base does. Commits without an epoch are handled before it returns.
    void start(std::span<part_request const> requests, std::span<part_result> results) {
        if (has_commit_without_epoch(requests)) execute(requests, results);
        else base::start(requests, results);
    }

    /// As the base does, without the requests that cannot be taken over.
    void one_phase(std::span<one_phase_request> requests, tutorial_log<Type>& log,
                   write_context const& context, one_phase_decider& decider) {
        auto const fit = log.without_unfit(requests);
        std::vector<one_phase_request> settled;
        for (auto const* const request : fit) settled.push_back(*request);
        base::store().one_phase(settled, log, context, decider);
        for (std::size_t number = 0; number < fit.size(); ++number) *fit[number] = settled[number];
    }

    /// Ends a mark; the entry tells the effect of a bare mark.
    result<answer> resolve(mark_locator const& where, bool confirmed) {
        if (where.epoch_number != 0) return base::resolve(where, confirmed);
        auto const looked_up = log_.read(where.id);
        if (!looked_up.has_value()) return looked_up.problem();
        if (!looked_up.value() || looked_up.value()->type != direction::name())
            return unknown_mark(where);
        auto const parameters =
            decode_json<typename direction::parameters>(looked_up.value()->parameters);
        if (!parameters.has_value()) return parameters.problem();
        if (direction::check(parameters.value()).why != reason::none) return refused_entry(where);
        std::optional<result<answer>> reply;
        bool const committed = looked_up.value()->state == state::done;
        void const* const values = &parameters.value();
        type.for_each_part(values, [&](part_descriptor const& part, std::size_t line, std::size_t) {
            if (reply || part.name != where.collection) return;
            auto const request =
                detail::leftover_request(part, type, values, where.id, line, step::compensate);
            bool const same = request.key() == settle::detail::view_of(where.key);
            if (same) reply = pull_bare(request, committed, confirmed);
        });
        return reply ? *std::move(reply) : unknown_mark(where);
    }

private:
    /// The requests of one transaction that another program may have committed.
    struct commit {
        std::size_t first; ///< the index of its first request
        std::size_t count;
        answer reply = answer::applied; ///< otherwise the answer to each of its requests
        epoch committed = 0;            ///< the committed epoch, 0 while there is none
        error problem{};
    };

    static bool has_commit_without_epoch(std::span<part_request const> requests) {
        return std::any_of(requests.begin(), requests.end(), [](part_request const& request) {
            return request.action == step::confirm && request.committed == 0;
        });
    }

    static std::vector<commit> commits_of(std::span<part_request const> requests) {
        std::vector<commit> commits;
        for (std::size_t index = 0; index < requests.size(); ++index) {
            bool const next =
                !commits.empty() && *requests[commits.back().first].id == *requests[index].id;
            if (next) ++commits.back().count;
            else commits.push_back({index, 1, answer::applied, requests[index].committed});
        }
        return commits;
    }

    /// An earlier wave of this claim may have stored the committed epoch: then a bare mark is of a
    /// late effect, and must not be raised.
    void look_up_commits(std::span<part_request const> requests, std::vector<commit>& commits) {
        std::vector<read_request> reads;
        std::vector<commit*> readers;
        for (commit& group : commits) {
            if (group.committed != 0) continue;
            part_request const& of = requests[group.first];
            reads.push_back({of.id, of.type, of.parameters, nullptr});
            readers.push_back(&group);
        }
        log_.look_up(reads, [&](std::size_t index, result<std::optional<entry>>&& looked_up, bool) {
            commit& group = *readers[index];
            if (!looked_up.has_value()) {
                group.reply = answer::unavailable;
                group.problem = looked_up.problem();
                return;
            }
            auto const& current = looked_up.value();
            epoch const claimed = requests[group.first].epoch_number;
            bool const is_held =
                current && current->state == state::applied && current->epoch_number == claimed;
            if (is_held) group.committed = current->committed;
            else group.reply = answer::fenced;
        });
    }

    void take_commit(std::span<part_request const> requests, commit& group) {
        epoch const claimed = requests.front().epoch_number;
        auto const ended =
            base::store().in_unit([&](detail::unit_of_work& unit, detail::link& client) {
                group.reply = answer::applied;
                for (auto const& request : requests) unit.expect(request);
                unit.fetch(client);
                for (auto const& request : requests) {
                    auto const raised =
                        detail::bare_rule<direction>.raise(unit.of(request), request);
                    if (raised == answer::fenced) group.reply = answer::fenced;
                }
            });
        group.problem = ended.problem;
        if (ended.status != detail::commit_status::committed) {
            group.reply = settle::detail::answer_of(ended.status);
        } else if (group.reply == answer::applied) {
            auto const stored = log_.store_commit(*requests.front().id, claimed);
            group.committed = claimed;
            if (stored.reply == log_answer::taken) return;
            group.reply = stored.reply == log_answer::conflict  ? answer::fenced
                          : stored.reply == log_answer::unknown ? answer::unknown
                                                                : answer::unavailable;
            group.problem = stored.problem;
        }
    }

    result<answer> pull_bare(part_request const& request, bool committed, bool confirmed) {
        return base::store().at_record(
            request.descriptor->target, request.key(), [&](detail::record_table& table) {
                return detail::bare_rule<direction>.pull(table, request, committed, confirmed);
            });
    }

    /// This library applies no such parameters, so the mark's effect cannot be told from them.
    static result<answer> refused_entry(mark_locator const& where) {
        return {errc::damaged, "settle: the entry '" + where.id +
                                   "' has parameters that its type refuses, so the effect of its "
                                   "mark on a record of '" +
                                   where.collection +
                                   "' is unknown. Look at both, and take the mark out. "
                                   "See mongodb#coming-from-the-tutorial"};
    }

    static result<answer> unknown_mark(mark_locator const& where) {
        return {errc::damaged, "settle: a record of '" + where.collection + "' has the mark '" +
                                   where.id +
                                   "' of no known transaction, so its effect is unknown. Look at "
                                   "it, and take it out. "
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
inline constexpr bool applies_its_sums<transaction_definition<P, Name, Guards, Participants...>> =
    ([] {
        using confirm = settle::detail::moment_or_none<typename Participants::confirm_type>;
        return std::is_same_v<confirm, settle::no_moment> || !confirm::commutes;
    }() &&
     ...);

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
                  "settle: this type adds an amount in .confirm(...), but the tutorial's programs "
                  "add it while the transaction is pending, so it would be added twice. Use "
                  ".apply(...).compensate(settle::inverse). See mongodb#coming-from-the-tutorial");

public:
    explicit tutorial_database(std::string const& address, tutorial_layout layout = {},
                               database_options const& options = {})
        : database_(address, options), layout_(std::move(layout), std::string{direction::name()},
                                               direction::definition(), members()) {}

    /// Errors:  as database::bind
    template <typename... Collections>
    tutorial_session<Type, Collections...> bind(std::string const& log_name) {
        auto const records = record_layout();
        for (std::string_view const name : {Collections::name...}) {
            if (name == layout_.names().transactions) {
                detail::refuse_collection(name, "tutorial_layout::transactions says that it holds "
                                                "the transactions");
            }
        }
        for (auto const& [member, field] : layout_.names().record_fields) {
            bool is_member = false;
            auto const look = [&, &name = member](auto m) {
                is_member = is_member || m.name == name;
            };
            (for_each_member<typename Collections::record_type>(look), ...);
            if (!is_member) {
                detail::refuse_layout("no record has a member '" + member +
                                      "', for which it "
                                      "names the field '" +
                                      field + "'");
            }
        }
        database_.prepare(log_name, records, database::collections<Collections...>);
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
        return {layout_.names().key, &detail::bare_rule<direction>, true,
                layout_.names().record_fields};
    }

    static std::vector<detail::parameter> members() {
        std::vector<detail::parameter> listed;
        for_each_member<parameters>([&](auto m) {
            using type = typename decltype(m)::type;
            using plain = typename field_traits<type>::plain_type;
            listed.push_back({std::string{m.name}, settle::detail::is_optional<type>,
                              std::is_same_v<plain, std::string>});
        });
        return listed;
    }

    database database_;
    detail::tutorial_entries layout_;
};

} // namespace mongodb
SETTLE_END
