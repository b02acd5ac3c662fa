// SPDX-License-Identifier: BSL-1.0
// Documents as other programs leave them, and texts as an attacker would choose them: used, left
// alone, or refused with a sentence; and collections that could refuse settle's own updates.
#include "bank_documents.hpp"
#include "caller_actions.hpp"

namespace settle_test {

struct tagged {
    BOOST_HANA_DEFINE_STRUCT(tagged, (std::string, id), (std::vector<std::string>, tags),
                             (std::vector<std::int64_t>, sizes), (std::int64_t, weight));
};
inline constexpr settle::collection<tagged, "suite_tagged", &tagged::id> all_tagged;

struct weigh {
    BOOST_HANA_DEFINE_STRUCT(weigh, (std::string, id), (std::int64_t, weight));
};
inline constexpr auto weigh_type = settle::transaction<weigh, "suite_weigh">(
    settle::participant<"part">(all_tagged, settle::param<&weigh::id>)
        .apply(settle::field<&tagged::weight> += settle::param<&weigh::weight>)
        .compensate(settle::inverse));

namespace {

using settle::errc;
using settle::outcome;
using settle::testing::cards;
using settle::testing::relabel;
using settle::testing::withdraw;

struct foreign_bank : bank_documents {
    using bank_documents::bank_documents;

    void put_balance(std::string const& id, std::string const& balance) {
        put_ledger(id, R"("balance": )" + balance + R"(, "units": 0, "label": "")");
    }
};

template <typename Function>
void everywhere(Function const& function) {
    on_every_server<foreign_bank>(function);
}

char const* const card_document = R"({"_id": "c", "holder": "Anna", "open": true, "shade": -1,
    "opened": {"$date": {"$numberLong": "250000"}}, "credit": null, "note": null,
    "points": {"$numberInt": "10"}, "visits": 3)";

} // namespace

TEST_CASE("foreign documents: numbers of every kind are read") {
    everywhere([](foreign_bank& bank) {
        bank.put_balance("int", R"({"$numberInt": "100"})");
        bank.put_balance("long", R"({"$numberLong": "100"})");
        bank.put_balance("double", R"({"$numberDouble": "100.0"})");
        CHECK(bank.engine.run("1", transfer{"int", "double", 30}).done());
        CHECK(bank.engine.run("2", transfer{"double", "long", 60}).done());
        CHECK(balance(bank.engine, "int") == 70);
        CHECK(balance(bank.engine, "double") == 70);
        CHECK(balance(bank.engine, "long") == 160);
        auto const written = bank.look("suite_ledgers", "double", R"({"balance": 1, "_id": 0})");
        CHECK(written == R"({ "balance" : { "$numberLong" : "70" } })");
        // Fields that no part changed are unchanged.
        auto const units = bank.look("suite_ledgers", "double", R"({"units": 1, "_id": 0})");
        CHECK(units == R"({ "units" : { "$numberInt" : "0" } })");
    });
}

TEST_CASE("foreign documents: an unusable record cancels its own transactions and no others") {
    everywhere([](foreign_bank& bank) {
        bank.put_balance("A", "100");
        bank.put_balance("B", "100");
        struct example {
            char const* value;
            char const* because;
        };
        int number = 0;
        for (example const& one :
             {example{R"({"$numberDouble": "100.5"})", "'balance' is a number with a fraction"},
              {R"({"$numberDouble": "1e300"})", "or too large"},
              {R"({"$numberDouble": "NaN"})", "with a fraction"},
              {R"({"$numberDecimal": "100"})", "'balance' is no whole number"},
              {R"("100")", "'balance' is no whole number"},
              {"null", "is no whole number"},
              {"[100]", "is no whole number"},
              {R"({"$gt": 5})", "is no whole number"}}) {
            INFO(one.value);
            std::string const bad = "bad" + std::to_string(++number);
            bank.put_balance(bad, one.value);
            auto const before = bank.look("suite_ledgers", bad);
            std::vector<std::pair<std::string, transfer>> const wave{{bad + "/1", {"A", "B", 1}},
                                                                     {bad + "/2", {"A", bad, 1}},
                                                                     {bad + "/3", {"B", "A", 1}},
                                                                     {bad + "/4", {bad, "A", 1}}};
            auto const outcomes = bank.engine.run_all(wave);
            CHECK(outcomes[0].done());
            CHECK(outcomes[2].done());
            for (outcome const& each : {outcomes[1], outcomes[3]}) {
                INFO(each.text());
                CHECK(each.canceled());
                CHECK(each.why == settle::reason::record_unusable);
                CHECK(each.problem.code == errc::damaged);
                CHECK(each.problem.text.find(one.because) != std::string::npos);
                CHECK(each.problem.text.find("the record '" + bad + "'") != std::string::npos);
            }
            CHECK(outcomes[1].participant == "destination");
            CHECK(bank.look("suite_ledgers", bad) == before);
        }
        CHECK(balance(bank.engine, "A") == 100);
        CHECK(balance(bank.engine, "B") == 100);
    });
}

