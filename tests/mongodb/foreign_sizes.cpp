// SPDX-License-Identifier: BSL-1.0
// Records and entries that one document or one statement cannot hold: the transaction that needs
// it ends with the reason, and its neighbours are done.
#include "bank_documents.hpp"
#include "caller_actions.hpp"

namespace settle_test {
namespace {

using settle::errc;
using settle::outcome;
using settle::testing::relabel;

struct sized_bank : bank_documents {
    explicit sized_bank(fresh_database::address_of& server,
                        settle::phases how = settle::phases::one)
        : bank_documents(server, how),
          one_phase(how == settle::phases::one && &server == &replica_set_address) {}

    void put_label(std::string const& id, std::string const& label) {
        engine.create(ledgers, {id, opening, 0, label}).value();
    }
    [[nodiscard]] std::size_t size_of_label(std::string const& id) {
        return engine.read(ledgers, id).value()->label.size();
    }

    bool one_phase; ///< true if transactions run in one phase there
};

/// No document can hold the entry, and no entry was written.
void check_too_large(sized_bank& bank, outcome const& outcome) {
    INFO(outcome.text().substr(0, 500));
    CHECK(outcome.verdict == settle::verdict::refused);
    CHECK(outcome.problem.code == errc::bad_parameters);
    CHECK(outcome.problem.text.find("16777216 at most") != std::string::npos);
    CHECK_FALSE(bank.engine.find(outcome.id).value().has_value());
}

/// The transaction in the middle of a window ends as expected, and its neighbours are done.
template <typename Check>
void check_middle(sized_bank& bank, std::vector<std::pair<std::string, relabel>> const& window,
                  Check const& check) {
    auto const outcomes = bank.engine.run_all(window);
    REQUIRE(outcomes.size() == 3);
    CHECK_MESSAGE(outcomes[0].done(), outcomes[0].text());
    check(bank, outcomes[1]);
    CHECK_MESSAGE(outcomes[2].done(), outcomes[2].text());
}

/// A worker begins a change, and ends before it changes a record.
void leave_pending(sized_bank& bank, std::string const& id, relabel const& parameters) {
    settle::testing::faulty fragile{bank.db};
    auto engine = bank_on(fragile, settle::two_phases);
    fragile.plan(ends_at(left_at::inserted));
    CHECK_THROWS_AS(static_cast<void>(engine.run(id, parameters)), settle::testing::crash);
}

} // namespace

TEST_CASE("long: foreign sizes: only an oversized transaction is refused, with its reason") {
    on_every_server<sized_bank>([](sized_bank& bank) {
        bank.put_label("A", "");
        bank.put_label("B", "");
        relabel const large{"A", std::string(17'000'000, 'x')};
        check_too_large(bank, bank.engine.run("t", large));
        check_too_large(bank, bank.engine.submit("t", large));
        check_middle(bank, {{"1", {"A", "one"}}, {"t", large}, {"2", {"B", "two"}}},
                     check_too_large);
        CHECK(bank.engine.read(ledgers, "A").value()->label == "one");
        CHECK(bank.engine.read(ledgers, "B").value()->label == "two");
        CHECK(bank.engine.marks().value() == 0);
        CHECK(bank.engine.run("u", relabel{"A", std::string(4'000'000, 'x')}).done());
    });
}

TEST_CASE("long: foreign sizes: only a transaction whose images exceed its entry is canceled") {
    on_every_server<sized_bank>([](sized_bank& bank) {
        for (char const* id : {"A", "B", "C"}) bank.put_label(id, "");
        // The entry's parameters fit; with the record's image, they do not.
        relabel const large{"A", std::string(9'000'000, 'x')};
        auto const check_ended = [](sized_bank& tested, outcome const& outcome) {
            // One phase knows it before any write.
            if (tested.one_phase) return check_too_large(tested, outcome);
            INFO(outcome.text().substr(0, 500));
            CHECK(outcome.canceled());
            CHECK(outcome.why == settle::reason::record_unusable);
            CHECK(outcome.problem.code == errc::bad_parameters);
            CHECK(outcome.problem.text.find("16MB") != std::string::npos);
            check_outcome(tested.engine, outcome);
        };
        check_ended(bank, bank.engine.run("t", large));
        check_middle(bank, {{"1", {"B", "one"}}, {"2", large}, {"3", {"C", "two"}}}, check_ended);
        CHECK(bank.engine.read(ledgers, "B").value()->label == "one");
        CHECK(bank.engine.read(ledgers, "C").value()->label == "two");
        // A submitted transaction already has an entry.
        CHECK(bank.engine.submit("4", large).problem.empty());
        bank.engine.work();
        CHECK(bank.engine.find("4").value()->state == settle::state::canceled);
        CHECK(bank.engine.read(ledgers, "A").value()->label == "");
        CHECK(bank.engine.marks().value() == 0);
        CHECK(bank.engine.run("u", relabel{"A", "small"}).done());
    });
}

TEST_CASE("long: foreign sizes: only a record that cannot hold its change is unusable") {
    on_every_server<sized_bank>([](sized_bank& bank) {
        // As JSON, in the image, the label takes twice as much.
        constexpr std::size_t large = 9'000'000;
        bank.put_label("A", std::string(large, '"'));
        bank.put_label("B", "");
        bank.put_label("C", "");
        auto const check_unusable = [](sized_bank& tested, outcome const& outcome) {
            // In one phase there is no mark, and the entry takes the image.
            if (tested.one_phase) return check_too_large(tested, outcome);
            INFO(outcome.text().substr(0, 500));
            CHECK(outcome.canceled());
            CHECK(outcome.why == settle::reason::record_unusable);
            CHECK(outcome.problem.text.find("the record 'A' of 'suite_ledgers'") !=
                  std::string::npos);
            check_outcome(tested.engine, outcome);
        };
        check_middle(bank, {{"1", {"B", "one"}}, {"2", {"A", "small"}}, {"3", {"C", "two"}}},
                     check_unusable);
        check_unusable(bank, bank.engine.run("4", relabel{"A", "small"}));
        if (bank.one_phase) return;
        leave_pending(bank, "5", {"A", "small"});
        leave_pending(bank, "6", {"C", "three"});
        auto const report = bank.engine.recover(of_any_age());
        CHECK(report.done == 1);
        CHECK(report.canceled == 1);
        CHECK(bank.engine.find("5").value()->why == settle::reason::record_unusable);
        CHECK(bank.size_of_label("C") == 5);
        CHECK(bank.size_of_label("A") == large);
        CHECK(bank.engine.marks().value() == 0);
    });
}

} // namespace settle_test
