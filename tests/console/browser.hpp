// SPDX-License-Identifier: BSL-1.0
// A headless Chromium that a test drives as a person would, over the WebDriver protocol.
// Source:  https://www.w3.org/TR/webdriver2/
#pragma once

#include "client.hpp"

#include <program.hpp>
#include <server_process.hpp>

#include <cstdlib>

namespace settle_test {

namespace key {
inline constexpr auto tab = "\uE004";
inline constexpr auto enter = "\uE007";
inline constexpr auto escape = "\uE00C";
} // namespace key

class browser {
public:
    /// Ends the test as skipped if a program is missing.
    explicit browser(std::string const& name) : folder_(name), port_(free_port()) {
        for (auto const* const program : {"/usr/bin/chromedriver", "/usr/bin/chromium"}) {
            if (::access(program, X_OK) != 0) {
                skip(std::string{"there is no "} + program +
                     " of Debian's packages chromium and chromium-driver");
            }
        }
        driver_.begin({"/usr/bin/chromedriver", "--port=" + std::to_string(port_)});
        REQUIRE(wait_until(patience, [&] { return listens_at(port_); }));
        // Chromium ends with its driver, whose pipe it reads.
        auto const options = nlohmann::json{
            {"args",
             {"--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
              "--remote-debugging-pipe", "--user-data-dir=" + folder_.at("profile")}}};
        auto const session =
            call("", {{"capabilities", {{"alwaysMatch", {{"goog:chromeOptions", options}}}}}});
        session_ = "/" + session["sessionId"].get<std::string>();
    }
    ~browser() { request(port_, "DELETE", "/session" + session_); }
    browser(browser const&) = delete;
    browser& operator=(browser const&) = delete;

    void open(std::string const& url) { call("/url", {{"url", url}}); }

    /// What a function of this body returns.
    /// Shape:   body - JavaScript, in which `arguments` are the values
    nlohmann::json script(std::string const& body,
                          nlohmann::json values = nlohmann::json::array()) {
        return call("/execute/sync", {{"script", body}, {"args", std::move(values)}});
    }

    /// Waits until an expression of JavaScript is true.
    void await(std::string const& expression) {
        bool const is_true = wait_until(
            patience, [&] { return script("return Boolean(" + expression + ")") == true; });
        REQUIRE_MESSAGE(is_true, expression << "; the page has:\n" << text());
    }
    /// Waits until the page shows a text.
    void await_text(std::string const& text) {
        await("document.body.innerText.includes(" + nlohmann::json(text).dump() + ")");
    }
    [[nodiscard]] std::string text() { return script("return document.body.innerText"); }

    /// Clicks with the mouse at the middle of the first element that a CSS selector finds, and that
    /// shows a text.
    void click(std::string const& selector, std::string const& shown = {}) {
        auto const element = script("return [...document.querySelectorAll(arguments[0])]"
                                    ".find((each) => each.innerText.includes(arguments[1]))",
                                    {selector, shown});
        REQUIRE_MESSAGE(element.is_object(), "no " << selector << " shows '" << shown << "'");
        call("/element/" + element.front().get<std::string>() + "/click", nlohmann::json::object());
    }

    /// Presses the keys of a text, one after the other.
    void press(std::string_view text) {
        auto strokes = nlohmann::json::array();
        for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
            do ++end;
            while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U);
            for (auto const* const type : {"keyDown", "keyUp"})
                strokes.push_back({{"type", type}, {"value", text.substr(begin, end - begin)}});
        }
        auto const keys = nlohmann::json{{"type", "key"}, {"id", "keys"}, {"actions", strokes}};
        call("/actions", {{"actions", nlohmann::json::array({keys})}});
    }

    /// Calls a function of Chromium's own protocol.
    void tell(std::string const& command, nlohmann::json parameters) {
        call("/goog/cdp/execute", {{"cmd", command}, {"params", std::move(parameters)}});
    }

    /// Sends a command of the session, and gives the value of its answer.
    nlohmann::json call(std::string const& command, nlohmann::json const& body) {
        auto const answer = request(port_, "POST", "/session" + session_ + command,
                                    "Content-Type: application/json\r\n", body.dump());
        auto const value = answer.json()["value"];
        REQUIRE_MESSAGE(answer.status == 200, command << ": " << value.dump().substr(0, 1000));
        return value;
    }

private:
    static constexpr std::chrono::minutes patience{2};

    testing::scratch_folder folder_;
    int port_;
    server_process driver_;
    std::string session_;
};

/// What axe-core finds wrong with the page, each with the element. Ends the test as skipped if
/// there is no axe-core.
inline std::string found_by_axe(browser& page) {
    char const* const file = std::getenv("SETTLE_AXE");
    if (file == nullptr)
        skip("SETTLE_AXE does not name the file axe.min.js; tests/console/axe.sh fetches one");
    static std::string const source = testing::read_file(file);
    REQUIRE(source.size() > 100'000);
    auto const found =
        page.call("/execute/async", {{"args", nlohmann::json::array()}, {"script", source + R"js(
;const done = arguments[arguments.length - 1];
axe.run().then((result) => done(result.violations.map((each) => each.id + ': '
  + each.nodes.map((node) => node.html + ' ' + node.failureSummary).join('; ')).join('\n')),
  (problem) => done('axe: ' + problem));
)js"}});
    return found.get<std::string>();
}

} // namespace settle_test
