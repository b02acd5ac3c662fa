// SPDX-License-Identifier: BSL-1.0
// Structs whose members no macro lists are kept like the same structs with SETTLE_STRUCT, and a
// member that is stored under another name like a member of that name.
#include "sqlite_file.hpp"

#include <aggregates_suite.hpp>

#include <settle/definition/canonical.hpp>

namespace aggregates {

struct purse {
    std::string owner;
    std::int64_t saldo = 0;
};
struct gift {
    std::string to;
    std::int64_t amount = 0;
};
struct renamed_purse {
    std::string name;
    std::int64_t balance = 0;
};
struct renamed_gift {
    std::string receiver;
    std::int64_t sum = 0;
};

} // namespace aggregates

SETTLE_STRUCT(aggregates::renamed_purse, (name, "owner"), (balance, "saldo"));
SETTLE_STRUCT(aggregates::renamed_gift, (receiver, "to"), (sum, "amount"));

namespace aggregates {
namespace {

/// What the adapters know of a type of member: they see no other description of a struct.
void append_access(std::string& out, settle::detail::member_access const& access) {
    out += std::to_string(static_cast<int>(access.kind)) + (access.optional ? "?" : "");
    out += ' ' + std::to_string(access.unit_num) + '/' + std::to_string(access.unit_den);
    if (access.nested == nullptr) return;
    for (auto const& field : access.nested->fields) {
        out.append(" {").append(field.name).append(" ");
        append_access(out, *field.access);
        out += '}';
    }
    if (access.nested->element != nullptr) append_access(out += " of ", *access.nested->element);
}
template <typename Record>
std::string description() {
    std::string out;
    for (auto const& member : settle::detail::descriptor_of_record<Record>.members) {
        out.append(member.name).append(" ");
        append_access(out, *member.access);
        out += ' ' + std::to_string(member.integer) + ' ' + std::to_string(member.least) + ' ' +
               std::to_string(member.most) + ' ' + std::to_string(member.places) + '\n';
    }
    return out;
}

TEST_CASE("aggregates: a listed and an unlisted struct give a definition one hash") {
    auto const text = settle::canonical_text(pay_type<false>);
    CHECK(text == settle::canonical_text(pay_type<true>));
    CHECK(settle::fingerprint(text) == 0x76a770e8452d4401U);
    CHECK(settle::canonical_text(restore_type<false>) ==
          settle::canonical_text(restore_type<true>));
    CHECK(settle::canonical_text(credit_type<false>) == settle::canonical_text(credit_type<true>));
}

TEST_CASE("aggregates: every store gets the same description") {
    CHECK(description<invoice<false>>() == description<invoice<true>>());
    CHECK(description<invoice<false>>().starts_with("id 3 1/1"));
}

/// Shape:   Owner, Saldo, To, Amount - members of Purse and Gift
template <typename Purse, auto Owner, auto Saldo, typename Gift, auto To, auto Amount>
struct giving {
    static constexpr settle::collection<Purse, "purses", Owner> purses{};
    static constexpr auto type =
        settle::transaction<Gift, "gift">(settle::participant<"to">(purses, param<To>)
                                              .require(field<Saldo> <= lit<1000>)
                                              .confirm(field<Saldo> += param<Amount>));

    static std::vector<std::string> rows() {
        sqlite_test::folder folder;
        settle::sqlite::database db{folder.file()};
        settle::engine engine{db, settle::type<type>};
        engine.create(purses, Purse{"anna", 5}).value();
        CHECK(engine.run("g", Gift{"anna", 7}).done());
        auto rows = sqlite_test::sql(folder.file(), "SELECT owner, saldo FROM purses");
        rows.push_back(sqlite_test::sql(folder.file(), "SELECT parameters FROM settle_entries")[0]);
        return rows;
    }
};

TEST_CASE("aggregates: a member is stored under another name, as if it had that name") {
    using own = giving<purse, &purse::owner, &purse::saldo, gift, &gift::to, &gift::amount>;
    using renamed = giving<renamed_purse, &renamed_purse::name, &renamed_purse::balance,
                           renamed_gift, &renamed_gift::receiver, &renamed_gift::sum>;
    CHECK(settle::canonical_text(renamed::type) == settle::canonical_text(own::type));
    auto const rows = renamed::rows();
    CHECK(rows == own::rows());
    CHECK(rows == std::vector<std::string>{"anna|12", R"({"to":"anna","amount":7})"});
    CHECK(settle::decode_json<renamed_purse>(R"({"owner":"bert","saldo":2})").value().balance == 2);
}

struct wide {
    int m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16;
    std::string n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, länge;
};

TEST_CASE("aggregates: 32 members of a struct without a name for other files") {
    wide value{};
    value.m16 = 16;
    value.länge = "32";
    auto const text = settle::encode_json(value);
    CHECK(text.starts_with("{\"m1\":0,\"m2\":0,"));
    CHECK(text.ends_with("\"n15\":\"\",\"länge\":\"32\"}"));
    CHECK(settle::encode_json(settle::decode_json<wide>(text).value()) == text);
    CHECK(settle::member_index<wide, &wide::m16> == 15);
    CHECK(settle::member<wide, 15>::in(value) == 16);
}

TEST_CASE("aggregates: a struct of a function and one without members") {
    struct inner {
        std::vector<std::optional<std::int32_t>> list;
    };
    struct empty {};
    CHECK(settle::encode_json(inner{{1, std::nullopt}}) == R"({"list":[1,null]})");
    CHECK(settle::encode_json(empty{}) == "{}");
}

} // namespace
} // namespace aggregates
