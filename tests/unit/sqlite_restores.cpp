// SPDX-License-Identifier: BSL-1.0
// Backups of SQLite files that are taken under load are restored: one file of one moment loses
// nothing that was told before it; two files of two moments lose what the page says.
#include "../restores_suite.hpp"
#include "two_files.hpp"

#include <sqlite3.h>

namespace two_files_test {
namespace {

using settle::sqlite::database;
using settle_test::repeated_call;
using sqlite_test::sql_value;
using scene = settle_test::restores<database>;

TEST_CASE("sqlite restores: VACUUM INTO under load, restored") {
    folder const own;
    scene::check_one_moment(own.file("bank.db"), [&] {
        sql(own.file("bank.db"), "VACUUM INTO '" + own.file("restored.db") + "'");
        return own.file("restored.db");
    });
}

/// The online backup, as the shell's .backup does it.
void back_up(std::string const& from, std::string const& into) {
    sqlite3* source = nullptr;
    sqlite3* destination = nullptr;
    REQUIRE(sqlite3_open(from.c_str(), &source) == SQLITE_OK);
    REQUIRE(sqlite3_open(into.c_str(), &destination) == SQLITE_OK);
    sqlite3_backup* const backup = sqlite3_backup_init(destination, "main", source, "main");
    REQUIRE(backup != nullptr);
    int code = SQLITE_OK;
    while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        code = sqlite3_backup_step(backup, 100);
    }
    CHECK(code == SQLITE_DONE);
    CHECK(sqlite3_backup_finish(backup) == SQLITE_OK);
    CHECK(sqlite3_close(destination) == SQLITE_OK);
    CHECK(sqlite3_close(source) == SQLITE_OK);
}

TEST_CASE("sqlite restores: the online backup under load, restored") {
    folder const own;
    scene::check_one_moment(own.file("bank.db"), [&] {
        back_up(own.file("bank.db"), own.file("restored.db"));
        return own.file("restored.db");
    });
}

/// The log and the accounts in the file "books", the vaults in "cellar", and a backup of each.
struct two_backups {
    folder own{};

    void back_up(std::string const& name) const {
        two_files_test::back_up(own.file(name), own.file("restored " + name));
    }
    [[nodiscard]] std::string file(std::string const& name) const { return own.file(name); }
};

/// An engine of both files, with more arguments.
template <typename... More>
auto engine_of(database& books, database& cellar, More const&... more) {
    return settle::engine{books, settle::bind(vaults, cellar), settle::type<deposit_type>, more...};
}

constexpr std::int64_t opened = 1'000'000;
std::string id_of(std::int64_t number) { return "deposit-" + std::to_string(number); }

/// How many deposits had ended when each backup began.
struct moments {
    std::int64_t first = 0;
    std::int64_t second = 0;
};

/// Makes deposits of 1, and one backup some deposits before the other.
moments back_up_under_load(two_backups const& files, std::string const& first,
                           std::string const& second) {
    database books{files.file("books")};
    database cellar{files.file("cellar")};
    auto engine = engine_of(books, cellar);
    open_accounts(engine, {{"A", opened}});
    engine.create(vaults, {"V", 0}).value();
    repeated_call const load{[&](std::int64_t number) {
        CHECK(engine.run(id_of(number), deposit{"A", "V", 1}).done());
    }};
    moments ended;
    load.wait_for(20);
    ended.first = load.count();
    files.back_up(first);
    load.wait_for(30);
    ended.second = load.count();
    files.back_up(second);
    load.wait_for(5);
    return ended;
}

/// Both restored files after recover and sweep.
struct settled_files {
    database books;
    database cellar;
    std::int64_t deposits = 0; ///< that are done in the log
    std::int64_t taken = 0;    ///< from the account beside the log
    std::int64_t gold = 0;     ///< in the other file

    explicit settled_files(two_backups const& files)
        : books{files.file("restored books")}, cellar{files.file("restored cellar")} {
        CHECK(settle::accept_moved_log(books).has_value());
        auto engine = engine_of(books, cellar);
        settle_test::settle_all(engine);
        CHECK(engine.marks().value() == 0);
        for (settle::entry const& entry : engine.list()) {
            deposits += entry.state == state::done ? 1 : 0;
        }
        taken = opened - balance_of(engine, "A");
        gold = engine.at(vaults, "V").gold;
    }
};

TEST_CASE("sqlite restores: records older than the log lack effects that the log names") {
    two_backups const files;
    auto const ended = back_up_under_load(files, "cellar", "books");
    settled_files const settled{files};
    CHECK(settled.deposits >= ended.second);
    CHECK(settled.taken == settled.deposits);
    CHECK(settled.gold >= ended.first);
    CHECK(settled.gold < settled.deposits);
}

/// A deposit of 7, and a backup of one file between its apply and its commit, of the other after
/// its end.
void back_up_beside_deposit(two_backups const& files, std::string const& during,
                            std::string const& after, settle::phases phases) {
    database books{files.file("books")};
    database cellar{files.file("cellar")};
    std::function<void(settle::event const&)> action;
    auto engine = engine_of(books, cellar, phases, settle::observed_by(hook{action}));
    open_accounts(engine, {{"A", opened}});
    engine.create(vaults, {"V", 0}).value();
    action = [&](settle::event const& seen) {
        if (seen.taken == settle::step::apply) files.back_up(during);
    };
    CHECK(engine.run("d", deposit{"A", "V", 7}).done());
    files.back_up(after);
}

TEST_CASE("sqlite restores: a sweep confirms the marks of transactions that are done in the log") {
    for (auto const phases : {settle::phases::joined, settle::phases::two}) {
        two_backups const files;
        back_up_beside_deposit(files, "cellar", "books", phases);
        CHECK(sql_value(files.file("restored cellar"), "SELECT count(*) FROM settle_mark") == "1");
        settled_files const settled{files};
        CHECK(settled.taken == 7);
        CHECK(settled.gold == 7);
    }
}

TEST_CASE("sqlite restores: an unfinished entry of an older log runs again, though it had ended") {
    two_backups const files;
    back_up_beside_deposit(files, "books", "cellar", settle::phases::two);
    settled_files const settled{files};
    CHECK(settled.deposits == 1);
    CHECK(settled.taken == 7);
    CHECK(settled.gold == 14);
}

TEST_CASE("sqlite restores: records newer than the log have effects that it does not know") {
    two_backups const files;
    auto const ended = back_up_under_load(files, "books", "cellar");
    settled_files settled{files};
    CHECK(settled.deposits >= ended.first);
    CHECK(settled.taken == settled.deposits);
    CHECK(settled.gold >= ended.second);
    CHECK(settled.gold > settled.deposits);

    // A caller that repeats its call gets a second effect.
    auto engine = engine_of(settled.books, settled.cellar);
    auto const last = id_of(ended.second - 1);
    CHECK_FALSE(engine.find(last).value());
    CHECK(engine.run(last, deposit{"A", "V", 1}).done());
    CHECK(engine.at(vaults, "V").gold == settled.gold + 1);
}

} // namespace
} // namespace two_files_test
