// SPDX-License-Identifier: BSL-1.0
// Long nights of an operator, in a browser.
#include "bank_program.hpp"
#include "browser.hpp"

#include <preparing_database.hpp>
#include <service_receiver.hpp>

namespace console_bank {

/// A ticket is paid with a card; nothing can take that back.
struct ticket {
    std::string customer;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};
/// Money that goes to another database, which prepares.
struct payment {
    std::string from, to;
    std::int64_t amount = 0;
};
struct booking {
    std::string account;
    std::int64_t amount = 0;
};

} // namespace console_bank

SETTLE_STRUCT(console_bank::ticket, customer, price);
SETTLE_STRUCT(console_bank::charge, customer, amount);
SETTLE_STRUCT(console_bank::payment, from, to, amount);
SETTLE_STRUCT(console_bank::booking, account, amount);

namespace console_bank {

inline constexpr settle::service<charge, settle::nothing, "cards", settle::barrier> cards;
inline constexpr settle::prepared<booking, "ledger"> ledger;

inline constexpr auto ticket_type = settle::transaction<ticket, "ticket">(
    settle::participant<"payer">(accounts, param<&ticket::customer>)
        .require(field<&account::balance> >= param<&ticket::price>)
        .apply(field<&account::balance> -= param<&ticket::price>)
        .compensate(settle::inverse),
    settle::participant<"card">(cards).apply(
        settle::call(param<&ticket::customer>, param<&ticket::price>)));
inline constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"payer">(accounts, param<&payment::from>)
        .require(field<&account::balance> >= param<&payment::amount>)
        .apply(field<&account::balance> -= param<&payment::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(
        settle::call(param<&payment::to>, param<&payment::amount>)));

namespace {

using preparing_test::fault;
using settle_test::browser, settle_test::wait_for_progress;
namespace key = settle_test::key;

settle::work_result book(preparing_test::database::connection& to, booking const& request) {
    auto const added = to.add(request.account, request.amount);
    return added.has_value() ? settle::work_result::ok()
                             : settle::work_result::failed(added.problem());
}

TEST_CASE("long: page: in a night with 100,000 stuck transfers, each trouble is found and settled, "
          "with the mouse and then with the keyboard") {
    bank bank{"page-night"};
    settle::sqlite::database database{bank.path()};
    preparing_test::database books;
    books.accounts = {{"mouse", 0}, {"keys", 0}};
    service_test::receiver services;
    settle::engine engine{database,
                          settle::bind(cards, services),
                          settle::bind(ledger, books, book),
                          settle::type<transfer_type>,
                          settle::type<ticket_type>,
                          settle::type<payment_type>,
                          settle::phases::two,
                          settle::options{.stuck_after = std::chrono::milliseconds{0}}};
    settle::call_options const soon{std::chrono::seconds{2}, {}};
    services.before = [](settle::service_call const&) {
        return std::optional{settle::service_answer::unknown("the cards do not answer")};
    };
    books.disturb = [](std::string_view operation, std::string const&) {
        return operation == "commit" ? fault::unavailable : fault::none;
    };
    std::map<std::string, std::string> epochs; ///< of damaged entries
    auto const set_epoch = [&](std::string const& id, std::string const& to) {
        testing::ask(bank.path(),
                     "UPDATE settle_entry SET epoch = " + to + " WHERE id = '" + id + "'");
    };
    auto const damage = [&](std::string const& id) {
        auto const found =
            testing::ask(bank.path(), "SELECT epoch FROM settle_entry WHERE id = '" + id + "'");
        epochs[id] = found[0][0];
        set_epoch(id, "'none'");
    };
    for (std::string const with : {"mouse", "keys"}) {
        auto const ended = engine.run("ticket-" + with, ticket{"anna", 1}, soon);
        CHECK(ended.verdict == settle::verdict::undecided);
        CHECK_FALSE(engine.run("payment-" + with, payment{"anna", with, 1}, soon).finished);
        bank.leave("poison-" + with, settle::step::apply, 1);
        damage("poison-" + with);
    }
    bank.leave("t-1", settle::step::apply, 1);
    bank.copy("t-1", 100'000);
    books.disturb = [](std::string_view, std::string const&) { return fault::none; };
    REQUIRE(books.names().size() == 2);
    settle::console const console{engine};
    browser page{"page-night"};
    int clicks = 0;
    auto const click = [&](std::string const& selector, std::string const& shown = {}) {
        page.click(selector, shown);
        ++clicks;
    };
    std::size_t keys = 0;
    auto const press = [&](std::string_view text) {
        page.press(text);
        keys += text.front() == key::tab[0] ? 1 : text.size(); // a key that is no letter is one
    };
    auto const await_entry = [&](std::string const& id) {
        page.await("document.querySelector('h1')?.innerText === '" + id + "'");
    };
    auto const state_of = [&](std::string const& id) { return engine.find(id).value()->state; };

    page.open(console.url());
    page.await_text("100007 entries");
    // A service is dead. Its people say that the card was charged.
    click("main a", "ticket-mouse");
    await_entry("ticket-mouse");
    CHECK(page.text().find("cards") != std::string::npos);
    CHECK(page.text().find("without an answer") != std::string::npos);
    click("main [name=why]");
    page.press("charged, says their support");
    click("main button", "resolve…");
    page.await_text("resolve ticket-mouse");
    click(".asked button");
    page.await_text("ticket-mouse: done");
    CHECK(state_of("ticket-mouse") == settle::state::done);
    // A native transaction is prepared, and its database answers again.
    click("#to-overview");
    page.await_text("100006 entries");
    click("main a", "payment-mouse");
    await_entry("payment-mouse");
    click("main button", "recover…");
    page.await_text("recover payment-mouse");
    click(".asked button");
    page.await_text("payment-mouse: done");
    CHECK(books.names().size() == 1);
    // An entry cannot be read; somebody corrects its row, and the page has asked again.
    click("#to-overview");
    page.await_text("100005 entries");
    click("main a", "poison-mouse");
    page.await("document.querySelector('h1').innerText === 'No answer'");
    CHECK(page.text().find("damaged") != std::string::npos);
    set_epoch("poison-mouse", epochs["poison-mouse"]);
    await_entry("poison-mouse");
    click("main button", "recover…");
    page.await_text("recover poison-mouse");
    click(".asked button");
    page.await_text("poison-mouse: done");
    // The others are canceled; here, those of one day.
    click("#to-entries");
    page.await_text("50 shown");
    click("header [name=id]");
    page.press("order-0000");
    click("header button", "Show");
    page.await_text("order-000050");
    click("main button", "cancel…");
    page.await_text("cancel 99 entries");
    click(".asked button");
    page.await_text("99 of 99 handled, 99 canceled");
    MESSAGE("with the mouse: " << clicks << " clicks");
    CHECK(clicks <= 18);
    CHECK(state_of("order-000042") == settle::state::canceled);
    CHECK(state_of("order-000142") == settle::state::pending);

    page.open(console.url());
    page.await_text("99905 entries");
    auto const focused = [&] { return page.script("return document.activeElement.innerText"); };
    /// From the overview.
    auto const open_with_keys = [&](std::string const& id) {
        page.await("document.querySelector('tr[data-id=" + id + "]')");
        do press("j");
        while (focused() != id && keys < 1000);
        press(key::enter);
    };
    open_with_keys("ticket-keys");
    await_entry("ticket-keys");
    press("a");
    press(key::tab);
    press(key::tab);
    press("charged");
    press(key::enter);
    page.await("document.activeElement.innerText === 'resolve ticket-keys'");
    press(key::enter);
    page.await_text("ticket-keys: done");
    press(key::escape);
    open_with_keys("payment-keys");
    await_entry("payment-keys");
    press("a");
    press(key::enter);
    page.await("document.activeElement.innerText === 'recover payment-keys'");
    press(key::enter);
    page.await_text("payment-keys: done");
    CHECK(books.names().empty());
    press(key::escape);
    open_with_keys("poison-keys");
    page.await("document.querySelector('h1').innerText === 'No answer'");
    set_epoch("poison-keys", epochs["poison-keys"]);
    await_entry("poison-keys");
    press("a");
    press(key::enter);
    page.await("document.activeElement.innerText === 'recover poison-keys'");
    press(key::enter);
    page.await_text("poison-keys: done");
    press("/");
    press("order-0001");
    press(key::enter);
    page.await_text("order-000149");
    press("a");
    press(key::tab);
    press(key::enter);
    page.await("document.activeElement.innerText === 'cancel 100 entries'");
    press(key::enter);
    page.await_text("100 of 100 handled, 100 canceled");
    MESSAGE("with the keyboard: " << keys << " keys");
    CHECK(keys <= 120);
    CHECK(state_of("order-000142") == settle::state::canceled);
    CHECK(books.accounts == std::map<std::string, std::int64_t>{{"keys", 1}, {"mouse", 1}});
    CHECK(bank.balance("anna") == 93); // the first of the stuck transfers is applied, too
}

TEST_CASE("long: page: a cancel of 10,000 entries goes on after its program was killed") {
    constexpr std::uint64_t count = 10'000;
    bank_file const file{"page-killed"};
    fill(file.path(), count - 200, 200);
    std::optional<bank_program> first{std::in_place, file.path()};
    auto const port = first->console().number;
    auto const url = "http://127.0.0.1:" + std::to_string(port) + "/";
    browser page{"page-killed"};
    page.open(url + "entries?state=all&limit=10");
    page.await_text("10 shown");
    page.click("button", "cancel…");
    page.await("document.querySelector('.asked button')");
    CHECK(page.text().find("cancel 10000 entries") != std::string::npos);
    page.click(".asked button");
    page.await_text("of 10000 handled");
    auto const path = page.script("return location.pathname").get<std::string>();
    CHECK(wait_for_progress(console_port{port}, path, count / 4)["state"] == "running");
    first->kill();
    // The page says so, and asks again.
    page.await_text("The console did not answer");
    bank_program const again{file.path(), 0, static_cast<std::uint16_t>(port)};
    auto const ended = settle_test::wait_for_end(console_port{port}, path);
    CHECK(ended["handled"] == count);
    CHECK(ended["ended"] == nlohmann::json{{"canceled", count}});
    page.await_text("10000 of 10000 handled, 10000 canceled");
    CHECK(page.script("return location.pathname") == path);
    CHECK(testing::ask(file.path(), "SELECT count(*) FROM settle_entry WHERE state = 5") ==
          testing::sql_rows{{std::to_string(count)}});
    CHECK(testing::ask(file.path(), "SELECT balance FROM accounts WHERE id = 'anna'") ==
          testing::sql_rows{{"10000"}});
}

} // namespace
} // namespace console_bank
