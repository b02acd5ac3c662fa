// SPDX-License-Identifier: BSL-1.0
// Leftovers of programs of the tutorial's kind beside the documents' own steps, and layouts that
// describe a database wrongly.
#include "taken_over.hpp"

#include <range/v3/iterator/operations.hpp>

namespace odd {

struct noted_transfer {
    std::string source;
    std::string destination;
    std::int64_t amount;
    std::string reason;
};
struct noted {
    std::string source;
    std::int64_t amount;
    std::optional<std::string> note;
};
struct holder {
    std::string id;
    std::int64_t balance;
    std::int64_t pendingTransactions;
};

} // namespace odd
BOOST_HANA_ADAPT_STRUCT(odd::noted_transfer, source, destination, amount, reason);
BOOST_HANA_ADAPT_STRUCT(odd::noted, source, amount, note);
BOOST_HANA_ADAPT_STRUCT(odd::holder, id, balance, pendingTransactions);

namespace {

using bank::tutorial::transfer;
using settle::mongodb::tutorial_layout;
using settle_test::check_sums;
using settle_test::fresh_database;
using settle_test::old_program;
using settle_test::replica_set_address;
using settle_test::run_command;
using settle_test::standalone_address;
using settle_test::taken_over;
using namespace std::chrono_literals;

constexpr settle::collection<odd::holder, "holders", &odd::holder::id> holders;

template <typename Parameters, auto const& Records>
constexpr auto make_type() {
    using record = typename std::remove_cvref_t<decltype(Records)>::record_type;
    return settle::transaction<Parameters, "noted_transfer">(
        settle::participant<"source">(Records, settle::param<&Parameters::source>)
            .apply(settle::field<&record::balance> += settle::param<&Parameters::amount>)
            .compensate(settle::inverse));
}
constexpr auto noted_transfer_type = make_type<odd::noted_transfer, bank::tutorial::accounts>();
constexpr auto noted_type = make_type<odd::noted, bank::tutorial::accounts>();
constexpr auto holder_type = make_type<transfer, holders>();

/// Why a database with this layout is refused; empty if it is accepted.
template <auto const& Type>
std::string refusal(std::string const& address, tutorial_layout const& layout) {
    try {
        settle::mongodb::tutorial_database<Type> database{address, layout};
        settle::engine const engine{database, settle::type<Type>};
    } catch (settle::failure const& problem) {
        return problem.what();
    }
    return "";
}

tutorial_layout documents() { return settle_test::layout_of(settle_test::dialects().front()); }

void put(std::string const& address, std::string const& collection, std::string const& document) {
    auto const reply = run_command(address, R"({"insert": ")" + collection +
                                                R"(", "documents": [)" + document + "]}");
    REQUIRE_MESSAGE(reply.ok, reply.error);
    REQUIRE(reply.number("n") == 1);
}
/// Another transfer of 100 from A10 to B10.
void put_transfer(std::string const& address, std::string const& rest) {
    put(address, "transactions",
        R"({"source": "A10", "destination": "B10", "value": 100, )" + rest + "}");
}

} // namespace

