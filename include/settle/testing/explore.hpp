// SPDX-License-Identifier: BSL-1.0
// Exhaustive search: drives the shipped coordinator and the shipped record rule through every
// interleaving of workers, readers, crashes, lost replies, late writes, takeovers and sweeps.
//
//   CHECK(settle::testing::explore(
//       settle::type<bank::transfer_type>,
//       settle::testing::starts(bank::accounts, bank::account{"A", 100}, bank::account{"B", 0}),
//       settle::testing::runs("t1", bank::transfer{"A", "B", 60}),
//       settle::testing::conserves(bank::accounts, settle::field<&bank::account::balance>)));
#pragma once

#include <settle/running/calls/ids.hpp>
#include <settle/testing/explore/clauses.hpp>
#include <settle/testing/explore/guarded.hpp>
#include <settle/testing/explore/search.hpp>

SETTLE_BEGIN
namespace testing {

namespace detail {

template <typename List>
struct records_of;
template <typename... Collections>
struct records_of<settle::detail::type_list<Collections...>> {
    using type = model_records<Collections...>;
};

/// Collects the clauses of a search and runs the search.
template <typename Protocol, typename Gathered>
class search_clauses {
public:
    using types = typename Gathered::types;
    using records = typename records_of<typename Gathered::collections>::type;
    using search_type = search<Protocol, records>;
    using world_type = typename search_type::world_type;
    using path_type = typename search_type::path_type;

    template <auto const& Type>
    void take(type_tag<Type> const&) {}

    template <typename Collection>
    void take(starting_records<Collection> const& starting) {
        for (auto const& record : starting.records) {
            auto& table = std::get<model_table<Collection>>(first_.data.tables);
            std::size_t const index = index_of<Collection>(record.*Collection::key_member);
            table.change(index, [&](auto& cell) {
                cell.slot.record = cell.truth = record;
                return true;
            });
        }
    }

    template <typename Parameters>
    void take(run_clause<Parameters> const& clause) {
        add<typename settle::detail::find_direction<Parameters, types>::type>(clause.id,
                                                                              clause.parameters);
    }
    template <auto const& Type>
    void take(typed_run_clause<Type> const& clause) {
        add<forward<Type>>(clause.id, clause.parameters);
    }
    template <typename Collection>
    void take(read_clause<Collection> const& clause) {
        std::vector<std::size_t> slots;
        for (auto const& key : clause.keys) slots.push_back(index_of<Collection>(key));
        using read = typed_read<typename Protocol::rules, Collection, records>;
        reads_.push_back(std::make_unique<read>(clause.reads, std::move(slots)));
        first_.readers.push_back({});
    }
    void take(reversal_clause const& clause) { reversals_.push_back(clause.id); }
    void take(calls_clause const& clause) { calls_.push_back(clause); }
    void take(model_clause const& clause) { models_.push_back(clause); }
    void take(prepared_clause const& clause) { prepared_.push_back(clause); }

    /// The starting sum is taken later, when all clauses have added their records.
    template <typename Collection, auto Member>
    void take(conserved_sum<Collection, Member> const&) {
        late_.push_back([this](auto& checker) {
            using sum = conserved_sum<Collection, Member>;
            auto const start = sum::template of<false>(first_.data);
            checker.declare([start](records const& now) {
                if (sum::template of<true>(now) != start) return sum::lost(start, now);
                constexpr bool late = sum::template late_credits<types>();
                if (late && sum::template of<false>(now) > start) return sum::shown(start, now);
                return std::string{};
            });
        });
    }

    template <typename Collection, typename Condition>
    void take(condition_clause<Collection, Condition> const& clause) {
        late_.push_back([clause](auto& checker) {
            checker.declare([clause](records const& now) { return clause.broken(now); });
        });
    }

    void take(bounds const& bounds) { within_ = bounds; }
    void take(replay const& replay) { replay_ = replay.moves(); }

