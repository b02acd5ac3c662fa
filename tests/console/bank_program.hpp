// SPDX-License-Identifier: BSL-1.0
// A program with a bank and a console, which a test kills.
#pragma once

#include "bank_server.hpp"

#include <forked_child.hpp>

#include <thread>

namespace console_bank {

using settle_test::child, settle_test::console_port, settle_test::say;

/// Several threads share the commits of the log.
inline void submit(auto& engine, std::string const& prefix, std::size_t count) {
    constexpr std::size_t threads = 16;
    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&engine, &prefix, count, thread] {
            for (auto number = thread; number < count; number += threads) {
                std::ignore =
                    engine.submit(prefix + std::to_string(number), transfer{"anna", "bert", 1, ""});
            }
        });
    }
}

/// Fills a file with entries that were never begun, and with entries whose worker was killed.
inline void fill(std::string const& path, std::size_t submitted, std::size_t left) {
    child{[&](int to) {
        std::optional<settle::step> last_step;
        settle::sqlite::database database{path};
        settle::engine engine{database, settle::type<transfer_type>, settle::phases::two,
                              settle::observed_by(killer{&last_step})};
        for (auto const* const id : {"anna", "bert"})
            std::ignore = engine.create(accounts, {id, 10'000});
        submit(engine, "submitted/", submitted);
        last_step = settle::step::apply;
        for (std::size_t number = 0; number < left; ++number) {
            try {
                std::ignore =
                    engine.run("left/" + std::to_string(number), transfer{"anna", "bert", 10, ""});
            } catch (settle::testing::crash const&) {
            }
        }
        say(to, "ready");
    }}.line();
}

/// A program with a console, which a test kills. The file stays, and the next program has it.
class bank_program {
public:
    /// Shape:   stalls_after - acts on so many entries, says so, and does nothing more; 0: on all;
    ///          port - of the console; 0: a free one
    explicit bank_program(std::string const& path, std::uint64_t stalls_after = 0,
                          std::uint16_t port = 0)
        : process_([&](int to) {
              settle::sqlite::database database{path};
              settle::engine engine{database, settle::type<transfer_type>, settle::phases::two};
              // What a program has left that was killed is taken over at once, or after hours.
              settle::console_options options{.port = port,
                                              .name_header = "X-Forwarded-User",
                                              .store_limit = std::chrono::minutes{10}};
              options.audit = [to,
                               left = stalls_after](settle::console_action const& seen) mutable {
                  if (seen.action != "cancel" || left == 0 || --left != 0) return;
                  say(to, "stalls");
                  for (;;) ::pause();
              };
              settle::console const console{engine, options};
              say(to, std::to_string(console.port()));
              for (;;) ::pause();
          }),
          port_(std::stoi(process_.line())) {}

    [[nodiscard]] console_port console() const { return console_port{port_}; }
    void wait_until_it_stalls() { CHECK(process_.line() == "stalls"); }
    void kill() { process_.kill(); }

private:
    child process_;
    int port_;
};

} // namespace console_bank
