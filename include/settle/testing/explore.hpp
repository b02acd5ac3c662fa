// SPDX-License-Identifier: BSL-1.0
// Exhaustive search: drives the shipped coordinator and the shipped record rule through every
// interleaving of workers, crashes, lost replies, late writes, takeovers, cancels and sweeps.
#pragma once

#include <settle/testing/moves.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <ostream>
#include <unordered_map>

SETTLE_BEGIN
namespace testing {

/// What a search saw. It converts to true when every state is right and none is stuck.
struct exploration {
    bool right = true;
    bool complete = true;       ///< false when `most_states` cut it short
    std::string story;          ///< the shortest run to the first wrong state, one line a step
    std::size_t states = 0;
    std::size_t transitions = 0;
    std::size_t depth = 0;
    double seconds = 0;

    explicit operator bool() const noexcept { return right && complete; }

    friend std::ostream& operator<<(std::ostream& out, exploration const& shown) {
        double const speed = static_cast<double>(shown.states) / std::max(shown.seconds, 1e-9);
        out << shown.states << " states, " << shown.transitions << " transitions, depth "
            << shown.depth << ", " << shown.seconds << " s, " << static_cast<std::size_t>(speed)
            << " states/s";
        if (!shown.complete) out << ", cut short";
        if (!shown.right) out << "\n" << shown.story;
        return out;
    }
};

/// A search over some transaction types.
/// Shape:   Tags - settle::type<…> of each type that takes part
/// Example: tests/fault/explore.cpp
template <typename... Tags>
class search {
    using gathered = settle::detail::gather<settle::detail::type_list<>,
                                            settle::detail::type_list<>, Tags...>;
    template <typename List>
    struct records_of;
    template <typename... Collections>
    struct records_of<settle::detail::type_list<Collections...>> {
        using type = model_records<Collections...>;
    };

public:
    using records = typename records_of<typename gathered::collections>::type;
    using world_type = world<records>;

    explicit search(Tags...) {}
    search(search const&) = delete;
    search& operator=(search const&) = delete;

    /// A record that is there at the beginning.
    template <typename Record, fixed_string Name, auto Key>
    search& with(collection<Record, Name, Key> const&, Record const& record) {
        using named = collection<Record, Name, Key>;
        std::size_t const at = place<named>(record.*Key);
        auto& table = std::get<model_table<named>>(first_.data.tables);
        table.slots[at].record = record;
        table.truth[at] = record;
        return *this;
    }

    /// A transaction that any worker may begin at any moment.
    template <typename Parameters>
    search& run(transaction_id id, Parameters const& parameters) {
        using direction =
            typename settle::detail::find_direction<Parameters, typename gathered::types>::type;
        return add<direction>(std::move(id), parameters);
    }
    template <auto const& Type>
    search& run(transaction_id id, typename forward<Type>::parameters const& parameters) {
        return add<forward<Type>>(std::move(id), parameters);
    }

    /// A sum over one field of one collection that is the same in every state, once its marks are
    /// settled.
    template <typename Record, fixed_string Name, auto Key, auto Member>
    search& conserves(collection<Record, Name, Key> const&, field_expression<Member> const&) {
        sums_.push_back([](records const& all) {
            std::int64_t sum = 0;
            for (auto const& slot :
                 std::get<model_table<collection<Record, Name, Key>>>(all.tables).slots) {
                if (slot.record) sum += (*slot.record).*Member;
            }
            return sum;
        });
        return *this;
    }

    /// Visits every state within the bounds, the nearest first.
    [[nodiscard]] exploration explore(bounds const& within) {
        auto const started = std::chrono::steady_clock::now();
        exploration seen;
        states_type states;
        std::deque<typename states_type::value_type const*> waiting;
        moves<records> const possible{transactions_, within};
        begin(within, possible, states, waiting);
        while (!waiting.empty() && seen.right) {
            auto const* const here = waiting.front();
            waiting.pop_front();
            seen.depth = here->second.depth;
            if (std::string const wrong = judge(here->first); !wrong.empty()) {
                seen.right = false;
                seen.story = tell(possible, states, *here) + "WRONG: " + wrong;
                break;
            }
            possible.each(here->first, false, [&](world_type&& next, std::string const&) {
                ++seen.transitions;
                possible.canonize(next);
                auto const [at, fresh] =
                    states.try_emplace(std::move(next), &here->first, here->second.depth + 1);
                if (fresh) waiting.push_back(&*at);
            });
            if (states.size() > within.most_states) {
                seen.complete = false;
                break;
            }
        }
        seen.states = states.size();
        seen.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        return seen;
    }

private:
    struct world_hash {
        std::size_t operator()(world_type const& one) const { return one.hash(); }
    };
    struct origin {
        world_type const* from = nullptr;
        std::uint32_t depth = 0;
        origin(world_type const* parent, std::uint32_t steps) : from(parent), depth(steps) {}
    };
    using states_type = std::unordered_map<world_type, origin, world_hash>;

