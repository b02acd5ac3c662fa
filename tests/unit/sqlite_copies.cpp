// SPDX-License-Identifier: BSL-1.0
// A log in a file is at home at its file: a rename, a link and a restart are no other place, and a
// copy, a restored file and a file from another file system are a question.
#include "sqlite_file.hpp"

#include <settle/testing/faults.hpp>

#include <functional>
#include <thread>

namespace sqlite_test {
namespace {

namespace fs = std::filesystem;
using settle::errc;
using settle::sqlite::database;

/// Opens a file and builds an engine; its refusal, or an empty text.
std::string open(std::string const& path) {
    return refusal([&] {
        database db{path};
        static_cast<void>(engine_on(db));
    });
}

/// A file of the folder, with an item and a log at home.
std::string file_at_home(folder const& in) {
    auto const path = in.file("home.db");
    database db{path};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 10}).value();
    CHECK(engine.run<take_type>("t", change{"A", 1, "", {}}).done());
    return path;
}

std::string kept(std::string const& path, char const* name = "home") {
    return sql_value(path,
                     "SELECT value FROM settle_meta WHERE name = '" + std::string{name} + "'");
}

/// Changes a part of the home that the file keeps.
void keep_part(std::string const& path, std::string const& key, std::string const& value) {
    auto home = kept(path);
    auto const begin = home.find(key + "=") + key.size() + 1;
    home.replace(begin, home.find(' ', begin) - begin, value);
    sql(path, "UPDATE settle_meta SET value = '" + home + "' WHERE name = 'home'");
}

constexpr char const* question = "is a copy, or it was moved";

TEST_CASE("sqlite copies: a file is at home under a new name, through a link, after a restart") {
    folder const in;
    auto const path = file_at_home(in);
    auto const name = kept(path, "log");
    CHECK(kept(path).ends_with(" path=" + path));
    auto const renamed = in.file("renamed by hand.db");
    fs::rename(path, renamed);
    CHECK(open(renamed).empty());
    CHECK(kept(renamed).ends_with(" path=" + renamed));

    fs::create_symlink(renamed, in.file("link.db"));
    CHECK(open(in.file("link.db")).empty());
    CHECK(kept(renamed).ends_with(" path=" + renamed));

    fs::create_directory(in.file("below"));
    fs::rename(renamed, in.file("below/moved.db"));
    CHECK(open(in.file("below/moved.db")).empty());
    fs::rename(in.file("below/moved.db"), path);

    // After a restart the device may have another number.
    CHECK(open(path).empty());
    auto const home = kept(path);
    keep_part(path, "device", "1");
    CHECK(open(path).empty());
    CHECK(kept(path) == home);
    // The file system may not know when the file was made.
    keep_part(path, "birth", "");
    CHECK(open(path).empty());
    CHECK(kept(path) == home);
    CHECK(kept(path, "log") == name);

    // A second name of the file is refused as ever, and takes the log to no other place.
    fs::create_hard_link(path, in.file("second.db"));
    CHECK(contains(open(in.file("second.db")), "is a file of 2 names"));
    fs::remove(in.file("second.db"));
    CHECK(open(path).empty());
}

TEST_CASE("sqlite copies: a file that is not surely the same is a question") {
    folder const in;
    auto const path = file_at_home(in);
    struct {
        char const* name;
        std::function<void(std::string const&)> make;
    } const ways[] = {
        {"cp", [&](auto const& to) { fs::copy_file(path, to); }},
        {"cp over another database",
         [&](auto const& to) {
             database{to}; // with a log of its own until then
             fs::copy_file(path, to, fs::copy_options::overwrite_existing);
         }},
        {"VACUUM INTO", [&](auto const& to) { sql(path, "VACUUM INTO '" + to + "'"); }},
        {"a restart, and another path",
         [&](auto const& to) {
             fs::copy_file(path, to);
             database db{to};
             CHECK(settle::accept_moved_log(db).has_value());
             keep_part(to, "device", "1");
             keep_part(to, "path", "/srv/bank.db");
         }},
        {"another machine with the same numbers", [&](auto const& to) {
             fs::copy_file(path, to);
             database db{to};
             CHECK(settle::accept_moved_log(db).has_value());
             keep_part(to, "birth", "1700000000000000000");
         }}};
    for (auto const& way : ways) {
        INFO(way.name);
        auto const copy = in.file("copy.db");
        way.make(copy);
        auto const refused = open(copy);
        CHECK_MESSAGE(contains(refused, question), refused);
        CHECK(contains(refused, "path=" + copy));
        CHECK(open(path).empty());
        for (char const* const end : {"", "-wal", "-shm"}) fs::remove(copy + end);
    }
}

