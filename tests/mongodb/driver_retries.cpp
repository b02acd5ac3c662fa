// SPDX-License-Identifier: BSL-1.0
// The driver's own retries: it repeats no write, with any address. A commit whose
// answer does not show its outcome is read, and not taken for undone.
#include "bank.hpp"
#include "commands.hpp"
#include "message_faults.hpp"
#include "proxy.hpp"
#include "server_answers.hpp"
#include "shared_servers.hpp"

#include <atomic>
#include <string_view>

namespace settle_test {
namespace {

/// Counts writes, and the writes that their driver may send again: outside of a native transaction
/// these carry a number.
/// Source:  MongoDB specifications, "Retryable Writes"
class write_counter {
public:
    void see(wire_message const& message) {
        auto const name = message.name_of_command();
        if (name != "insert" && name != "update" && name != "delete" && name != "findAndModify") {
            return;
        }
        ++writes;
        bool const numbered = holds(message, "txnNumber");
        if (numbered && !holds(message, "autocommit")) ++again;
    }

    std::atomic<int> writes = 0;
    std::atomic<int> again = 0;

private:
    static bool holds(wire_message const& message, std::string_view name) {
        auto const& bytes = message.bytes;
        return std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) != bytes.end();
    }
};

} // namespace

TEST_CASE("driver retries: no address lets the driver send a write again") {
    for (char const* const option : {"retryWrites=true", "retryWrites=false", ""}) {
        INFO(option);
        fresh_database const own{replica_set_address};
        write_counter seen;
        proxy between{own.port()};
        between.on_request([&](wire_message& message) { seen.see(message); });
        std::string const options =
            std::string{short_waits} + (*option == '\0' ? "" : "&") + option;
        settle::mongodb::database db{between.address(own.name(), options)};
        auto engine = bank_on(db, settle::phases::two);
        engine.create(ledgers, {"A", opening, 0, ""}).value();
        engine.create(ledgers, {"B", opening, 0, ""}).value();
        CHECK(engine.run("t", transfer{"A", "B", 30}).done());
        CHECK(engine.reverse("t").done());
        CHECK(seen.writes > 8);
        CHECK(seen.again == 0);
    }
}

TEST_CASE("driver retries: the counter of retryable writes counts another program's writes") {
    fresh_database const own{replica_set_address};
    write_counter seen;
    proxy between{own.port()};
    between.on_request([&](wire_message& message) { seen.see(message); });
    std::unique_ptr<mongoc_uri_t, void (*)(mongoc_uri_t*)> const uri{
        mongoc_uri_new(between.address(own.name(), "retryWrites=true").c_str()),
        mongoc_uri_destroy};
    std::unique_ptr<mongoc_client_t, void (*)(mongoc_client_t*)> const client{
        mongoc_client_new_from_uri(uri.get()), mongoc_client_destroy};
    std::unique_ptr<mongoc_collection_t, void (*)(mongoc_collection_t*)> const things{
        mongoc_client_get_collection(client.get(), own.name().c_str(), "things"),
        mongoc_collection_destroy};
    bson_t* const inserted = BCON_NEW("_id", BCON_INT32(1));
    CHECK(mongoc_collection_insert_one(things.get(), inserted, nullptr, nullptr, nullptr));
    bson_destroy(inserted);
    CHECK(seen.writes == 1);
    CHECK(seen.again == 1);
}

TEST_CASE("driver retries: a write whose answer is lost is sent once, then read") {
    fresh_database const own{replica_set_address};
    proxy between{own.port()};
    settle::mongodb::database db{
        between.address(own.name(), std::string{short_waits} + "&retryWrites=true")};
    auto engine = bank_on(db, settle::phases::two);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    engine.create(ledgers, {"B", opening, 0, ""}).value();
    between.reset_counts();
    between.add({.command = "insert", .what = fault::drop_reply});
    CHECK(engine.run("t", transfer{"A", "B", 30}).done());
    CHECK(between.requests("insert") == 1);
    CHECK(engine.read(ledgers, "A").value()->balance == opening - 30);
}

TEST_CASE("driver retries: a commit that succeeds but is answered with an error is read") {
    fresh_database const own{replica_set_address};
    proxy between{own.port()};
    settle::mongodb::database db{between.address(own.name(), short_waits)};
    auto engine = bank_on(db);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    engine.create(ledgers, {"B", opening, 0, ""}).value();
    between.reset_counts();
    between.add(
        {.command = "commitTransaction", .what = fault::replace_reply, .answer = failed(13)});
    auto const outcome = engine.run("t", transfer{"A", "B", 30});
    CHECK_MESSAGE(outcome.done(), outcome.text());
    CHECK(between.requests("commitTransaction") == 1);
    CHECK(between.requests("insert") == 1);
    CHECK(engine.read(ledgers, "A").value()->balance == opening - 30);
    CHECK(engine.read(ledgers, "B").value()->balance == opening + 30);
}

} // namespace settle_test
