// SPDX-License-Identifier: BSL-1.0
// The fingerprint of a definition, and the changes of the definition that change it.
#include <settle/definition/canonical.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace canonical_bank {

struct account {
    std::string id;
    std::int64_t balance;
};
struct transfer {
    std::string source, destination;
    std::int64_t amount;
};

} // namespace canonical_bank

namespace canonical {

enum class state : std::int32_t { open, closed };
enum class small_state : std::int8_t { open, closed };
template <typename Rep, typename Ratio>
using time_of =
    std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<Rep, Ratio>>;
using milliseconds = time_of<std::int64_t, std::milli>;
using seconds = time_of<std::int64_t, std::ratio<1>>;
using short_seconds = time_of<std::int32_t, std::ratio<1>>;

struct account {
    std::string id;
    std::int64_t balance;
    std::int64_t reserved;
    std::string owner;
    std::optional<std::string> note;
};
/// The same with a field that no participant touches.
struct wider_account {
    std::string id;
    std::int64_t balance;
    bool unrelated;
    std::int64_t reserved;
    std::string owner;
    std::optional<std::string> note;
};
/// The same with other widths.
struct narrow_account {
    std::int64_t id;
    std::int32_t balance;
    std::int32_t reserved;
};
struct order {
    std::string id;
    state phase;
    std::int64_t total;
};
struct line {
    std::string article;
    std::int64_t quantity;
};
struct parameters {
    std::string source;
    std::string other;
    std::int64_t amount;
    std::int64_t fee;
    std::int64_t number;
    state phase;
    order placed;
    std::vector<line> lines;
    std::vector<line> returns;
};

template <typename T>
struct holder {
    std::string source;
    T value;
};
struct holder_renamed {
    std::string source;
    std::int64_t worth;
};

} // namespace canonical

BOOST_HANA_ADAPT_STRUCT(canonical_bank::account, id, balance);
BOOST_HANA_ADAPT_STRUCT(canonical_bank::transfer, source, destination, amount);
BOOST_HANA_ADAPT_STRUCT(canonical::account, id, balance, reserved, owner, note);
BOOST_HANA_ADAPT_STRUCT(canonical::wider_account, id, balance, unrelated, reserved, owner, note);
BOOST_HANA_ADAPT_STRUCT(canonical::narrow_account, id, balance, reserved);
BOOST_HANA_ADAPT_STRUCT(canonical::order, id, phase, total);
BOOST_HANA_ADAPT_STRUCT(canonical::line, article, quantity);
BOOST_HANA_ADAPT_STRUCT(canonical::parameters, source, other, amount, fee, number, phase, placed,
                        lines, returns);
BOOST_HANA_ADAPT_STRUCT(canonical::holder_renamed, source, worth);

#define CANONICAL_HOLDER(...) BOOST_HANA_ADAPT_STRUCT(canonical::holder<__VA_ARGS__>, source, value)
CANONICAL_HOLDER(std::int64_t);
CANONICAL_HOLDER(std::int32_t);
CANONICAL_HOLDER(std::uint32_t);
CANONICAL_HOLDER(std::int8_t);
CANONICAL_HOLDER(bool);
CANONICAL_HOLDER(std::string);
CANONICAL_HOLDER(std::optional<std::int64_t>);
CANONICAL_HOLDER(std::vector<std::int64_t>);
CANONICAL_HOLDER(canonical::line);
CANONICAL_HOLDER(std::vector<canonical::line>);
CANONICAL_HOLDER(canonical::state);
CANONICAL_HOLDER(canonical::small_state);
CANONICAL_HOLDER(canonical::milliseconds);
CANONICAL_HOLDER(canonical::seconds);
CANONICAL_HOLDER(canonical::short_seconds);