    exploration explore() {
        for (auto const& one : models_) change_model(one);
        for (auto const& one : prepared_) add_prepared(one);
        for (auto const& one : calls_) add_calls(one);
        for (auto const& id : reversals_) add_reversal(id);
        if (transactions_.empty()) {
            throw std::invalid_argument(
                "settle: nothing to search. Add settle::testing::runs(id, parameters)");
        }
        for (std::size_t t = 0; t < transactions_.size(); ++t) first_.entries.push_back({});
        for (std::size_t w = 0; w < within_.workers; ++w) {
            first_.workers.push_back({}).name = static_cast<std::uint8_t>(w);
        }
        typename search_type::checker_type checker{transactions_, within_};
        for (auto const& declare : late_) declare(checker);
        checker.declare(
            [except = negative_at_start()](records const& now) { return below_zero(now, except); });
        typename search_type::moves_type const possible{transactions_, reads_, within_,
                                                        first_.data};
        search_type made{possible, checker, first_};
        return replay_ ? made.replay(*replay_) : made.visit_all(within_.most_states);
    }

private:
    using members = std::vector<std::set<std::size_t>>; ///< of each table, by position

    /// A member that the user starts below zero in a record is not checked.
    [[nodiscard]] members negative_at_start() const {
        return std::apply(
            [](auto const&... table) { return members{detail::negative_members(table)...}; },
            first_.data.tables);
    }
    static std::string below_zero(records const& now, members const& except) {
        std::string wrong;
        std::size_t index = 0;
        auto const look = [&](auto const& table) {
            if (wrong.empty()) wrong = detail::below_zero<types>(table, except[index]);
            ++index;
        };
        std::apply([&](auto const&... table) { (look(table), ...); }, now.tables);
        return wrong;
    }

    template <typename Collection, typename K>
    std::size_t index_of(K const& key) {
        auto& keys = keys_[std::string{Collection::name}];
        std::string name;
        append_json(name, typename Collection::key_type(key));
        auto const found = std::find(keys.begin(), keys.end(), name);
        if (found != keys.end()) return static_cast<std::size_t>(found - keys.begin());
        keys.push_back(name);
        using table = model_table<Collection>;
        auto cell = std::make_shared<typename table::cell>();
        cell->note_print();
        std::get<table>(first_.data.tables).cells.push_back(std::move(cell));
        return keys.size() - 1;
    }

    template <typename Direction>
    void add(transaction_id id, typename Direction::parameters const& parameters) {
        std::vector<std::size_t> slots;
        prepared_clause prepared{id, {}};
        calls_clause added{id, {}};
        std::vector<std::size_t> positions;
        auto const& user = Direction::user(parameters);
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            using participant = typename Direction::template participant<position>;
            for (std::size_t i = 0; i < Direction::template lines<position>(user); ++i) {
                if constexpr (RecordParticipant<participant>) {
                    using named = typename Direction::template target_of<position>;
                    slots.push_back(index_of<named>(Direction::template key<position>(user, i)));
                } else if constexpr (PreparedParticipant<participant>) {
                    prepared.parts.push_back(searched_prepared<participant>());
                } else {
                    auto call = searched_call<participant>::make();
                    // The calls whose order of compensations has it before them.
                    call.uses = 0;
                    for (std::size_t each = 0; each < positions.size(); ++each) {
                        auto const after = Direction::undone_after()[positions[each]];
                        if ((after & undo_place::bit(position)) != 0)
                            call.uses = static_cast<std::uint8_t>(call.uses | 1U << each);
                    }
                    call.in_order = Direction::undone_by_stage();
                    positions.push_back(position);
                    added.parts.push_back(std::move(call));
                }
            }
        });
        if (!prepared.parts.empty()) prepared_.push_back(std::move(prepared));
        if (!added.parts.empty()) calls_.push_back(std::move(added));
        transactions_.push_back(
            std::make_unique<typed_transaction<typename Protocol::rules, Direction, records>>(
                std::move(id), parameters, std::move(slots)));
    }

    void change_model(model_clause const& clause) {
        bool has_call = false;
        for (auto& call : calls_) {
            for (call_model& part : call.parts) {
                if (part.name != clause.participant) continue;
                clause.change(part);
                has_call = true;
            }
        }
        if (has_call) return;
        throw std::invalid_argument("settle: a search models the call '" + clause.participant +
                                    "', which no transaction makes");
    }

    /// The number of the transaction that a clause of parts names.
    std::size_t transaction_of(transaction_id const& id, std::string const& what) const {
        for (std::size_t t = 0; t < transactions_.size(); ++t) {
            if (transactions_[t]->id() == id) return t;
        }
        throw std::invalid_argument("settle: a search adds " + what + " to '" + id +
                                    "', which no settle::testing::runs names");
    }

