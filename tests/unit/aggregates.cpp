// SPDX-License-Identifier: BSL-1.0
// Structs whose members no macro lists are kept like the same structs with SETTLE_STRUCT.
#include "sqlite_file.hpp"

#include <settle/definition/canonical.hpp>

namespace aggregates {

enum class status : std::int32_t { open, paid };

/// Shape:   Listed - true where SETTLE_STRUCT lists the members
template <bool Listed>
struct line {
    std::string article;
    std::int32_t quantity = 1;
    std::optional<std::int64_t> price{};
};
template <bool Listed>
struct address {
    std::string street;
    std::int16_t door = 0;
};
template <bool Listed>
struct invoice {
    std::string id;
    std::int64_t total = 0;
    bool checked = false;
    status state = status::open;
    sqlite_test::second due{};
    std::optional<std::string> note{};
    address<Listed> home{};
    std::vector<line<Listed>> lines{};
    std::vector<std::int64_t> counts{};
};
template <bool Listed>
struct payment {
    std::string id;
    std::int64_t amount = 0;
    invoice<Listed> replacement{};
    std::vector<line<Listed>> lines{};
};

} // namespace aggregates

SETTLE_STRUCT(aggregates::line<true>, article, quantity, price);
SETTLE_STRUCT(aggregates::address<true>, street, door);
SETTLE_STRUCT(aggregates::invoice<true>, id, total, checked, state, due, note, home, lines, counts);
SETTLE_STRUCT(aggregates::payment<true>, id, amount, replacement, lines);

namespace aggregates {
namespace {

using settle::field;
using settle::lit;
using settle::param;

template <bool Listed>
inline constexpr settle::collection<invoice<Listed>, "invoices", &invoice<Listed>::id> invoices;

template <bool Listed>
inline constexpr auto pay_type = settle::transaction<payment<Listed>, "pay">(
    settle::participant<"invoice">(invoices<Listed>, param<&payment<Listed>::id>)
        .require(field<&invoice<Listed>::state> == lit<status::open>)
        .require(field<&invoice<Listed>::total> >= param<&payment<Listed>::amount>)
        .apply(field<&invoice<Listed>::state> = lit<status::paid>,
               field<&invoice<Listed>::total> -= param<&payment<Listed>::amount>)
        .compensate(field<&invoice<Listed>::state> = lit<status::open>,
                    field<&invoice<Listed>::total> += param<&payment<Listed>::amount>)
        .confirm(field<&invoice<Listed>::home> =
                     param<&payment<Listed>::replacement, &invoice<Listed>::home>));

template <bool Listed>
inline constexpr auto restore_type = settle::transaction<payment<Listed>, "restore">(
    settle::participant<"invoice">(invoices<Listed>, param<&payment<Listed>::id>)
        .confirm(settle::replace(param<&payment<Listed>::replacement>)));

template <bool Listed>
inline constexpr auto credit_type = settle::transaction<payment<Listed>, "credit">(
    settle::participant<"invoices">(invoices<Listed>, settle::each<&payment<Listed>::lines>,
                                    settle::line<&line<Listed>::article>)
        .confirm(field<&invoice<Listed>::total> += settle::line<&line<Listed>::quantity>));

template <bool Listed>
invoice<Listed> first_invoice() {
    return {"i1",
            500,
            true,
            status::open,
            sqlite_test::second{std::chrono::seconds{86400}},
            "ä",
            {"Hill", 7},
            {{"pen", 2, 40}, {"ink", 1, std::nullopt}},
            {1, -1}};
}

/// What an SQLite file keeps of the records and of the transactions.
template <bool Listed>
std::vector<std::string> kept_rows() {
    sqlite_test::folder folder;
    settle::sqlite::database db{folder.file()};
    settle::engine engine{db, settle::type<pay_type<Listed>>, settle::type<restore_type<Listed>>,
                          settle::type<credit_type<Listed>>};
    auto second = first_invoice<Listed>();
    second.id = "i2";
    engine.create(invoices<Listed>, first_invoice<Listed>()).value();
    engine.create(invoices<Listed>, second).value();
    second.total = 9;
    second.lines.clear();
    using given = payment<Listed>;
    auto const paid = engine.template run<pay_type<Listed>>("pay", given{"i1", 120, second, {}});
    CHECK(paid.verdict == settle::verdict::done);
    auto const again = engine.template run<pay_type<Listed>>("again", given{"i1", 1, {}, {}});
    CHECK(again.verdict == settle::verdict::canceled);
    auto const restored =
        engine.template run<restore_type<Listed>>("restore", given{"i2", 0, second, {}});
    CHECK(restored.verdict == settle::verdict::done);
    auto const credited = engine.template run<credit_type<Listed>>(
        "credit", given{"", 0, {}, {{"i1", 3, {}}, {"i2", 4, 1}}});
    CHECK(credited.verdict == settle::verdict::done);
    auto rows = sqlite_test::sql(folder.file(), "SELECT * FROM invoices ORDER BY id");
    auto const entries = sqlite_test::sql(
        folder.file(), "SELECT definition, parameters, images FROM settle_entries ORDER BY id");
    rows.insert(rows.end(), entries.begin(), entries.end());
    return rows;
}

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

TEST_CASE("aggregates: a listed and an unlisted struct are stored byte by byte the same") {
    auto const rows = kept_rows<false>();
    CHECK(rows == kept_rows<true>());
    REQUIRE(rows.size() == 6);
    CHECK(rows[0] == R"(i1|383|1|1|86400|ä|{"street":"Hill","door":7}|)"
                     R"([{"article":"pen","quantity":2,"price":40},)"
                     R"({"article":"ink","quantity":1,"price":null}]|[1,-1])");
    std::string const parameters =
        R"({"id":"i2","amount":0,"replacement":{"id":"i2","total":9,"checked":true,"state":0,)"
        R"("due":86400,"note":"ä","home":{"street":"Hill","door":7},"lines":[],)"
        R"("counts":[1,-1]},"lines":[]})";
    CHECK(rows[5].starts_with("e71b99ec3f567e5a|" + parameters + "|["));
    CHECK(rows[5].ends_with(R"("after":{"id":"i2","total":9,"checked":true,"state":0,)"
                            R"("due":86400,"note":"ä","home":{"street":"Hill","door":7},)"
                            R"("lines":[],"counts":[1,-1]}}])"));
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
