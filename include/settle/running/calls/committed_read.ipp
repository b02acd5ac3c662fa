// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that committed_read.hpp declares.
#pragma once

#include <settle/running/calls/committed_read.hpp>

#include <algorithm>
#include <span>

SETTLE_BEGIN
namespace detail {

/// The time that a read has. A machine may sleep, which only its calendar clock notices.
class read_limit {
public:
    /// No entry that is in use at the begin of the read is purged within the limit.
    read_limit(environment_view const& environment, options const& limits, call_options const& call)
        : environment_(environment),
          most_(std::min<std::chrono::milliseconds>(
              call.deadline ? *call.deadline : limits.patience, before_purge(limits))),
          since_(environment.elapsed()), date_(environment.now()) {}

    [[nodiscard]] bool is_over() const {
        return environment_.elapsed() - since_ > most_ || environment_.now() - date_ > most_;
    }

private:
    /// A purge erases no entry that has ended within this time, by any of the clocks.
    [[nodiscard]] static std::chrono::milliseconds before_purge(options limits) {
        limits.clocks = std::chrono::milliseconds{0};
        return limits.horizon();
    }

    environment_view const& environment_;
    std::chrono::milliseconds most_;
    std::chrono::nanoseconds since_;
    timestamp date_;
};

/// Asks about the open marks of a bracket.
/// Shape:   look_up - as that of a hold
template <typename LookUp>
[[nodiscard]] result<void> ask(bracket& known, LookUp&& look_up) {
    auto const& open = known.open();
    std::vector<std::int64_t> rows(open.size());
    std::vector<read_request> requests;
    requests.reserve(open.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
        requests.push_back({&open[i].id, nullptr, nullptr, &rows[i]});
    }
    std::vector<result<std::optional<entry>>> answers(open.size(), std::optional<entry>{});
    auto const asked = look_up(requests, [&](std::size_t i, result<std::optional<entry>>&& found,
                                             bool) { answers[i] = std::move(found); });
    if (!asked.has_value()) return asked.problem();
    for (auto const& answer : answers) {
        if (!answer.has_value()) return answer.problem();
    }
    for (auto const& answer : answers) {
        auto const& found = answer.value();
        known.answered(found ? std::optional{standing_of(*found)} : std::nullopt);
    }
    return {};
}

[[nodiscard]] inline error not_read(bool stopped) {
    if (stopped) {
        return {make_error_code(errc::stopped), "settle: the read was stopped before its answer. "
                                                "Call it again. See committed_reads#limit"};
    }
    return {make_error_code(errc::no_committed_read),
            "settle: no moment of the records could be read within the limit of the call: their "
            "transactions are decided faster than they can be looked at, or the caller stood "
            "still. Call it again, or with a later deadline. See committed_reads#limit"};
}

/// The error of a store whose look leaves collections out.
[[nodiscard]] inline error no_whole_collections() {
    return {make_error_code(errc::unfit_store),
            "settle: the store of a collection gives no whole collections in a look. Read the "
            "records by their keys, or correct its adapter. See committed_reads#stores"};
}

/// The records of a read in one store.
struct records_of_store {
    std::size_t store;
    std::vector<looked_record> records{};
    std::vector<std::size_t> indexes{}; ///< of the records in the read
    std::vector<void const*> collections{};
    std::vector<std::size_t> numbers{}; ///< of the collections in the read
};
[[nodiscard]] SETTLE_FUNCTION std::vector<records_of_store> by_store(committed_read const& read) {
    std::vector<records_of_store> stores;
    auto const group_of = [&](void const* target) -> records_of_store& {
        auto const& targets = read.targets;
        auto const bound = std::find_if(targets.begin(), targets.end(),
                                        [&](auto const& each) { return each.target == target; });
        auto group = std::find_if(stores.begin(), stores.end(),
                                  [&](auto const& each) { return each.store == bound->store; });
        if (group == stores.end()) group = stores.insert(group, {bound->store});
        return *group;
    };
    for (std::size_t i = 0; i < read.records.size(); ++i) {
        auto& group = group_of(read.records[i].target);
        group.records.push_back(read.records[i]);
        group.indexes.push_back(i);
    }
    for (std::size_t i = 0; i < read.collections.size(); ++i) {
        auto& group = group_of(read.collections[i]);
        group.collections.push_back(read.collections[i]);
        group.numbers.push_back(i);
    }
    return stores;
}

/// Answers the questions of a bracket, if the look was at the log.
SETTLE_FUNCTION void answer_from(store_look const& seen, bracket& known) {
    while (seen.has_entries && known.next() == read_step::ask) {
        auto const entry = seen.entries.find(known.open()[known.count_answered()].id);
        known.answered(entry == seen.entries.end() ? std::nullopt : std::optional{entry->second});
    }
}

/// The store that one look reads together with the log: if it can, one with records of the read. No
/// store has the number that is given if there is none.
[[nodiscard]] inline std::size_t store_at_log(committed_read const& read,
                                              std::span<records_of_store const> stores) {
    for (auto const& group : stores) {
        if (read.beside_log[group.store]) return group.store;
    }
    auto const& beside = read.beside_log;
    return static_cast<std::size_t>(std::find(beside.begin(), beside.end(), true) - beside.begin());
}

/// Calls `look(number, others)` for each number below `count`. A look may call `others` once, which
/// makes all looks after it.
template <typename Look>
void make_looks(std::size_t count, Look const& look, std::size_t number = 0) {
    if (number == count) return;
    bool has_called = false;
    auto const look_at_others = [&] {
        has_called = true;
        make_looks(count, look, number + 1);
    };
    look(number, function_view<void()>{look_at_others});
    if (!has_called) make_looks(count, look, number + 1);
}

/// One try to read records of several stores while others write: looks at the stores that are not
/// the log's; then, if they have versions, at the log and the records there at once, then at the
/// others again. Nothing if this try, or, by `may_succeed`, each such try fails.
[[nodiscard]] SETTLE_FUNCTION result<std::optional<decided_records>>
read_in_three_looks(committed_read const& read, std::span<records_of_store const> stores,
                    bool& may_succeed) {
    using nothing = std::optional<decided_records>;
    auto const began = next_session_moment();
    auto const at_log = store_at_log(read, stores);
    // Between two looks at a collection, a record could come and go.
    may_succeed = at_log < read.beside_log.size() && read.collections.empty();
    std::vector<record_slot<any_record>> slots(read.records.size());
    std::vector<std::optional<std::uint64_t>> versions(read.records.size());
    std::vector<transaction_id> ids;
    records_of_store const* near = nullptr;
    std::vector<records_of_store const*> far;
    for (auto const& group : stores) {
        if (group.store == at_log) near = &group;
        else far.push_back(&group);
    }
    auto const look_far = [&] {
        std::vector<result<store_look>> looks(far.size(), store_look{});
        make_looks(far.size(), [&](std::size_t number, function_view<void()> const& others) {
            look_request request{far[number]->records};
            // The last store has no other to ask meanwhile.
            if (number + 1 < far.size()) request.while_asked = &others;
            looks[number] = read.ports.stores[far[number]->store]->look(request);
        });
        return looks;
    };

    if (!may_succeed) return nothing{};
    auto before = look_far();
    for (std::size_t number = 0; number < far.size(); ++number) {
        if (!before[number].has_value()) return before[number].problem();
        store_look& seen = before[number].value();
        auto const& indexes = far[number]->indexes;
        for (std::size_t i = 0; i < indexes.size(); ++i) {
            // A record without a version counts as changed.
            may_succeed = !seen.versions.empty() && seen.versions[i];
            if (!may_succeed) return nothing{};
            for (auto const& mark : seen.slots[i].marks) ids.push_back(mark.id);
            versions[indexes[i]] = seen.versions[i];
            slots[indexes[i]] = std::move(seen.slots[i]);
        }
    }

    look_request of_moment{{}, true, nullptr, ids};
    if (near != nullptr) of_moment.records = near->records;
    auto looked = read.ports.stores[at_log]->look(of_moment);
    if (!looked.has_value()) return looked.problem();
    store_look& moment = looked.value();
    may_succeed = moment.has_entries && moment.is_of_one_moment;
    if (!may_succeed) return nothing{};
    for (std::size_t i = 0; near != nullptr && i < near->indexes.size(); ++i) {
        slots[near->indexes[i]] = std::move(moment.slots[i]);
    }

    auto const after = look_far();
    for (std::size_t number = 0; number < far.size(); ++number) {
        if (!after[number].has_value()) return after[number].problem();
        store_look const& seen = after[number].value();
        if (!is_one_session(began, seen.session)) return nothing{};
        for (std::size_t i = 0; i < far[number]->indexes.size(); ++i) {
            std::size_t const index = far[number]->indexes[i];
            if (!is_unchanged(slots[index], versions[index], seen.slots[i], seen.versions[i])) {
                return nothing{};
            }
        }
    }
    bracket known{true};
    known.looked(slots);
    answer_from(moment, known);
    for (auto& slot : slots) known.settle(slot);
    return nothing{{std::move(slots), {}}};
}

/// How long a read makes writers wait.
inline constexpr std::chrono::seconds longest_hold{1};

/// The looks of a read of any stores, all as of moments of one hold.
class held_looks {
public:
    held_looks(committed_read const& read, std::span<records_of_store const> stores, log_hold& hold)
        : read_(read), stores_(stores), hold_(hold) {
        if (auto const* const caller = caller_wait::limits()) within_ = *caller;
        auto const end = std::chrono::steady_clock::now() + longest_hold;
        within_.deadline = within_.deadline ? std::min(*within_.deadline, end) : end;
        limits_.emplace(within_);
        make_looks(stores.size() + 1, [&](std::size_t number, function_view<void()> const& others) {
            if (problem_.empty()) look(number, others);
        });
    }