namespace {

using namespace canonical;
using settle::each;
using settle::field;
using settle::lit;
using settle::param;
using settle::participant;
using settle::transaction;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::collection<wider_account, "accounts", &wider_account::id> wider_accounts;
inline constexpr settle::collection<narrow_account, "accounts", &narrow_account::id>
    narrow_accounts;
inline constexpr settle::collection<order, "orders", &order::id> orders;

constexpr auto balance = field<&account::balance>;
constexpr auto reserved = field<&account::reserved>;
constexpr auto amount = param<&parameters::amount>;
constexpr auto fee = param<&parameters::fee>;
constexpr auto source = participant<"source">(accounts, param<&parameters::source>);

template <typename... Participants>
std::string text(Participants const&... participants) {
    return settle::canonical_text(transaction<parameters, "type">(participants...));
}

/// Two definitions have equal texts exactly when they run alike.
template <typename A, typename B>
bool same(A const& left, B const& right) {
    return text(left) == text(right) &&
           settle::fingerprint(text(left)) == settle::fingerprint(text(right));
}
template <typename A, typename B>
bool differ(A const& left, B const& right) {
    return text(left) != text(right) &&
           settle::fingerprint(text(left)) != settle::fingerprint(text(right));
}

template <typename T>
std::string with_parameter() {
    return settle::canonical_text(transaction<holder<T>, "type">(
        participant<"source">(accounts, param<&holder<T>::source>).confirm(balance += lit<1>)));
}

} // namespace

