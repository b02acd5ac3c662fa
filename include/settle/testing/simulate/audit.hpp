// SPDX-License-Identifier: BSL-1.0
// The checks of a simulation, while its engines run and after every transaction is final.
#pragma once

#include <settle/running/engine.hpp>
#include <settle/testing/simulate/books.hpp>
#include <settle/testing/simulate/call_audit.hpp>
#include <settle/testing/simulate/limits.hpp>

#include <algorithm>
#include <functional>
#include <unordered_set>

SETTLE_BEGIN
namespace testing::detail {

/// The starting records of a test, and its checks.
/// Shape:   Arguments - the engine's arguments: databases and types
template <typename... Arguments>
class audited {
public:
    using plain_engine = engine<Arguments..., options>;

    /// Adds a starting record.
    template <typename Record, fixed_string Name, auto Key>
    audited& open(collection<Record, Name, Key> const& in, Record const& record) {
        plain_.create(in, record).value();
        books_.template open<collection<Record, Name, Key>>(record);
        return *this;
    }

    /// Declares a conserved sum of some fields over all records: at the end it has its starting
    /// value; until then a reader may see less, never more.
    /// Shape:   fields - settle::field<&record::field>, integer fields only
    template <typename Record, fixed_string Name, auto Key, typename... Fields>
    audited& conserves(collection<Record, Name, Key> const&, Fields const&...) {
        static_assert(sizeof...(Fields) > 0,
                      "settle: nothing is conserved. Name a field: settle::field<&record::field>.");
        conserved_sum added;
        added.name = Name.view();
        added.now = [](plain_engine& looked_at) {
            return sum_of<collection<Record, Name, Key>, Fields...>(looked_at);
        };
        sums_.push_back(std::move(added));
        return *this;
    }

    /// Adds a user's check of the final state.
    /// Shape:   check - called with an engine without faults; returns the problem, or ""
    audited& finally(std::function<std::string(plain_engine&)> check) {
        checks_.push_back(std::move(check));
        return *this;
    }

protected:
    /// The log keeps the longest horizon of its engines, and those of the workers decide.
    static options shortest_horizon() {
        options options;
        options.resubmission = options.clocks = std::chrono::milliseconds{0};
        options.lifetime = std::chrono::milliseconds{1};
        return options;
    }

    template <typename... Given>
    explicit audited(Given&&... arguments)
        : plain_(std::forward<Given>(arguments)..., shortest_horizon()) {
        (note_service(arguments), ...);
    }
    ~audited() = default;

    void begin() {
        for (auto& each : sums_) each.opening = each.now(plain_);
    }

    void look(witness& seen) {
        for (auto const& total : sums_) {
            std::int64_t const sum = total.now(plain_);
            if (sum <= total.opening) continue;
            seen.complain(total.name + ": a reader sees " + std::to_string(sum) +
                          ", more than the opening sum " + std::to_string(total.opening));
        }
    }

    /// Checks the final state.
    void audit(witness& seen, simulation_report& report) {
        auto const marks = plain_.marks().value();
        if (marks != 0) seen.complain(std::to_string(marks) + " marks are left");
        for (auto const& total : sums_) {
            std::int64_t const sum = total.now(plain_);
            if (sum != total.opening) {
                seen.complain(total.name + ": the final sum is " + std::to_string(sum) +
                              ", and the opening sum was " + std::to_string(total.opening));
            }
        }
        auto const done = done_in_order(seen, report);
        for (entry const& one : done) books_.enact(one, seen);
        books_.compare(plain_, seen);
        compare_calls(done, seen);
        for (auto const& check : checks_) {
            if (auto problem = check(plain_); !problem.empty()) seen.complain(std::move(problem));
        }
    }

private:
    template <typename Argument>
    void note_service(Argument& argument) {
        if constexpr (requires { argument.database; }) {
            using client = std::remove_cvref_t<decltype(argument.database)>;
            if constexpr (std::is_base_of_v<simulated_receiver, client>) {
                services_.push_back(&argument.database);
            }
        }
    }

    using gathered = settle::detail::gather<settle::detail::type_list<>,
                                            settle::detail::type_list<>, Arguments...>;
    static constexpr std::size_t page_size = 10'000;

    struct conserved_sum {
        std::string name;
        std::function<std::int64_t(plain_engine&)> now;
        std::int64_t opening = 0;
    };

    template <typename Collection, typename... Fields>
    static std::int64_t sum_of(plain_engine& looked_at) {
        std::int64_t sum = 0;
        std::optional<typename Collection::key_type> after;
        for (;;) {
            auto const page = looked_at.template scan_page<Collection>(after, page_size).value();
            for (auto const& one : page) {
                ((sum += std::int64_t{one.*Fields::member}), ...);
            }
            if (page.size() < page_size) return sum;
            after = page.back().*Collection::key_member;
        }
    }

