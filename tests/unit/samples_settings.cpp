// SPDX-License-Identifier: BSL-1.0
// The samples' command line: accepted arguments, and the errors for all others.
#include <shared/settings.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

/// A command line that was read, and how that ended.
struct reading {
    samples::settings given;
    std::int64_t balance = -1;
    std::optional<samples::exit_code> ended;

    explicit reading(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "shop");
        std::vector<char*> argv;
        for (auto& each : arguments) argv.push_back(each.data());
        samples::command_line_description shop{"shop", "Sells.", [this](CLI::App&, CLI::App& open) {
                                                   samples::add_money(open, "--balance", balance,
                                                                      "money");
                                               }};
        shop.known_stores = "many";
        given.store = "sqlite:shop.db";
        auto const count = static_cast<int>(argv.size());
        ended = samples::read_command_line(shop, count, argv.data(), given);
    }
};

using samples::exit_code;
using std::chrono::seconds;
using names = std::vector<std::string>;

} // namespace

TEST_SUITE("samples: settings") {
    TEST_CASE("settings: several commands keep their order, their ids and their options") {
        reading const read{{"check",     "open", "a.csv",  "--balance", "1000.5",
                            "reverse",   "r",    "cancel", "c",         "--even-if-unknown",
                            "show",      "s",    "--json", "list",      "--state",
                            "canceling", "home", "copied", "--store",   "memory:"}};
        CHECK_FALSE(read.ended);
        CHECK(read.given.commands ==
              names{"check", "open", "reverse", "cancel", "show", "list", "home"});
        CHECK(read.given.store == "memory:");
        CHECK(read.given.file == "a.csv");
        CHECK(read.balance == 100050);
        CHECK(read.given.reverse.id == "r");
        CHECK(read.given.cancel.id == "c");
        CHECK(read.given.even_if_unknown);
        CHECK(read.given.show_id == "s");
        CHECK(read.given.show_json);
        CHECK_FALSE(read.given.list.is_json);
        CHECK(read.given.list.state == settle::state::canceling);
        CHECK(read.given.was_copied);
    }

    TEST_CASE("settings: the last id, account or file may have any spelling after --") {
        reading const account{{"check", "balance", "--", "check"}};
        CHECK_FALSE(account.ended);
        CHECK(account.given.account == "check");
        CHECK(account.given.commands == names{"check", "balance"});
        CHECK(reading{{"show", "--json", "--", "-x"}}.given.show_id == "-x");
        CHECK(reading{{"balance", "check"}}.given.commands == names{"balance", "check"});
    }

    TEST_CASE("settings: a run has default values, and each option has its limits") {
        reading const plain{{"run", "a.csv"}};
        CHECK(plain.given.store == "sqlite:shop.db");
        CHECK(plain.given.window == 0);
        CHECK(plain.given.threads == 1);
        CHECK_FALSE(plain.given.two_phases);
        reading const most{{"run", "a.csv", "--batch", "20000", "--threads", "64", "--two-phases"}};
        CHECK_FALSE(most.ended);
        CHECK(most.given.window == 20'000);
        CHECK(most.given.threads == 64);
        CHECK(most.given.two_phases);
    }

    TEST_CASE("settings: an action is on one transaction, or on those of a choice") {
        reading const chosen{{"cancel", "--state", "pending", "--older-than", "1h", "--dry-run",
                              "recover", "--all", "--yes", "--json"}};
        CHECK_FALSE(chosen.ended);
        CHECK(chosen.given.cancel.state == settle::state::pending);
        CHECK(chosen.given.cancel.older_than == seconds(3600));
        CHECK(chosen.given.cancel.is_dry_run);
        CHECK_FALSE(chosen.given.cancel.is_agreed);
        CHECK(chosen.given.recover.is_for_all);
        CHECK(chosen.given.recover.is_agreed);
        CHECK(chosen.given.recover.is_json);
        reading const each{{"recover", "r", "check"}};
        CHECK(each.given.recover.id == "r");
        CHECK(each.given.commands == names{"recover", "check"});
        for (names const& arguments : {names{"cancel"},
                                       {"reverse"},
                                       {"cancel", ""},
                                       {"recover", ""},
                                       {"show", ""},
                                       {"cancel", "c", "--all"},
                                       {"recover", "r", "--state", "pending"},
                                       {"cancel", "--all", "--even-if-unknown"},
                                       {"list", "--dry-run"},
                                       {"check", "--json"},
                                       {"run", "a.csv", "--yes"}}) {
            CAPTURE(arguments.back());
            CHECK(reading{arguments}.ended == exit_code::wrong_usage);
        }
    }

    TEST_CASE("settings: times have units") {
        CHECK_FALSE(reading{{"recover"}}.given.recover.older_than);
        CHECK(reading{{"recover", "--older-than", "0s"}}.given.recover.older_than == seconds(0));
        CHECK(reading{{"recover", "--older-than", "90"}}.given.recover.older_than == seconds(90));
        CHECK(reading{{"recover", "--older-than", "5m"}}.given.recover.older_than == seconds(300));
        CHECK(reading{{"list", "--older-than", "2h"}}.given.list.older_than == seconds(7200));
        CHECK(reading{{"purge", "--older-than", "1d"}}.given.finished_for == seconds(86400));
    }

    TEST_CASE("settings: help is valid, and any other unknown command is an error") {
        CHECK(reading{{"--help"}}.ended == exit_code::settled);
        CHECK(reading{{"run", "--help"}}.ended == exit_code::settled);
        CHECK(reading{{"--version"}}.ended == exit_code::settled);
        for (names const& arguments : {names{},
                                       {"fly"},
                                       {"run"},
                                       {"run", "a.csv", "--speed", "9"},
                                       {"run", "a.csv", "--batch", "0"},
                                       {"run", "a.csv", "--batch", "20001"},
                                       {"run", "a.csv", "--batch", "-1"},
                                       {"run", "a.csv", "--batch", "many"},
                                       {"run", "a.csv", "--batch", "1.5"},
                                       {"run", "a.csv", "--batch", "99999999999999999999"},
                                       {"run", "a.csv", "--threads", "65"},
                                       {"recover", "--batch", "10"},
                                       {"open", "a.csv"},
                                       {"open", "a.csv", "--balance", "-1"},
                                       {"open", "a.csv", "--balance", "1.234"},
                                       {"recover", "--older-than", "soon"},
                                       {"recover", "--older-than", "-5m"},
                                       {"recover", "--older-than", "999999999d"},
                                       {"list", "--state", "lost"},
                                       {"home", "lost"},
                                       {"cancel"},
                                       {"check", "list", "check"}}) {
            CAPTURE(arguments.size());
            CHECK(reading{arguments}.ended == exit_code::wrong_usage);
        }
    }
}
