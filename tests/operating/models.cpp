// SPDX-License-Identifier: BSL-1.0
// settle::promela and settle::tla: independent checkers find no wrong end of the protocol of the
// samples' types, and find one as soon as a rule is switched off in the text.
#include "metrics_text.hpp"

#include <settle/model.hpp>

#include <payment/payment.hpp>
#include <transfer/transfer.hpp>
#include <trip/trip.hpp>

namespace model_test {
namespace {

using operating_test::installed;
using operating_test::said_by;
using settle::call;
using settle::field;
using settle::param;
using settle::result_from;

struct purse {
    std::string id;
    std::int64_t coins = 0;
};
struct question {
    std::string id;
};
struct rate {
    std::int64_t coins = 0;
};
struct payout {
    std::string id;
    std::int64_t coins = 0;
};

} // namespace
} // namespace model_test
SETTLE_STRUCT(model_test::purse, id, coins);
SETTLE_STRUCT(model_test::question, id);
SETTLE_STRUCT(model_test::rate, coins);
SETTLE_STRUCT(model_test::payout, id, coins);
namespace model_test {
namespace {

inline constexpr settle::collection<purse, "purses", &purse::id> purses;
inline constexpr settle::service<question, rate, "rates", settle::plain> rates;
inline constexpr settle::service<payout, settle::nothing, "till",
                                 settle::remembers_keys | settle::keeps_refusals>
    till;
inline constexpr settle::service<question, settle::nothing, "mail", settle::remembers_keys> mail;
inline constexpr settle::prepared<payout, "ledger"> ledger;

/// What the samples do not have: a prepared part, a query, a receiver of keys alone, and a call at
/// the commit alone.
inline constexpr auto payout_type = settle::transaction<payout, "payout">(
    settle::participant<"purse">(purses, param<&payout::id>)
        .require(field<&purse::id> != settle::lit<"\"*/\"">) // which ends no comment of a model
        .confirm(field<&purse::coins> += param<&payout::coins>),
    settle::participant<"books">(ledger).apply(call(param<&payout::id>, param<&payout::coins>)),
    settle::participant<"rate">(rates).apply(settle::query(param<&payout::id>)),
    settle::participant<"till">(till)
        .apply(call(param<&payout::id>, result_from<"rate", &rate::coins>))
        .compensate(call()),
    settle::participant<"letter">(mail).confirm(call(param<&payout::id>)));

/// The bag is compensated after the letter, which uses its result, and for nothing else.
inline constexpr settle::service<question, rate, "bags", settle::barrier> bags;
inline constexpr auto packed_type = settle::transaction<payout, "packed">(
    settle::participant<"bag">(bags).apply(call(param<&payout::id>)).compensate(call()),
    settle::participant<"stamp">(till)
        .apply(call(param<&payout::id>, settle::lit<1>))
        .compensate(call()),
    settle::participant<"letter">(till)
        .apply(call(param<&payout::id>, result_from<"bag", &rate::coins>))
        .compensate(call()));

/// The rules that a model can switch off.
std::vector<std::string> rules_of(std::string const& model) {
    std::vector<std::string> rules;
    std::istringstream lines{model};
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view begin = "#ifndef RULE_";
        if (line.starts_with(begin)) rules.push_back(line.substr(begin.size() - 5));
    }
    return rules;
}

/// What the verifier that spin makes of a model prints.
std::string searched_by_spin(std::string const& model, std::string const& of_spin,
                             std::string const& of_compiler) {
    auto const spin = installed("spin", "spin");
    auto const compiler = installed("gcc", "gcc");
    testing::scratch_folder const folder{"spin"};
    folder.write("type.pml", model);
    return said_by("cd " + folder.path().string() + " && " + spin + ' ' + of_spin +
                   " -a type.pml && " + compiler + " -w -DSAFETY " + of_compiler +
                   " -o pan pan.c && ./pan -n -m100000");
}

void check_right(std::string const& model) {
    auto const printed = searched_by_spin(model, "", "-O1");
    bool const completed = printed.find("not completed") == std::string::npos &&
                           printed.find("depth too small") == std::string::npos;
    CHECK_MESSAGE((completed && printed.find("errors: 0\n") != std::string::npos), printed);
}

/// Switches each of these rules off.
void check_rules(std::string const& model, std::vector<std::string> const& rules) {
    for (std::string const& rule : rules) {
        auto const printed = searched_by_spin(model, "-D" + rule + "=0", "-O0");
        bool const is_wrong = printed.find("assertion violated") != std::string::npos;
        CHECK_MESSAGE(is_wrong, "without " << rule << ": " << printed);
    }
}

/// What TLC prints of a module. Ends the test as skipped if there is no TLC.
std::string searched_by_tlc(std::string const& module) {
    char const* const tools = std::getenv("SETTLE_TLA2TOOLS");
    if (tools == nullptr) {
        std::cout << "SKIPPED: SETTLE_TLA2TOOLS does not name the file tla2tools.jar; "
                     "tests/operating/tla2tools.sh fetches one"
                  << std::endl;
        std::exit(SETTLE_SKIP_CODE);
    }
    auto const java = installed("java", "default-jre-headless");
    testing::scratch_folder const folder{"tlc"};
    constexpr std::string_view begin = "---- MODULE ";
    auto const name = module.substr(begin.size(), module.find(' ', begin.size()) - begin.size());
    folder.write(name + ".tla", module);
    folder.write(name + ".cfg", "SPECIFICATION Spec\nINVARIANT Right\n");
    // Its code is not 0 when it finds a wrong end.
    return said_by("cd " + folder.path().string() + " && " + java + " -Xmx3g -cp '" + tools +
                   "' tlc2.TLC -nowarning " + name + ".tla || :");
}

void check_module(std::string const& module) {
    auto const printed = searched_by_tlc(module);
    bool const is_right = printed.find("No error has been found") != std::string::npos;
    CHECK_MESSAGE(is_right, printed);
}

void check_module_without(std::string const& rule, std::string module) {
    auto const definition = rule + " == TRUE";
    auto const begin = module.find(definition);
    REQUIRE(begin != std::string::npos);
    module.replace(begin, definition.size(), rule + " == FALSE");
    auto const printed = searched_by_tlc(module);
    bool const is_wrong = printed.find("Invariant Right is violated") != std::string::npos;
    CHECK_MESSAGE(is_wrong, "without " << rule << ": " << printed);
}

inline constexpr auto ordered_trip_type = agency::trip_type.compensate_in_order();

} // namespace