    /// Checks every entry; returns the done entries in the order of their commits.
    std::vector<entry> done_in_order(witness& seen, simulation_report& report) {
        std::vector<entry> done;
        std::size_t count = 0;
        std::unordered_set<transaction_id> reversed;
        transaction_id after;
        for (bool more = true; more;) {
            auto page = plain_.page({}, after, page_size).value();
            more = page.size() == page_size;
            if (more) after = page.back().id;
            count += page.size();
            for (entry& stored : page) {
                check_entry(stored, seen);
                if (stored.state != state::done) {
                    ++report.canceled;
                    ++report.reasons[stored.why];
                    continue;
                }
                ++report.done;
                auto const cut = stored.id.find("/reverse");
                if (cut != transaction_id::npos &&
                    !reversed.insert(stored.id.substr(0, cut)).second) {
                    seen.complain(stored.id + ": reversed a second time");
                }
                done.push_back(std::move(stored));
            }
        }
        report.reversed = reversed.size();
        std::size_t gone = 0;
        for (auto const& [id, observed] : seen.entries()) {
            if (observed.gone) ++gone;
            // The effects of a done transaction remain after its entry is purged, even if a late
            // insert brings the id back.
            if (observed.commit == 0 || !(observed.gone || observed.again)) continue;
            entry& purged = done.emplace_back();
            purged.id = id;
            purged.type = observed.type;
            purged.parameters = observed.parameters;
        }
        if (count + gone != seen.entries().size()) {
            seen.complain(std::to_string(count) + " entries are in the log, and " +
                          std::to_string(gone) + " purged, of " +
                          std::to_string(seen.entries().size()));
        }
        auto const commit_number = [&](entry const& entry) {
            auto const observed = seen.entries().find(entry.id);
            return observed == seen.entries().end() ? 0 : observed->second.commit;
        };
        std::sort(done.begin(), done.end(), [&](entry const& left, entry const& right) {
            return commit_number(left) < commit_number(right);
        });
        return done;
    }

    /// Compares the books of the services with every transaction.
    /// Shape:   done - the entries of the transactions that are done
    void compare_calls(std::vector<entry> const& done, witness& seen) {
        call_audit<typename gathered::types> calls{services_, seen};
        std::unordered_set<transaction_id> compared;
        for (entry const& entry : done) {
            auto const position = seen.entries().find(entry.id);
            // check_entry() has reported an entry that the witness never saw.
            if (position == seen.entries().end()) continue;
            auto const& observed = position->second;
            calls.compare(entry, true, !observed.gone && !observed.again);
            compared.insert(entry.id);
        }
        for (auto const& [id, observed] : seen.entries()) {
            if (compared.contains(id)) continue;
            entry canceled;
            canceled.id = id;
            canceled.type = observed.type;
            canceled.parameters = observed.parameters;
            calls.compare(canceled, false, false);
        }
        calls.end();
    }

    static void check_entry(entry const& checked, witness& seen) {
        auto const observed = seen.entries().find(checked.id);
        if (observed == seen.entries().end() || observed->second.state != checked.state ||
            !is_final(checked.state)) {
            seen.complain(checked.id + ": is " + std::string{name_of(checked.state)} +
                          " in the end, and the witness saw " +
                          (observed == seen.entries().end()
                               ? std::string{"no entry"}
                               : std::string{name_of(observed->second.state)}));
            return;
        }
        bool const done = checked.state == state::done;
        bool const confirms = done && !observed->second.in_one_phase;
        if (confirms != (checked.committed != 0) || done != (checked.why == reason::none)) {
            seen.complain(checked.id + ": is " + std::string{name_of(checked.state)} +
                          " with epoch " + std::to_string(checked.committed) +
                          " committed, reason " + std::string{name_of(checked.why)});
        }
        if (observed->second.again) {
            if (done) seen.complain(checked.id + ": is done after its purge");
            return;
        }
        auto const& reported = observed->second.reported;
        if (reported && (*reported == verdict::done) != done) {
            seen.complain(checked.id + ": is " + std::string{name_of(checked.state)} +
                          ", and another outcome was reported");
        }
        if (reported == verdict::done && !observed->second.results.empty() &&
            observed->second.results != checked.results) {
            seen.complain(checked.id + ": other results were reported than its entry has");
        }
        if (observed->second.why != reason::none && observed->second.why != checked.why) {
            seen.complain(checked.id + ": was canceled because of " +
                          std::string{name_of(checked.why)} + ", and " +
                          std::string{name_of(observed->second.why)} + " was reported");
        }
    }

    plain_engine plain_; ///< without faults
    std::vector<simulated_receiver*> services_;
    books<typename gathered::collections, typename gathered::types> books_;
    std::vector<conserved_sum> sums_;
    std::vector<std::function<std::string(plain_engine&)>> checks_;
};

} // namespace testing::detail
SETTLE_END
