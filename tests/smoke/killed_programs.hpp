// SPDX-License-Identifier: BSL-1.0
// Programs that are killed in the middle of a transaction, and the programs that settle it.
#pragma once

#include <forked_child.hpp>

#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <csignal>

namespace smoke_test {

using watcher = std::function<void(settle::event const&)>;

/// The text that a function returns in a process of its own; empty if that process is killed. The
/// clients of databases have threads, so the process that forks uses no client.
inline std::string in_another_process(std::function<std::string()> const& function) {
    settle_test::child process{[&](int to) {
        try {
            settle_test::say(to, function());
        } catch (std::exception const& error) {
            settle_test::say(to, error.what());
        }
    }};
    return process.line();
}

/// Settles entries of any age, and says what is left.
template <typename Engine>
std::string settle_all(Engine& engine) {
    auto const recovered = engine.recover({.older_than = std::chrono::milliseconds{0}});
    settle::entry_filter unfinished;
    unfinished.unfinished = true;
    auto const left = engine.page(unfinished, "", 10).value().size();
    return std::to_string(recovered.done) + " done, " + std::to_string(left) + " unfinished, " +
           std::to_string(engine.marks().value()) + " marks" + recovered.problem.text;
}
constexpr char const* one_is_settled = "1 done, 0 unfinished, 0 marks";

/// Kills a program behind each step of a transaction in two phases. Each time another program must
/// find one transaction unfinished and bring it to its end.
/// Shape:   world - open(): creates the records; run(watcher): runs transactions until its process
///          ends; settle(): calls settle_all(); fault(): an effect that differs from the log
template <typename World>
void kill_and_recover(World const& world) {
    auto const opened = in_another_process([&] {
        world.open();
        return std::string{"opened"};
    });
    REQUIRE(opened == "opened");
    for (auto const last : {settle::step::apply, settle::step::commit, settle::step::confirm}) {
        CAPTURE(settle::name_of(last));
        auto const said = in_another_process([&] {
            int left = 3;
            world.run([&](settle::event const& seen) {
                if (seen.taken == last && --left == 0) ::kill(::getpid(), SIGKILL);
            });
            return std::string{"this process was not killed"};
        });
        CHECK(said == "");
        CHECK(in_another_process([&] { return world.settle(); }) == one_is_settled);
        CHECK(in_another_process([&] { return "fault: " + world.fault(); }) == "fault: ");
    }
}

/// Transfers between two accounts in a database that holds the log, too.
template <typename Database>
struct bank_world {
    std::string address;

    void open() const {
        use({}, [](auto& teller) {
            for (char const* const id : {"A", "B"}) {
                teller.create(bank::accounts, {id, 1000, 1000}).value();
            }
        });
    }
    void run(watcher const& watch) const {
        use(watch, [](auto& teller) {
            for (std::int64_t number = 1;; ++number) {
                bool const forth = number % 2 == 0;
                std::ignore =
                    teller.run(bank::transfer{forth ? "A" : "B", forth ? "B" : "A", number});
            }
        });
    }
    [[nodiscard]] std::string settle() const {
        std::string said;
        use({}, [&](auto& teller) { said = settle_all(teller); });
        return said;
    }
    [[nodiscard]] std::string fault() const {
        std::string faults;
        use({}, [&](auto& teller) {
            std::map<std::string, std::int64_t> balances{{"A", 1000}, {"B", 1000}};
            for (auto const& entry : teller.page({}, "", 1000).value()) {
                auto const moved = settle::decode_json<bank::transfer>(entry.parameters).value();
                balances[moved.source] -= moved.amount;
                balances[moved.destination] += moved.amount;
            }
            for (auto const& [id, balance] : balances) {
                auto const stored = teller.at(bank::accounts, id).balance;
                if (stored != balance) faults += id + " has " + std::to_string(stored);
            }
        });
        return faults;
    }

private:
    template <typename Use>
    void use(watcher const& watch, Use const& use) const {
        Database db{address};
        settle::engine teller{db, settle::two_phases, settle::type<bank::transfer_type>,
                              settle::observed_by([&](settle::event const& seen) {
                                  if (watch) watch(seen);
                              })};
        use(teller);
    }
};

} // namespace smoke_test