TEST_CASE("unusual leftovers: a layout with overlapping fields is refused") {
    struct example {
        std::function<void(tutorial_layout&)> change;
        std::string because;
    };
    for (auto const& transaction : std::vector<example>{
             {[](auto&) {}, ""},
             {[](auto& layout) { layout.fields = {{"amuont", "value"}}; },
              "'transfer' have no member 'amuont'"},
             {[](auto& layout) { layout.fields = {{"amount", "reason"}}; },
              "the field 'reason', for the parameter 'amount', holds something else"},
             {[](auto& layout) { layout.fields = {{"amount", "source"}}; },
              "the field 'source', for the parameter 'amount', holds something else"},
             {[](auto& layout) { layout.fields = {{"amount", "sum.value"}}; },
              "'sum.value', for the parameter 'amount', is no name of a field"},
             {[](auto& layout) { layout.state = "epoch"; }, "the field 'epoch', for the state"},
             {[](auto& layout) { layout.modified = "state"; }, "for the last change"},
             {[](auto& layout) { layout.application = ""; }, "'', for the application"},
             {[](auto& layout) { layout.key = "$name"; }, "for the key of the records"},
             {[](auto& layout) { layout.record_fields = {{"balance", "sum"}}; }, ""},
             {[](auto& layout) { layout.record_fields = {{"balance", "a.b"}}; },
              "'a.b', for the member 'balance' of the records"},
             {[](auto& layout) { layout.record_fields = {{"balanec", "sum"}}; },
              "no record has a member 'balanec'"},
             {[](auto& layout) { layout.record_fields = {{"balance", "_id"}}; },
              "a member 'balance'"},
             {[](auto& layout) { layout.applied = "booked"; }, "not 'booked'"},
             {[](auto& layout) { layout.canceled = "Cancelled"; }, ""},
             {[](auto& layout) { layout.canceled = "undone"; }, "not 'undone'"},
             {[](auto& layout) { layout.transactions = ""; }, "'', for the transactions"},
             {[](auto& layout) { layout.transactions = "a$b"; }, "'a$b', for the transactions"},
             {[](auto& layout) { layout.transactions = "settle_words"; }, "'settle_words', for"},
             {[](auto& layout) { layout.transactions = "system.views"; }, "'system.views', for"},
             {[](auto& layout) { layout.transactions = "accounts"; }, "holds the transactions"}}) {
        fresh_database const own{standalone_address};
        auto layout = documents();
        transaction.change(layout);
        auto const reply = refusal<bank::tutorial::transfer_type>(own.address(), layout);
        INFO(transaction.because, "\n", reply);
        CHECK((reply == "") == (transaction.because == ""));
        CHECK(reply.find(transaction.because) != std::string::npos);
        if (!reply.empty()) CHECK(reply.starts_with("settle: "));
    }
    fresh_database const first{standalone_address};
    CHECK(refusal<noted_transfer_type>(first.address(), {}).find("for the parameter 'reason'") !=
          std::string::npos);
    fresh_database const second{standalone_address};
    CHECK(refusal<holder_type>(second.address(), {}).find("a member 'pendingTransactions'") !=
          std::string::npos);
}

TEST_CASE("unusual leftovers: a log that could lose or refuse an entry is refused when bound") {
    struct example {
        std::string command;
        std::string because; ///< empty: the log is accepted
    };
    auto const index = [](std::string const& described) {
        return R"({"createIndexes": "transactions", "indexes": [{"name": "one", )" + described +
               "}]}";
    };
    for (auto const& one : std::vector<example>{
             {R"({"create": "transactions", "collation": {"locale": "en", "strength": 1}})",
              "its collation"},
             {R"({"create": "transactions", "capped": true, "size": 4096})", "it is capped"},
             {R"({"create": "transactions", "validator": {"value": {"$gte": 0}}})",
              "its validator"},
             {index(R"("key": {"lastModified": 1}, "expireAfterSeconds": 3600)"),
              "its index 'one' lets the server erase old documents"},
             {index(R"("key": {"source": 1, "destination": 1}, "unique": true)"),
              "its unique index over 'source'"},
             {index(R"("key": {"invoice": 1}, "unique": true)"), "its unique index over 'invoice'"},
             {index(R"("key": {"source": "2dsphere"})"), "its 2dsphere index over 'source'"},
             {index(R"("key": {"place": "2dsphere", "state": 1})"), ""},
             {index(R"("key": {"source": 1, "lastModified": -1})"), ""}}) {
        INFO(one.command);
        fresh_database const own{standalone_address};
        auto const made = run_command(own.address(), one.command);
        REQUIRE_MESSAGE(made.ok, made.error);
        auto const reply = refusal<bank::tutorial::transfer_type>(own.address(), documents());
        INFO(reply);
        CHECK((reply == "") == (one.because == ""));
        CHECK(reply.find(one.because) != std::string::npos);
        if (!reply.empty()) CHECK(reply.starts_with("settle: the collection 'transactions'"));
    }
}

TEST_CASE("unusual leftovers: settle's own log is checked too") {
    fresh_database const own{standalone_address};
    REQUIRE(run_command(own.address(), R"({"createIndexes": "settle_entries", "indexes": [)"
                                       R"({"key": {"modified": 1}, "name": "ttl", )"
                                       R"("expireAfterSeconds": 60}]})")
                .ok);
    settle::mongodb::database db{own.address()};
    std::string reply;
    try {
        auto engine = settle_test::bank_on(db);
    } catch (settle::failure const& problem) {
        reply = problem.what();
    }
    CHECK(reply.starts_with("settle: the collection 'settle_entries' cannot be used"));
}

