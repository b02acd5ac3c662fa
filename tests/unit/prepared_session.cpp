// SPDX-License-Identifier: BSL-1.0
// A session of prepared parts, request by request: the effect of each step on the names that it
// finds in doubt.
#include <preparing_database.hpp>

#include <settle/settle.hpp>
#include <settle/testing/requests.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace prepared_session_test {

struct booking {
    std::string account;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(booking, account, amount);

using preparing_test::database;
using preparing_test::fault;
using settle::epoch;
using settle::step;
using settle::work_result;

using ledger_type = settle::prepared<booking, "ledger">;
inline constexpr ledger_type ledger;
inline constexpr auto booking_type =
    settle::transaction<booking, "booking">(settle::participant<"account">(ledger).apply(
        settle::call(settle::param<&booking::account>, settle::param<&booking::amount>)));

namespace {

work_result book(database::connection& connection, booking const& request) {
    auto const added = connection.add(request.account, request.amount);
    return added.has_value() ? work_result::ok() : work_result::failed(added.problem());
}

settle::prepared_name name_of(epoch number, std::string id = "t") {
    return {{"bank", std::move(id), {0, 0}}, number};
}

struct scene {
    /// Shape:   found - the epochs of names of "t" in doubt
    explicit scene(std::vector<epoch> const& epochs) {
        books.accounts = {{"X", 0}};
        for (epoch const one : epochs) {
            books.accounts["of " + std::to_string(one)] = 0;
            books.prepare_by_hand(name_of(one).text(), "of " + std::to_string(one), 1);
        }
    }

    /// The answer to one request for the transaction "t".
    std::string ask(step action, epoch under, epoch committed = 0) {
        settle::testing::part_wave wave{action};
        wave.add<settle::forward<booking_type>>("t", {"X", 30}, under, committed);
        wave.send(session);
        problem = wave.results()[0].problem;
        return wave.answers(0);
    }
    /// The epochs of names of "t" in doubt.
    std::vector<epoch> left() {
        std::vector<epoch> epochs;
        for (auto const& text : books.names()) {
            auto const name = settle::read_prepared_name(text);
            if (name && name->of.id == "t") epochs.push_back(name->epoch_number);
        }
        std::sort(epochs.begin(), epochs.end());
        return epochs;
    }
    [[nodiscard]] std::optional<epoch> receipt() { return books.receipt_of(name_of(0).of).value(); }

    database books{};
    settle::prepared_session<ledger_type, database, decltype(book)> session{books, book, "bank"};
    settle::error problem{};
};

using epochs = std::vector<epoch>;

} // namespace

TEST_CASE("prepared session: an apply rolls lower names back, and stops at a higher name") {
    scene on{{3, 5}};
    CHECK(on.ask(step::apply, 7) == "applied");
    CHECK(on.left() == epochs{7});
    scene fenced{{3, 9}};
    CHECK(fenced.ask(step::apply, 7) == "fenced");
    CHECK(fenced.left() == epochs{9});
    scene own{{7}};
    CHECK(own.ask(step::apply, 7) == "unknown");
    CHECK(own.left() == epochs{7});
}

TEST_CASE("prepared session: an apply prepares nothing before all lower names are rolled back") {
    for (std::string const failing : {"list", "roll back"}) {
        CAPTURE(failing);
        scene scene{{3}};
        scene.books.disturb = [&](std::string_view operation, std::string const&) {
            return operation == failing ? fault::unavailable : fault::none;
        };
        CHECK(scene.ask(step::apply, 7) == "unavailable");
        CHECK(scene.left() == epochs{3});
    }
}

TEST_CASE("prepared session: an apply after a cancel stops its worker") {
    scene scene{{}};
    CHECK(scene.ask(step::compensate, 5) == "applied");
    CHECK(scene.receipt() == 0U);
    CHECK(scene.ask(step::apply, 5) == "fenced");
    CHECK(scene.left().empty());
}

TEST_CASE("prepared session: a confirm commits the name with the committed epoch alone") {
    scene scene{{3, 5, 7}};
    CHECK(scene.ask(step::confirm, 7, 5) == "applied");
    CHECK(scene.left() == epochs{3, 7});
    CHECK(scene.books.accounts.at("of 5") == 1);
    CHECK(scene.books.accounts.at("of 3") == 0);
}

TEST_CASE("prepared session: a confirm of an absent name reads its receipt") {
    scene scene{{}};
    CHECK(scene.ask(step::apply, 5) == "applied");
    CHECK(scene.ask(step::confirm, 5, 5) == "applied");
    CHECK(scene.books.accounts.at("X") == 30);
    CHECK(scene.ask(step::confirm, 6, 5) == "applied");
    CHECK(scene.books.accounts.at("X") == 30);
    CHECK(scene.ask(step::confirm, 6, 6) == "unavailable");
    CHECK(scene.problem.code == settle::errc::prepared_lost);
}

TEST_CASE("prepared session: a compensate rolls back all names up to the entry's epoch") {
    scene earlier{{3, 7}};
    CHECK(earlier.ask(step::compensate, 7) == "applied");
    CHECK(earlier.left().empty());
    CHECK(earlier.receipt() == 0U);
    // A higher name belongs to a later use of the id.
    scene later{{3, 9}};
    CHECK(later.ask(step::compensate, 7) == "applied");
    CHECK(later.left() == epochs{9});
    CHECK_FALSE(later.receipt());
}

TEST_CASE("prepared session: a prepare that lands inside a compensate is rolled back") {
    scene scene{{3}};
    int denials = 0;
    scene.books.disturb = [&](std::string_view operation, std::string const&) {
        if (operation != "deny" || ++denials > 1) return fault::none;
        auto const work = [](database::connection& to) { return book(to, {"X", 30}); };
        CHECK(scene.books.prepare(name_of(5), work).what == settle::prepare_answer::prepared);
        return fault::none;
    };
    CHECK(scene.ask(step::compensate, 7) == "applied");
    CHECK(denials == 2);
    CHECK(scene.left().empty());
    CHECK(scene.receipt() == 0U);
}

TEST_CASE("prepared session: backing off rolls back exactly its own name") {
    scene scene{{3, 5, 7}};
    CHECK(scene.ask(step::back_off, 5) == "applied");
    CHECK(scene.left() == epochs{3, 7});
    CHECK(scene.ask(step::back_off, 5) == "nothing");
    CHECK(scene.left() == epochs{3, 7});
}

TEST_CASE("prepared session: ids that continue an id keep their names, and pages are read on") {
    scene scene{{}};
    for (epoch number = 1; number <= 150; ++number) {
        auto const row = std::to_string(number);
        scene.books.prepare_by_hand(name_of(number).text(), "own " + row, 1);
        scene.books.prepare_by_hand(name_of(number + 1000, "t/" + row).text(), "other " + row, 1);
    }
    CHECK(scene.ask(step::compensate, 200) == "applied");
    CHECK(scene.left().empty());
    CHECK(scene.receipt() == 0U);
    CHECK(scene.books.names().size() == 150);
}

} // namespace prepared_session_test
