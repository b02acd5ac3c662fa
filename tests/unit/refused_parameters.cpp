// SPDX-License-Identifier: BSL-1.0
// Parameters that are refused: the sentence names the condition, amount or sum, and its values.
#include <settle/memory.hpp>
#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace refused_parameters_test {
namespace {

using settle::each;
using settle::field;
using settle::param;

struct account {
    std::string id;
    std::int64_t balance;
};
struct share {
    std::string to;
    std::int64_t part;
};
struct gift {
    std::string from, to;
    std::int64_t amount, fee;
    std::string word;
    std::vector<share> shares;
};
SETTLE_STRUCT(account, id, balance);
SETTLE_STRUCT(share, to, part);
SETTLE_STRUCT(gift, from, to, amount, fee, word, shares);

} // namespace
} // namespace refused_parameters_test

template <>
inline constexpr bool settle::secret<&refused_parameters_test::gift::word> = true;

namespace refused_parameters_test {
namespace {

constexpr settle::collection<account, "accounts", &account::id> accounts;
constexpr auto gift_type =
    settle::transaction<gift, "gift">(
        settle::participant<"from">(accounts, param<&gift::from>)
            .require(field<&account::balance> >= param<&gift::amount> + param<&gift::fee>)
            .apply(field<&account::balance> -= param<&gift::amount>,
                   field<&account::balance> -= param<&gift::fee>)
            .compensate(settle::inverse),
        settle::participant<"to">(accounts, param<&gift::to>)
            .confirm(field<&account::balance> += param<&gift::amount>),
        settle::participant<"shares">(accounts, each<&gift::shares>, settle::line<&share::to>)
            .require(settle::line<&share::part> != settle::lit<13>)
            .confirm(field<&account::balance> += settle::line<&share::part>))
        .require(param<&gift::amount> <= 5000 && param<&gift::from> != param<&gift::to>)
        .require(param<&gift::word> != "no");

std::string sentence(gift const& gift) {
    settle::memory::database database;
    settle::engine engine{database, settle::type<gift_type>};
    settle::outcome const outcome = engine.run(gift);
    CHECK(outcome.verdict == settle::verdict::refused);
    CHECK(outcome.problem.code == settle::errc::bad_parameters);
    return outcome.problem.message();
}

std::string refused(std::string const& cause) {
    return "settle: the parameters are refused: " + cause +
           ". Correct them; nothing was written. See definition#parameters";
}

TEST_CASE("refused parameters: a negative amount is named with its value") {
    CHECK(sentence({"a", "b", -5, 0, "", {}}) ==
          refused("participant 'from': the amount param.amount is negative: amount = -5"));
    CHECK(sentence({"a", "b", std::numeric_limits<std::int64_t>::min(), 0, "", {}}) ==
          refused("participant 'from': the amount param.amount is negative: amount = "
                  "-9223372036854775808"));
    CHECK(sentence({"a", "b", 5, -1, "", {}}) ==
          refused("participant 'from': the amount param.fee is negative: fee = -1"));
    CHECK(sentence({"a", "b", 5, 0, "", {{"c", 1}, {"d", -3}}}) ==
          refused("participant 'shares', line 2: the amount line.part is negative: part = -3"));
}

TEST_CASE("refused parameters: a false condition is named with its values") {
    CHECK(sentence({"a", "b", 7000, 0, "", {}}) ==
          refused("the condition (param.amount <= 5000) does not hold: amount = 7000"));
    CHECK(sentence({"a", "a", 1, 0, "", {}}) ==
          refused("the condition (param.from != param.to) does not hold: from = \"a\", to = "
                  "\"a\""));
    CHECK(sentence({std::string(99, 'a'), std::string(99, 'a'), 1, 0, "", {}}) ==
          refused("the condition (param.from != param.to) does not hold: from = a text of 99 "
                  "bytes, to = a text of 99 bytes"));
    CHECK(sentence({"a", "b", 1, 0, "", {{"c", 1}, {"d", 2}, {"e", 13}}}) ==
          refused("participant 'shares', line 3: the condition (line.part != 13) does not hold: "
                  "part = 13"));
}

struct bounds {
    std::string id;
    std::int64_t price_max, max;
};
SETTLE_STRUCT(bounds, id, price_max, max);
constexpr auto bounds_type = settle::transaction<bounds, "bounds">(
                                 settle::participant<"account">(accounts, param<&bounds::id>)
                                     .confirm(field<&account::balance> += param<&bounds::max>))
                                 .require(param<&bounds::price_max> > param<&bounds::max>)
                                 .require(param<&bounds::id> != "a\nb");

TEST_CASE("refused parameters: each value is named on one line") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<bounds_type>};
    CHECK(engine.run(bounds{"a", 1, 1}).problem.message() ==
          refused("the condition (param.price_max > param.max) does not hold: price_max = 1, max "
                  "= 1"));
    auto const outcome = engine.run(bounds{"a\nb", 2, 1}).problem.message();
    CHECK(outcome.find("id = \"a\\x0ab\"") != std::string::npos);
}