TEST_CASE("unusual leftovers: an old entry may lack an optional parameter") {
    auto dialect = settle_test::dialects()[1];
    REQUIRE(settle_test::make_recent(dialect));
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        old_program{own.address(), dialect}.open(10);
        auto const left = [&](std::string const& id, std::string const& note) {
            put_transfer(own.address(),
                         R"("_id": )" + id + R"(, "state": "pending")" + note + dialect.modified);
        };
        left("1", "");
        left("2", R"(, "note": null)");
        left("3", R"(, "note": "rent")");
        settle::mongodb::tutorial_database<noted_type> database{own.address(),
                                                                settle_test::layout_of(dialect)};
        settle::engine engine{database, settle::type<noted_type>};
        CHECK(engine.find("1").value()->parameters == engine.find("2").value()->parameters);
        auto const report = engine.recover(settle_test::of_any_age());
        CHECK(report.done == 3);
        CHECK(report.skipped.empty());
        CHECK(engine.read(bank::tutorial::accounts, "A10").value()->balance == 1300);
        // A later call with these parameters is the same transaction.
        CHECK(engine.run("1", odd::noted{"A10", 100, std::nullopt}).done());
    }
}

TEST_CASE("unusual leftovers: an old transfer continues beside bare marks of another transfer") {
    auto dialect = settle_test::dialects().front();
    auto const before = [&](std::chrono::system_clock::duration time) {
        auto const then = std::chrono::system_clock::now().time_since_epoch() - time;
        auto const count = std::chrono::duration_cast<std::chrono::milliseconds>(then).count();
        dialect.modified =
            R"(, "lastModified": {"$date": {"$numberLong": ")" + std::to_string(count) + R"("}})";
    };
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        old_program program{own.address(), dialect};
        program.open(10);
        before(1h);
        program.transfer(10, 4);
        before(0s);
        put_transfer(own.address(), R"("_id": 11, "state": "pending")" + dialect.modified);
        for (auto const& [account, amount] : {std::pair{"A10", "-100"}, {"B10", "100"}}) {
            auto const reply = run_command(
                own.address(), R"({"update": "accounts", "updates": [{"q": {"_id": ")" +
                                   std::string{account} + R"("}, "u": {"$inc": {"balance": )" +
                                   amount + R"(}, "$push": {"pendingTransactions": 11}}}]})");
            REQUIRE(reply.number("nModified") == 1);
        }
        taken_over bank{own.address(), dialect};
        settle::recover_options options;
        options.older_than = 30min;
        CHECK(bank.engine().recover(options).done == 1);
        CHECK(bank.engine().find("10").value()->state == settle::state::done);
        CHECK(bank.engine().find("11").value()->state == settle::state::pending);
        // A new effect has to wait: the outcome of the other transaction is not known yet.
        auto const outcome = bank.engine().run("12", transfer{"A10", "B10", 1});
        CHECK(outcome.canceled());
        CHECK(outcome.why == settle::reason::busy);
        settle_all(bank);
        CHECK(bank.engine().find("11").value()->state == settle::state::done);
        CHECK(bank.balance("A10") == 800);
        CHECK(bank.balance("B10") == 1200);
        settle_test::check_records(own.address(), 2);
    }
}

TEST_CASE("unusual leftovers: an application keeps its claimed entry until it stands still") {
    auto const dialect = settle_test::dialects()[1];
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        old_program program{own.address(), dialect};
        program.open(10);
        auto const now = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::system_clock::now().time_since_epoch())
                                            .count());
        auto const at = [&](std::string const& id, std::string const& application) {
            put_transfer(own.address(), R"("_id": )" + id +
                                            R"(, "state": "initial", )"
                                            R"("lastModified": {"$date": {"$numberLong": ")" +
                                            now + R"("}}, "application": )" + application);
        };
        at("1", R"("App1")");
        at("2", "null");
        at("3", R"("")");
        at("4", "5");
        taken_over bank{own.address(), dialect};
        auto& engine = bank.engine();
        CHECK(engine.find("1").value()->state == settle::state::pending);
        CHECK(engine.find("2").value()->state == settle::state::initial);
        settle::entry_filter initial;
        initial.state = settle::state::initial;
        CHECK(engine.page(initial, "", 10).value().size() == 2);
        auto const worked = engine.work();
        CHECK(worked.done == 2);
        CHECK(worked.skipped.empty());
        settle::recover_options options;
        options.older_than = 30min;
        CHECK(engine.recover(options).done == 0);
        CHECK(bank.balance("A10") == 800);
        options.older_than = 0s;
        auto const recovered = engine.recover(options);
        CHECK(recovered.done == 1);
        // An application is a text.
        REQUIRE(recovered.skipped.size() == 1);
        CHECK(recovered.skipped.front().id == "4");
        CHECK(engine.find("1").value()->state == settle::state::done);
        CHECK(bank.balance("A10") == 700);
        CHECK(bank.balance("B10") == 1300);
        // So is an entry that is canceled before.
        at("6", R"("App1")");
        CHECK(engine.cancel("6").canceled());
        CHECK(engine.recover(options).done == 0);
        CHECK(bank.balance("A10") == 700);
    }
}

