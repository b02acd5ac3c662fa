// SPDX-License-Identifier: BSL-1.0
// Long nights of an operator, in a browser.
#include "bank_program.hpp"
#include "browser.hpp"

namespace console_bank {
namespace {

using settle_test::browser, settle_test::wait_for_progress;

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
