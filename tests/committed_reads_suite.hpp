// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions on any store: at each step of a transaction, after a crash, and
// beside writers. The purses are in the log's database, and the vaults are in another one.
#pragma once

#include <settle/settle.hpp>
#include <settle/testing/manual_environment.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace committed_reads {

using settle::field;
using settle::param;
using settle::participant;
using namespace std::chrono_literals;

struct purse {
    std::string id;
    std::int64_t coins = 0;
    std::string label;
};
SETTLE_STRUCT(purse, id, coins, label);
struct vault {
    std::string id;
    std::int64_t gold = 0;
};
SETTLE_STRUCT(vault, id, gold);
inline constexpr settle::collection<purse, "purses", &purse::id> purses;
inline constexpr settle::collection<vault, "vaults", &vault::id> vaults;

struct deposit {
    std::string from, to;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(deposit, from, to, amount);
inline constexpr auto deposit_type = settle::transaction<deposit, "deposit">(
    participant<"from">(purses, param<&deposit::from>)
        .require(field<&purse::coins> >= param<&deposit::amount>)
        .apply(field<&purse::coins> -= param<&deposit::amount>)
        .compensate(settle::inverse),
    participant<"to">(vaults, param<&deposit::to>)
        .confirm(field<&vault::gold> += param<&deposit::amount>));

struct closing {
    std::string purse, vault, label;
};
SETTLE_STRUCT(closing, purse, vault, label);
/// Exclusive effects: it assigns, creates and erases.
inline constexpr auto closing_type = settle::transaction<closing, "closing">(
    participant<"purse">(purses, param<&closing::purse>)
        .apply(field<&purse::label> = param<&closing::label>)
        .compensate(settle::inverse),
    participant<"opened">(vaults, param<&closing::label>)
        .apply(settle::create(field<&vault::gold> = settle::lit<5>))
        .compensate(settle::erase),
    participant<"closed">(vaults, param<&closing::vault>).confirm(settle::erase));

/// All records of a collection are those that are read by their keys.
template <typename Engine, typename Record, settle::fixed_string Name, auto Key>
void check_among_all(Engine& reader, settle::collection<Record, Name, Key> const& target,
                     std::vector<std::string> const& keys) {
    auto const records = reader.scan_committed(target);
    if (!records.has_value()) {
        CHECK(records.problem().code == settle::errc::unfit_store);
        return;
    }
    std::size_t count = 0;
    for (auto const& key : keys) {
        auto const record = reader.read_committed(target, key).value();
        if (!record) continue;
        REQUIRE(count < records->size());
        CHECK(settle::encode_json((*records)[count++]) == settle::encode_json(*record));
    }
    CHECK(count == records->size());
}

/// The purse P and the vaults V and "shut" as the decided transactions made them.
template <typename Engine>
std::string seen_by(Engine& reader) {
    auto const number = [](auto const& record, auto member) {
        return record ? std::to_string((*record).*member) : std::string{"none"};
    };
    auto const held = reader.read_committed(purses, "P").value();
    check_among_all(reader, purses, {"P"});
    check_among_all(reader, vaults, {"V", "shut"});
    return number(held, &purse::coins) + held->label + " " +
           number(reader.read_committed(vaults, "V").value(), &vault::gold) + " " +
           number(reader.read_committed(vaults, "shut").value(), &vault::gold);
}

/// Runs a transaction, and reads after each step. The worker is killed after one of
/// them, but not at the end.
template <typename Near, typename Far, typename Parameters, typename How>
void check_steps(Near& near, Far& far, Parameters const& parameters, std::string const& after,
                 How how, settle::step killed_after) {
    settle::engine reader{near, settle::bind(vaults, far), settle::type<deposit_type>,
                          settle::type<closing_type>};
    std::ignore = reader.create(purses, {"P", 1000, "open"});
    std::ignore = reader.create(vaults, {"V", 0});
    std::string const before = seen_by(reader);
    settle::engine writer{near,
                          settle::bind(vaults, far),
                          settle::type<deposit_type>,
                          settle::type<closing_type>,
                          how,
                          settle::observed_by([&](settle::event const& step) {
                              using enum settle::state;
                              bool const decided = step.state == applied || step.state == done;
                              CHECK(seen_by(reader) == (decided ? after : before));
                              if (step.taken == killed_after && !step.ends()) {
                                  throw settle::testing::crash{};
                              }
                          })};
    if (killed_after == settle::step::end) CHECK(writer.run("t", parameters).done());
    else CHECK_THROWS_AS(std::ignore = writer.run("t", parameters), settle::testing::crash);
    auto const entry = reader.find("t").value();
    bool const decided = entry && entry->committed != 0;
    CHECK(seen_by(reader) == (decided ? after : before));
    std::ignore = reader.recover({.older_than = 0ms});
    std::ignore = reader.sweep();
    CHECK(reader.marks().value() == 0);
    auto const ended = reader.find("t").value();
    bool const is_done = ended && ended->state == settle::state::done;
    CHECK(seen_by(reader) == (is_done ? after : before));
}

/// Writers are told `done` at the commit; readers find what they were told, and nothing canceled.
template <typename Near, typename Far>
void check_beside_writers(Near& near, Far& far, int deposits) {
    settle::options limits;
    limits.answer = settle::at_commit;
    settle::engine engine{near, settle::bind(vaults, far), settle::type<deposit_type>, limits};
    std::ignore = engine.create(purses, {"P", 1'000'000, "open"});
    std::ignore = engine.create(vaults, {"V", 0});
    std::atomic<std::int64_t> begun = 0;
    std::atomic<std::int64_t> done = 0;
    std::atomic<int> writing = 2;
    std::atomic<int> wrong = 0;
    std::atomic<int> reads = 0;
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < 2; ++writer) {
        threads.emplace_back([&] {
            for (int i = 0; i < deposits; ++i) {
                ++begun;
                wrong += engine.run(deposit{"P", "V", 1}).done() ? 0 : 1;
                ++done;
                // There is no such vault.
                wrong += engine.run(deposit{"P", "W", 1'000}).canceled() ? 0 : 1;
            }
            --writing;
        });
        threads.emplace_back([&] {
            std::int64_t last[2]{};
            while (writing != 0) {
                auto const check = [&](std::int64_t at_least, auto const& read, auto value_of,
                                       std::int64_t& previous) {
                    if (!read.has_value()) {
                        wrong += read.problem().code == settle::errc::no_committed_read ? 0 : 1;
                        return;
                    }
                    std::int64_t const value = value_of(**read);
                    bool const is_right = at_least <= value && value <= begun && previous <= value;
                    wrong += is_right ? 0 : 1;
                    previous = value;
                    ++reads;
                };
                std::int64_t at_least = done;
                check(
                    at_least, engine.read_committed(vaults, "V"),
                    [](vault const& of) { return of.gold; }, last[0]);
                at_least = done;
                check(
                    at_least, engine.read_committed(purses, "P"),
                    [](purse const& of) { return 1'000'000 - of.coins; }, last[1]);
            }
        });
    }
    threads.clear();
    CHECK(wrong == 0);
    CHECK(reads > 0);
    CHECK(engine.read_committed(vaults, "V").value()->gold == 2 * deposits);
}

struct shares {
    std::string first, second, third, fourth;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(shares, first, second, third, fourth, amount);
/// Two purses pay the same, and two vaults get the same.
inline constexpr auto shares_type = settle::transaction<shares, "shares">(
    participant<"first">(purses, param<&shares::first>)
        .require(field<&purse::coins> >= param<&shares::amount>)
        .apply(field<&purse::coins> -= param<&shares::amount>)
        .compensate(settle::inverse),
    participant<"second">(purses, param<&shares::second>)
        .require(field<&purse::coins> >= param<&shares::amount>)
        .apply(field<&purse::coins> -= param<&shares::amount>)
        .compensate(settle::inverse),
    participant<"third">(vaults, param<&shares::third>)
        .confirm(field<&vault::gold> += param<&shares::amount>),
    participant<"fourth">(vaults, param<&shares::fourth>)
        .confirm(field<&vault::gold> += param<&shares::amount>));

/// Which records can be read together.
enum class together : std::uint8_t { none, of_one_store, all };

/// Each payment of the second writer is as much as all that the first one could pay: a sum says how
/// often each of them has paid.
constexpr std::int64_t second_pays = 1'000;

/// Whether a sum has all payments of another sum.
constexpr bool has_all(std::int64_t sum, std::int64_t other) {
    return sum / second_pays >= other / second_pays && sum % second_pays >= other % second_pays;
}

/// Two purses always have the same, and so do two vaults, and nothing is lost between them. The
/// answers of two readers are in one order.
/// Shape:   payments - of each writer; fewer than second_pays
template <typename Near, typename Far>
void check_together(Near& near, Far& far, together possible, int payments) {
    constexpr std::int64_t money = 9'000'000;
    settle::options limits;
    limits.answer = settle::at_commit;
    settle::engine engine{near, settle::bind(vaults, far), settle::type<shares_type>, limits};
    for (char const* const id : {"P", "Q"}) std::ignore = engine.create(purses, {id, money, ""});
    for (char const* const id : {"V", "U"}) std::ignore = engine.create(vaults, {id, 0});
    auto const of_purses = settle::keys_of(purses, {"P", "Q"});
    auto const of_vaults = settle::keys_of(vaults, {"V", "U"});
    auto const with_absent = settle::keys_of(vaults, {"V", "U", "absent"});
    std::atomic<std::int64_t> done = 0;
    std::atomic<int> writing = 2;
    std::atomic<int> wrong = 0;
    std::array<std::vector<std::int64_t>, 2> answers; ///< of each reader
    auto const gold_in = [](auto const& seen) {
        bool const is_whole = seen.size() == 2 || !seen[2];
        return is_whole && seen[0]->gold == seen[1]->gold ? seen[0]->gold : -1;
    };
    auto const spent_from = [](auto const& seen) {
        return seen[0]->coins == seen[1]->coins ? money - seen[0]->coins : -1;
    };
    // The payments in an answer grow, and have all that the reader was told of.
    auto const check = [&](std::size_t reader, auto const& read, together needs, auto number_in,
                           std::int64_t told) {
        if (!read.has_value()) {
            auto const expected =
                needs <= possible ? settle::errc::no_committed_read : settle::errc::unfit_store;
            wrong += read.problem().code == expected ? 0 : 1;
            return;
        }
        auto const number = number_in(*read);
        auto& earlier = answers[reader];
        bool const grows = earlier.empty() || has_all(number, earlier.back());
        wrong += number >= 0 && has_all(number, told) && grows ? 0 : 1;
        earlier.push_back(number);
    };
    auto const read_until_written = [&](std::size_t reader) {
        do {
            std::int64_t told = 0;
            for (auto const& some : {of_vaults, with_absent}) {
                told = done;
                check(
                    reader, engine.read_together(of_purses, some), together::all,
                    [&](auto const& seen) {
                        auto const spent = spent_from(std::get<0>(seen));
                        return spent == gold_in(std::get<1>(seen)) ? spent : -1;
                    },
                    told);
            }
            told = done;
            check(
                reader, engine.read_together(of_purses, settle::all_of(vaults)), together::all,
                [&](auto const& seen) {
                    auto const& golden = std::get<1>(seen);
                    bool const is_whole = golden.size() == 2 && golden[0].gold == golden[1].gold;
                    auto const spent = spent_from(std::get<0>(seen));
                    return is_whole && golden[0].gold == spent ? spent : -1;
                },
                told);
            told = done;
            check(
                reader, engine.scan_committed(vaults), together::of_one_store,
                [](auto const& golden) {
                    return golden[0].gold == golden[1].gold ? golden[0].gold : -1;
                },
                told);
            told = done;
            check(
                reader, engine.read_together(of_purses), together::of_one_store,
                [&](auto const& seen) { return spent_from(std::get<0>(seen)); }, told);
            told = done;
            check(
                reader, engine.read_together(with_absent), together::of_one_store,
                [&](auto const& seen) { return gold_in(std::get<0>(seen)); }, told);
        } while (writing != 0);
    };
    std::vector<std::jthread> threads;
    for (std::size_t writer = 0; writer < 2; ++writer) {
        threads.emplace_back([&, amount = writer == 0 ? 1 : second_pays] {
            for (int i = 0; i < payments; ++i) {
                wrong += engine.run(shares{"P", "Q", "V", "U", amount}).done() ? 0 : 1;
                done += amount;
                // There is no such vault.
                wrong += engine.run(shares{"P", "Q", "V", "W", 7}).canceled() ? 0 : 1;
            }
            --writing;
        });
        threads.emplace_back(read_until_written, writer);
    }
    threads.clear();
    CHECK(wrong == 0);
    auto& sums = answers[0];
    sums.insert(sums.end(), answers[1].begin(), answers[1].end());
    CHECK(sums.empty() == (possible == together::none));
    std::sort(sums.begin(), sums.end());
    auto const lacks = [](auto less, auto more) { return !has_all(more, less); };
    CHECK(std::adjacent_find(sums.begin(), sums.end(), lacks) == sums.end());
}

/// What happens beside looks: also between their moment and the read of their rows.
struct beside_looks {
    std::function<void()> before = [] {};
    std::function<void()> between = [] {};
    std::function<void()> after = [] {};
};
template <typename Session>
struct interrupted_session : Session {
    interrupted_session(Session&& inner, beside_looks const& happens)
        : Session(std::move(inner)), happens_(&happens) {}

    settle::result<settle::store_look> look(settle::look_request const& request) {
        return interrupt(request,
                         [&](settle::look_request const& longer) { return Session::look(longer); });
    }
    template <typename Log>
        requires requires(Session& inner, settle::look_request const& request, Log& log) {
            inner.look(request, log);
        }
    settle::result<settle::store_look> look(settle::look_request const& request, Log& log) {
        return interrupt(request, [&](settle::look_request const& longer) {
            return Session::look(longer, log);
        });
    }

private:
    template <typename Look>
    settle::result<settle::store_look> interrupt(settle::look_request request, Look const& look) {
        auto const* const at_moment = request.at_moment;
        auto const longer = [&] {
            (*at_moment)();
            happens_->between();
        };
        settle::detail::function_view<void()> const view{longer};
        if (at_moment != nullptr) request.at_moment = &view;
        happens_->before();
        auto looked = look(request);
        happens_->after();
        return looked;
    }

    beside_looks const* happens_;
};
template <typename Database>
struct interrupted : Database, beside_looks {
    using Database::Database;

    template <typename... Collections>
    auto bind(std::string const& log_name) {
        beside_looks const& happens = *this;
        return interrupted_session{Database::template bind<Collections...>(log_name), happens};
    }
};

/// Transactions are decided while the rows of a held read are read, and it does not see them.
/// Shape:   far - not of the log's database; looks - how many stores read as of an earlier moment
template <typename Near, typename Far>
void check_rows_after_hold(interrupted<Near>& near, interrupted<Far>& far, int looks) {
    settle::engine engine{near, settle::bind(vaults, far), settle::type<deposit_type>};
    std::ignore = engine.create(purses, {"P", 1000, "open"});
    std::ignore = engine.create(vaults, {"V", 0});
    int done = 0;
    near.between = far.between = [&] { done += engine.run(deposit{"P", "V", 1}).done() ? 1 : 0; };
    auto const seen = engine.read_together(settle::all_of(purses), settle::all_of(vaults)).value();
    CHECK(done == looks);
    CHECK(std::get<0>(seen).front().coins == 1000);
    CHECK(std::get<1>(seen).front().gold == 0);
    near.between = far.between = [] {};
    auto const after = engine.read_together(settle::all_of(purses), settle::all_of(vaults)).value();
    CHECK(std::get<0>(after).front().coins == 1000 - looks);
    CHECK(std::get<1>(after).front().gold == looks);
}

/// The same, with one connection for each database.
/// Shape:   Limits - the options of the databases
template <typename Database, typename Limits>
void check_rows_with_one_connection(std::string const& near_address,
                                    std::string const& far_address) {
    Limits limits;
    limits.connections = 1;
    interrupted<Database> near{near_address, limits};
    interrupted<Database> far{far_address, limits};
    check_rows_after_hold(near, far, 2);
}

/// A reader that stands still for longer than its limit gives no answer from several looks.
template <typename Near, typename Far>
void check_limit(Near& near, Far& far) {
    // The clock moves with each look at it.
    struct slow_world : settle::testing::manual_environment {
        slow_world() = default;
        [[nodiscard]] std::chrono::nanoseconds elapsed() const {
            advance(1s);
            return settle::testing::manual_environment::elapsed();
        }
    };
    settle::engine reader{near, settle::bind(vaults, far), settle::type<deposit_type>,
                          settle::with_environment(slow_world{})};
    std::ignore = reader.create(purses, {"P", 1000, "open"});
    std::ignore = reader.create(vaults, {"V", 0});
    CHECK(reader.read_committed(vaults, "V").value()->gold == 0);
    auto const late = reader.read_committed(vaults, "V", {.deadline = 500ms});
    REQUIRE_FALSE(late.has_value());
    CHECK(late.problem().code == settle::errc::no_committed_read);
    CHECK(late.problem().code == settle::condition::retryable);
    // One look has no limit to keep.
    CHECK(reader.read_committed(purses, "P", {.deadline = 500ms}).value()->coins == 1000);
}

/// Each way to run on two databases of a server of tables.
/// Shape:   Databases - has near, with the log, and far
template <typename Databases>
void check_all_steps() {
    using settle::step;
    for (auto const how : {settle::two_phases, settle::early_entries, settle::phases::one}) {
        auto const decides = how == settle::phases::one ? step::decide : step::commit;
        for (auto const killed_after : {step::apply, decides, step::end}) {
            Databases data;
            check_steps(data.near, data.far, deposit{"P", "V", 60}, "940open 60 none", how,
                        killed_after);
        }
    }
    Databases data;
    check_steps(data.near, data.far, closing{"P", "V", "shut"}, "1000shut none 5",
                settle::two_phases, step::commit);
}

} // namespace committed_reads