TEST_CASE("unusual leftovers: an old entry with a future date of any kind stands still") {
    auto dialect = settle_test::dialects()[1];
    dialect.ids = settle::mongodb::id_kind::any;
    auto const now = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    std::int64_t const ahead = now + 10 * 365 * 86400;
    auto const date = [](std::int64_t seconds) {
        return R"({"$date": {"$numberLong": ")" + std::to_string(seconds * 1000) + R"("}})";
    };
    auto const object_id = [](std::int64_t seconds, char last) {
        return R"({"$oid": ")" +
               settle::detail::hex_of(static_cast<std::uint64_t>(seconds)).substr(8) +
               std::string(15, '0') + last + R"("})";
    };
    auto const stamp = [](std::int64_t seconds) {
        return R"({"$timestamp": {"t": )" + std::to_string(seconds) + R"(, "i": 1}})";
    };
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        old_program program{own.address(), dialect};
        program.open(10);
        auto const left = [&](std::string const& id, std::string const& times) {
            put_transfer(own.address(), R"("_id": )" + id + R"(, "state": "pending", )" + times);
        };
        left("1", R"("lastModified": )" + date(ahead));
        left("2", R"("lastModified": )" + stamp(ahead));
        left("3", R"("lastModified": {"$numberLong": ")" + std::to_string(ahead * 1000) + R"("})");
        left("4", R"("lastModified": )" + date(now) + R"(, "created": )" + date(ahead));
        left(object_id(ahead, '5'), R"("lastModified": )" + date(now));
        // Its id holds its time of creation, which is recent enough.
        left(object_id(now, '6'), R"("lastModified": )" + date(ahead));
        left("7", R"("lastModified": )" + date(now + 60));
        left(object_id(now + 60, '8'), R"("lastModified": )" + date(now + 60));
        left("9", R"("lastModified": )" + stamp(now));
        taken_over bank{own.address(), dialect};
        auto& engine = bank.engine();
        auto const listed = [&](settle::time_limit older_than) {
            return ranges::distance(engine.list(settle::state::pending, older_than));
        };
        CHECK(listed(30min) == 6);
        // No unit of time wraps around.
        CHECK(listed(std::chrono::hours{24 * 365 * 200}) == 6);
        CHECK(listed(std::chrono::hours::min()) == 9);
        auto const report = engine.recover();
        CHECK(report.skipped.empty());
        CHECK(report.young == 3);
        CHECK(report.done == 1);
        CHECK(report.canceled == 5);
        CHECK(bank.balance("A10") == 900);
        CHECK(bank.balance("B10") == 1100);
    }
}

TEST_CASE("unusual leftovers: entries with unreadable ids are reported, and others are settled") {
    auto const dialect = settle_test::dialects()[1];
    fresh_database const own{replica_set_address};
    old_program program{own.address(), dialect};
    program.open(10);
    for (auto const* const id :
         {R"({"$uuid": "00112233-4455-6677-8899-aabbccddeeff"})", R"({"of": 1})",
          R"({"$date": {"$numberLong": "5"}})", R"({"$numberDouble": "1.5"})", R"("18")", "17"}) {
        put_transfer(own.address(), R"("_id": )" + std::string{id} + R"(, "state": "pending")");
    }
    taken_over bank{own.address(), dialect};
    auto& engine = bank.engine();
    auto const report = engine.recover(settle_test::of_any_age());
    CHECK(report.problem.empty());
    CHECK(report.done + report.canceled == 1);
    REQUIRE(report.skipped.size() == 5);
    for (auto const& skipped : report.skipped) {
        INFO(skipped.id, ": ", skipped.problem.text);
        CHECK(skipped.problem.code == settle::errc::damaged);
        CHECK(skipped.problem.text.find(skipped.id) != std::string::npos);
    }
    CHECK(report.skipped.back().id.find("$date") != std::string::npos);
    // Listings with any page size end, and list no entry twice.
    for (std::size_t const limit : {1U, 2U, 3U, 4U}) {
        INFO("pages of ", limit);
        std::string after;
        std::size_t seen = 0;
        for (int pages = 0; pages < 9; ++pages) {
            auto const page = engine.page({}, after, limit).value();
            seen += page.size();
            if (page.size() < limit) break;
            after = page.back().id;
        }
        CHECK(seen >= 3);
        CHECK(seen <= 6);
    }
}

