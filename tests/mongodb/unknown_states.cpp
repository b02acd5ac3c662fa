// SPDX-License-Identifier: BSL-1.0
// Unreadable entries of old programs: they are listed, reported and counted as unfinished, and no
// worker runs or settles them on a guess.
#include "taken_over.hpp"

namespace {

using settle_test::fresh_database;
using settle_test::old_program;
using settle_test::replica_set_address;
using settle_test::run_command;
using settle_test::standalone_address;
using settle_test::taken_over;
using namespace std::chrono_literals;

struct unreadable {
    std::string fields;  ///< instead of the fields of a transfer of 100 from A10 to B10
    std::string because; ///< part of the sentence
    /// A valid entry whose parameters are no transfer: only the transaction type can refuse it.
    bool only_by_type = false;
};

std::string transfer_with(std::string const& rest) {
    return R"("source": "A10", "destination": "B10", "value": 100, )" + rest;
}

/// Well-known texts spell a state wrongly, as in the first example.
std::vector<unreadable> all_unreadable() {
    std::string const pending = R"("state": "pending")";
    return {
        {transfer_with(R"("state": "intital")"), "its 'state' is 'intital', which is no known"},
        {transfer_with(R"("state": "rollback")"), "its 'state' is 'rollback'"},
        {transfer_with(R"("state": "PenDing")"), "its 'state' is 'PenDing'"},
        {transfer_with(R"("state": "")"), "its 'state' is ''"},
        {transfer_with(R"("state": null)"), "its 'state' is missing"},
        {transfer_with(R"("lastModified": null)"), "its 'state' is missing"},
        {transfer_with(R"("state": 1)"), "its 'state' is no string"},
        {transfer_with(R"("state": true)"), "its 'state' is no string"},
        {transfer_with(R"("state": {"is": "done"})"), "its 'state' is no string"},
        {R"("source": "A10", "destination": "B10", )" + pending, "its 'value' is missing"},
        {R"("source": "A10", "destination": null, "value": 100, )" + pending, "destination", true},
        {R"("source": "A10", "destination": "B10", "value": "100", )" + pending, "amount", true},
        {R"("source": "A10", "destination": "B10", "value": 1.5, )" + pending, "'value'"},
        {R"("source": {"of": 1}, "destination": "B10", "value": 100, )" + pending, "source", true},
        {transfer_with(pending + R"(, "lastModified": "today")"), "its 'lastModified'"},
        {transfer_with(pending + R"(, "application": 5)"), "its 'application' is no string"},
        {transfer_with(pending + R"(, "epoch": "1")"), "its 'epoch' is no whole number"}};
}

/// The number of the entry, so that two of them differ.
std::string id_of(std::size_t number) { return std::to_string(100 + number); }

std::string documents_of(std::string const& address, std::string const& collection) {
    auto text = run_command(address, R"({"find": ")" + collection + R"(", "filter": {}})").json();
    return text.substr(0, text.find("\"ok\""));
}

} // namespace

TEST_CASE("unknown states: an unreadable entry of an old program is reported and left alone") {
    auto const dialect = settle_test::dialects().front();
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        fresh_database const own{*server};
        old_program program{own.address(), dialect};
        program.open(10);
        auto const cases = all_unreadable();
        for (std::size_t index = 0; index < cases.size(); ++index) {
            auto const reply =
                run_command(own.address(), R"({"insert": "transactions", )"
                                           R"("documents": [{"_id": )" +
                                               id_of(index) + ", " + cases[index].fields + "}]}");
            REQUIRE_MESSAGE(reply.ok, reply.error);
        }
        taken_over bank{own.address(), dialect};
        auto& engine = bank.engine();
        auto const entries = documents_of(own.address(), "transactions");
        auto const accounts = documents_of(own.address(), "accounts");
        auto const recovered = engine.recover(settle_test::of_any_age());
        CHECK(recovered.problem.empty());
        CHECK(recovered.done + recovered.canceled + recovered.undecided == 0);
        CHECK(recovered.skipped.size() == cases.size());
        for (auto const& skipped : recovered.skipped) {
            auto const index = static_cast<std::size_t>(std::stoi(skipped.id)) - 100;
            REQUIRE(index < cases.size());
            INFO(cases[index].fields, "\n", skipped.problem.text);
            CHECK(skipped.problem.code == settle::errc::damaged);
            CHECK(skipped.problem.text.find(cases[index].because) != std::string::npos);
            CHECK(skipped.problem.text.find(skipped.id) != std::string::npos);
        }
        CHECK(engine.work().done == 0);

        // Each is listed once as unfinished, with its error; and no call reports that it was
        // canceled.
        settle::entry_filter unfinished;
        unfinished.unfinished = true;
        std::string after;
        std::size_t seen = 0;
        for (std::vector<settle::entry> page;
             page = engine.page(unfinished, after, 3).value(), !page.empty();
             after = page.back().id) {
            for (auto const& entry : page) {
                ++seen;
                CHECK_FALSE(settle::is_final(entry.state));
                auto const index = std::stoul(entry.id) - 100;
                REQUIRE(index < cases.size());
                INFO(entry.id, ": ", entry.fault);
                CHECK(entry.fault.empty() == cases[index].only_by_type);
                if (entry.fault.empty()) CHECK(entry.state == settle::state::pending);
                else CHECK(entry.fault.find(cases[index].because) != std::string::npos);
            }
            if (page.size() < 3) break;
        }
        CHECK(seen == cases.size());
        for (std::size_t position = 0; position < cases.size(); ++position) {
            INFO(cases[position].fields);
            auto const canceled = engine.cancel(id_of(position));
            CHECK(canceled.verdict != settle::verdict::canceled);
            CHECK(canceled.verdict != settle::verdict::done);
            CHECK_FALSE(canceled.problem.empty());
        }
        CHECK(engine.sweep().problem.empty());
        CHECK(documents_of(own.address(), "transactions") == entries);
        CHECK(documents_of(own.address(), "accounts") == accounts);
        // The repaired entry is recovered as any other entry.
        run_command(own.address(), R"({"update": "transactions", "updates": [{"q": {"_id": 100}, )"
                                   R"("u": {"$set": {"state": "pending"}}}]})");
        CHECK(engine.recover(settle_test::of_any_age()).canceled == 1);
    }
}