namespace canonical_bank {

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(field<&account::balance> += param<&transfer::amount>),
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace canonical_bank

TEST_SUITE("definition: canonical text") {
    TEST_CASE("canonical: the transfer has its fixed text and fingerprint") {
        // Entries in users' logs carry this number, and an engine refuses an entry with another
        // number. A different text for the same definition changes the meaning of "settle 1": raise
        // that number in canonical_text, and state in the CHANGELOG that the old program must drain
        // unfinished entries before the upgrade.
        std::string const expected =
            "settle 1\n"
            "transaction transfer\n"
            "parameters {source:text,destination:text,amount:i64,}\n"
            "participant source in accounts where id:text == param.source\n"
            " require balance:i64 >= param.amount\n"
            " apply balance:i64 -= param.amount\n"
            "participant destination in accounts where id:text == param.destination\n"
            " confirm balance:i64 += param.amount\n";
        CHECK(settle::canonical_text(canonical_bank::transfer_type) == expected);
        CHECK(settle::fingerprint(expected) == 0xfaa10787ec0a8748U);
    }

    TEST_CASE("canonical: the fingerprint is FNV-1a") {
        // The vectors of the draft's appendix.
        CHECK(settle::fingerprint("") == 0xcbf29ce484222325U);
        CHECK(settle::fingerprint("a") == 0xaf63dc4c8601ec8cU);
        CHECK(settle::fingerprint("foobar") == 0x85944171f73967e8U);
    }

    TEST_CASE("canonical: the spelling of a guard does not matter") {
        auto const by = [](auto const& condition) {
            return source.require(condition).confirm(balance += amount);
        };
        CHECK(same(by(balance >= amount), by(amount <= balance)));
        CHECK(same(by(balance >= amount), by(balance - amount >= lit<0>)));
        CHECK(same(by(balance > amount), by(amount < balance)));
        CHECK(same(by(balance == amount), by(amount == balance)));
        CHECK(same(by(balance != amount), by(amount != balance)));
        CHECK(same(by(balance >= reserved), by(reserved <= balance)));
        CHECK(same(by(balance > reserved), by(reserved < balance)));
        CHECK(same(by(amount > fee), by(fee < amount)));
        CHECK(same(by(!(balance > reserved)), by(!(reserved < balance))));
        CHECK(same(by(balance >= lit<5>), by(balance >= 5)));
        CHECK(same(by(field<&account::owner> == "a"), by(lit<"a"> == field<&account::owner>)));
        CHECK(same(
            by(balance >= amount && amount > fee),
            source.require(balance >= amount).require(amount > fee).confirm(balance += amount)));
    }

    TEST_CASE("canonical: the meaning of a guard matters") {
        auto const by = [](auto const& condition) {
            return source.require(condition).confirm(balance += amount);
        };
        auto const usual = by(balance >= amount);
        CHECK(differ(usual, source.confirm(balance += amount)));
        CHECK(differ(usual, by(balance <= amount)));
        CHECK(differ(usual, by(balance > amount)));
        CHECK(differ(usual, by(balance == amount)));
        CHECK(differ(by(balance != amount), by(balance == amount)));
        CHECK(differ(usual, by(balance >= fee)));
        CHECK(differ(usual, by(reserved >= amount)));
        CHECK(differ(usual, by(balance >= lit<5>)));
        CHECK(differ(by(balance >= lit<5>), by(balance >= lit<6>)));
        CHECK(differ(by(balance >= reserved), by(reserved >= balance)));
        CHECK(differ(usual, by(balance >= amount + fee)));
        CHECK(differ(by(balance >= amount - fee), by(balance >= fee - amount)));
        CHECK(differ(usual, by(balance >= amount && amount > fee)));
        CHECK(differ(by(balance >= amount || amount > fee), by(balance >= amount && amount > fee)));
        CHECK(differ(by(balance >= reserved), by(!(balance >= reserved))));
        CHECK(differ(by(field<&account::note> == ""), by(field<&account::note> == std::nullopt)));
    }

    TEST_CASE("canonical: a quoted text cannot look like other syntax") {
        auto const owned = [](auto const& value) {
            return source.require(field<&account::owner> == value).confirm(balance += amount);
        };
        CHECK(differ(owned("a"), owned("b")));
        CHECK(differ(owned("a\" && \"b"), owned("a\\\" && \\\"b")));
        CHECK(differ(owned("\\"), owned("\\\\")));
        CHECK(differ(owned("none"), owned(param<&parameters::source>)));
        CHECK(differ(owned("a"), owned("a\n require (balance:i64 == 0)")));
        CHECK(text(owned("say \"no\"")).find(R"("say \"no\"")") != std::string::npos);
    }

    TEST_CASE("canonical: the spelling of effects and compensations does not matter") {
        auto const guarded = source.require(balance >= amount);
        auto const usual = guarded.apply(balance -= amount).compensate(balance += amount);
        CHECK(same(usual, guarded.apply(balance -= amount).compensate(settle::inverse)));
        CHECK(same(usual, guarded.apply(balance = balance - amount).compensate(settle::inverse)));
        CHECK(same(usual, guarded.compensate(balance += amount).apply(balance -= amount)));
        CHECK(
            same(guarded.apply(balance -= amount, reserved += amount).compensate(settle::inverse),
                 guarded.apply(reserved += amount, balance -= amount).compensate(settle::inverse)));
        // Only the compiler checks whether a debit may pass zero; the engine does not.
        CHECK(same(
            usual,
            guarded.apply(settle::may_pass_zero(balance -= amount)).compensate(settle::inverse)));
        auto const placed = participant<"order">(orders, param<&parameters::other>);
        CHECK(same(
            placed.apply(settle::create(param<&parameters::placed>)).compensate(settle::inverse),
            placed
                .apply(settle::create(
                    field<&order::total> = param<&parameters::placed, &order::total>,
                    field<&order::phase> = param<&parameters::placed, &order::phase>))
                .compensate(settle::erase)));
    }

    TEST_CASE("canonical: the action and the moment of an effect matter") {
        auto const pass = [](auto const& effect) { return settle::may_pass_zero(effect); };
        auto const usual = source.apply(pass(balance -= amount)).compensate(settle::inverse);
        CHECK(differ(usual, source.confirm(pass(balance -= amount))));
        CHECK(differ(usual, source.apply(balance += amount).compensate(settle::inverse)));
        CHECK(differ(usual, source.apply(balance = amount).compensate(settle::inverse)));
        CHECK(differ(usual, source.apply(pass(balance -= fee)).compensate(settle::inverse)));
        CHECK(differ(usual, source.apply(pass(reserved -= amount)).compensate(settle::inverse)));
        CHECK(differ(
            usual,
            source.apply(pass(balance -= amount), reserved += amount).compensate(settle::inverse)));
        CHECK(differ(usual, source.apply(pass(balance -= amount))
                                .compensate(settle::inverse)
                                .confirm(reserved += amount)));
        // A signed operand drops the implicit guard, so other parameters are let through.
        CHECK(differ(usual, source.apply(pass(settle::signed_operand(balance -= amount)))
                                .compensate(settle::inverse)));
        CHECK(differ(source.confirm(settle::erase), source.confirm(balance += lit<0>)));
        auto const placed = participant<"order">(orders, param<&parameters::other>);
        CHECK(differ(
            placed.apply(settle::create(param<&parameters::placed>)).compensate(settle::inverse),
            placed.apply(settle::replace(param<&parameters::placed>)).compensate(settle::inverse)));
    }

    TEST_CASE("canonical: names, keys, collections and the order of participants matter") {
        auto const first = source.confirm(balance += amount);
        CHECK(differ(
            first,
            participant<"other">(accounts, param<&parameters::source>).confirm(balance += amount)));
        CHECK(differ(
            first,
            participant<"source">(accounts, param<&parameters::other>).confirm(balance += amount)));
        static constexpr settle::collection<account, "customers", &account::id> customers;
        CHECK(differ(first, participant<"source">(customers, param<&parameters::source>)
                                .confirm(balance += amount)));
        static constexpr settle::collection<account, "accounts", &account::owner> by_owner;
        CHECK(differ(first, participant<"source">(by_owner, param<&parameters::source>)
                                .confirm(balance += amount)));
        auto const second =
            participant<"other">(accounts, param<&parameters::other>).confirm(balance += fee);
        CHECK(text(first, second) != text(second, first));
        CHECK(text(first, second) != text(first));

        auto const type = transaction<parameters, "type">(first);
        CHECK(settle::canonical_text(type) !=
              settle::canonical_text(transaction<parameters, "other">(first)));
        CHECK(settle::canonical_text(type) !=
              settle::canonical_text(type.require(amount > lit<0>)));
        CHECK(settle::canonical_text(type.require(amount > lit<0>)) ==
              settle::canonical_text(type.require(lit<0> < amount)));
        CHECK(settle::canonical_text(type.require(amount > lit<0>)) !=
              text(source.require(amount > lit<0>).confirm(balance += amount)));
    }

    TEST_CASE("canonical: a range differs from a record, and its vector matters") {
        constexpr auto article = settle::line<&line::article>;
        constexpr auto quantity = settle::line<&line::quantity>;
        auto const sold = participant<"source">(accounts, each<&parameters::lines>, article)
                              .confirm(balance += quantity);
        CHECK(differ(sold, participant<"source">(accounts, each<&parameters::returns>, article)
                               .confirm(balance += quantity)));
        CHECK(differ(sold, participant<"goods">(accounts, each<&parameters::lines>, article)
                               .confirm(balance += quantity)));
        CHECK(differ(
            participant<"source">(accounts, each<&parameters::lines>, param<&parameters::source>)
                .confirm(balance += amount),
            source.confirm(balance += amount)));
        CHECK(text(sold).find("participant source each param.lines in accounts where id:text == "
                              "line.article\n") != std::string::npos);
    }

    TEST_CASE("canonical: untouched fields do not matter, and widths of touched fields do") {
        auto const narrow = participant<"source">(accounts, param<&parameters::source>)
                                .require(reserved == lit<0>)
                                .confirm(balance += amount);
        CHECK(same(narrow, participant<"source">(wider_accounts, param<&parameters::source>)
                               .require(field<&wider_account::reserved> == lit<0>)
                               .confirm(field<&wider_account::balance> += amount)));
        auto const by_number = [](auto const& of, auto const& effect) {
            return participant<"source">(of, param<&parameters::number>).confirm(effect);
        };
        static constexpr settle::collection<account, "accounts", &account::reserved> by_reserved;
        // The key is a number in both, of another width and name in each.
        CHECK(differ(by_number(narrow_accounts, field<&narrow_account::balance> += amount),
                     by_number(by_reserved, balance += amount)));
        CHECK(text(by_number(narrow_accounts, field<&narrow_account::balance> += amount))
                  .find("balance:i32 += param.amount") != std::string::npos);
        // A field that only a guard reads has a width as well.
        CHECK(text(participant<"source">(narrow_accounts, param<&parameters::number>)
                       .require(field<&narrow_account::reserved> == lit<0>)
                       .confirm(field<&narrow_account::balance> += amount))
                  .find("reserved:i32") != std::string::npos);
    }

    TEST_CASE("canonical: names, kinds, widths, signs and units of parameters matter") {
        std::vector<std::string> const texts{
            with_parameter<std::int64_t>(),
            with_parameter<std::int32_t>(),
            with_parameter<std::uint32_t>(),
            with_parameter<std::int8_t>(),
            with_parameter<bool>(),
            with_parameter<std::string>(),
            with_parameter<std::optional<std::int64_t>>(),
            with_parameter<std::vector<std::int64_t>>(),
            with_parameter<line>(),
            with_parameter<std::vector<line>>(),
            with_parameter<state>(),
            with_parameter<small_state>(),
            with_parameter<milliseconds>(),
            with_parameter<seconds>(),
            with_parameter<short_seconds>(),
            settle::canonical_text(transaction<holder_renamed, "type">(
                participant<"source">(accounts, param<&holder_renamed::source>)
                    .confirm(balance += lit<1>))),
        };
        for (std::size_t i = 0; i < texts.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                INFO(texts[i], texts[j]);
                CHECK(texts[i] != texts[j]);
                CHECK(settle::fingerprint(texts[i]) != settle::fingerprint(texts[j]));
            }
        }
    }
}
