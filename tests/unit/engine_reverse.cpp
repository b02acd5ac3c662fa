// SPDX-License-Identifier: BSL-1.0
// Reversals: the records that each kind of participant leaves, and the refusals.
#include "engine_shop.hpp"

#include <settle/testing/faults.hpp>

namespace engine_test {

struct split {
    std::string first, second, destination;
    std::int64_t amount = 0;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::split, first, second, destination, amount);

namespace engine_test {

/// Two debits, possibly of the same account.
inline constexpr auto split_type = settle::transaction<split, "split">(
    settle::participant<"first">(accounts, param<&split::first>)
        .require(field<&account::balance> >= param<&split::amount>)
        .apply(field<&account::balance> -= param<&split::amount>)
        .compensate(settle::inverse),
    settle::participant<"second">(accounts, param<&split::second>)
        .require(field<&account::balance> >= param<&split::amount>)
        .apply(field<&account::balance> -= param<&split::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&split::destination>)
        .confirm(field<&account::balance> += param<&split::amount> * lit<2>));

namespace {

struct split_bank {
    settle::memory::database database;
    world_state world;
    std::function<void(settle::event const&)> watch;
    settle::engine<settle::memory::database, settle::type_tag<split_type>,
                   settle::environment_binding<manual_environment>, settle::observer_binding<hook>>
        engine{database, settle::type<split_type>,
               settle::with_environment(manual_environment{world}),
               settle::observed_by(hook{watch})};

    split_bank() { open_accounts(engine, {{"A", 100}, {"B", 100}, {"C", 0}}); }

