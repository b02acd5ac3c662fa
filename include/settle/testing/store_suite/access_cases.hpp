// SPDX-License-Identifier: BSL-1.0
// The store suite: reading, creating and scanning records; listing and resolving marks.
#pragma once

#include <settle/testing/store_suite/entries.hpp>
#include <settle/testing/store_suite/exclusive_cases.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

TEST_CASE_TEMPLATE_DEFINE("store: records with every kind of field are read back unchanged",
                          Fixture, suite_fields) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int32_t most_32 = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t least_32 = std::numeric_limits<std::int32_t>::min();
    std::vector<card> const written{
        {"plain", "Anna", true, colour::red, at_second(1000), 250, "a note", 10, 3},
        {"empty", "", false, colour::green, at_second(0), std::nullopt, std::nullopt, 0, 0},
        {"most", "x", true, colour::blue, at_second(most), most, "", most, most_32},
        {"least", "x", true, colour::red, at_second(least), least, "null", least, least_32},
        {"beyond a double", "x", true, colour::red, at_second((std::int64_t{1} << 53) + 1),
         (std::int64_t{1} << 53) + 1, "1", -(std::int64_t{1} << 53) - 1, 1},
        {"\xC5\xBD'\"\\;--%", "line\nand\ttab \x01 \xF0\x9F\x98\x80", true, colour::red,
         at_second(1), 1, "{\"a\":[1]}", 1, 1},
        {"12", "0x10", true, colour::red, at_second(1), 1, "1e3", 1, 1}};
    for (card const& one : written) bench.create(cards, one);
    for (card const& expected : written) {
        auto const found = bench.read(cards, expected.id);
        REQUIRE(found.has_value());
        CHECK(encode_json(*found) == encode_json(expected));
    }
    bench.check();
    CHECK_FALSE(bench.read(cards, "Plain").has_value());
    CHECK_FALSE(bench.read(cards, "plai").has_value());
    CHECK_FALSE(bench.read(cards, "").has_value());
    CHECK_FALSE(bench.read(cards, "12.0").has_value());
}

TEST_CASE_TEMPLATE_DEFINE("store: a key has at most one record", Fixture, suite_key_taken) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 1, 2, "first"});
    auto const again = bench.session().template create<ledgers_type>({"A", 9, 9, "second"});
    REQUIRE_FALSE(again.has_value());
    CHECK(again.problem().code == errc::record_exists);
    CHECK(bench.read(ledgers, "A")->label == "first");
    // Also while a transaction has a mark on the record.
    REQUIRE(bench.template apply<issue_type>("t", {plain_card()}, 2) == "applied");
    CHECK_FALSE(bench.session().template create<cards_type>(other_card()).has_value());
    bench.check();
}

TEST_CASE_TEMPLATE_DEFINE("store: scans are ordered by key and paged", Fixture, suite_scan) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    std::vector<std::int64_t> const numbers{5,
                                            -3,
                                            0,
                                            100,
                                            std::numeric_limits<std::int64_t>::min(),
                                            99,
                                            std::numeric_limits<std::int64_t>::max(),
                                            -20};
    for (auto const number : numbers) bench.create(shelves, {number, 1});
    for (char const* id : {"b", "a", "B", "\xC3\xA4", "10", "9", "a b"}) {
        bench.create(ledgers, {id, 0, 0, ""});
    }
    bench.check(); // compares whole scans with the reference store, in order
    for (std::size_t const size : {std::size_t{1}, std::size_t{3}, numbers.size()}) {
        std::vector<std::int64_t> seen;
        std::optional<std::int64_t> after;
        for (;;) {
            auto const page = bench.session().template scan<shelves_type>(after, size).value();
            CHECK(page.size() <= size);
            for (shelf const& one : page) seen.push_back(one.number);
            if (page.size() < size) break;
            after = page.back().number;
        }
        auto expected = numbers;
        std::sort(expected.begin(), expected.end());
        CHECK(seen == expected);
    }
    auto const after = bench.session().template scan<ledgers_type>("a", 100).value();
    REQUIRE(after.size() == 3);
    CHECK(after[0].id == "a b");
    CHECK(after[2].id == "\xC3\xA4");
}

