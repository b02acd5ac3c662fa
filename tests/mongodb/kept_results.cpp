// SPDX-License-Identifier: BSL-1.0
// Stages in the documents of a log: the stored revision, stages_kept and results, and entries
// without these fields.
#include "bank.hpp"
#include "documents.hpp"
#include "fixtures.hpp"

#include <settle/testing/store_suite/entries.hpp>

namespace settle_test {
namespace {

using settle::kept_result;
using settle::log_answer;
using settle::state;
using settle::testing::at_millisecond;
using direction = settle::forward<settle::testing::move_type>;

/// Results that no document can hold.
std::vector<kept_result> too_large() { return {{0, 0, '"' + std::string(17'000'000, 'x') + '"'}}; }

/// A log, and a worker of the entry `t`.
struct kept_bench : documents {
    using documents::documents;

    std::string entry() {
        return look("settle_entries", "t", R"({"_id": 0, "revision": 1, "stages_kept": 1,
                                               "results": 1, "epoch": 1})");
    }
    void change(std::string const& by) {
        std::string const update = R"({"update": "settle_entries", "updates": [{"q": {}, "u": )";
        auto const answer = shell.run(update + by + "}]}");
        REQUIRE_MESSAGE(answer.ok, answer.error);
    }

    settle::mongodb::log_session log = opened(own.address()).bind_log();
    settle::testing::suite_entry<settle::mongodb::log_session> worker =
        settle::testing::pending_move(log, "t", 7, 1, "me");
};

template <typename Function>
void on_both_servers(Function&& function) {
    SUBCASE("single server") {
        kept_bench here{standalone_address};
        function(here);
    }
    SUBCASE("replica set") {
        kept_bench here{replica_set_address};
        function(here);
    }
}

TEST_CASE("kept results: an entry has its fields of stages from the first keep on") {
    on_both_servers([](kept_bench& bench) {
        CHECK(bench.entry() == R"({ "epoch" : { "$numberLong" : "7" } })");
        CHECK(bench.worker.claim(2, "me") == log_answer::taken);
        CHECK(bench.entry() == R"({ "epoch" : { "$numberLong" : "8" } })");
        CHECK(bench.worker.keep(3, "me", {{1, 0, R"({"room":5})"}}) == log_answer::taken);
        std::string const kept =
            R"("results" : [ { "participant" : { "$numberLong" : "1" }, )"
            R"("line" : { "$numberLong" : "0" }, "value" : "{\"room\":5}" } ], )"
            R"("revision" : { "$numberLong" : "1" }, "stages_kept" : { "$numberLong" : "1" } })";
        CHECK(bench.entry() == R"({ "epoch" : { "$numberLong" : "8" }, )" + kept);
        CHECK(bench.worker.commit(4, "me") == log_answer::taken);
        CHECK(bench.entry() == R"({ "epoch" : { "$numberLong" : "8" }, )" + kept);
    });
}

TEST_CASE("kept results: revision 0 is an absent field, a null or a zero of any kind") {
    on_both_servers([](kept_bench& bench) {
        for (char const* const revision : {"null", "0", R"({"$numberLong": "0"})", "0.0"}) {
            INFO("the revision is ", revision);
            bench.change(R"({"$set": {"revision": )" + std::string{revision} + "}}");
            CHECK(bench.worker.claim(2, "me") == log_answer::taken);
        }
        CHECK(bench.worker.keep(3, "me", {}) == log_answer::taken);
        bench.change(R"({"$set": {"revision": 2}})");
        CHECK(bench.worker.claim(4, "me") == log_answer::conflict);
        CHECK(bench.worker.keep(5, "me", {}) == log_answer::conflict);
        CHECK(bench.worker.commit(6, "me") == log_answer::conflict);
    });
}

