// SPDX-License-Identifier: BSL-1.0
// A record with many marks has stored bounds, so that the next part need not read all marks. Every
// answer equals the answer with all marks.
#include "sqlite_file.hpp"

#include <settle/testing/faults.hpp>
#include <settle/testing/manual_environment.hpp>

#include <random>

namespace sqlite_test {
namespace {

using settle::sqlite::database;
using settle::testing::fault;
using settle::testing::fault_kind;

/// A credit that can be seen, and be taken back, while it is pending.
inline constexpr auto give_type =
    settle::transaction<change, "give">(settle::participant<"item">(items, param<&change::id>)
                                            .apply(field<&item::amount> += param<&change::amount>)
                                            .compensate(settle::inverse));
/// A type whose guard needs the exact number.
inline constexpr auto look_type =
    settle::transaction<change, "look">(settle::participant<"item">(items, param<&change::id>)
                                            .require(field<&item::amount> != param<&change::amount>)
                                            .confirm(field<&item::small> += settle::lit<1>));

template <typename Database>
auto bounded_engine(Database& db, settle::testing::manual_environment const& time) {
    settle::options limits;
    limits.attempts = 2;
    // A damaged row stays damaged however long it is waited for.
    limits.takeover = std::chrono::milliseconds{200};
    limits.patience = std::chrono::seconds{1};
    return settle::engine{db,
                          settle::two_phases,
                          limits,
                          settle::with_environment(time),
                          settle::type<add_type>,
                          settle::type<take_type>,
                          settle::type<give_type>,
                          settle::type<look_type>,
                          settle::type<open_type>};
}

std::string id_of(std::string_view what, std::size_t number) {
    return std::string{what} + "-" + std::to_string(1000 + number);
}

/// Leaves transactions with marks that never reach their commit.
template <auto const& Type>
void leave(std::string const& path, settle::testing::manual_environment const& time,
           std::string_view name, std::size_t count, std::int64_t amount) {
    database db{path};
    settle::testing::faulty fragile{db};
    fragile.plan([](settle::testing::call const& call) {
        return call.what == "commit" ? fault{fault_kind::crash_before} : fault{};
    });
    auto engine = bounded_engine(fragile, time);
    for (std::size_t i = 0; i < count; ++i) {
        CHECK_THROWS_AS(
            static_cast<void>(engine.template run<Type>(id_of(name, i), {"hot", amount, "", {}})),
            settle::testing::crash);
    }
}

void open(std::string const& path, std::int64_t amount) {
    database db{path};
    auto engine = engine_on(db);
    engine.create(items, {"hot", amount}).value();
    engine.create(items, {"cold", amount}).value();
}

constexpr char const* all_bounds = "SELECT collection, key, marks, least, most FROM settle_bound";

TEST_CASE("sqlite bounds: a record with many marks has bounds, a record with few has none") {
    folder const folder;
    settle::testing::manual_environment const time;
    open(folder.file(), 1000);
    leave<take_type>(folder.file(), time, "take", 32, 3);
    CHECK(sql(folder.file(), all_bounds).empty());
    leave<add_type>(folder.file(), time, "add", 8, 5);
    CHECK(sql(folder.file(), all_bounds) ==
          std::vector<std::string>{R"(items|hot|40|NULL|{"amount":136})"});
    leave<give_type>(folder.file(), time, "give", 1, 7);
    CHECK(sql(folder.file(), all_bounds) ==
          std::vector<std::string>{R"(items|hot|41|{"amount":-7}|{"amount":136})"});

    database db{folder.file()};
    auto engine = bounded_engine(db, time);
    for (std::size_t i = 0; i < 24; ++i) {
        CHECK(engine.cancel(id_of("take", i)).canceled());
    }
    CHECK(sql_value(folder.file(), "SELECT marks FROM settle_bound") == "17");
    CHECK(engine.cancel(id_of("take", 24)).canceled());
    CHECK(sql(folder.file(), all_bounds).empty());
    CHECK(engine.recover({.older_than = std::chrono::milliseconds{0}}).done == 16);
    CHECK(engine.read(items, "hot").value()->amount == 1000 - 7 * 3 + 8 * 5 + 7);
    CHECK(engine.marks().value() == 0);
}

/// The reasons that a program without a cache gives on a record with many marks.
void check_answers(std::string const& path, settle::testing::manual_environment const& time,
                   std::string_view name) {
    using enum settle::reason;
    database db{path};
    auto engine = bounded_engine(db, time);
    auto const why = [&](auto const& outcome) {
        CHECK(outcome.canceled());
        return outcome.why;
    };
    auto const named = [&](std::string_view what) { return id_of(name, 0).append(what); };
    // 100 and 40 credits of 10 are there, and each of these may be taken back.
    CHECK(why(engine.run<take_type>(named("too much"), {"hot", 101, "", {}})) == guard_failed);
    CHECK(engine.run<take_type>(named("enough"), {"hot", 100, "", {}}).done());
    CHECK(engine.run<add_type>(named("back"), {"hot", 100, "", {}}).done());
    CHECK(why(engine.run<look_type>(named("moving"), {"hot", 7, "", {}})) == busy);
    CHECK(why(engine.run<open_type>(named("exclusive"), {"hot", 0, "", {}})) == busy);
    auto const most = std::numeric_limits<std::int64_t>::max();
    CHECK(why(engine.run<add_type>(named("range"), {"hot", most - 499, "", {}})) == overflow);
    CHECK(engine.run<look_type>(named("elsewhere"), {"cold", 7, "", {}}).done());
}

TEST_CASE("sqlite bounds: they give the same answers as the marks") {
    folder const folder;
    settle::testing::manual_environment const time;
    open(folder.file(), 100);
    leave<give_type>(folder.file(), time, "give", 40, 10);
    REQUIRE(sql_value(folder.file(), "SELECT marks FROM settle_bound") == "40");
    check_answers(folder.file(), time, "with");
    CHECK(sql(folder.file(), all_bounds) ==
          std::vector<std::string>{R"(items|hot|40|{"amount":-400}|NULL)"});
    // A program that finds no bounds reads the marks and stores their bounds again.
    sql(folder.file(), "DELETE FROM settle_bound");
    check_answers(folder.file(), time, "without");
    CHECK(sql_value(folder.file(), "SELECT marks FROM settle_bound") == "40");
    CHECK(sql_value(folder.file(), "SELECT amount FROM items WHERE id = 'hot'") == "500");
}

TEST_CASE("sqlite bounds: one phase checks bounds and does not change them") {
    folder const folder;
    settle::testing::manual_environment const time;
    open(folder.file(), 100);
    leave<give_type>(folder.file(), time, "give", 40, 10);
    database db{folder.file()};
    auto engine = engine_on(db);
    CHECK(engine.run<take_type>(change{"hot", 101, "", {}}).why == settle::reason::guard_failed);
    CHECK(engine.run<take_type>(change{"hot", 100, "", {}}).done());
    CHECK(sql(folder.file(), all_bounds) ==
          std::vector<std::string>{R"(items|hot|40|{"amount":-400}|NULL)"});
}

TEST_CASE("sqlite bounds: sums beyond 64 bits are not kept, and answers stay right") {
    folder const folder;
    settle::testing::manual_environment const time;
    auto const least = std::numeric_limits<std::int64_t>::min();
    open(folder.file(), least);
    std::int64_t const step = 400'000'000'000'000'000;
    leave<add_type>(folder.file(), time, "add", 40, step);
    CHECK(sql(folder.file(), all_bounds).empty());
    database db{folder.file()};
    auto engine = bounded_engine(db, time);
    CHECK(engine.run<add_type>("more", {"hot", 10 * step, "", {}}).why == settle::reason::overflow);
    CHECK(engine.recover({.older_than = std::chrono::milliseconds{0}}).done == 40);
    CHECK(engine.read(items, "hot").value()->amount == least + 20 * step + 20 * step);
}

TEST_CASE("sqlite bounds: a wrong row is named, and its removal mends the record") {
    for (auto const& one :
         {std::pair{"least = '{\"amount\":'", "in the table settle_bound: "},
          std::pair{"least = '{\"none\":1}'", "the record has no such member"},
          std::pair{"least = '{\"amount\":5}'", "no marks have such bounds"},
          std::pair{"marks = 0", "no marks have such bounds"},
          std::pair{"marks = 1", "it does not fit the marks of the record"},
          std::pair{"least = '{\"amount\":-5}'", "it does not fit the marks of the record"}}) {
        CAPTURE(std::string{one.first});
        folder const folder;
        settle::testing::manual_environment const time;
        open(folder.file(), 100);
        leave<give_type>(folder.file(), time, "give", 40, 10);
        sql(folder.file(), std::string{"UPDATE settle_bound SET "} + one.first);
        database db{folder.file()};
        auto engine = bounded_engine(db, time);
        settle::recover_options const options{.older_than = std::chrono::milliseconds{0}};
        CHECK(engine.recover(options).done == 0);
        // No mark can be undone beside wrong bounds, so none is.
        CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_mark") == "40");
        auto const outcome = engine.run<give_type>(id_of("give", 3), {"hot", 10, "", {}});
        CHECK(contains(outcome.text(), one.second));
        CHECK(contains(outcome.text(), "Delete that row. See errors#damaged"));

        sql(folder.file(), "DELETE FROM settle_bound");
        auto const report = engine.recover(options);
        CHECK(report.done + report.canceled == 40);
        CHECK(engine.marks().value() == 0);
        CHECK(engine.read(items, "hot").value()->amount ==
              100 + 10 * static_cast<std::int64_t>(report.done));
    }
}

/// The next random step of one program.
template <typename Engine>
void do_something(Engine& engine, std::mt19937_64& chance, std::size_t number,
                  std::vector<std::string>& left) {
    auto const amount = static_cast<std::int64_t>(chance() % 30);
    std::string const id = id_of("n", number);
    switch (chance() % 4) {
    case 0: static_cast<void>(engine.template run<take_type>(id, {"hot", amount, "", {}})); break;
    case 1: static_cast<void>(engine.template run<add_type>(id, {"hot", amount, "", {}})); break;
    case 2:
        if (left.empty()) return;
        std::swap(left[chance() % left.size()], left.back());
        CHECK(engine.cancel(left.back()).canceled());
        left.pop_back();
        break;
    default: static_cast<void>(engine.template run<give_type>(id, {"hot", amount, "", {}})); break;
    }
}

TEST_CASE("sqlite bounds: they agree with the marks of two engines that write in turn") {
    folder const folder;
    settle::testing::manual_environment const time;
    open(folder.file(), 200);
    std::mt19937_64 chance{20261124};
    std::vector<std::string> left;
    int bounded = 0; // steps after which the record has bounds
    database one{folder.file()};
    database other{folder.file()};
    auto first = bounded_engine(one, time);
    auto second = bounded_engine(other, time);
    for (std::size_t round = 0; round < 12; ++round) {
        auto const name = "r" + std::to_string(round);
        leave<give_type>(folder.file(), time, name, 16, static_cast<std::int64_t>(round + 1));
        for (std::size_t i = 0; i < 16; ++i) left.push_back(id_of(name, i));
        for (std::size_t i = 0; i < 24; ++i) {
            do_something(chance() % 2 == 0 ? first : second, chance, round * 24 + i, left);
            // Every stored sum equals the sum of the marks. No mark that is left can add.
            CHECK(sql_value(folder.file(),
                            "SELECT count(*) FROM settle_bound AS b WHERE (marks, least) IS NOT ("
                            "SELECT count(*), json_object('amount', sum(min(0, coalesce(undo ->> "
                            "'amount', 0), coalesce(confirm ->> 'amount', 0)))) FROM settle_mark "
                            "AS m WHERE m.key = b.key) OR most IS NOT NULL") == "0");
            CHECK(sql_value(folder.file(),
                            "SELECT max(marks) <= 32 OR EXISTS(SELECT 1 FROM settle_bound) FROM "
                            "(SELECT count(*) AS marks FROM settle_mark)") == "1");
            auto const rows = sql_value(folder.file(), "SELECT count(*) FROM settle_bound");
            bounded += rows == "1" ? 1 : 0;
        }
    }
    CHECK(bounded > 100);
    CHECK(first.recover({.older_than = std::chrono::milliseconds{0}}).done == left.size());
    CHECK(second.marks().value() == 0);
    CHECK(sql(folder.file(), all_bounds).empty());
}

// ------------------------------------------------------------------------------------------ cost

/// Counts the steps of SQLite's virtual machine on every connection opened while it lives.
class counted_steps {
public:
    counted_steps() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch)); }
    counted_steps(counted_steps const&) = delete;
    counted_steps& operator=(counted_steps const&) = delete;
    ~counted_steps() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch)); }

    template <typename Function>
    static std::int64_t of(Function&& function) {
        auto const before = steps;
        function();
        return steps - before;
    }