TEST_CASE("unusual leftovers: old entries are listed, whatever the kind of their time") {
    auto const dialect = settle_test::dialects()[1];
    fresh_database const own{replica_set_address};
    int id = 0;
    for (std::string const time :
         {R"(, "lastModified": {"$date": {"$numberLong": "1700000000000"}})",
          R"(, "lastModified": {"$numberLong": "1700000000000"})",
          R"(, "lastModified": {"$timestamp": {"t": 1700000000, "i": 1}})",
          R"(, "lastModified": null)", ""}) {
        put_transfer(own.address(), R"("_id": )" + std::to_string(++id) +
                                        R"(, "type": "rent", "state": "pending")" + time);
    }
    // A time that a wrong clock wrote does not count.
    put_transfer(own.address(), R"("_id": 6, "state": "pending", "lastModified": )"
                                R"({"$numberLong": "9700000000000"})");
    taken_over bank{own.address(), dialect};
    std::vector<std::string> ids;
    for (auto const& entry : bank.engine().list(settle::state::pending, 1h)) {
        ids.push_back(entry.id);
        // Their own `type` is not a type of settle.
        CHECK(entry.type == "transfer");
        CHECK_FALSE(entry.parameters.empty());
    }
    CHECK(ids == std::vector<std::string>{"1", "2", "3", "4", "5", "6"});
}

TEST_CASE("unusual leftovers: a key other than _id is unique") {
    auto const dialect = settle_test::dialects().back();
    REQUIRE(dialect.key == "name");
    fresh_database const own{replica_set_address};
    {
        taken_over bank{own.address(), dialect};
        CHECK(bank.engine().create(bank::tutorial::accounts, {"A", 5}).has_value());
        auto const again = bank.engine().create(bank::tutorial::accounts, {"A", 5});
        REQUIRE_FALSE(again.has_value());
        CHECK(again.problem().code == settle::errc::record_exists);
    }
    taken_over bank{own.address(), dialect};
    auto const server_reply = run_command(own.address(), R"({"listIndexes": "accounts"})");
    CHECK(server_reply.text("cursor.firstBatch.1.name") == "settle_key");
    CHECK(server_reply.json().find("firstBatch.2") == std::string::npos);
    // Other documents need not have that field.
    put(own.address(), "accounts", R"({"of": 1})");
    put(own.address(), "accounts", R"({"of": 2})");

    fresh_database const twice{replica_set_address};
    put(twice.address(), "accounts", R"({"name": "A", "balance": 1})");
    put(twice.address(), "accounts", R"({"name": "A", "balance": 2})");
    auto const reply =
        refusal<bank::tutorial::transfer_type>(twice.address(), settle_test::layout_of(dialect));
    INFO(reply);
    CHECK(reply.find("two records could have one key") != std::string::npos);

    fresh_database const theirs{replica_set_address};
    REQUIRE(run_command(theirs.address(), R"({"createIndexes": "accounts", "indexes": [{"key": )"
                                          R"({"name": -1}, "name": "own", "unique": true}]})")
                .ok);
    CHECK(refusal<bank::tutorial::transfer_type>(theirs.address(),
                                                 settle_test::layout_of(dialect)) == "");
}

TEST_CASE("unusual leftovers: a sweep reports an unreadable mark and visits the others") {
    auto const dialect = settle_test::dialects().front();
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        put(own.address(), "accounts",
            R"({"_id": "A", "balance": 1, "pendingTransactions": [{"id": "x"}, 2.5, {"of": 1}]})");
        put(own.address(), "accounts",
            R"({"_id": "B", "balance": 1, "pendingTransactions": [{"id": "gone", "part": 0, )"
            R"("line": 0, "epoch": 3, "effect": "add", "confirm": {}, "undo": {"balance": 7}}]})");
        taken_over bank{own.address(), dialect};
        CHECK(bank.engine().marks().value() == 4);
        auto const swept = bank.engine().sweep();
        CHECK(swept.problem.empty());
        CHECK(swept.looked_at == 4);
        CHECK(swept.undone == 1);
        REQUIRE(swept.skipped.size() == 3);
        for (auto const& one : swept.skipped) {
            CHECK(one.problem.text.find("a mark of the record 'A' of 'accounts' is damaged") !=
                  std::string::npos);
        }
        CHECK(bank.balance("B") == 8);
    }
}