    void check(std::int64_t a, std::int64_t b, std::int64_t c) {
        CHECK(balance_of(engine, "A") == a);
        CHECK(balance_of(engine, "B") == b);
        CHECK(balance_of(engine, "C") == c);
        CHECK(marks_in(engine) == 0);
    }
};

TEST_CASE("reverse: it returns debits and takes back credits") {
    split_bank b;
    SUBCASE("two accounts paid") {
        REQUIRE(b.engine.run("t", split{"A", "B", "C", 30}).done());
        b.check(70, 70, 60);
    }
    SUBCASE("one account paid twice") {
        REQUIRE(b.engine.run("t", split{"A", "A", "C", 30}).done());
        b.check(40, 100, 60);
    }
    SUBCASE("the destination paid as well") {
        REQUIRE(b.engine.run("t", split{"A", "B", "A", 30}).done());
        b.check(130, 70, 0);
    }
    auto const outcome = b.engine.reverse("t");
    CHECK(outcome.done());
    CHECK(outcome.id == "t/reverse");
    b.check(100, 100, 0);
    auto const kept = entry_of(b.engine, "t/reverse");
    CHECK(kept.state == state::done);
    CHECK(kept.type == "split/reverse");
    CHECK(entry_of(b.engine, "t").state == state::done);
    // A repeated call has the same outcome and no second effect.
    CHECK(b.engine.reverse("t") == outcome);
    b.check(100, 100, 0);
}

TEST_CASE("reverse: a transaction that cannot be reversed is refused with the reason") {
    split_bank b;
    auto const refused = [&](std::string const& id, settle::errc code, std::string const& text) {
        auto const outcome = b.engine.reverse(id);
        CAPTURE(outcome.text());
        CHECK(outcome.verdict == verdict::refused);
        CHECK(outcome.problem.code == code);
        CHECK(outcome.problem.message().find(text) != std::string::npos);
    };
    refused("nobody", settle::errc::unknown_id, "nobody");
    CHECK(b.engine.run("poor", split{"A", "B", "C", 101}).canceled());
    refused("poor", settle::errc::not_reversible, "canceled");
    CHECK(b.engine.submit("waits", split{"A", "B", "C", 1}).problem.empty());
    refused("waits", settle::errc::not_reversible, "initial");
    b.watch = kill_after(settle::step::commit);
    CHECK_THROWS_AS(std::ignore = b.engine.run("stuck", split{"A", "B", "C", 1}), killed);
    b.watch = nullptr;
    refused("stuck", settle::errc::not_reversible, "applied");
    REQUIRE(b.engine.run("t", split{"A", "B", "C", 30}).done());
    REQUIRE(b.engine.reverse("t").done());
    refused("t/reverse", settle::errc::not_reversible, "reversal");
    REQUIRE(b.engine.run("old", split{"A", "B", "C", 1}).done());
    b.world.time += b.engine.limits().resubmission;
    CHECK(b.engine.reverse("old").done());
    REQUIRE(b.engine.run("older", split{"A", "B", "C", 1}).done());
    b.world.time += b.engine.limits().resubmission + std::chrono::milliseconds{1};
    refused("older", settle::errc::not_reversible, "too long ago");
}

TEST_CASE("reverse: a canceled reversal is followed by the next number") {
    split_bank b;
    REQUIRE(b.engine.run("t", split{"A", "B", "C", 50}).done());
    REQUIRE(b.engine.run("spend", split{"C", "C", "A", 5}).done());
    for (std::string const id : {"t/reverse", "t/reverse/2", "t/reverse/3"}) {
        auto const outcome = b.engine.reverse("t");
        CHECK(outcome.id == id);
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::guard_failed);
        CHECK(outcome.participant == "destination");
    }
    REQUIRE(b.engine.run("refill", split{"A", "B", "C", 5}).done());
    auto const outcome = b.engine.reverse("t");
    CHECK(outcome.id == "t/reverse/4");
    CHECK(outcome.done());
    CHECK(b.engine.reverse("t") == outcome);
    CHECK_FALSE(b.engine.find("t/reverse/5").value());
    CHECK(balance_of(b.engine, "C") == 0);
    CHECK(marks_in(b.engine) == 0);
}

TEST_CASE("reverse: the search for the next number obeys the deadline and the stop request") {
    split_bank b;
    REQUIRE(b.engine.run("t", split{"A", "B", "C", 50}).done());
    REQUIRE(b.engine.run("spend", split{"C", "C", "A", 5}).done());
    for (int attempt = 0; attempt < 5; ++attempt) CHECK(b.engine.reverse("t").canceled());
    // Each read of the log takes 3 s of a deadline of 10 s, or requests the stop.
    settle::testing::faulty<settle::memory::database> slow{b.database};
    std::stop_source stop;
    int reads = 0;
    bool stops = false;
    slow.plan([&](settle::testing::call const& call) {
        if (call.what == "read" && ++reads > 0) b.world.elapsed += std::chrono::seconds{3};
        if (stops && reads == 3) stop.request_stop();
        return settle::testing::fault{};
    });
    settle::engine engine{slow, settle::type<split_type>,
                          settle::with_environment(manual_environment{b.world})};
    settle::call_options call;
    SUBCASE("the deadline") { call.deadline = std::chrono::seconds{10}; }
    SUBCASE("the stop request") {
        stops = true;
        call.stop = stop.get_token();
    }
    auto const outcome = engine.reverse("t", call);
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == settle::errc::stopped);
    CHECK(reads < 6);
    CHECK_FALSE(engine.find("t/reverse/6").value());
}

TEST_CASE("reverse: an abandoned reversal is recovered, taken over or canceled") {
    split_bank b;
    settle::engine engine{b.database, settle::type<split_type>,
                          settle::with_environment(manual_environment{b.world}),
                          settle::observed_by(hook{b.watch}), settle::early_entries};
    REQUIRE(b.engine.run("t", split{"A", "B", "C", 30}).done());
    b.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.reverse("t"), killed);
    b.watch = nullptr;
    CHECK(balance_of(b.engine, "C") == 0);
    SUBCASE("recovered") {
        b.world.time += std::chrono::hours{1};
        CHECK(engine.recover().done == 1);
    }
    SUBCASE("taken over by the next call, under the same id") {
        auto const outcome = engine.reverse("t");
        CHECK(outcome.done());
        CHECK(outcome.id == "t/reverse");
        CHECK(b.world.elapsed >= engine.limits().takeover);
    }
    SUBCASE("canceled, then tried again") {
        auto const outcome = engine.cancel("t/reverse");
        CHECK(outcome.canceled());
        CHECK(balance_of(b.engine, "C") == 60);
        CHECK(engine.reverse("t").id == "t/reverse/2");
    }
    b.check(100, 100, 0);
}

struct stationer {
    settle::memory::database database;
    settle::engine<settle::memory::database, settle::type_tag<order_type>,
                   settle::type_tag<create_type>, settle::type_tag<replace_type>,
                   settle::type_tag<drop_type>, settle::type_tag<label_type>,
                   settle::type_tag<sale_type>>
        engine{database,
               settle::type<order_type>,
               settle::type<create_type>,
               settle::type<replace_type>,
               settle::type<drop_type>,
               settle::type<label_type>,
               settle::type<sale_type>};

    stationer() {
        open_accounts(engine, {{"A", 100}});
        for (item const& one : {pen, ink}) engine.create(items, one).value();
    }
    std::optional<item> find_item(std::string const& code) {
        return engine.read(items, code).value();
    }
    void put(item const& item) { REQUIRE(engine.run<replace_type>(edit{"A", 0, item}).done()); }

    item const pen{"pen", 5, "open", "blue"};
    item const ink{"ink", 3, "open", {}};
};

TEST_CASE("reverse: the lines of a range are reversed, also two lines of one record") {
    stationer s;
    REQUIRE(s.engine.run("t", order{"A", "1", 10, {{"pen", 2}, {"ink", 1}, {"pen", 3}}}).done());
    REQUIRE(s.engine.reverse("t").done());
    CHECK(s.find_item("pen") == s.pen);
    CHECK(s.find_item("ink") == s.ink);
    CHECK(balance_of(s.engine, "A") == 100);
}