TEST_CASE("model: spin finds no wrong end of a transfer, a payment and a trip") {
    check_right(settle::promela(bank::transfer_type));
    check_right(settle::promela(shop::payment_type));
    check_right(settle::promela(agency::trip_type));
}

TEST_CASE("model: spin finds a wrong end of a transfer without any of its rules") {
    auto const model = settle::promela(bank::transfer_type);
    auto const rules = rules_of(model);
    CHECK(rules.size() == 5);
    check_rules(model, rules);
}

TEST_CASE("model: the page shows the run that spin replays") {
    testing::scratch_folder const folder{"replay"};
    folder.write("transfer.pml", settle::promela(bank::transfer_type));
    auto const spin = installed("spin", "spin") + " -DRULE_finish_looks=0 ";
    auto const replayed =
        said_by("cd " + folder.path().string() + " && " + spin + "-a transfer.pml && " +
                installed("gcc", "gcc") +
                " -w -DSAFETY -DREACH -o pan pan.c && ./pan -i -m1000 >pan.txt; " + spin +
                "-t -T transfer.pml");
    auto const run = replayed.substr(0, replayed.find("assertion violated"));
    auto const page = testing::read_file(testing::data_file("../include/settle/pictures.md"));
    CHECK_MESSAGE((run.starts_with("caller, ") && page.find(run) != std::string::npos), replayed);
}

TEST_CASE("model: spin finds a wrong end of a trip without any of its rules") {
    auto const model = settle::promela(ordered_trip_type);
    check_right(model);
    auto const rules = rules_of(model);
    for (auto const* rule : {"RULE_notes_pivot", "RULE_undo_waits"}) {
        CHECK(std::find(rules.begin(), rules.end(), rule) != rules.end());
    }
    check_rules(model, rules);
}

TEST_CASE("model: a prepared part, a query, keys alone and a call at the commit") {
    auto const model = settle::promela(payout_type);
    check_right(model);
    check_rules(model, {"RULE_adopts_no_name", "RULE_burns_first"});
}

TEST_CASE("model: a call is compensated after the call that used its result") {
    auto const model = settle::promela(packed_type);
    check_right(model);
    check_rules(model, {"RULE_undo_waits"});
}

TEST_CASE("long: model: spin finds a wrong end of a payment and of other kinds without any rule") {
    for (auto const& model : {settle::promela(shop::payment_type), settle::promela(payout_type)}) {
        check_rules(model, rules_of(model));
    }
}

TEST_CASE("long: model: TLC finds no wrong end of a transfer, and one without a rule") {
    auto const module = settle::tla(bank::transfer_type);
    check_module(module);
    check_module_without("RULE_finish_looks", module);
}

TEST_CASE("long: model: TLC finds a wrong end of a transfer without any of its rules") {
    for (auto const& rule : rules_of(settle::promela(bank::transfer_type))) {
        check_module_without(rule, settle::tla(bank::transfer_type));
    }
}

TEST_CASE("long: model: TLC finds no wrong end of a trip, and one without two of its rules") {
    auto const module = settle::tla(ordered_trip_type);
    check_module(module);
    for (auto const* rule : {"RULE_notes_pivot", "RULE_undo_waits"}) {
        check_module_without(rule, module);
    }
}

TEST_CASE("long: model: TLC finds no wrong end of a payment and of other kinds of parts") {
    check_module(settle::tla(shop::payment_type));
    check_module(settle::tla(payout_type));
}

} // namespace model_test
