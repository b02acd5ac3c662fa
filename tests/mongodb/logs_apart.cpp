// SPDX-License-Identifier: BSL-1.0
// One database can hold settle's own log and logs in the layouts of other programs. Records belong
// to one log, and a program with another log is refused before any write.
#include "taken_over.hpp"

#include <payment/tutorial.hpp>

namespace {

using bank::tutorial::transfer_type;
using settle_test::fresh_database;
using settle_test::replica_set_address;
using settle_test::run_command;
using settle_test::standalone_address;

struct moved {
    std::string source;
    std::int64_t value;
};

} // namespace
BOOST_HANA_ADAPT_STRUCT(moved, source, value);

namespace {

/// Another type. An entry of a transfer has its parameters too.
constexpr auto moved_type = settle::transaction<moved, "gift">(
    settle::participant<"source">(bank::tutorial::accounts, settle::param<&moved::source>)
        .apply(settle::field<&bank::tutorial::account::balance> += settle::param<&moved::value>)
        .compensate(settle::inverse));

settle::mongodb::tutorial_layout transfers() {
    settle::mongodb::tutorial_layout documents;
    documents.fields = {{"amount", "value"}};
    return documents;
}
settle::mongodb::tutorial_layout in_collection(std::string const& name) {
    auto documents = transfers();
    documents.transactions = name;
    return documents;
}

/// Why an engine on a database is refused; empty when it is not.
template <typename Make>
std::string refusal_of(Make&& make) {
    try {
        make();
    } catch (settle::failure const& refused) {
        CHECK(refused.problem().code == settle::errc::other_log);
        std::string const text = refused.what();
        CHECK(text.starts_with("settle: "));
        CHECK(text.ends_with(". See mongodb#logs"));
        return text;
    }
    return "";
}
std::string own(std::string const& address) {
    return refusal_of([&] {
        settle::mongodb::database db{address};
        settle::engine const engine{db, settle::type<transfer_type>};
    });
}
template <auto const& Type>
std::string tutorial(std::string const& address, settle::mongodb::tutorial_layout const& layout) {
    return refusal_of([&] {
        settle::mongodb::tutorial_database<Type> db{address, layout};
        settle::engine const engine{db, settle::type<Type>};
    });
}
std::string transfers_in(std::string const& address, std::string const& collection) {
    return tutorial<transfer_type>(address, in_collection(collection));
}

bool names(std::string const& text, std::initializer_list<std::string> const& all) {
    return std::all_of(all.begin(), all.end(),
                       [&](std::string const& one) { return text.find(one) != std::string::npos; });
}

/// The names of a database's collections, and settle's documents about the database.
std::string state_of(std::string const& address) {
    auto const collections = run_command(
        address, R"({"listCollections": 1, "nameOnly": true, "authorizedCollections": true})");
    auto const metadata =
        run_command(address, R"({"find": "settle_words", "filter": {}, "sort": {"_id": 1}})");
    std::set<std::string> lines;
    for (int index = 0; index < 20; ++index) {
        for (auto const* reply : {&collections, &metadata}) {
            auto const path = "cursor.firstBatch." + std::to_string(index) + '.';
            lines.insert(reply->text(path + "name") + reply->text(path + "_id") + "=" +
                         reply->text(path + "value"));
        }
    }
    std::string text;
    for (auto const& one : lines) text += one + '\n';
    return text;
}
void run(std::string const& address, std::string const& command) {
    auto const reply = run_command(address, command);
    REQUIRE_MESSAGE(reply.ok, reply.error);
}
} // namespace