TEST_CASE_TEMPLATE_DEFINE("store: marks are listed in pages, each once", Fixture, suite_marks) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(ledgers, {"B", 100, 0, ""});
    bench.create(shelves, {-4, 100});
    bench.create(cards, plain_card());
    CHECK(bench.marks().empty());
    bench.template apply<order_type>("b", {"A", 1, {{-4, 1}, {-4, 2}, {-4, 3}}}, 7);
    bench.template apply<move_type>("a", {"A", "B", 1}, 8);
    bench.template apply<withdraw_type>("c'\"", {"c", true}, epoch_limit - 1);
    bench.template apply<move_type>("d", {"B", "A", 1}, 9);
    auto const whole = bench.marks();
    auto const expected_order = sorted(whole);
    REQUIRE(expected_order.size() == 9);
    CHECK(expected_order[0] == mark_locator{"suite_ledgers", std::string{"A"}, "a", {0, 0}, 8});
    CHECK(expected_order[3] == mark_locator{"suite_shelves", std::int64_t{-4}, "b", {1, 0}, 7});
    CHECK(expected_order[6] ==
          mark_locator{"suite_cards", std::string{"c"}, "c'\"", {0, 0}, epoch_limit - 1});
    for (std::size_t const size :
         {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{9}, std::size_t{10}}) {
        INFO("pages of ", size);
        std::vector<mark_locator> seen;
        std::optional<mark_locator> after;
        for (;;) {
            auto const page = bench.session().marks(after, size).value();
            REQUIRE(page.size() <= size);
            seen.insert(seen.end(), page.begin(), page.end());
            if (page.size() < size) break;
            after = page.back();
        }
        CHECK(text_of(seen) == text_of(whole));
    }
    // A page may start after a mark that was resolved meanwhile, as during a sweep.
    auto const first = bench.session().marks(std::nullopt, 4).value();
    for (auto const& one : first) CHECK(bench.resolve(one, false) == answer::applied);
    std::vector<mark_locator> const rest{whole.begin() + 4, whole.end()};
    CHECK(text_of(bench.session().marks(first.back(), 100).value()) == text_of(rest));
    CHECK(text_of(bench.marks()) == text_of(rest));
}

TEST_CASE_TEMPLATE_DEFINE("store: a mark is resolved only if id, part and epoch match", Fixture,
                          suite_resolve) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, "old"});
    bench.create(shelves, {1, 10});
    adjust const adjust{"A", -30, 4, 0, 0, no_least, no_most};
    REQUIRE(bench.template apply<adjust_type>("t", adjust, 5) == "applied");
    mark_locator const original = bench.marks().front();
    auto const resolve = [&](mark_locator const& locator, bool confirmed) {
        return bench.resolve(locator, confirmed);
    };
    mark_locator other = original;
    other.epoch_number = 4;
    CHECK(resolve(other, false) == answer::nothing);
    other = original;
    other.id = "u";
    CHECK(resolve(other, false) == answer::nothing);
    other = original;
    other.part.line = 1;
    CHECK(resolve(other, false) == answer::nothing);
    other = original;
    other.key = std::string{"B"};
    CHECK(resolve(other, false) == answer::nothing);
    CHECK(bench.read(ledgers, "A")->balance == 70);
    SUBCASE("undone") {
        CHECK(resolve(original, false) == answer::applied);
        CHECK(bench.read(ledgers, "A")->balance == 100);
    }
    SUBCASE("confirmed") {
        CHECK(resolve(original, true) == answer::applied);
        CHECK(bench.read(ledgers, "A")->balance == 74);
    }
    CHECK(bench.marks().empty());
    CHECK(resolve(original, false) == answer::nothing);

    bench.create(cards, plain_card());
    REQUIRE(bench.template apply<withdraw_type>("w", {"c", true}, 5) == "applied");
    CHECK(resolve(bench.marks().front(), true) == answer::applied);
    CHECK_FALSE(bench.read(cards, "c").has_value());
    CHECK(bench.marks().empty());
    bench.create(cards, plain_card());
    card another = plain_card();
    another.id = "d";
    REQUIRE(bench.template apply<issue_type>("i", {another}, 5) == "applied");
    CHECK(resolve(bench.marks().front(), false) == answer::applied);
    CHECK_FALSE(bench.read(cards, "d").has_value());
    CHECK(bench.marks().empty());
}

TEST_CASE_TEMPLATE_DEFINE("store: a store belongs to one log", Fixture, suite_one_log) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto& second = fixture.second_database();
    std::string const ours = database.bind_log().name();
    CHECK(ours == database.bind_log().name());
    REQUIRE(ours != second.bind_log().name());
    bench<typename Fixture::database> bench{database};
    bench.create(ledgers, {"A", 1, 0, ""});
    static_cast<void>(database.template bind<cards_type>(ours));
    try {
        static_cast<void>(database.template bind<ledgers_type>(second.bind_log().name()));
        FAIL("a second log was accepted");
    } catch (failure const& refused) {
        CHECK(refused.problem().code == errc::other_log);
        CHECK(refused.problem().text.find("settle:") == 0);
    }
    CHECK(bench.read(ledgers, "A").has_value());
    // The log of a database's records may be in another database.
    auto session = second.template bind<ledgers_type>(ours);
    CHECK(session.template create<ledgers_type>({"A", 1, 0, ""}).has_value());
    CHECK_THROWS_AS(static_cast<void>(second.template bind<ledgers_type>(second.bind_log().name())),
                    failure);
}