    void add_prepared(prepared_clause const& clause) {
        std::size_t const t = transaction_of(clause.id, "prepared parts");
        auto& transaction = *transactions_[t];
        if (!transaction.prepared.empty()) {
            throw std::invalid_argument("settle: a search adds prepared parts to '" + clause.id +
                                        "' twice");
        }
        transaction.first_prepared = first_.prepared.size();
        transaction.prepared = clause.parts;
        for (std::size_t i = 0; i < clause.parts.size(); ++i) {
            first_.prepared.push_back({}).transaction = static_cast<std::uint8_t>(t);
        }
    }

    void add_calls(calls_clause const& clause) {
        std::size_t const t = transaction_of(clause.id, "calls");
        auto& transaction = *transactions_[t];
        if (!transaction.calls.empty()) {
            throw std::invalid_argument("settle: a search adds calls to '" + clause.id + "' twice");
        }
        transaction.first_row = first_.rows.size();
        for (call_model const& part : clause.parts) {
            bool const early = part.stage == 0 && part.moments != call_moments::confirm_only;
            if (early || part.results == 0 || part.results > 14) {
                throw std::invalid_argument("settle: the call '" + part.name +
                                            "' needs a stage from 1 and 1 to 14 results");
            }
            transaction.calls.push_back(part);
            receiver_row row;
            row.transaction = static_cast<std::uint8_t>(t);
            first_.rows.push_back(row);
        }
    }

    void add_reversal(transaction_id const& id) {
        for (std::size_t t = 0; t < transactions_.size(); ++t) {
            if (transactions_[t]->id() != id) continue;
            if (transactions_[t]->parts() != transactions_[t]->records()) {
                throw std::invalid_argument("settle: a search reverses types of records alone");
            }
            std::optional<std::size_t> earlier;
            std::uint32_t attempt = 1;
            for (std::size_t other = 0; other < transactions_.size(); ++other) {
                if (transactions_[other]->undoes != t) continue;
                earlier = other;
                ++attempt;
            }
            transactions_.push_back(transactions_[t]->reversed(reversal_id(id, attempt)));
            transactions_.back()->undoes = t;
            transactions_.back()->follows = earlier;
            return;
        }
        throw std::invalid_argument("settle: a search reverses '" + id +
                                    "', which no settle::testing::runs names");
    }

    std::map<std::string, std::vector<std::string>> keys_;
    world_type first_;
    std::vector<std::unique_ptr<model_transaction<records>>> transactions_;
    std::vector<transaction_id> reversals_;
    std::vector<prepared_clause> prepared_;
    std::vector<calls_clause> calls_;
    std::vector<model_clause> models_;
    std::vector<std::function<void(typename search_type::checker_type&)>> late_;
    typename search_type::moves_type::reads reads_;
    bounds within_;
    std::optional<path_type> replay_;
};

} // namespace detail

/// Searches every state that a few transactions can reach: see the example above.
/// Shape:   clauses - in any order: settle::type<…> of each type; starts(collection, records…);
///          runs(id, parameters); reverses(id); calls(id, call_model…);
///          models(participant, change);
///          prepares(id, prepared_model…);
///          reads_far(collection, keys…); reads_near(collection, keys…);
///          reads_under_hold(collection, keys…); reads_together(collection, near, far…);
///          conserves(collection, field);
///          stays(collection, condition); bounds; replay
/// Errors:  a failed exploration converts to false and prints the shortest run to the wrong state.
///          Throws std::invalid_argument when no transaction is given, a clause names an unknown
///          transaction or call, adds parts twice, or has an invalid call_model or replay;
///          std::length_error when the transactions exceed the capacity of a search
/// Cost:    about 40 bytes a state; some hundred thousand states a second for a transfer
/// Example: tests/fault/explore.cpp
template <typename Protocol = shipped_protocol, typename... Clauses>
[[nodiscard]] exploration explore(Clauses const&... clauses) {
    using gathered = settle::detail::gather<settle::detail::type_list<>,
                                            settle::detail::type_list<>, Clauses...>;
    static_assert(!std::is_same_v<typename gathered::types, settle::detail::type_list<>>,
                  "settle: a search needs a transaction type. Add settle::type<your_type>.");
    detail::search_clauses<Protocol, gathered> made;
    (made.take(clauses), ...);
    return made.explore();
}

} // namespace testing
SETTLE_END