TEST_CASE("reverse: a created record is erased if it is unchanged") {
    stationer s;
    item const cap{"cap", 7, "new", "red"};
    REQUIRE(s.engine.run<create_type>("t", edit{"A", 4, cap}).done());
    SUBCASE("unchanged") {
        REQUIRE(s.engine.reverse("t").done());
        CHECK_FALSE(s.find_item("cap"));
        CHECK(balance_of(s.engine, "A") == 100);
    }
    SUBCASE("changed") {
        s.put({"cap", 7, "used", "red"});
        auto const outcome = s.engine.reverse("t");
        CHECK(outcome.why == reason::guard_failed);
        CHECK(outcome.participant == "item");
        CHECK(s.find_item("cap")->label == "used");
        CHECK(balance_of(s.engine, "A") == 96);
        s.put(cap);
        CHECK(s.engine.reverse("t").id == "t/reverse/2");
        CHECK_FALSE(s.find_item("cap"));
    }
    SUBCASE("gone") {
        REQUIRE(s.engine.run(drop{"cap"}).done());
        CHECK(s.engine.reverse("t").why == reason::record_missing);
        CHECK(balance_of(s.engine, "A") == 96);
    }
    CHECK(marks_in(s.engine) == 0);
}

TEST_CASE("reverse: an erased record is created again if its key is free") {
    stationer s;
    REQUIRE(s.engine.run("t", drop{"pen"}).done());
    SUBCASE("free") {
        REQUIRE(s.engine.reverse("t").done());
        CHECK(s.find_item("pen") == s.pen);
    }
    SUBCASE("taken") {
        s.engine.create(items, item{"pen", 1, "", {}}).value();
        CHECK(s.engine.reverse("t").why == reason::record_exists);
        CHECK(s.find_item("pen")->stock == 1);
    }
    CHECK(marks_in(s.engine) == 0);
}

TEST_CASE("reverse: an assignment is reversed only if the assigned value is unchanged") {
    stationer s;
    SUBCASE("a whole record") {
        REQUIRE(s.engine.run<replace_type>("t", edit{"A", 4, {"pen", 1, "used", {}}}).done());
        SUBCASE("it is unchanged") {
            REQUIRE(s.engine.reverse("t").done());
            CHECK(s.find_item("pen") == s.pen);
            CHECK(balance_of(s.engine, "A") == 100);
        }
        SUBCASE("one of its fields changed") {
            s.put({"pen", 1, "used", "green"});
            CHECK(s.engine.reverse("t").why == reason::guard_failed);
            CHECK(balance_of(s.engine, "A") == 96);
        }
    }
    SUBCASE("one field of several records") {
        REQUIRE(s.engine.run("t", labels{{{"pen"}, {"ink"}}, "open", "shut"}).done());
        SUBCASE("the entry lacks the image of a line") {
            using reversal = settle::backward<label_type>;
            auto const kept = entry_of(s.engine, "t").images;
            REQUIRE(kept.size() == 2);
            reversal::parameters parameters{};
            parameters.parameters = labels{{{"pen"}, {"ink"}}, "open", "shut"};
            parameters.images = kept;
            CHECK(reversal::check(parameters).why == reason::none);
            parameters.images.pop_back();
            auto const refused = reversal::check(parameters);
            CHECK(refused.why == reason::record_missing);
            CHECK(refused.where.line == kept.back().line);
            return;
        }
        // Another field may have changed meanwhile.
        REQUIRE(s.engine.run(order{"A", "1", 0, {{"ink", 1}}}).done());
        SUBCASE("it is unchanged") {
            REQUIRE(s.engine.reverse("t").done());
            CHECK(s.find_item("pen") == s.pen);
            CHECK(s.find_item("ink") == item{"ink", 2, "open", {}});
        }
        SUBCASE("the value of one record changed") {
            REQUIRE(s.engine.run(labels{{{"ink"}}, "shut", "gone"}).done());
            auto const outcome = s.engine.reverse("t");
            CHECK(outcome.why == reason::guard_failed);
            CHECK(*outcome.line == 1);
            CHECK(s.find_item("pen")->label == "shut");
            CHECK(s.find_item("ink")->label == "gone");
        }
    }
    SUBCASE("the assignment stands beside a sum") {
        REQUIRE(s.engine.run("t", sale{"pen", 2}).done());
        CHECK(s.find_item("pen") == item{"pen", 3, "sold", "blue"});
        REQUIRE(s.engine.run(order{"A", "1", 0, {{"pen", 1}}}).done());
        REQUIRE(s.engine.reverse("t").done());
        CHECK(s.find_item("pen") == item{"pen", 4, "open", "blue"});
    }
    CHECK(marks_in(s.engine) == 0);
}

} // namespace
} // namespace engine_test