TEST_CASE("foreign documents: a stray mark that cannot be undone does not delay others") {
    on_every_server<foreign_bank>([](foreign_bank& bank) {
        bank.put_balance("A", "100");
        bank.put_balance("B", "100");
        leave(bank.db, "t", transfer{"A", "B", 30}, left_at::applied);
        auto const update = [&](std::string const& collection, std::string const& what) {
            auto const reply =
                bank.shell.run(R"({"update": ")" + collection + R"(", "updates": [)" + what + "]}");
            CHECK(reply.number("nModified") == 1);
        };
        update("settle_entries", R"({"q": {"_id": "t"}, "u": {"$set": {"state": "lost"}}})");
        auto swept = bank.engine.sweep();
        CHECK(swept.looked_at == 2);
        CHECK(swept.undone == 0);
        REQUIRE(swept.skipped.size() == 2);
        CHECK(swept.skipped[0].id == "t");
        CHECK(swept.skipped[0].problem.code == errc::damaged);
        CHECK(swept.problem.empty());
        update("settle_entries", R"({"q": {"_id": "t"}, "u": {"$set": {"state": "canceled"}}})");
        update("suite_ledgers", R"({"q": {"_id": "A"}, "u": {"$set": {"balance": "lost"}}})");
        swept = bank.engine.sweep();
        CHECK(swept.undone == 1);
        REQUIRE(swept.skipped.size() == 1);
        CHECK(swept.skipped[0].problem.text.find("'balance'") != std::string::npos);
        CHECK(swept.problem.empty());
        update("suite_ledgers", R"({"q": {"_id": "A"}, "u": {"$set": {"balance": 70}}})");
        CHECK(bank.engine.sweep().undone == 1);
        CHECK(balance(bank.engine, "A") == 100);
        CHECK(balance(bank.engine, "B") == 100);
        CHECK(bank.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign documents: a stray mark is found after many documents without marks") {
    on_every_server<foreign_bank>([](foreign_bank& bank) {
        bank.put_balance("A", "100");
        bank.put_balance("B", "100");
        leave(bank.db, "t", transfer{"A", "B", 30}, left_at::applied);
        // Before both in the order of the keys: of other types, and with marks of other programs.
        std::string others;
        for (int i = 0; i < 600; ++i) {
            others += (i == 0 ? "" : ", ") + std::string{R"({"_id": )"} +
                      (i % 2 == 0 ? std::to_string(i) : "\"" + std::to_string(i) + "\"") +
                      R"(, "balance": 1, "units": 0, "label": "", "pendingTransactions": [7]})";
        }
        bank.put("suite_ledgers", others);
        constexpr std::size_t under_texts = 300;
        CHECK(bank.engine.marks().value() == 2 + under_texts);
        CHECK(bank.engine.recover(of_any_age()).done == 1);
        CHECK(bank.engine.marks().value() == under_texts);
        auto const swept = bank.engine.sweep();
        CHECK_MESSAGE(swept.problem.empty(), swept.problem);
        CHECK(swept.skipped.size() == under_texts);
    });
}

TEST_CASE("foreign documents: unknown fields are kept, and return with an erased record") {
    everywhere([](foreign_bank& bank) {
        std::string const extra = R"(, "oid": {"$oid": "0123456789abcdef01234567"},
            "decimal": {"$numberDecimal": "1.10"}, "when": {"$date": {"$numberLong": "-5"}},
            "nested": {"int": {"$numberInt": "5"}, "long": {"$numberLong": "5"},
                       "list": [1.5, null, {"deep": true}], "a.b": 1},
            "bytes": {"$binary": {"base64": "AP8=", "subType": "05"}}, "double": 3.0,
            "nan": {"$numberDouble": "NaN"}, "regex": {"$regularExpression": {"pattern": "^a",
            "options": "i"}}, "stamp": {"$timestamp": {"t": 5, "i": 6}}, "key": {"$minKey": 1},
            "empty": {}, "text": "ä \u0000 \\ \" $set")";
        bank.put("suite_cards", card_document + extra + "}");
        auto const of_others = R"({"_id": 0, "holder": 0, "open": 0, "shade": 0, "opened": 0,
            "credit": 0, "note": 0, "points": 0, "visits": 0, "pendingTransactions": 0})";
        auto const before = bank.look("suite_cards", "c", of_others);
        REQUIRE(before.find("1.10") != std::string::npos);
        auto const gone = bank.engine.run("erase", withdraw{"c", true});
        CHECK_MESSAGE(gone.done(), gone);
        CHECK(bank.look("suite_cards", "c") == "");
        auto const back = bank.engine.reverse("erase");
        CHECK_MESSAGE(back.done(), back);
        CHECK(bank.look("suite_cards", "c", of_others) == before);
        CHECK(bank.engine.read(cards, "c").value()->holder == "Anna");
        CHECK(bank.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign documents: fields that JSON cannot express return unchanged") {
    using settle::mongodb::detail::document;
    everywhere([](foreign_bank& bank) {
        bank.put("suite_cards", std::string{card_document} + "}");
        settle::mongodb::detail::server to{bank.own.address(), {}};
        auto connection = to.connect();
        document no_type;
        document set;
        set.text("odd", "\xff\xfe").object("ref", no_type.text("$oid", "no type of JSON's"));
        document card;
        document change;
        change.object("q", card.text("_id", "c")).object("u", document{}.object("$set", set));
        document command;
        command.text("update", "suite_cards").array("updates", document{}.object_at(0, change));
        settle::mongodb::detail::reply answer;
        connection.command(command, "put them there", answer);
        auto const there = [&] {
            std::size_t equal = 0;
            connection.find("suite_cards", card, {}, "look", [&](document const& stored) {
                for (char const* name : {"odd", "ref"}) {
                    document expected;
                    document actual;
                    expected.copy(name, *set.find(name));
                    if (auto const value = stored.find(name)) actual.copy(name, *value);
                    equal += bson_equal(expected.native(), actual.native()) ? 1U : 0U;
                }
            });
            return equal;
        };
        REQUIRE(there() == 2);
        CHECK(bank.engine.run("erase", withdraw{"c", true}).done());
        CHECK(there() == 0);
        auto const back = bank.engine.reverse("erase");
        CHECK_MESSAGE(back.done(), back);
        CHECK(there() == 2);
    });
}

TEST_CASE("foreign documents: hostile keys and texts are stored or refused, never run") {
    everywhere([](foreign_bank& bank) {
        std::string const long_text(100'000, 'x');
        std::vector<std::string> const strange{
            "$set", "a.b", "$", ".", "_id", "{$gt: ''}", "", "ключ", "a\nb", "'\"\\", long_text};
        for (std::string const& key : strange) {
            INFO(key.substr(0, 20));
            bank.engine.create(ledgers, {key, opening, 0, ""}).value();
            CHECK(bank.engine.create(ledgers, {key, 1, 0, ""}).problem().code ==
                  errc::record_exists);
        }
        int number = 0;
        for (std::string const& key : strange) {
            INFO(key.substr(0, 20));
            std::string const id = "$set." + std::to_string(++number);
            CHECK(bank.engine.run(id, relabel{key, "$balance"}).done());
            CHECK(bank.engine.read(ledgers, key).value()->label == "$balance");
            auto const amount = key == "$set" ? 0 : 10;
            CHECK(bank.engine.run(id + "/move", transfer{key, "$set", amount}).done());
            CHECK(bank.engine.find(id).value()->state == settle::state::done);
        }
        CHECK(balance(bank.engine, "$set") == 200);
        for (std::string const& bad : {std::string{"a\0b", 3}, std::string{"\xff\xfe"},
                                       std::string{"\xed\xa0\x80"}, std::string{"\0", 1}}) {
            CHECK(bank.engine.create(ledgers, {bad, 1, 0, ""}).problem().code == errc::bad_text);
            auto const outcome = bank.engine.run("bad", transfer{bad, "a.b", 1});
            CHECK(outcome.verdict == settle::verdict::refused);
            INFO(outcome.text());
            CHECK(outcome.problem.code == errc::bad_text);
            CHECK(bank.engine.run(bad, transfer{"a.b", "$", 1}).verdict ==
                  settle::verdict::refused);
            auto const found = bank.engine.read(ledgers, bad);
            CHECK((!found.has_value() || !found.value().has_value()));
        }
        CHECK(bank.engine.run("", transfer{"a.b", "$", 1}).verdict == settle::verdict::refused);
        CHECK(bank.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign documents: a collection that could refuse updates is refused when bound") {
    struct example {
        char const* command;
        char const* because; ///< empty: the collection is accepted
    };
    for (example const& one :
         {example{R"({"create": "suite_ledgers", "validator": {"balance": {"$gte": 0}}})",
                  "its validator"},
          {R"({"create": "suite_ledgers", "validator": {"balance": {"$gte": 0}},
               "validationAction": "warn"})",
           ""},
          {R"({"create": "suite_ledgers", "capped": true, "size": 4096})", "it is capped"},
          {R"({"create": "suite_ledgers", "viewOn": "others", "pipeline": []})", "it is a view"},
          {R"({"create": "suite_ledgers", "collation": {"locale": "en", "strength": 1}})",
           "its collation"},
          {R"({"create": "suite_ledgers", "timeseries": {"timeField": "t"}})", "a time series"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"label": 1}, "name": "one", "unique": true}]})",
           "its unique index over 'label'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"owner": 1, "balance": -1}, "name": "two", "unique": true}]})",
           "its unique index over 'balance'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"pendingTransactions.id": 1}, "name": "three", "unique": true}]})",
           "its unique index over 'pendingTransactions.id'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"owner": 1}, "name": "four", "unique": true},
               {"key": {"balance": 1}, "name": "five"},
               {"key": {"balance": "hashed"}, "name": "six"},
               {"key": {"place": "2dsphere", "balance": 1}, "name": "seven"},
               {"key": {"remark": "text"}, "name": "eight"},
               {"key": {"region": 1}, "name": "nine", "unique": true,
                "partialFilterExpression": {"owner": {"$exists": true}}}]})",
           ""},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"owner": 1}, "name": "ten", "unique": true, "partialFilterExpression":
                {"$and": [{"owner": {"$exists": true}}, {"balance": {"$gt": 0}}]}}]})",
           "its unique index with a filter over 'balance'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"place": "2dsphere"}, "name": "eleven",
                "partialFilterExpression": {"balance": {"$gt": 0}}}]})",
           "its 2dsphere index with a filter over 'balance'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"owner": 1, "label": "2dsphere"}, "name": "twelve"}]})",
           "its 2dsphere index over 'label'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"label": "text"}, "name": "thirteen"}]})",
           "its text index over 'label'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"$**": "text"}, "name": "fourteen"}]})",
           "its text index over '$**'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"remark": "text"}, "name": "fifteen", "language_override": "label"}]})",
           "its text index over 'label'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"pendingTransactions": "hashed"}, "name": "sixteen"}]})",
           "its hashed index over 'pendingTransactions'"},
          {R"({"createIndexes": "suite_ledgers", "indexes": [
               {"key": {"seen": 1}, "name": "seventeen", "expireAfterSeconds": 60}]})",
           "its index 'seventeen' lets the server erase old documents"},
          {R"({"create": "suite_ledgers", "clusteredIndex": {"key": {"_id": 1}, "unique": true},
               "expireAfterSeconds": 60})",
           "the server erases its documents by their age"},
          {R"({"create": "suite_ledgers", "clusteredIndex": {"key": {"_id": 1},
               "unique": true}})",
           ""}}) {
        INFO(one.command);
        fresh_database const own{standalone_address};
        auto const made = run_command(own.address(), one.command);
        REQUIRE_MESSAGE(made.ok, made.error);
        settle::mongodb::database db{own.address()};
        std::string problem_text;
        try {
            auto engine = bank_on(db);
        } catch (settle::failure const& problem) {
            problem_text = problem.what();
        }
        INFO(problem_text);
        CHECK((problem_text == "") == (std::string{one.because} == ""));
        CHECK(problem_text.find(one.because) != std::string::npos);
        if (!problem_text.empty())
            CHECK(problem_text.starts_with("settle: the collection 'suite_ledgers'"));
    }
}

