// SPDX-License-Identifier: BSL-1.0
// Reversals of sums beside an assignment, at both moments, as credits and as debits: the rest never
// falls below zero and stays in the member's range.
#include <settle/memory.hpp>
#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <string>

namespace reverse_sums_test {
namespace {

using settle::field;
using settle::may_pass_zero;
using settle::param;
using settle::participant;
using settle::reason;

struct shelf {
    std::string code;
    std::int64_t stock;
    std::int8_t tiny;
    std::string label;
    friend bool operator==(shelf const&, shelf const&) = default;
};
struct change {
    std::string code;
    std::int64_t amount;
    std::string label;
};
SETTLE_STRUCT(shelf, code, stock, tiny, label);
SETTLE_STRUCT(change, code, amount, label);

constexpr settle::collection<shelf, "shelves", &shelf::code> shelves;

constexpr auto fill_type = settle::transaction<change, "fill">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(field<&shelf::label> = param<&change::label>,
                 field<&shelf::stock> += param<&change::amount>));
constexpr auto fill_at_apply_type = settle::transaction<change, "fill_at_apply">(
    participant<"shelf">(shelves, param<&change::code>)
        .apply(field<&shelf::label> = param<&change::label>,
               field<&shelf::stock> += param<&change::amount>)
        .compensate(settle::inverse));
constexpr auto fill_freely_type = settle::transaction<change, "fill_freely">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(field<&shelf::label> = param<&change::label>,
                 may_pass_zero(field<&shelf::stock> += param<&change::amount>)));
constexpr auto empty_type = settle::transaction<change, "empty">(
    participant<"shelf">(shelves, param<&change::code>)
        .require(field<&shelf::stock> >= param<&change::amount>)
        .apply(field<&shelf::stock> -= param<&change::amount>)
        .compensate(settle::inverse)
        .confirm(field<&shelf::label> = param<&change::label>));
constexpr auto shrink_type = settle::transaction<change, "shrink">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(field<&shelf::label> = param<&change::label>,
                 may_pass_zero(field<&shelf::tiny> -= param<&change::amount>)));
constexpr auto grow_type = settle::transaction<change, "grow">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(field<&shelf::label> = param<&change::label>,
                 may_pass_zero(field<&shelf::tiny> += param<&change::amount>)));
/// Sums alone, which commute: other transactions may be pending beside them.
constexpr auto take_type = settle::transaction<change, "take">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(
            may_pass_zero(settle::signed_operand(field<&shelf::stock> -= param<&change::amount>))));
constexpr auto stretch_type = settle::transaction<change, "stretch">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(
            may_pass_zero(settle::signed_operand(field<&shelf::tiny> += param<&change::amount>))));
constexpr auto credit_type = settle::transaction<change, "credit">(
    participant<"shelf">(shelves, param<&change::code>)
        .confirm(field<&shelf::stock> += param<&change::amount>));

struct shop {
    settle::memory::database database;
    settle::engine<settle::memory::database, settle::type_tag<fill_type>,
                   settle::type_tag<fill_at_apply_type>, settle::type_tag<fill_freely_type>,
                   settle::type_tag<empty_type>, settle::type_tag<shrink_type>,
                   settle::type_tag<grow_type>, settle::type_tag<take_type>,
                   settle::type_tag<stretch_type>, settle::type_tag<credit_type>>
        engine{database,
               settle::type<fill_type>,
               settle::type<fill_at_apply_type>,
               settle::type<fill_freely_type>,
               settle::type<empty_type>,
               settle::type<shrink_type>,
               settle::type<grow_type>,
               settle::type<take_type>,
               settle::type<stretch_type>,
               settle::type<credit_type>};

    void open(std::int64_t stock, std::int8_t tiny = 0) {
        REQUIRE(engine.create(shelves, shelf{"pen", stock, tiny, "open"}).has_value());
    }
    template <auto const& Type>
    void run(std::string const& id, std::int64_t amount) {
        REQUIRE(engine.run<Type>(id, change{"pen", amount, "full"}).done());
    }
    /// The record after a reversal that ended so.
    void reverses(shelf const& after) {
        CHECK(engine.reverse("t").done());
        stands(after);
    }
    void stays(reason why, shelf const& after) {
        auto const outcome = engine.reverse("t");
        CHECK(outcome.canceled());
        CHECK(outcome.why == why);
        CHECK(outcome.participant == "shelf");
        stands(after);
    }
    void stands(shelf const& after) {
        CHECK(engine.read(shelves, "pen").value() == after);
        CHECK(engine.marks().value() == 0);
    }
};

