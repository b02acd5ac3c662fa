// SPDX-License-Identifier: BSL-1.0
// Two callers share one engine on SQLite. The second call starts at each moment of the first, also
// during its open native transaction, which then includes the second call. Both get the outcomes of
// one call after the other, and leave the same records.
#include "../unit/sqlite_file.hpp"

#include <settle/settle.hpp>
#include <settle/sqlite.hpp>
#include <settle/sqlite/connection/connection.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <sql.hpp>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <condition_variable>
#include <thread>

namespace {

using namespace settle::testing;
using settle::outcome;

/// Calls a function when a thread reads its clock for the nth time.
struct moment {
    std::thread::id whose{};
    int looks = 0;
    int struck_look = 0;
    std::function<void()> then{};
};

/// The system's environment with that call.
class watched_environment : public settle::system_environment {
public:
    explicit watched_environment(moment& moment) : at_(&moment) {}

    [[nodiscard]] settle::timestamp now() const {
        if (std::this_thread::get_id() == at_->whose && ++at_->looks == at_->struck_look)
            at_->then();
        return settle::system_environment::now();
    }

private:
    moment* at_;
};

auto engine_on(settle::sqlite::database& db, moment& moment) {
    settle::options limits;
    limits.takeover = std::chrono::milliseconds{50};
    return settle::engine{db,
                          limits,
                          settle::with_environment(watched_environment{moment}),
                          settle::type<move_type>,
                          settle::type<relabel_type>,
                          settle::type<issue_type>,
                          settle::type<withdraw_type>};
}
using engine_type =
    decltype(engine_on(std::declval<settle::sqlite::database&>(), std::declval<moment&>()));

/// The request of a caller.
using request = outcome (*)(engine_type&);

constexpr request requests[]{
    [](engine_type& by) { return by.run("a", move{"A", "B", 60}); },
    // There is enough after the first alone.
    [](engine_type& by) { return by.run("b", move{"B", "C", 60}); },
    // There is not enough for this and the first.
    [](engine_type& by) { return by.run("c", move{"A", "C", 60}); },
    // Another transaction has this id.
    [](engine_type& by) { return by.run("a", move{"A", "C", 10}); },
    [](engine_type& by) { return by.run("d", relabel{"A", "new"}); },
    [](engine_type& by) { return by.run("e", issue{card{"new", "", true, {}, {}, {}, {}, 0, 0}}); },
    [](engine_type& by) { return by.run("f", withdraw{"old", true}); },
    // A record that cannot be read.
    [](engine_type& by) { return by.run("g", move{"A", "broken", 10}); },
    // A record whose change aborts the shared native transaction.
    [](engine_type& by) { return by.run("h", move{"A", "breaking", 10}); }};

/// The outcomes of two callers, and the records and entries that they left.
struct ends {
    std::string first;
    std::string second;
    testing::sql_rows records;

    friend bool operator==(ends const&, ends const&) = default;
    friend std::ostream& operator<<(std::ostream& out, ends const& shown) {
        out << shown.first << "; " << shown.second << ";";
        for (auto const& row : shown.records) {
            for (auto const& value : row) out << ' ' << value;
        }
        return out;
    }
};

/// A bank in a temporary file.
class bank {
public:
    bank() {
        for (char const* id : {"A", "B", "C", "breaking"}) {
            engine_.create(ledgers, {id, id[0] == 'A' ? 100 : 0, 0, ""}).value();
        }
        engine_.create(cards, card{"old", "", true, {}, {}, {}, {}, 0, 0}).value();
        testing::ask(here_.file(),
                     "INSERT INTO suite_ledgers(id, balance, units, label) "
                     "VALUES('broken', 'much', 0, '');"
                     "CREATE TRIGGER ruin BEFORE UPDATE ON suite_ledgers WHEN new.id = 'breaking' "
                     "BEGIN SELECT RAISE(ROLLBACK, 'no'); END");
    }

    ends one_by_one(request first, request second) {
        ends result;
        result.first = first(engine_).text();
        result.second = second(engine_).text();
        return look(std::move(result));
    }

    /// The second call starts when the first caller reads the clock for the nth time. The first
    /// continues when the second has ended or is blocked by it.
    /// Returns: nothing if the first caller reads the clock less often
    std::optional<ends> run_together(request first, request second, int number) {
        ends result;
        std::thread other;
        std::mutex mutex;
        std::condition_variable alarm;
        bool over = false;
        at_.whose = std::this_thread::get_id();
        at_.looks = 0;
        at_.struck_look = number;
        at_.then = [&] {
            inside_ = is_locked();
            other = std::thread{[&] {
                result.second = second(engine_).text();
                std::lock_guard const guard{mutex};
                over = true;
                alarm.notify_one();
            }};
            std::unique_lock lock{mutex};
            alarm.wait_for(lock, std::chrono::milliseconds{20}, [&] { return over; });
        };
        result.first = first(engine_).text();
        if (!other.joinable()) return std::nullopt;
        other.join();
        return look(std::move(result));
    }
    /// True if the second call started within the open native transaction of the first.
    [[nodiscard]] bool started_inside() const { return inside_; }

private:
    [[nodiscard]] bool is_locked() const {
        settle::sqlite::detail::connection const beside{here_.file(), std::chrono::milliseconds{0}};
        return sqlite3_exec(beside.get(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) ==
               SQLITE_BUSY;
    }
    ends look(ends result) const {
        result.records =
            testing::ask(here_.file(), "SELECT id, balance, label FROM suite_ledgers UNION ALL "
                                       "SELECT id, points, holder FROM suite_cards ORDER BY 1");
        return result;
    }

    sqlite_test::folder here_;
    settle::sqlite::database db_{here_.file()};
    moment at_;
    engine_type engine_ = engine_on(db_, at_);
    bool inside_ = false;
};

} // namespace

TEST_CASE("shared commits: any two callers get the outcomes of one after the other") {
    int pairs = 0;
    int inside = 0;
    for (request const first : requests) {
        for (request const second : requests) {
            ends const in_order = bank{}.one_by_one(first, second);
            ends turned = bank{}.one_by_one(second, first);
            std::swap(turned.first, turned.second);
            ++pairs;
            for (int number = 1;; ++number) {
                bank shared_bank;
                auto const shared = shared_bank.run_together(first, second, number);
                if (!shared) break;
                INFO("at look ", number, ": ", *shared, "\nin order: ", in_order,
                     "\nturned: ", turned);
                CHECK((*shared == in_order || *shared == turned));
                inside += shared_bank.started_inside() ? 1 : 0;
            }
        }
    }
    MESSAGE(pairs, " pairs; ", inside, " times the second started in the first's transaction");
    CHECK(inside >= pairs / 2);
}