TEST_CASE("foreign documents: an index over two arrays is refused when bound") {
    struct example {
        char const* key;
        char const* because; ///< empty: the collection is accepted
    };
    for (example const& one :
         {example{R"({"pendingTransactions.id": 1, "tags": 1})",
                  "its compound index over the arrays 'pendingTransactions' and 'tags'"},
          {R"({"tags": 1, "weight": 1, "sizes": -1})",
           "its compound index over the arrays 'tags' and 'sizes'"},
          {R"({"tags": 1, "weight": 1})", ""},
          {R"({"weight": 1, "pendingTransactions.id": 1, "pendingTransactions.part": 1})", ""}}) {
        INFO(one.key);
        fresh_database const own{standalone_address};
        auto const reply = run_command(own.address(), R"({"createIndexes": "suite_tagged", )"
                                                      R"("indexes": [{"name": "one", "key": )" +
                                                          std::string{one.key} + "}]}");
        REQUIRE_MESSAGE(reply.ok, reply.error);
        settle::mongodb::database db{own.address()};
        std::string problem_text;
        try {
            settle::engine engine{db, settle::type<weigh_type>};
            engine.create(all_tagged, tagged{"A", {"x", "y"}, {1, 2}, 0}).value();
            CHECK(engine.run("1", weigh{"A", 5}).done());
        } catch (settle::failure const& problem) {
            problem_text = problem.what();
        }
        INFO(problem_text);
        CHECK((problem_text == "") == (std::string{one.because} == ""));
        CHECK(problem_text.find(one.because) != std::string::npos);
    }
}