TEST_CASE_TEMPLATE_DEFINE("reverse: a credit beside an assignment must still be there", Kind,
                          gains) {
    shop s;
    s.open(0);
    s.run<Kind::type>("t", 10);
    SUBCASE("the record has all of it") { s.reverses({"pen", 0, 0, "open"}); }
    SUBCASE("the record has more") {
        s.run<credit_type>("more", 5);
        s.reverses({"pen", 5, 0, "open"});
    }
    SUBCASE("some of it was taken") {
        s.run<take_type>("taken", 7);
        s.stays(reason::guard_failed, {"pen", 3, 0, "full"});
        s.run<credit_type>("again", 6);
        s.stays(reason::guard_failed, {"pen", 9, 0, "full"});
        s.run<credit_type>("enough", 1);
        s.reverses({"pen", 0, 0, "open"});
    }
}
template <auto const& Type>
struct kind {
    static constexpr auto const& type = Type;
};
TEST_CASE_TEMPLATE_INVOKE(gains, kind<fill_type>, kind<fill_at_apply_type>);

TEST_CASE("reverse: a credit that may pass zero is taken back below zero") {
    shop s;
    s.open(0);
    s.run<fill_freely_type>("t", 10);
    s.run<take_type>("taken", 7);
    s.reverses({"pen", -7, 0, "open"});
}

TEST_CASE("reverse: without a credit a record may be below zero") {
    shop s;
    s.open(-5);
    s.run<fill_type>("t", 0);
    s.reverses({"pen", -5, 0, "open"});
}

TEST_CASE("reverse: a debit beside an assignment is returned for any value of the record") {
    shop s;
    s.open(10);
    s.run<empty_type>("t", 4);
    SUBCASE("nothing else changed") { s.reverses({"pen", 10, 0, "open"}); }
    SUBCASE("the rest and more was taken") {
        s.run<take_type>("taken", 8);
        s.reverses({"pen", 2, 0, "open"});
    }
    SUBCASE("the record is far below zero") {
        s.run<take_type>("taken", 16);
        s.reverses({"pen", -6, 0, "open"});
    }
}

TEST_CASE("reverse: a narrow member beside an assignment keeps its range") {
    shop s;
    SUBCASE("a returned debit does not fit any more") {
        s.open(0, 100);
        s.run<shrink_type>("t", 50);
        s.run<stretch_type>("more", 30);
        s.stays(reason::overflow, {"pen", 0, 80, "full"});
        s.run<stretch_type>("less", -3);
        s.reverses({"pen", 0, 127, "open"});
    }
    SUBCASE("a taken credit leaves less than the member can hold") {
        s.open(0, 100);
        s.run<grow_type>("t", 20);
        s.run<stretch_type>("less", -229);
        s.stays(reason::overflow, {"pen", 0, -109, "full"});
        s.run<stretch_type>("more", 1);
        s.reverses({"pen", 0, -128, "open"});
    }
}

TEST_CASE("reverse: a reversed credit must be available, and a reversed debit needs no guard") {
    shop s;
    SUBCASE("a credit") {
        s.open(0);
        s.run<credit_type>("t", 10);
        s.run<take_type>("taken", 1);
        s.stays(reason::guard_failed, {"pen", 9, 0, "open"});
        s.run<credit_type>("again", 1);
        s.reverses({"pen", 0, 0, "open"});
    }
    SUBCASE("a credit that may pass zero") {
        s.open(0);
        s.run<take_type>("t", -10);
        s.run<take_type>("taken", 7);
        s.reverses({"pen", -7, 0, "open"});
    }
    SUBCASE("a credit of 0, below zero") {
        s.open(-5);
        s.run<credit_type>("t", 0);
        s.reverses({"pen", -5, 0, "open"});
    }
    SUBCASE("a debit, below zero") {
        s.open(-5);
        s.run<take_type>("t", 3);
        s.reverses({"pen", -5, 0, "open"});
    }
}

TEST_CASE("reverse: a changed assignment also keeps its sum") {
    shop s;
    s.open(0);
    s.run<fill_type>("t", 10);
    REQUIRE(s.engine.run<fill_type>("other", change{"pen", 1, "other"}).done());
    s.stays(reason::guard_failed, {"pen", 11, 0, "other"});
}

} // namespace
} // namespace reverse_sums_test
