// SPDX-License-Identifier: BSL-1.0
// Simulation: long runs of an engine in a time, with a network and with mishaps that a seed makes.
//
//   settle::memory::database db;
//   settle::testing::simulation trial{db, settle::type<bank::transfer_type>};
//   trial.open(bank::accounts, {"A", 100, 100}).open(bank::accounts, {"B", 100, 100});
//   trial.conserves(bank::accounts, settle::field<&bank::account::balance>);
//   settle::testing::simulation_limits limits;
//   limits.seed = 17;
//   auto const report = trial.run([](settle::testing::dice& chance) {
//       return bank::transfer{"A", "B", chance.between(1, 100)};
//   }, limits);
//   if (!report) std::cerr << report << '\n';
//
// Workers run, submit, cancel, recover, reverse and sweep; they crash, stand still, lose answers
// and have clocks that jump; writes arrive late and databases go away. At every step:
//   - an entry changes as its states allow, from the state and epoch that it has;
//   - who was told an outcome was told the truth, and nobody is told another one;
//   - no sum that is declared conserved is above what it was in the beginning.
// After the faults have ended, within a bounded time:
//   - every transaction is done or canceled, at most one reversal of each is done;
//   - every record is what the transactions that are done make of it, each taken once;
//   - no mark is left, and the sums are what they were.
#pragma once

#include <settle/testing/simulate/books.hpp>
#include <settle/testing/simulate/worker.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <unordered_set>

SETTLE_BEGIN
namespace testing {

/// The seeds of a test: `count` of them, or the one that the variable SETTLE_SEED names.
[[nodiscard]] inline std::vector<std::uint64_t> seeds(std::uint64_t first, std::size_t count) {
    if (char const* const asked = std::getenv("SETTLE_SEED")) {
        return {std::strtoull(asked, nullptr, 10)};
    }
    std::vector<std::uint64_t> all(count);
    for (auto& one : all) one = first++;
    return all;
}

/// One simulated run of an engine; the databases serve this one run.
/// Shape:   Arguments - what an engine is built from: databases and types. Limits of the engine
///          are in simulation_limits; a database answers for certain when nothing is wrong with it
/// Cost:    a thread for each worker, of which one runs at any moment
/// Example: tests/fault/simulate.cpp
template <typename... Arguments>
class simulation {
    using plain_engine = engine<Arguments...>;

public:
    template <typename... Given>
    explicit simulation(Given&&... arguments)
        : arguments_(arguments...), plain_(std::forward<Given>(arguments)...) {}
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;

    /// A record that is there in the beginning.
    template <typename Record, fixed_string Name, auto Key>
    simulation& open(collection<Record, Name, Key> const& in, Record const& record) {
        plain_.create(in, record).value();
        books_.template open<collection<Record, Name, Key>>(record);
        return *this;
    }

    /// The sum of some fields over all records stays what it is in the beginning; on the way there
    /// may be less to be read, never more.
    /// Shape:   fields - settle::field<&record::field>, each of an integer
    template <typename Record, fixed_string Name, auto Key, typename... Fields>
    simulation& conserves(collection<Record, Name, Key> const&, Fields const&...) {
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

    /// A check of the user's own, when everything is settled.
    /// Shape:   check - called with an engine without faults; gives what is wrong, or nothing
    simulation& finally(std::function<std::string(plain_engine&)> check) {
        checks_.push_back(std::move(check));
        return *this;
    }

    /// Runs it from the first transaction until all is settled.
    /// Shape:   make - called with a `dice&`; gives the parameters of one transaction, or a
    ///          std::variant of those of several types. The same dice must make the same
    template <typename Make>
    simulation_report run(Make const& make, simulation_limits const& limits = {}) {
        for (auto& one : sums_) one.opening = one.now(plain_);
        detail::witness seen;
        detail::stage shared{limits, seen, [&] { look(seen); }};
        play(shared, make, limits);
        simulation_report report = std::move(shared.report());
        if (seen.content()) audit(seen, report);
        report.claims = seen.claims();
        report.problems = seen.problems();
        return report;
    }

private:
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
            auto const found = looked_at.template scan_page<Collection>(after, page_size).value();
            for (auto const& one : found) {
                ((sum += std::int64_t{one.*Fields::member}), ...);
            }
            if (found.size() < page_size) return sum;
            after = found.back().*Collection::key_member;
        }
    }