TEST_CASE_TEMPLATE_DEFINE("store: a program finds everything that an earlier program wrote",
                          Fixture, suite_reopened) {
    Fixture fixture;
    std::string name;
    // As long as the list of all pauses may be.
    std::string const long_text = "['\"" + std::string(60'000, 'x') + "\"']";
    {
        auto& database = fixture.database_here();
        bench<typename Fixture::database> bench{database};
        bench.create(ledgers, {"A", 100, 0, "ours"});
        bench.create(cards, plain_card());
        bench.template apply<adjust_type>("t", {"A", -30, 4, 0, 0, no_least, no_most}, 5);
        bench.template apply<rewrite_type>("r", {plain_card(), other_card()}, 6);
        name = database.bind_log().name();
        auto log = database.bind_log();
        suite_entry writer{log, test_transaction::of<forward<relabel_type>>("e", {"A", "x"})};
        REQUIRE(writer.insert(state::pending, 12, 0, "me") == log_answer::taken);
        auto changed = pending_move(log, "changed", 13, 0, "me");
        REQUIRE(changed.commit(1, "me", {{0, 0, "{}", ""}}) == log_answer::taken);
        auto purged_one = pending_move(log, "purged", 14, 0, "me");
        REQUIRE(purged_one.commit(1, "me") == log_answer::taken);
        REQUIRE(purged_one.close(2, "me") == log_answer::taken);
        REQUIRE(log.purge(at_millisecond(3), 10, purged::nothing).value().erased == 1);
        CHECK_FALSE(log.metadata("known").value().has_value());
        CHECK(log.replace_metadata("known", "another", "not this").has_value());
        CHECK_FALSE(log.metadata("known").value().has_value());
        CHECK(log.replace_metadata("known", std::nullopt, "first").has_value());
        CHECK(log.replace_metadata("known", std::nullopt, "not this").has_value());
        CHECK(log.replace_metadata("known", "another", "not this").has_value());
        CHECK(log.metadata("known").value() == "first");
        CHECK(log.replace_metadata("known", "first", long_text).has_value());
        for (std::string const text_name :
             {"list", "list/1", "list/10", "list/2", "list/3", "list0"})
            CHECK(log.replace_metadata(text_name, std::nullopt, "of " + text_name).has_value());
        CHECK(log.erase_metadata({"list/3", "list0"}).has_value());
    }
    auto& again = fixture.reopened();
    CHECK(again.bind_log().name() == name);
    CHECK(again.bind_log().read("e").value().value().epoch_number == 12);
    entry const changed = again.bind_log().read("changed").value().value();
    CHECK(changed.state == state::applied);
    CHECK(changed.committed == 13);
    CHECK(changed.images.size() == 1);
    CHECK_FALSE(again.bind_log().read("purged").value().has_value());
    CHECK(again.bind_log().metadata("known").value() == long_text);
    using texts = std::vector<metadata_text>;
    auto const listed = [&](std::string const& to, std::size_t limit) {
        return again.bind_log().list_metadata({"list/", to}, limit).value();
    };
    texts const newest{{"list/2", "of list/2"}, {"list/10", "of list/10"}};
    CHECK(listed("list0", 2) == newest);
    CHECK(listed("list/10", 2) == texts{{"list/1", "of list/1"}});
    CHECK(listed("list/", 2).empty());
    CHECK(listed("list0", 0).empty());
    CHECK(again.bind_log().metadata("list0").value() == "of list0");
    auto session = again.template bind<ledgers_type, cards_type, shelves_type>(name);
    auto marks = sorted(session.marks(std::nullopt, 10).value());
    REQUIRE(marks.size() == 2);
    CHECK(session.template read<ledgers_type>("A").value()->balance == 70);
    // An undo needs the mark only.
    for (auto const& one : marks) CHECK(session.resolve(one, false).value() == answer::applied);
    CHECK(session.template read<ledgers_type>("A").value()->balance == 100);
    CHECK(encode_json(*session.template read<cards_type>("c").value()) ==
          encode_json(plain_card()));
}

} // namespace testing
SETTLE_END
#endif
