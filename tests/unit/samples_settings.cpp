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
    std::int64_t stock = -1;
    std::optional<samples::exit_code> ended;

    explicit reading(std::vector<std::string> arguments) {
        using kind = samples::open_option::kind;
        arguments.insert(arguments.begin(), "shop");
        std::vector<char*> argv;
        for (auto& each : arguments) argv.push_back(each.data());
        samples::command_line_description const shop{"shop",
                                                     "Sells.",
                                                     "sqlite:shop.db",
                                                     {{"--balance", "money", kind::money, &balance},
                                                      {"--stock", "count", kind::count, &stock}}};
        auto const count = static_cast<int>(argv.size());
        ended = samples::read_command_line(shop, count, argv.data(), given);
    }
};

using samples::command;
using samples::exit_code;
using std::chrono::seconds;

} // namespace

TEST_SUITE("samples: settings") {
    TEST_CASE("settings: open has its file, its amounts and the default store") {
        reading const read{{"open", "a.csv", "--balance", "1000.5", "--stock", "7"}};
        CHECK_FALSE(read.ended);
        CHECK(read.given.commands == std::vector{command::open});
        CHECK(read.given.file == "a.csv");
        CHECK(read.balance == 100050);
        CHECK(read.stock == 7);
        CHECK(read.given.store.kind == samples::store_kind::sqlite);
        CHECK(read.given.store.path == "shop.db");
    }

    TEST_CASE("settings: several commands keep their order and their ids") {
        reading const read{{"--store", "memory:", "check", "reverse", "r", "cancel", "c",
                            "--even-if-unknown", "show", "s", "--json", "list"}};
        CHECK_FALSE(read.ended);
        CHECK(read.given.commands == std::vector{command::check, command::reverse, command::cancel,
                                                 command::show, command::list});
        CHECK(read.given.reverse_id == "r");
        CHECK(read.given.cancel_id == "c");
        CHECK(read.given.show_id == "s");
        CHECK(read.given.even_if_unknown);
        CHECK(read.given.show_json);
        CHECK_FALSE(read.given.list_json);
    }

    TEST_CASE("settings: one id, account or file of any spelling follows --") {
        reading const account{{"balance", "--", "check", "list"}};
        CHECK_FALSE(account.ended);
        CHECK(account.given.account == "check");
        CHECK(account.given.commands == std::vector{command::balance, command::list});
        reading const id{{"show", "--json", "--", "-x", "cancel", "--", "--help", "check"}};
        CHECK_FALSE(id.ended);
        CHECK(id.given.show_id == "-x");
        CHECK(id.given.show_json);
        CHECK(id.given.cancel_id == "--help");
        CHECK(id.given.commands == std::vector{command::show, command::cancel, command::check});
        CHECK(reading{{"show", "--", "--"}}.given.show_id == "--");
        CHECK(reading{{"show", "\x01x"}}.given.show_id == "\x01x");
        CHECK(reading{{"run", "--", "-orders.csv"}}.given.input == "-orders.csv");
        CHECK(reading{{"run", "-"}}.given.input == "-");
        // Without it, the name of a command is that command.
        reading const both{{"balance", "check"}};
        CHECK(both.given.account.empty());
        CHECK(both.given.commands == std::vector{command::balance, command::check});
        CHECK_FALSE(reading{{"check", "--"}}.ended);
        CHECK(reading{{"--", "check"}}.ended == exit_code::wrong_usage);
        CHECK(reading{{"show", "-x"}}.ended == exit_code::wrong_usage);
    }

    TEST_CASE("settings: the store may follow the command") {
        reading const read{{"check", "--store", "sqlite:x.db"}};
        CHECK_FALSE(read.ended);
        CHECK(read.given.store.path == "x.db");
    }

    TEST_CASE("settings: a run has default values for its batch size and threads") {
        reading const plain{{"run", "a.csv"}};
        CHECK(plain.given.pace.window == 0);
        CHECK(plain.given.pace.threads == 1);
        CHECK_FALSE(plain.given.two_phases);
        reading const paced{{"run", "a.csv", "--batch", "250", "--threads", "4"}};
        CHECK_FALSE(paced.ended);
        CHECK(paced.given.pace.window == 250);
        CHECK(paced.given.pace.threads == 4);
        reading const most{{"run", "a.csv", "--batch", "100000", "--threads", "64"}};
        CHECK_FALSE(most.ended);
        CHECK(most.given.pace.window == 100'000);
        CHECK(most.given.pace.threads == 64);
    }

    TEST_CASE("settings: --two-phases applies to every command, before or after it") {
        CHECK(reading{{"--two-phases", "run", "a.csv"}}.given.two_phases);
        CHECK(reading{{"run", "a.csv", "--two-phases"}}.given.two_phases);
        CHECK(reading{{"recover", "--two-phases"}}.given.two_phases);
        CHECK(reading{{"work", "--two-phases"}}.given.two_phases);
    }

    TEST_CASE("settings: times have units") {
        CHECK(reading{{"recover"}}.given.standing_for == std::chrono::minutes(30));
        CHECK(reading{{"recover", "--older-than", "0s"}}.given.standing_for == seconds(0));
        CHECK(reading{{"recover", "--older-than", "90"}}.given.standing_for == seconds(90));
        CHECK(reading{{"recover", "--older-than", "5m"}}.given.standing_for == seconds(300));
        CHECK(reading{{"list", "--older-than", "2h"}}.given.older_than == seconds(7200));
        CHECK(reading{{"list", "--older-than", "1d"}}.given.older_than == seconds(86400));
    }

    TEST_CASE("settings: states have the names that list prints") {
        CHECK(reading{{"list", "--state", "canceling"}}.given.state == settle::state::canceling);
        CHECK_FALSE(reading{{"list"}}.given.state);
    }

    TEST_CASE("settings: help is valid, and any other unknown command is an error") {
        CHECK(reading{{"--help"}}.ended == exit_code::settled);
        CHECK(reading{{"run", "--help"}}.ended == exit_code::settled);
        CHECK(reading{{"--version"}}.ended == exit_code::settled);
        std::vector<std::vector<std::string>> const wrong{
            {},
            {"fly"},
            {"run"},
            {"run", "a.csv", "--speed", "9"},
            {"run", "a.csv", "--batch", "0"},
            {"run", "a.csv", "--batch", "100001"},
            {"run", "a.csv", "--batch", "-1"},
            {"run", "a.csv", "--batch", "many"},
            {"run", "a.csv", "--batch", "1.5"},
            {"run", "a.csv", "--batch", ""},
            {"run", "a.csv", "--batch", "99999999999999999999"},
            {"run", "a.csv", "--batch"},
            {"run", "a.csv", "--threads", "0"},
            {"run", "a.csv", "--threads", "65"},
            {"run", "a.csv", "--threads", "two"},
            {"recover", "--batch", "10"},
            {"check", "--two-phases=maybe"},
            {"open", "a.csv"},
            {"open", "a.csv", "--balance", "1", "--stock", "-1"},
            {"open", "a.csv", "--balance", "1", "--stock", "1.5"},
            {"open", "a.csv", "--balance", "1", "--stock", "9223372036854775808"},
            {"open", "a.csv", "--balance", "-1", "--stock", "1"},
            {"open", "a.csv", "--balance", "1.234", "--stock", "1"},
            {"recover", "--older-than", "soon"},
            {"recover", "--older-than", "-5m"},
            {"recover", "--older-than", "9999999999999d"},
            {"list", "--state", "lost"},
            {"check", "--store", "oracle:x"},
            {"cancel"},
            {"check", "list", "check"},
        };
        for (auto const& arguments : wrong) {
            CAPTURE(arguments.size());
            CHECK(reading{arguments}.ended == exit_code::wrong_usage);
        }
    }
}
