// SPDX-License-Identifier: BSL-1.0
// The page of a console in a browser, as an operator uses it with the mouse or with the keyboard.
#include "browser.hpp"
#include "bank_server.hpp"
#include "shop.hpp"

namespace console_bank {
namespace {

using settle_test::browser, settle_test::found_by_axe;
namespace key = settle_test::key;

TEST_CASE("long: page: among 100,000 entries a stuck one is canceled with the mouse") {
    bank bank{"page-mouse"};
    bank.leave("t-1", settle::step::apply);
    bank.copy("t-1", 100'000);
    settle::console const console{bank.engine};
    browser page{"page-mouse"};
    page.open(console.url());
    page.await_text("100001 entries");
    page.click("main a", "t-1");
    page.await("document.querySelector('h1').innerText === 't-1'");
    CHECK(page.script("return location.pathname") == "/entries/t-1");
    page.click("button", "cancel…");
    page.await_text("it ends canceled");
    CHECK(bank.balance("anna") == 90);
    page.click("button", "cancel t-1");
    page.await_text("t-1: canceled (cancel asked)");
    CHECK(bank.balance("anna") == 100);
}

TEST_CASE(
    "long: page: with the keyboard alone a stuck transfer is found among 100,000 and canceled") {
    bank bank{"page-keys"};
    bank.leave("t-1", settle::step::apply);
    bank.copy("t-1", 100'000);
    settle::console const console{bank.engine};
    browser page{"page-keys"};
    page.open(console.url());
    page.await_text("entries;");
    page.press("?");
    page.await("document.getElementById('help').open");
    page.press(key::escape);
    page.await("!document.getElementById('help').open");
    page.press("/");
    page.press("order-04711");
    page.press(key::enter);
    page.await_text("10 shown");
    page.press("jjkj");
    auto const focused = [&] { return page.script("return document.activeElement.innerText"); };
    CHECK(focused() == "order-047111");
    page.press("x");
    CHECK(page.text().find("1 selected") != std::string::npos);
    page.press("x");
    CHECK(page.text().find("1 selected") == std::string::npos);
    page.press(key::enter);
    page.await("document.querySelector('h1').innerText === 'order-047111'");
    page.press("a");
    CHECK(focused() == "recover…");
    page.press(key::tab);
    page.press(key::enter);
    page.await("document.activeElement.innerText === 'cancel order-047111'");
    page.press(key::enter);
    page.await_text("order-047111: canceled (cancel asked)");
    CHECK(bank.engine.find("order-047111").value()->state == settle::state::canceled);
    page.press(key::escape);
    page.await_text("10 shown");
    // The first three are selected, of which one is canceled meanwhile.
    page.press("jxjxjxa");
    CHECK(focused() == "recover selected…");
    page.press(key::tab);
    page.press(key::enter);
    page.await("document.activeElement.innerText === 'cancel 2 entries'");
    page.press(key::enter);
    page.await_text("order-047110: canceled (cancel asked); order-047112: canceled (cancel asked)");
    CHECK(bank.engine.find("order-047112").value()->state == settle::state::canceled);
    CHECK(bank.engine.find("order-047113").value()->state == settle::state::pending);
}

/// Has the page's timers wait for a call of `fire()`, and counts what the page asks for.
constexpr auto held_timers = R"js(const timers = new Map();
let last = 0;
window.setTimeout = (call) => { timers.set(++last, call); return last; };
window.clearTimeout = (timer) => timers.delete(timer);
window.fire = () => {
  const due = [...timers.values()];
  timers.clear();
  for (const call of due) call();
};
window.asked = 0;
const ask = window.fetch;
window.fetch = (...all) => { window.asked += 1; return ask(...all); };
)js";

TEST_CASE("long: page: it is refreshed, but not while something is selected, or out of sight") {
    bank bank{"page-refresh"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    browser page{"page-refresh"};
    page.tell("Page.addScriptToEvaluateOnNewDocument", {{"source", held_timers}});
    page.open(console.url() + "entries");
    auto const fire = [&] { return page.script("fire(); return asked").get<int>(); };
    page.await("document.querySelector('main').innerText.includes('pending')");
    REQUIRE(bank.engine.retry("t-1").done());
    CHECK(fire() == 2);
    page.await("document.querySelector('main').innerText.includes('done')");
    auto const is_held = [&] {
        CHECK(fire() == 2);
        CHECK(page.text().find("Not refreshed") != std::string::npos);
    };
    page.press("j");
    is_held();
    page.press(key::escape);
    page.await("asked === 3 && !document.querySelector('tr.selected')");
    page.script("asked = 2");
    page.click("main input");
    is_held();
    page.press(key::escape);
    page.await("asked === 3 && !document.querySelector('main :checked')");
    page.script("asked = 2; getSelection().selectAllChildren(document.querySelector('h1'))");
    is_held();
    page.script("getSelection().empty()");
    CHECK(fire() == 3);
    page.script("asked = 2");
    // Another tab hides this one.
    auto const other = page.call("/window/new", {{"type", "tab"}})["handle"];
    page.tell("Target.activateTarget", {{"targetId", other}});
    CHECK(page.script("return document.hidden") == true);
    CHECK(fire() == 2);
}

TEST_CASE("long: page: markup in ids and in a filter is text") {
    bank bank{"page-markup"};
    std::string const id = "<img src=x onerror=\"document.title='run'\"><i>\"'&amp;";
    bank.leave(id, settle::step::apply);
    settle::console const console{bank.engine};
    browser page{"page-markup"};
    for (auto const* const path : {"", "entries?type=%3Ci%3E", "entries"}) {
        page.open(console.url() + path);
        page.await("document.querySelector('h1')");
        CHECK(page.script("return document.querySelectorAll('main img, main i').length") == 0);
    }
    page.click("main a", id);
    page.await("document.querySelector('h1').innerText === " + nlohmann::json(id).dump());
    page.click("button", "cancel…");
    page.await_text("cancel " + id);
    page.click("button", "cancel " + id);
    page.await_text(id + ": canceled");
    CHECK(page.script("return document.title") == id + " – settle");
}

TEST_CASE("long: page: of two operators, the second is told that the entry has moved") {
    bank bank{"page-two"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    browser first{"page-first"};
    browser second{"page-second"};
    for (browser* const page : {&first, &second}) {
        page->open(console.url() + "entries/t-1");
        page->await("document.querySelector('h1')");
        page->click("button", page == &first ? "cancel…" : "recover…");
        page->await("document.querySelector('.asked button')");
    }
    second.click(".asked button");
    second.await_text("t-1: done");
    first.click(".asked button");
    first.await_text("too late to cancel it");
    CHECK(bank.balance("anna") == 90);
    CHECK(bank.balance("bert") == 110);
}

TEST_CASE("long: page: a query that failed is told, and shows no empty list") {
    bank bank{"page-failed"};
    bank.leave("t-1", settle::step::apply);
    std::string url;
    browser page{"page-failed"};
    {
        settle::console const console{bank.engine, {.store_limit = std::chrono::milliseconds{200}}};
        url = console.url();
        bank.take_log_away();
        page.open(url + "entries");
        page.await("document.querySelector('[role=alert]')");
        CHECK(page.script("return document.querySelector('[role=alert]').innerText")
                  .get<std::string>()
                  .starts_with("settle: "));
        CHECK(page.script("return document.querySelectorAll('table').length") == 0);
        CHECK(page.text().find("shown") == std::string::npos);
        CHECK(page.text().find("none") == std::string::npos);
    }
    // Nor does a console that has ended.
    page.click("#to-overview");
    page.await_text("The console did not answer");
}

TEST_CASE("long: page: an action on all is watched to its end, and calls are paused and resumed") {
    bank bank{"page-actions"};
    for (auto const* const id : {"t-1", "t-2"}) bank.leave(id, settle::step::apply);
    REQUIRE(bank.engine.pause_calls(settle::pause_scope::transaction, "t-1", "first").value());
    settle::console const console{bank.engine};
    browser page{"page-actions"};
    page.open(console.url() + "entries");
    page.await_text("2 shown");
    page.click("button", "cancel…");
    page.await("document.querySelector('.asked button')");
    page.click(".asked button");
    page.await_text("2 of 2 handled, 2 canceled");
    CHECK(bank.balance("anna") == 100);
    auto const path = page.script("return location.pathname").get<std::string>();
    CHECK(path.starts_with("/actions/"));
    page.click("#to-actions");
    page.await("document.querySelector('main td a')");
    page.click("main td a");
    page.await("location.pathname === '" + path + "' && document.querySelector('dl')");
    page.click("#to-overview");
    page.await_text("resume transaction t-1");
    page.click("button", "resume transaction t-1");
    page.await_text("the calls of the transaction 't-1' are made");
    CHECK(bank.engine.paused_calls().value().empty());
}

TEST_CASE("long: page: the filter keeps each field of its address, and says that it scans") {
    bank bank{"page-filter"};
    REQUIRE(bank.engine.run("t-1", transfer{"anna", "bert", 1000, ""}).canceled());
    REQUIRE(bank.engine.run("t-2", transfer{"anna", "bert", 1, ""}).done());
    settle::console const console{bank.engine};
    browser page{"page-filter"};
    page.open(console.url() + "entries?reason=guard%20failed&participant=source&still=0s&limit=9");
    page.await_text("1 shown");
    CHECK(page.text().find("no index serves this filter") != std::string::npos);
    page.press("/");
    page.press("t-1");
    page.press(key::enter);
    page.await("location.search.includes('id=t-1')");
    auto const has = [&](std::string const& name) {
        return page.script("return new URLSearchParams(location.search).get(arguments[0])", {name});
    };
    CHECK(has("reason") == "guard failed");
    CHECK(has("participant") == "source");
    CHECK(has("still") == "0s");
    CHECK(has("limit") == "9");
    page.await_text("1 shown");
    page.script("document.querySelector('[name=participant]').value = 'destination'");
    page.click("header button", "Show");
    page.await_text("0 shown");
    CHECK(has("participant") == "destination");
    CHECK(has("id") == "t-1");
}

TEST_CASE("long: page: the present stage is lit, and its call is resolved with the keyboard") {
    console_shop::office office{"card"};
    office.leave("o-1", "1A");
    settle::console const console{office.engine};
    browser page{"page-stage"};
    auto const lit = [&] {
        return page.script("return [...document.querySelectorAll('.flow [aria-current=step]')]"
                           ".map((each) => each.innerText).join('; ')");
    };
    page.open(console.url() + "entries/o-1");
    page.await("document.querySelector('.flow')");
    auto const stage = lit().get<std::string>();
    CHECK(stage.starts_with("stage 2"));
    CHECK(stage.find("card: call of bank") != std::string::npos);
    auto const boxes = page.script("return document.querySelectorAll('.flow > li').length");
    CHECK(boxes == 10); // begin, three stages, deciding, commit, confirm, done; cancel, canceled
    auto const picture = page.script("return document.querySelector('.flow').innerText");
    CHECK(picture.get<std::string>().find("payer: ") != std::string::npos);
    if (std::getenv("SETTLE_AXE") != nullptr) CHECK(found_by_axe(page) == "");
    page.press("a");
    page.press(key::tab);
    page.press(key::tab);
    page.press("the bank has it");
    page.press(key::tab);
    page.press(key::tab);
    page.press(R"({"number":"7","code":"1"})");
    page.press(key::enter);
    page.await("document.activeElement.innerText === 'resolve o-1'");
    page.press(key::enter);
    page.await_text("o-1: done");
    page.await("document.querySelector('.flow')");
    CHECK(lit() == "done");
    CHECK(page.text().find("the bank has it") != std::string::npos);
    CHECK(office.engine.find("o-1").value()->state == settle::state::done);
}

TEST_CASE("long: page: axe-core finds nothing, light, dark and on a phone") {
    bank bank{"page-axe"};
    bank.leave("t-1", settle::step::apply);
    bank.leave("t-2", settle::step::commit);
    settle::console const console{bank.engine, {.figures = settle::metrics{}}};
    REQUIRE(bank.engine.pause_calls(settle::pause_scope::transaction, "t-1", "first").value());
    CHECK(settle_test::post(console, "/calls/pause", "scope=service&name=shop&why=x").status ==
          404);
    settle::console const guarded{bank.engine, {.viewer_token = "0123456789abcdef"}};
    browser page{"page-axe"};
    auto const check = [&](std::string const& view) {
        CAPTURE(view);
        CHECK(found_by_axe(page) == "");
        CHECK(page.script("return document.documentElement.scrollWidth <= innerWidth") == true);
    };
    for (std::string const mode : {"light", "dark", "phone"}) {
        CAPTURE(mode);
        page.tell("Emulation.setEmulatedMedia",
                  {{"features",
                    nlohmann::json::array({{{"name", "prefers-color-scheme"},
                                            {"value", mode == "dark" ? "dark" : "light"}}})}});
        if (mode == "phone") {
            page.tell(
                "Emulation.setDeviceMetricsOverride",
                {{"width", 360}, {"height", 740}, {"deviceScaleFactor", 2}, {"mobile", true}});
        }
        page.open(console.url());
        page.await_text("2 entries");
        CHECK(page.text().find("0 in flight") != std::string::npos);
        check("overview");
        CHECK(page.script("return getComputedStyle(document.body).backgroundColor") ==
              (mode == "dark" ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)"));
        page.press("?");
        check("help");
        page.press(key::escape);
        page.click("#to-entries");
        page.await_text("2 shown");
        page.press("j");
        check("list");
        page.click("button", "cancel…");
        page.await("document.querySelector('.asked')");
        check("action on all");
        page.click("#to-actions");
        page.await_text("refused");
        check("journal");
        page.click("main td a");
        page.await("document.querySelector('dl')");
        check("action that was taken");
        page.open(console.url() + "entries/t-1");
        page.await_text("cancel…");
        page.click("button", "cancel…");
        page.await("document.querySelector('.asked')");
        check("entry");
        page.click("main td a", "anna");
        page.await("document.querySelector('h1').innerText === 'accounts/anna'");
        check("record");
        page.open(console.url() + "entries/none");
        page.await("document.querySelector('[role=alert]')");
        check("problem");
        page.open(guarded.url());
        page.await("document.querySelector('main form')");
        check("token");
    }
}

} // namespace
} // namespace console_bank