using day = std::chrono::sys_days;
struct booking {
    std::string id;
    day old_until, new_until;
};
SETTLE_STRUCT(booking, id, old_until, new_until);
constexpr auto booking_type = settle::transaction<booking, "booking">(
                                  settle::participant<"account">(accounts, param<&booking::id>)
                                      .confirm(field<&account::balance> += settle::lit<1>))
                                  .require(param<&booking::new_until> > param<&booking::old_until>);

TEST_CASE("refused parameters: a time is shown as a date, and a condition as it was written") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<booking_type>};
    auto const until = day{std::chrono::days{20784}};
    auto const problem = [&](day to) {
        return engine.run(booking{"a", until, to}).problem.message();
    };
    CHECK(problem(until - std::chrono::days{1}) ==
          refused("the condition (param.new_until > param.old_until) does not hold: new_until = "
                  "2026-11-26, old_until = 2026-11-27"));
    std::string const far = problem(day{std::chrono::days{-1'000'000}});
    CHECK_MESSAGE(far.find("new_until = -1000000, old") != std::string::npos, far);
    std::string text;
    using std::chrono::milliseconds;
    settle::detail::put_time<milliseconds>(text, -1);
    text += ' ';
    settle::detail::put_time<std::chrono::seconds>(text, 1795780800 + 3661);
    CHECK(text == "1969-12-31T23:59:59.999Z 2026-11-27T13:01:01Z");
}

struct choice {
    std::string id;
    std::int64_t least, most;
};
SETTLE_STRUCT(choice, id, least, most);
constexpr auto choice_type = settle::transaction<choice, "choice">(
                                 settle::participant<"account">(accounts, param<&choice::id>)
                                     .confirm(field<&account::balance> += settle::lit<1>))
                                 .require(!(param<&choice::most> < param<&choice::least>));

struct setting {
    std::string id;
    bool on, paid;
    day until;
};
SETTLE_STRUCT(setting, id, on, paid, until);
constexpr auto setting_type = settle::transaction<setting, "setting">(
                                  settle::participant<"account">(accounts, param<&setting::id>)
                                      .confirm(field<&account::balance> += settle::lit<1>))
                                  .require(param<&setting::on> == true)
                                  .require(param<&setting::until> != day{std::chrono::days{20784}})
                                  .require(param<&setting::paid> != settle::lit<false>);

TEST_CASE("refused parameters: a constant is shown as it was written") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<setting_type>};
    auto const problem = [&](setting const& setting) {
        return engine.run(setting).problem.message();
    };
    CHECK(problem({"a", false, true, {}}) ==
          refused("the condition (param.on == true) does not hold: on = false"));
    CHECK(problem({"a", true, true, day{std::chrono::days{20784}}}) ==
          refused("the condition (param.until != 2026-11-27) does not hold: until = 2026-11-27"));
    CHECK(problem({"a", true, false, {}}) ==
          refused("the condition (param.paid != false) does not hold: paid = false"));
}

TEST_CASE("refused parameters: the values of a negated condition are named") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<choice_type>};
    auto const text = engine.run(choice{"a", 3, 2}).problem.message();
    CHECK_MESSAGE(text.find("least = 3") != std::string::npos, text);
    CHECK(text.find("most = 2") != std::string::npos);
}

struct slot {
    std::int16_t number;
    std::int64_t amount;
};
struct filling {
    std::int64_t base, offset;
};
SETTLE_STRUCT(slot, number, amount);
SETTLE_STRUCT(filling, base, offset);
constexpr settle::collection<slot, "slots", &slot::number> slots;
constexpr auto filling_type = settle::transaction<filling, "filling">(
    settle::participant<"slot">(slots, param<&filling::base> + param<&filling::offset>)
        .confirm(field<&slot::amount> += settle::lit<1>));

TEST_CASE("refused parameters: a key that does not fit changes no record") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<filling_type>};
    engine.create(slots, slot{0, 0}).value();
    engine.create(slots, slot{1, 0}).value();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto const beyond = engine.run(filling{most, 1});
    CHECK(beyond.verdict == settle::verdict::refused);
    CHECK(beyond.why == settle::reason::overflow);
    CHECK(beyond.problem.message() ==
          refused("participant 'slot': the value of (param.base + param.offset) exceeds 64 bits: "
                  "base = 9223372036854775807, offset = 1"));
    CHECK(engine.run(filling{65536, 1}).problem.message() ==
          refused("participant 'slot': the key (param.base + param.offset) exceeds the range of "
                  "its type: base = 65536, offset = 1"));
    CHECK(engine.run(filling{0, 1}).done());
    CHECK(engine.read(slots, 0).value()->amount == 0);
    CHECK(engine.read(slots, 1).value()->amount == 1);
}

TEST_CASE("refused parameters: a secret value is not shown") {
    CHECK(sentence({"a", "b", 1, 0, "no", {}}) ==
          refused("the condition (param.word != \"no\") does not hold: word = ***"));
}

TEST_CASE("refused parameters: a sum beyond 64 bits is named with its terms") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(sentence({"a", "b", 7, most, "", {}}) ==
          refused("participant 'from': the value of (param.amount + param.fee) exceeds 64 "
                  "bits: amount = 7, fee = 9223372036854775807"));
}

} // namespace
} // namespace refused_parameters_test