    template <typename Waiting>
    void begin(bounds const& within, moves<records> const& possible, states_type& states,
               Waiting& waiting) {
        world_type start = first_;
        start.entries.resize(transactions_.size());
        start.workers.resize(within.workers);
        sums_at_start_.clear();
        for (auto const& sum : sums_) sums_at_start_.push_back(sum(start.data));
        possible.canonize(start);
        waiting.push_back(&*states.try_emplace(std::move(start), nullptr, 0U).first);
    }

    /// What is wrong with a state, or nothing.
    [[nodiscard]] std::string judge(world_type const& now) const {
        records settled = now.data;
        for (std::size_t i = 0; i < transactions_.size(); ++i) {
            transactions_[i]->settle_marks(settled, now.entries[i].now.committed);
        }
        std::string wrong;
        settled.for_each_table([&](auto const& table) {
            for (std::size_t i = 0; i < table.slots.size(); ++i) {
                if (wrong.empty() && !same(table.slots[i].record, table.truth[i])) {
                    wrong = "with all marks settled, a record holds " +
                            show(table.slots[i].record) +
                            " where the committed transactions give " + show(table.truth[i]);
                }
            }
        });
        for (std::size_t i = 0; wrong.empty() && i < sums_.size(); ++i) {
            if (sums_[i](settled) != sums_at_start_[i]) {
                wrong = "the sum is " + std::to_string(sums_[i](settled)) + " and was " +
                        std::to_string(sums_at_start_[i]);
            }
        }
        for (std::size_t i = 0; wrong.empty() && i < transactions_.size(); ++i) {
            if (now.entries[i].present && now.entries[i].now.state == state::done) {
                wrong = unfinished(now, i);
            }
        }
        return wrong;
    }

    /// A transaction that is done has no mark of its committed epoch left.
    [[nodiscard]] std::string unfinished(world_type const& now, std::size_t i) const {
        for (std::size_t part = 0; part < transactions_[i]->parts(); ++part) {
            epoch const marked = transactions_[i]->mark_epoch(now.data, part);
            if (marked != 0 && marked == now.entries[i].now.committed) {
                return transactions_[i]->id() + " is done and a part is not confirmed";
            }
        }
        return {};
    }

    template <typename Record>
    static bool same(std::optional<Record> const& left, std::optional<Record> const& right) {
        if (left.has_value() != right.has_value()) return false;
        return !left || equal_members(*left, *right);
    }
    template <typename Record>
    static std::string show(std::optional<Record> const& record) {
        return record ? encode_json(*record) : "nothing";
    }

    /// The run that led to a state, made again step by step to find its words.
    template <typename State>
    std::string tell(moves<records> const& possible, states_type const& states,
                     State const& wrong) const {
        std::vector<world_type const*> path;
        world_type const* at = &wrong.first;
        origin const* how = &wrong.second;
        path.push_back(at);
        while (how->from != nullptr) {
            at = how->from;
            path.push_back(at);
            how = &states.find(*at)->second;
        }
        std::string story;
        for (std::size_t i = path.size(); i-- > 1;) {
            bool found = false;
            possible.each(*path[i], true, [&](world_type&& next, std::string const& what) {
                if (found) return;
                possible.canonize(next);
                if (!(next == *path[i - 1])) return;
                found = true;
                story += std::to_string(path.size() - i) + ". " + what + "\n     " +
                         next.data.text() + "\n";
            });
        }
        return story;
    }

    template <typename Named, typename K>
    std::size_t place(K const& key) {
        auto& keys = keys_[std::string{Named::name}];
        std::string name;
        append_json(name, typename Named::key_type(key));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == name) return i;
        }
        keys.push_back(name);
        auto& table = std::get<model_table<Named>>(first_.data.tables);
        table.slots.emplace_back();
        table.truth.emplace_back();
        return keys.size() - 1;
    }

    template <typename Direction>
    search& add(transaction_id id, typename Direction::parameters const& parameters) {
        std::vector<std::size_t> places;
        auto const& user = Direction::user(parameters);
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t at = decltype(index)::value;
            using named = typename Direction::template collection_of<at>;
            for (std::size_t i = 0; i < Direction::template lines<at>(user); ++i) {
                places.push_back(place<named>(Direction::template key<at>(user, i)));
            }
        });
        transactions_.push_back(std::make_unique<typed_transaction<Direction, records>>(
            std::move(id), parameters, std::move(places)));
        return *this;
    }

    std::map<std::string, std::vector<std::string>> keys_;
    world_type first_;
    std::vector<std::unique_ptr<model_transaction<records>>> transactions_;
    std::vector<std::function<std::int64_t(records const&)>> sums_;
    std::vector<std::int64_t> sums_at_start_;
};

} // namespace testing
SETTLE_END
