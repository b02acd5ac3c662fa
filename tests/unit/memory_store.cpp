// SPDX-License-Identifier: BSL-1.0
// The memory store: finding by id, listings of unfinished entries, purges, ordered pages.
#include "engine_types.hpp"

#include <settle/testing/entry_writer.hpp>

#include <map>
#include <random>
#include <vector>

namespace {

using namespace engine_test;
using settle::memory::id_index;
using direction = transfer_direction;

settle::timestamp at(std::int64_t second) {
    return settle::timestamp{std::chrono::seconds{1800000000 + second}};
}

/// A log whose entries a test makes and brings on by hand.
class ledger {
public:
    using log_type = settle::memory::log_session<std::mutex>;
    using writer = settle::testing::entry_writer<log_type>;

    writer insert(std::string const& id, std::int64_t created,
                  settle::state as = settle::state::pending) {
        writer made{log_, transaction(id)};
        REQUIRE(made.insert(as, 77, at(created), owner_, at(created)) == settle::log_answer::taken);
        return made;
    }

    /// From pending to applied.
    settle::log_answer commit(writer& owner) { return owner.commit(at(1000), owner_); }

    /// From pending to done, at the time of its creation or at another.
    void finish(std::string const& id, std::optional<settle::timestamp> ended = {}) {
        settle::entry const entry = log_.read(id).value().value();
        writer worker{log_, transaction(id), settle::standing_of(entry)};
        auto const when = ended ? *ended : entry.created;
        REQUIRE(worker.commit(when, owner_) == settle::log_answer::taken);
        REQUIRE(worker.close(when, owner_) == settle::log_answer::taken);
    }

    std::string ids(settle::entry_filter const& filter = {}, std::string const& after = {},
                    std::size_t limit = 100) {
        std::string out;
        for (auto const& one : log_.list(filter, after, limit).value()) out += one.id + ' ';
        return out;
    }
    std::string unfinished(std::string const& after = {}, std::size_t limit = 100) {
        settle::entry_filter filter;
        filter.unfinished = true;
        return ids(filter, after, limit);
    }

    auto& log() { return log_; }

private:
    static settle::testing::test_transaction transaction(std::string const& id) {
        return settle::testing::test_transaction::of<direction>(id, {"A", "B", 1});
    }

    settle::memory::database database_;
    log_type log_ = database_.bind_log();
    std::string owner_ = "me";
};

} // namespace

TEST_CASE("memory: an index finds its entries after any inserts and erases") {
    struct thing {
        std::string id;
    };
    std::mt19937_64 chance{20251121};
    for (std::uint64_t const most : {3U, 60U, 3000U}) {
        id_index<thing> index;
        std::map<std::string, thing> expected;
        for (int i = 0; i < 20000; ++i) {
            std::string const id = "t" + std::to_string(chance() % most);
            auto const known = expected.find(id);
            REQUIRE(index.find(id) == (known == expected.end() ? nullptr : &known->second));
            if (known != expected.end() && chance() % 2 == 0) {
                index.erase(id);
                expected.erase(known);
            } else {
                auto const [found, fresh] =
                    index.find_or_add(id, [&] { return &(expected[id] = {id}); });
                REQUIRE(fresh == (known == expected.end()));
                REQUIRE(found == &expected[id]);
            }
            REQUIRE(index.size() == expected.size());
        }
        std::size_t seen = 0;
        index.for_each([&](thing const& thing) { seen += expected.count(thing.id); });
        CHECK(seen == expected.size());
    }
}

TEST_CASE("memory: the name of a log is drawn at random, so that no later process has it") {
    settle::memory::database database;
    settle::memory::database other;
    std::string_view const prefix = "memory-";
    for (auto const* const name : {&database.name(), &other.name()}) {
        CHECK(name->starts_with(prefix));
        CHECK(name->size() == prefix.size() + 16);
    }
    CHECK(database.name() != other.name());
}

TEST_CASE("memory: a row that was reused for another entry is not accepted") {
    ledger ledger;
    auto late = ledger.insert("first", 0);
    ledger.finish("first");
    REQUIRE(ledger.log().purge(at(10), 100).value().erased == 1);
    auto other = ledger.insert("other", 20);
    REQUIRE(other.transaction().row == late.transaction().row);
    CHECK(ledger.commit(late) == settle::log_answer::conflict);
    CHECK(ledger.unfinished() == "other ");
    CHECK(ledger.commit(other) == settle::log_answer::taken);
}

TEST_CASE("memory: unfinished entries are listed by id, page by page") {
    ledger ledger;
    for (std::string const id : {"d", "b", "f", "a", "e", "c"}) ledger.insert(id, 0);
    CHECK(ledger.unfinished() == "a b c d e f ");
    CHECK(ledger.unfinished("b", 2) == "c d ");
    CHECK(ledger.unfinished("bb", 2) == "c d ");
    CHECK(ledger.unfinished("f") == "");
    ledger.finish("d");
    ledger.insert("bc", 1);
    ledger.insert("g", 1, settle::state::initial);
    CHECK(ledger.unfinished("b", 3) == "bc c e ");
    // The entry after which the next page begins may have ended meanwhile.
    CHECK(ledger.unfinished("d", 3) == "e f ");
    settle::entry_filter submitted;
    submitted.state = state::initial;
    CHECK(ledger.ids(submitted) == "g ");
    settle::entry_filter done;
    done.state = state::done;
    CHECK(ledger.ids(done) == "d ");
    CHECK(ledger.ids() == "a b bc c d e f g ");
    CHECK(ledger.ids({}, "b", 3) == "bc c d ");
    CHECK(ledger.ids({}, "b", 0) == "");
}