TEST_CASE("sqlite copies: a log of an older version is at home where it is") {
    folder const in;
    auto const path = file_at_home(in);
    sql(path, "DELETE FROM settle_meta WHERE name = 'home'");
    fs::copy_file(path, in.file("copy.db"));
    CHECK(open(in.file("copy.db")).empty());
    CHECK(kept(in.file("copy.db")).ends_with("copy.db"));
    CHECK(kept(in.file("copy.db"), "log") == kept(path, "log"));
}

TEST_CASE("sqlite copies: moved, a log keeps its name; an answer that comes late changes nothing") {
    folder const in;
    auto const path = file_at_home(in);
    auto const name = kept(path, "log");
    auto const moved = in.file("moved.db");
    fs::copy_file(path, moved);
    fs::remove(path); // as mv does between file systems
    database db{moved};
    auto log = db.bind_log();
    auto const seen = log.home().value();
    CHECK(settle::accept_moved_log(db).has_value());
    CHECK(log.take_home(seen, true).has_value());
    CHECK(kept(moved, "log") == name);
    CHECK(kept(moved, "belongs_to") == name);
    auto engine = engine_on(db);
    CHECK(engine.at(items, "A").amount == 9);
}

TEST_CASE("sqlite copies: two programs close a copy at the same time") {
    folder const in;
    auto const path = file_at_home(in);
    {
        database db{path};
        auto engine = engine_on(db);
        for (int number = 0; number < 20; ++number) {
            std::ignore = engine.submit<take_type>(std::to_string(number), {"A", 1, "", {}});
        }
    }
    for (int round = 0; round < 5; ++round) {
        auto const copy = in.file(std::to_string(round) + ".db");
        fs::copy_file(path, copy);
        auto const close = [&] {
            database db{copy};
            auto const report =
                settle::close_copied_log(db, settle::type<take_type>, settle::type<add_type>);
            CHECK_MESSAGE(report.problem.empty(), report.problem);
            return report.canceled;
        };
        std::uint64_t others = 0;
        std::jthread other{[&] { others = close(); }};
        auto const canceled = close();
        other.join();
        CHECK(canceled + others == 20);
        CHECK(kept(copy, "log") != kept(path, "log"));
        CHECK(kept(copy, "belongs_to") == kept(copy, "log"));
        CHECK(open(copy).empty());
    }
    CHECK(sql_value(path, "SELECT count(*) FROM settle_entries WHERE state = 'initial'") == "20");
}

/// An engine of a log in one file and records in another; its process ends before its first commit.
void leave_pending(std::string const& log_path, std::string const& records_path) {
    namespace st = settle::testing;
    database log{log_path};
    database records{records_path};
    st::fault_source source;
    st::faulty<database> log_with_faults{log, source};
    st::faulty<database> records_with_faults{records, source};
    source.plan([](st::call const& call) {
        return st::fault{call.what == "commit" ? st::fault_kind::crash_before
                                               : st::fault_kind::none};
    });
    settle::engine engine{settle::log_in(log_with_faults), settle::bind(items, records_with_faults),
                          settle::type<take_type>, settle::early_entries};
    engine.create(items, item{"A", 10}).value();
    CHECK_THROWS_AS(std::ignore = engine.run<take_type>("t", change{"A", 1, "", {}}), st::crash);
}

TEST_CASE("sqlite copies: records in another file keep to the original log") {
    folder const in;
    auto const path = in.file("home.db");
    auto const copy = in.file("copy.db");
    auto const records = in.file("records.db");
    leave_pending(path, records);
    fs::copy_file(path, copy);
    database store{records};
    database copied{copy};
    auto const build = [&](database& log) {
        return refusal([&] {
            settle::engine const engine{settle::log_in(log), settle::bind(items, store),
                                        settle::type<take_type>};
        });
    };
    CHECK(contains(build(copied), question));
    auto const report = settle::close_copied_log(settle::log_in(copied), settle::bind(items, store),
                                                 settle::type<take_type>);
    CHECK_MESSAGE(report.problem.empty(), report.problem);
    CHECK(report.canceled == 1);
    CHECK(sql_value(records, "SELECT amount FROM items") == "9");
    CHECK(sql_value(records, "SELECT count(*) FROM settle_mark") == "1");
    CHECK(contains(build(copied), "belongs to the log '" + kept(path, "log") + "'"));

    database log{path};
    settle::engine engine{settle::log_in(log), settle::bind(items, store), settle::type<take_type>};
    CHECK(engine.recover({.older_than = std::chrono::seconds{0}}).done == 1);
    CHECK(sql_value(records, "SELECT amount FROM items") == "9");
    CHECK(engine.marks().value() == 0);
}

} // namespace
} // namespace sqlite_test