private:
    static int watch(sqlite3* connection, char**, void const*) {
        auto const count = [](void*) {
            ++steps;
            return 0;
        };
        sqlite3_progress_handler(connection, 1, count, nullptr);
        return SQLITE_OK;
    }

    static inline std::int64_t steps = 0;
};

/// The steps of a transfer between two accounts, the first with the given number of marks. The
/// program's cache is stale, since another program has written.
std::int64_t steps_beside(std::size_t marks) {
    folder const folder;
    settle::testing::manual_environment const time;
    open(folder.file(), 1'000'000);
    leave<give_type>(folder.file(), time, "give", marks, 1);
    counted_steps const counted;
    database one{folder.file()};
    database other{folder.file()};
    auto first = bounded_engine(one, time);
    auto second = bounded_engine(other, time);
    auto const run = [&](auto& engine, std::string const& id) {
        CHECK(engine.template run<take_type>(id, {"hot", 1, "", {}}).done());
    };
    run(first, "before");
    run(second, "between");
    return counted_steps::of([&] { run(first, "counted"); });
}

TEST_CASE("sqlite bounds: a part costs the same beside a thousand marks as beside fifty") {
    auto const few = steps_beside(50);
    auto const many = steps_beside(1000);
    CAPTURE(few);
    CAPTURE(many);
    CHECK(few > 100);
    CHECK(many < few + few / 10);
}

} // namespace
} // namespace sqlite_test