TEST_CASE("foreign documents: a collection that was renamed is named, and no record is missing") {
    on_every_server<bank_documents>([](bank_documents& documents) {
        for (char const* const id : {"A", "B"}) {
            documents.put_ledger(id, R"("balance": 100, "units": 0, "label": "")");
        }
        leave(documents.db, "t", transfer{"A", "B", 30}, left_at::committed);
        auto limits = short_limits();
        limits.patience = std::chrono::milliseconds{100};
        auto const rename = [&](std::string const& from, std::string const& to) {
            auto const database = documents.own.name() + ".";
            REQUIRE(documents.shell
                        .run("admin", R"({"renameCollection": ")" + database + from +
                                          R"(", "to": ")" + database + to + "\"}")
                        .ok);
        };
        auto one_phase = bank_on(documents.db, settle::phases::one, limits);
        auto two_phases = bank_on(documents.db, settle::phases::two, limits);
        rename("suite_ledgers", "away");
        auto const is_gone = [](std::string const& text) {
            INFO(text);
            CHECK(text.find("settle: the collection 'suite_ledgers' is gone") != text.npos);
        };
        // Without the collection nobody knows whether a mark is to be undone.
        for (auto const& outcome : {one_phase.run("one", transfer{"A", "B", 10}),
                                    two_phases.run("two", transfer{"A", "B", 10})}) {
            CHECK_FALSE(outcome.done());
            is_gone(outcome.text());
        }
        auto const read = one_phase.read(ledgers, "A");
        is_gone(read.has_value() ? "" : read.problem().text);
        auto const left = two_phases.recover(of_any_age());
        CHECK(left.done == 0);
        CHECK(left.skipped.size() > 0);
        for (auto const& skipped : left.skipped) is_gone(skipped.problem.text);

        rename("away", "suite_ledgers");
        CHECK(two_phases.recover(of_any_age()).done == 1);
        for (char const* const id : {"one", "two"}) {
            auto const ended = two_phases.find(id).value();
            CHECK(ended->state == settle::state::canceled);
            CHECK(ended->why == settle::reason::record_unusable);
        }
        CHECK(two_phases.at(ledgers, "A").balance == 70);
        CHECK(two_phases.at(ledgers, "B").balance == 130);
    });
}