TEST_CASE("logs apart: settle's layout and a tutorial's layout refuse each other's database") {
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const first{*address};
        CHECK(own(first.address()) == "");
        auto const before = state_of(first.address());
        auto const refused = transfers_in(first.address(), "transactions");
        INFO(refused);
        CHECK(names(refused, {"settle's own layout, entries in 'settle_entries'",
                              "a tutorial's layout, entries in 'transactions'"}));
        // The refused program leaves nothing in the database.
        CHECK(state_of(first.address()) == before);
        CHECK(own(first.address()) == "");

        fresh_database const second{*address};
        CHECK(transfers_in(second.address(), "transactions") == "");
        auto const taken = state_of(second.address());
        auto const reverse = own(second.address());
        INFO(reverse);
        CHECK(names(reverse, {"settle's own layout, entries in 'settle_entries'",
                              "a tutorial's layout, entries in 'transactions'"}));
        CHECK(state_of(second.address()) == taken);
        CHECK(transfers_in(second.address(), "transactions") == "");
    }
}

TEST_CASE("logs apart: layouts with other types, collections or fields are other logs") {
    fresh_database const database{replica_set_address};
    auto const& address = database.address();
    CHECK(transfers_in(address, "transactions") == "");
    auto const before = state_of(address);
    auto const other_collection = transfers_in(address, "movements");
    INFO(other_collection);
    CHECK(names(other_collection, {"'transactions'", "'movements'"}));
    settle::mongodb::tutorial_layout payments;
    payments.transactions = "transaction";
    auto const other_application = tutorial<shop::tutorial::payment_type>(address, payments);
    CHECK(names(other_application, {"'transactions'", "'transaction'"}));
    // The same collection, read as other transactions, or found otherwise.
    auto const other_type = tutorial<moved_type>(address, {});
    INFO(other_type);
    CHECK(names(other_type, {"type=transfer amount=value", "type=gift"}));
    for (auto const& change : std::vector<std::function<void(settle::mongodb::tutorial_layout&)>>{
             [](auto& layout) { layout.fields = {{"amount", "sum"}}; },
             [](auto& layout) { layout.state = "status"; },
             [](auto& layout) { layout.modified = "changed"; },
             [](auto& layout) { layout.application = "worker"; },
             [](auto& layout) { layout.ids = settle::mongodb::id_kind::number; },
             [](auto& layout) { layout.key = "name"; }}) {
        auto layout = transfers();
        change(layout);
        CHECK(tutorial<transfer_type>(address, layout) != "");
    }
    CHECK(state_of(address) == before);
    // Every spelling of the same layout is accepted.
    auto spelled = transfers();
    spelled.states = settle::mongodb::spelling::upper;
    spelled.applied = "committed";
    spelled.canceled = "cancelled";
    CHECK(tutorial<transfer_type>(address, spelled) == "");
}

TEST_CASE("logs apart: a layout whose collection is refused does not lock out the right layout") {
    fresh_database const database{replica_set_address};
    auto const& address = database.address();
    run(address, R"({"create": "transactions", "capped": true, "size": 100000})");
    auto mistyped = transfers();
    mistyped.state = "status";
    settle::mongodb::tutorial_database<transfer_type> db{address, mistyped};
    CHECK_THROWS_AS(static_cast<void>(db.bind_log()), settle::failure);
    run(address, R"({"drop": "transactions"})");
    CHECK(transfers_in(address, "transactions") == "");
    auto const refused = tutorial<transfer_type>(address, mistyped);
    CHECK(names(refused, {"remove the document 'layout transactions' of 'settle_words'"}));
    CHECK(names(own(address), {"remove the document 'belongs_to' of 'settle_words'"}));
}

TEST_CASE("logs apart: records belong to one log in another database, of either layout") {
    fresh_database const logs{replica_set_address};
    fresh_database const records{replica_set_address};
    settle::mongodb::database held{records.address()};
    settle::mongodb::database own_log{logs.address()};
    settle::mongodb::tutorial_database<transfer_type> old_log{logs.address(), transfers()};
    auto const refusal_with = [&](auto& log) {
        return refusal_of([&] {
            settle::engine const engine{settle::log_in(log),
                                        settle::bind(bank::tutorial::accounts, held),
                                        settle::type<transfer_type>};
        });
    };
    CHECK(refusal_with(own_log) == "");
    auto const refused = refusal_with(old_log);
    INFO(refused);
    CHECK(names(refused, {"settle's own layout", "a tutorial's layout"}));
    CHECK(refusal_with(own_log) == "");
}