TEST_CASE("kept results: damaged fields of stages are named") {
    on_both_servers([](kept_bench& bench) {
        auto const check_named = [&](std::string const& assignment, std::string const& fault) {
            bench.change(R"({"$unset": {"revision": 1, "stages_kept": 1, "results": 1,
                                       "images": 1}})");
            bench.change(R"({"$set": {)" + assignment + "}}");
            auto const entry = bench.log.read("t");
            REQUIRE_FALSE(entry.has_value());
            CHECK(entry.problem().code == settle::errc::damaged);
            INFO(entry.problem().text);
            CHECK(entry.problem().text.find(fault) != std::string::npos);
            CHECK(bench.log.list({}, "", 5).value().at(0).fault != "");
        };
        check_named(R"("revision": -1)", "its 'revision' is no value of its type");
        check_named(R"("revision": "x")", "its 'revision' is no whole number");
        check_named(R"("stages_kept": 256)", "its 'stages_kept' is no value of its type");
        check_named(R"("results": [{"participant": 0, "line": 0}])", "its 'results' is damaged");
        check_named(R"("results": [5])", "its 'results' is damaged");
        check_named(R"("results": {"value": "1"})", "its 'results' is no array");
        check_named(R"("images": [{"participant": 0, "line": 0}])", "its 'images' is damaged");
    });
}

TEST_CASE("kept results: any value as the text of a reason leaves its entry readable") {
    on_both_servers([](kept_bench& bench) {
        auto const text_of = [&](std::string const& value) {
            bench.change(R"({"$set": {"reason_text": )" + value + "}}");
            auto const entry = bench.log.read("t");
            REQUIRE(entry.has_value());
            CHECK(bench.log.list({}, "", 5).value().at(0) == entry.value());
            return entry.value()->why_text;
        };
        CHECK(text_of(R"("sold out")") == "sold out");
        for (char const* const other : {"null", "17", R"(["sold out"])", R"({"sold": "out"})"}) {
            CHECK(text_of(other).empty());
        }
        CHECK(text_of('"' + std::string(900'000, 'x') + '"') == std::string(500, 'x'));
        CHECK(text_of(R"("a\u0000b")") == "a");
    });
}

TEST_CASE("kept results: a keep that makes the entry too large is unfit and changes nothing") {
    on_both_servers([](kept_bench& bench) {
        std::string const before = bench.entry();
        auto const large = too_large();
        CHECK(bench.worker.keep(2, "me", large) == log_answer::unfit);
        CHECK(bench.worker.problem().code == settle::errc::bad_parameters);
        CHECK(bench.entry() == before);
        CHECK(bench.worker.keep(3, "me", {{0, 0, "1"}}) == log_answer::taken);
        CHECK(bench.worker.commit(4, "me", {}, large) == log_answer::unfit);
        CHECK(bench.log.read("t").value()->results == std::vector<kept_result>{{0, 0, "1"}});
    });
}

TEST_CASE("kept results: a keep that is too large fails alone in a call of several") {
    on_both_servers([](kept_bench& bench) {
        auto const large = too_large();
        std::vector<kept_result> const small{{0, 0, "1"}};
        settle::testing::entry_wave inserts{settle::step::insert};
        settle::testing::entry_wave keeps{settle::step::keep};
        for (char const* const id : {"a", "b", "c"}) {
            inserts.add_insert<direction>(id, settle::testing::usual_move(), state::pending, 9);
            auto& write = keeps.add_change<direction>(
                id, settle::testing::usual_move(), settle::testing::keep_of({state::pending, 9}));
            write.results = id == std::string{"b"} ? &large : &small;
        }
        inserts.send(bench.log, at_millisecond(2), "me");
        keeps.send(bench.log, at_millisecond(3), "me");
        CHECK(keeps.reply(0) == log_answer::taken);
        CHECK(keeps.reply(1) == log_answer::unfit);
        CHECK(keeps.reply(2) == log_answer::taken);
        CHECK(bench.log.read("b").value()->revision == 0);
        CHECK(bench.log.read("c").value()->results == small);
    });
}

} // namespace
} // namespace settle_test