TEST_CASE("memory: entries are listed by id in pages, during inserts and purges") {
    ledger ledger;
    for (int i = 40; i-- > 10;) ledger.insert("t" + std::to_string(i), i);
    CHECK(ledger.ids({}, "", 3) == "t10 t11 t12 ");
    CHECK(ledger.ids({}, "t12", 3) == "t13 t14 t15 ");
    ledger.insert("t155", 50);
    ledger.insert("t10a", 50);
    ledger.insert("a", 50);
    CHECK(ledger.ids({}, "t15", 3) == "t155 t16 t17 ");
    CHECK(ledger.ids({}, "", 3) == "a t10 t10a ");
    ledger.finish("t18");
    ledger.finish("t19");
    settle::entry_filter done;
    done.state = state::done;
    CHECK(ledger.ids(done, "t17", 1) == "t18 ");
    CHECK(ledger.log().purge(at(19), 10).value().erased == 1);
    CHECK(ledger.ids(done, "t17", 1) == "t19 ");
    CHECK(ledger.ids({}, "t37", 9) == "t38 t39 ");
    ledger.insert("t38a", 60);
    CHECK(ledger.ids({}, "t37", 9) == "t38 t38a t39 ");
}

TEST_CASE("memory: a purge erases the oldest finished entries, up to its limit") {
    ledger ledger;
    ledger.insert("old and unfinished", 1);
    for (int i = 9; i > 2; --i) ledger.insert("t" + std::to_string(i), i);
    // They end in an order of their own.
    for (int const i : {5, 9, 3, 7, 4, 8, 6}) ledger.finish("t" + std::to_string(i));
    auto gone = ledger.log().purge(at(3), 100).value();
    CHECK(gone.erased == 0);
    CHECK_FALSE(gone.more);
    gone = ledger.log().purge(at(8), 2).value();
    CHECK(gone.erased == 2);
    CHECK(gone.more);
    CHECK(ledger.ids() == "old and unfinished t5 t6 t7 t8 t9 ");
    gone = ledger.log().purge(at(8), 0).value();
    CHECK(gone.erased == 0);
    CHECK(gone.more);
    gone = ledger.log().purge(at(8), 100).value();
    CHECK(gone.erased == 3);
    CHECK_FALSE(gone.more);
    CHECK(ledger.ids() == "old and unfinished t8 t9 ");
    // A purged entry is absent, and its id can be inserted again.
    CHECK_FALSE(ledger.log().read("t3").value().has_value());
    ledger.insert("t3", 20);
    auto const again = ledger.log().read("t3").value().value();
    CHECK(again.state == state::pending);
    CHECK(again.committed == 0);
    CHECK(again.parameters == R"({"source":"A","destination":"B","amount":1})");
    ledger.finish("t3");
    ledger.finish("old and unfinished", at(90));
    gone = ledger.log().purge(at(90), 100).value();
    CHECK(gone.erased == 3);
    CHECK(ledger.ids() == "old and unfinished ");
    gone = ledger.log().purge(at(100), 100).value();
    CHECK(gone.erased == 1);
    CHECK_FALSE(gone.more);
    CHECK(ledger.ids() == "");
}

TEST_CASE("memory: records are scanned by key in pages, during creations and erases") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<transfer_type>};
    auto const keys = [&](std::optional<std::string> const& after, std::size_t limit) {
        using collection = std::remove_cvref_t<decltype(accounts)>;
        std::string out;
        for (auto const& one : engine.scan_page<collection>(after, limit).value()) {
            out += one.id + ' ';
        }
        return out;
    };
    CHECK(keys(std::nullopt, 5) == "");
    open_accounts(engine, {{"d", 10}, {"a", 10}, {"c", 10}});
    CHECK(keys(std::nullopt, 5) == "a c d ");
    CHECK(keys("a", 1) == "c ");
    open_accounts(engine, {{"b", 10}});
    CHECK(keys("a", 2) == "b c ");
    CHECK(keys("bb", 5) == "c d ");
    CHECK(keys("d", 5) == "");
    // A transaction on a missing record leaves no slot, and the record can be created later.
    CHECK(engine.run("missing", transfer{"a", "bb", 5}).canceled());
    CHECK(keys(std::nullopt, 9) == "a b c d ");
    CHECK(engine.marks().value() == 0);
    open_accounts(engine, {{"bb", 10}});
    CHECK(keys(std::nullopt, 9) == "a b bb c d ");
    CHECK(engine.run("present", transfer{"a", "bb", 5}).done());
    CHECK(keys("b", 1) == "bb ");
}