    template <typename Make>
    void play(detail::stage& shared, Make const& make, simulation_limits const& limits) {
        using worker = detail::worker<Make, Arguments...>;
        std::vector<std::unique_ptr<worker>> workers;
        for (std::size_t i = 0; i < limits.workers; ++i) {
            workers.push_back(std::make_unique<worker>(arguments_, shared, i, make));
        }
        std::vector<std::jthread> threads;
        for (auto& one : workers) threads.emplace_back([&one] { one->live(); });
        shared.turns().conduct();
    }

    void look(detail::witness& seen) {
        for (auto const& one : sums_) {
            std::int64_t const sum = one.now(plain_);
            if (sum <= one.opening) continue;
            seen.complain(one.name + ": " + std::to_string(sum) + " is to be seen of " +
                          std::to_string(one.opening));
        }
    }

    /// Everything that must hold when all is settled.
    void audit(detail::witness& seen, simulation_report& report) {
        auto const marks = plain_.marks().value();
        if (marks != 0) seen.complain(std::to_string(marks) + " marks are left");
        for (auto const& one : sums_) {
            std::int64_t const sum = one.now(plain_);
            if (sum != one.opening) {
                seen.complain(one.name + ": " + std::to_string(sum) + " is left of " +
                              std::to_string(one.opening));
            }
        }
        for (entry const& one : done_in_order(seen, report)) books_.enact(one, seen);
        books_.compare(plain_, seen);
        for (auto const& check : checks_) {
            if (auto problem = check(plain_); !problem.empty()) seen.complain(std::move(problem));
        }
    }

    /// The entries that are done, in the order of their commits; each entry is looked at.
    std::vector<entry> done_in_order(detail::witness& seen, simulation_report& report) {
        std::vector<entry> done;
        std::size_t count = 0;
        std::unordered_set<transaction_id> reversed;
        transaction_id after;
        for (bool more = true; more;) {
            auto found = plain_.page({}, after, page_size).value();
            more = found.size() == page_size;
            if (more) after = found.back().id;
            count += found.size();
            for (entry& one : found) {
                check_entry(one, seen);
                if (one.state != state::done) {
                    ++report.canceled;
                    ++report.reasons[one.why];
                    continue;
                }
                ++report.done;
                auto const cut = one.id.find("/reverse");
                if (cut != transaction_id::npos && !reversed.insert(one.id.substr(0, cut)).second) {
                    seen.complain(one.id + ": reversed a second time");
                }
                done.push_back(std::move(one));
            }
        }
        report.reversed = reversed.size();
        if (count != seen.entries().size()) {
            seen.complain(std::to_string(count) + " entries are in the log, of " +
                          std::to_string(seen.entries().size()));
        }
        auto const place = [&](entry const& one) {
            auto const known = seen.entries().find(one.id);
            return known == seen.entries().end() ? 0 : known->second.commit;
        };
        std::sort(done.begin(), done.end(), [&](entry const& left, entry const& right) {
            return place(left) < place(right);
        });
        return done;
    }

    static void check_entry(entry const& one, detail::witness& seen) {
        auto const known = seen.entries().find(one.id);
        if (known == seen.entries().end() || known->second.state != one.state ||
            !is_final(one.state)) {
            seen.complain(one.id + ": is " + std::string{name_of(one.state)} + " in the end");
            return;
        }
        bool const done = one.state == state::done;
        if (done == (one.committed == 0) || done != (one.why == reason::none)) {
            seen.complain(one.id + ": is " + std::string{name_of(one.state)} + " with epoch " +
                          std::to_string(one.committed) + " committed, reason " +
                          std::string{name_of(one.why)});
        }
        auto const& told = known->second.told;
        if (told && (*told == verdict::done) != done) {
            seen.complain(one.id + ": is " + std::string{name_of(one.state)} +
                          ", and something else was told");
        }
        if (known->second.why != reason::none && known->second.why != one.why) {
            seen.complain(one.id + ": was canceled because of " + std::string{name_of(one.why)} +
                          ", and " + std::string{name_of(known->second.why)} + " was told");
        }
    }

    std::tuple<typename settle::detail::held_argument<Arguments>::type...> arguments_;
    plain_engine plain_;
    detail::books<typename gathered::collections, typename gathered::types> books_;
    std::vector<conserved_sum> sums_;
    std::vector<std::function<std::string(plain_engine&)>> checks_;
};

template <typename... Given>
simulation(Given&&...) -> simulation<std::remove_cvref_t<Given>...>;

} // namespace testing
SETTLE_END