TEST_CASE("foreign documents: a part whose record vanished with its mark is not finished") {
    on_every_server<bank_documents>([](bank_documents& documents) {
        for (char const* const id : {"A", "B"}) {
            documents.put_ledger(id, R"("balance": 100, "units": 0, "label": "")");
        }
        leave(documents.db, "t", transfer{"A", "B", 30}, left_at::committed);
        auto limits = short_limits();
        limits.patience = std::chrono::milliseconds{100};
        auto soon = bank_on(documents.db, settle::two_phases, limits);
        // The server does this within a minute if a date of another program is old enough.
        auto const add_index = R"({"createIndexes": "suite_ledgers", "indexes": [
            {"key": {"seen": 1}, "name": "ttl", "expireAfterSeconds": 60}]})";
        REQUIRE(documents.shell.run(add_index).ok);
        REQUIRE(documents.shell
                    .run(R"({"delete": "suite_ledgers",
                                   "deletes": [{"q": {"_id": "B"}, "limit": 1}]})")
                    .ok);
        auto const report = soon.recover(of_any_age());
        CHECK(report.done == 0);
        REQUIRE(report.skipped.size() == 1);
        auto const& problem_text = report.skipped.front().problem.text;
        INFO(problem_text);
        CHECK(problem_text.starts_with("settle: the record 'B' of 'suite_ledgers' is gone"));
        CHECK(problem_text.find("index 'ttl'") != std::string::npos);
        CHECK(documents.engine.find("t").value()->state == settle::state::applied);
    });
}

} // namespace settle_test
