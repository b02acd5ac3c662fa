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
    samples::settings settings;
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
        settings.store = "sqlite:shop.db";
        auto const count = static_cast<int>(argv.size());
        ended = samples::read_command_line(shop, count, argv.data(), settings);
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
        CHECK(read.settings.commands ==
              names{"check", "open", "reverse", "cancel", "show", "list", "home"});
        CHECK(read.settings.store == "memory:");
        CHECK(read.settings.file == "a.csv");
        CHECK(read.balance == 100050);
        CHECK(read.settings.reverse.id == "r");
        CHECK(read.settings.cancel.id == "c");
        CHECK(read.settings.even_if_unknown);
        CHECK(read.settings.show_id == "s");
        CHECK(read.settings.show_json);
        CHECK_FALSE(read.settings.list.is_json);
        CHECK(read.settings.list.state == settle::state::canceling);
        CHECK(read.settings.was_copied);
    }

    TEST_CASE("settings: the last id, account or file may have any spelling after --") {
        reading const account{{"check", "balance", "--", "check"}};
        CHECK_FALSE(account.ended);
        CHECK(account.settings.account == "check");
        CHECK(account.settings.commands == names{"check", "balance"});
        CHECK(reading{{"show", "--json", "--", "-x"}}.settings.show_id == "-x");
        CHECK(reading{{"balance", "check"}}.settings.commands == names{"balance", "check"});
    }

    TEST_CASE("settings: a run has default values, and each option has its limits") {
        reading const plain{{"run", "a.csv"}};
        CHECK(plain.settings.store == "sqlite:shop.db");
        CHECK(plain.settings.window == 0);
        CHECK(plain.settings.threads == 1);
        CHECK_FALSE(plain.settings.two_phases);
        reading const most{{"run", "a.csv", "--batch", "20000", "--threads", "64", "--two-phases"}};
        CHECK_FALSE(most.ended);
        CHECK(most.settings.window == 20'000);
        CHECK(most.settings.threads == 64);
        CHECK(most.settings.two_phases);
    }

    TEST_CASE("settings: an action is on one transaction, or on those of a choice") {
        reading const chosen{{"cancel", "--state", "pending", "--older-than", "1h", "--dry-run",
                              "recover", "--all", "--yes", "--json"}};
        CHECK_FALSE(chosen.ended);
        CHECK(chosen.settings.cancel.state == settle::state::pending);
        CHECK(chosen.settings.cancel.older_than == seconds(3600));
        CHECK(chosen.settings.cancel.is_dry_run);
        CHECK_FALSE(chosen.settings.cancel.is_agreed);
        CHECK(chosen.settings.recover.is_for_all);
        CHECK(chosen.settings.recover.is_agreed);
        CHECK(chosen.settings.recover.is_json);
        reading const each{{"recover", "r", "check"}};
        CHECK(each.settings.recover.id == "r");
        CHECK(each.settings.commands == names{"recover", "check"});
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
        CHECK_FALSE(reading{{"recover"}}.settings.recover.older_than);
        CHECK(reading{{"recover", "--older-than", "0s"}}.settings.recover.older_than == seconds(0));
        CHECK(reading{{"recover", "--older-than", "90"}}.settings.recover.older_than ==
              seconds(90));
        CHECK(reading{{"recover", "--older-than", "5m"}}.settings.recover.older_than ==
              seconds(300));
        CHECK(reading{{"list", "--older-than", "2h"}}.settings.list.older_than == seconds(7200));
        CHECK(reading{{"purge", "--older-than", "1d"}}.settings.finished_for == seconds(86400));
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