    /// Errors:  the first one; a retryable error if the hold did not last
    [[nodiscard]] result<std::vector<store_look>> answers() && {
        if (!problem_.empty()) return std::move(problem_);
        return std::move(looks_);
    }

private:
    /// Looks at the store of this number, and at the moment of its look at all later ones, at whose
    /// last one the hold ends. So only a store without earlier moments reads its rows while writers
    /// wait.
    void look(std::size_t number, function_view<void()> const& others) {
        if (number == stores_.size()) {
            note(hold_.end());
            limits_.reset();
            return;
        }
        auto const& group = stores_[number];
        auto* const held = read_.beside_log[group.store] ? &hold_ : nullptr;
        auto looked = read_.ports.stores[group.store]->look(
            {group.records, false, held, {}, group.collections, &others});
        note(looked);
        if (looked.has_value()) looks_[number] = std::move(looked.value());
    }
    void note(auto const& answer) {
        if (problem_.empty() && !answer.has_value()) problem_ = answer.problem();
    }

    committed_read const& read_;
    std::span<records_of_store const> stores_;
    log_hold& hold_;
    wait_limits within_{};
    std::optional<caller_wait> limits_{}; ///< of the hold
    std::vector<store_look> looks_{stores_.size()};
    error problem_{};
};

/// Reads records of any stores while nothing is decided.
/// Errors:  a retryable error if the hold did not begin, or did not last
[[nodiscard]] SETTLE_FUNCTION result<decided_records>
read_under_hold(committed_read const& read, std::span<records_of_store const> stores) {
    auto hold = read.ports.log.hold_entries();
    if (!hold.has_value()) return hold.problem();
    auto looked = held_looks{read, stores, *hold.value()}.answers();
    if (!looked.has_value()) return looked.problem();

    decided_records decided;
    auto& slots = decided.slots;
    slots.resize(read.records.size());
    using of_collection = std::vector<record_slot<any_record>>;
    std::vector<of_collection> collections(read.collections.size());
    for (std::size_t number = 0; number < stores.size(); ++number) {
        auto const& group = stores[number];
        store_look& seen = looked.value()[number];
        if (seen.ends.size() != group.collections.size()) return no_whole_collections();
        auto const slot_at = [&](std::size_t position) {
            return std::make_move_iterator(seen.slots.begin() +
                                           static_cast<std::ptrdiff_t>(position));
        };
        std::size_t next = 0;
        for (auto const index : group.indexes) slots[index] = *slot_at(next++);
        for (std::size_t i = 0; i < group.numbers.size(); next = seen.ends[i++]) {
            collections[group.numbers[i]].assign(slot_at(next), slot_at(seen.ends[i]));
        }
    }
    for (auto& records : collections) {
        slots.insert(slots.end(), std::make_move_iterator(records.begin()),
                     std::make_move_iterator(records.end()));
        decided.ends.push_back(slots.size());
    }
    // Entries stood still, so the looks and the questions are of one moment.
    bracket known{true};
    known.looked(slots);
    auto const asked = ask(known, [&](auto const& requests, found_function found) {
        return hold.value()->look_up(requests, found);
    });
    if (!asked.has_value()) return asked.problem();
    for (auto& slot : slots) known.settle(slot);
    return decided;
}

/// After so many looks, a reader of one store makes decisions wait.
inline constexpr int looks_without_hold = 4;

/// Reads records of one store with looks and questions; under a hold, if they are decided too fast
/// and there is one. Has no value if the store does not see them at one moment.
[[nodiscard]] SETTLE_FUNCTION std::optional<result<decided_records>>
read_one_store(committed_read const& read, std::span<records_of_store const, 1> stores) {
    auto const& asked = stores.front();
    patience patience{read.environment, read.limits, read.call};
    read_limit const limit{read.environment, read.limits, read.call};
    look_request const request{
        asked.records, read.beside_log[asked.store], nullptr, {}, asked.collections};
    std::optional<bracket> known;
    for (int looks = 1;; ++looks) {
        auto looked = patience([&] { return read.ports.stores[asked.store]->look(request); });
        if (!looked.has_value()) return looked.problem();
        store_look& seen = looked.value();
        if (!seen.is_of_one_moment) return std::nullopt;
        if (seen.ends.size() != asked.collections.size()) return no_whole_collections();
        if (!known) known.emplace(seen.has_entries);
        known->looked(seen.slots);
        answer_from(seen, *known);
        if (known->next() == read_step::ask) {
            // A question that fails is asked again with the others: their first answers stay true.
            auto const answered = patience([&] {
                return ask(*known, [&](auto const& requests, found_function found) -> result<void> {
                    read.ports.log.look_up(requests, found);
                    return {};
                });
            });
            if (!answered.has_value()) return answered.problem();
        }
        bool const is_over = limit.is_over();
        bool const is_safe = seen.has_entries || may_answer(is_over);
        if (known->next() == read_step::end && is_safe) {
            for (auto& slot : seen.slots) known->settle(slot);
            return decided_records{std::move(seen.slots), std::move(seen.ends)};
        }
        bool const stops = read.call.stop.stop_requested();
        if (is_over || stops) return not_read(stops);
        if (looks == looks_without_hold) {
            auto held = read_under_hold(read, stores);
            if (held.has_value()) return held;
        }
    }
}

/// Among more records, one changes between two looks: a reader makes decisions wait at once.
inline constexpr std::size_t most_looked_at_twice = 100;

SETTLE_FUNCTION result<decided_records> read_decided(committed_read const& read) {
    if (read.records.empty() && read.collections.empty()) return decided_records{};
    auto const stores = by_store(read);
    if (stores.size() == 1) {
        if (auto decided = read_one_store(read, std::span{stores}.first<1>()))
            return *std::move(decided);
    }
    patience patience{read.environment, read.limits, read.call};
    return patience([&]() -> result<decided_records> {
        if (read.records.size() > most_looked_at_twice) {
            auto decided = read_under_hold(read, stores);
            bool const has_no_hold =
                !decided.has_value() && decided.problem().code == errc::unfit_store;
            if (!has_no_hold) return decided;
        }
        bool may_succeed = true;
        for (int tries = 0; tries < 3 && may_succeed; ++tries) {
            auto decided = read_in_three_looks(read, stores, may_succeed);
            if (!decided.has_value()) return decided.problem();
            if (decided.value()) return *std::move(decided.value());
        }
        auto decided = read_under_hold(read, stores);
        bool const has_no_hold =
            !decided.has_value() && decided.problem().code == errc::unfit_store && may_succeed;
        if (has_no_hold) return not_read(false);
        return decided;
    });
}

} // namespace detail
SETTLE_END
