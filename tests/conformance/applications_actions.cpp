// SPDX-License-Identifier: BSL-1.0
// The actions of an operator on the command line: the dry run, the question, and JSON.
#include <contains.hpp>
#include <program.hpp>

#include <transfer/transfer.hpp>

#include <settle/sqlite.hpp>
#include <settle/testing/faults.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace actions_test {
namespace {

using nlohmann::json;
using settle::state;
using testing::contains;
using testing::ended;

/// Ends a worker after a step, as a kill would.
struct killer {
    std::optional<settle::step>* last;
    void operator()(settle::event const& seen) const {
        if (*last && seen.taken == **last) throw settle::testing::crash{};
    }
};

/// A bank's file with six transfers, as killed programs and a program that submits leave them.
class bank_of_leftovers {
public:
    explicit bank_of_leftovers(std::string const& name) : folder(name) {
        auto const names = folder.write("names.csv", "id,source,destination,amount\nx,a,b,1\n");
        REQUIRE(call({"open", names, "--balance", "10.00"}).code == 0);
        std::optional<settle::step> last;
        settle::sqlite::database database{folder.at("bank.db")};
        settle::engine engine{database, settle::type<bank::transfer_type>, settle::phases::two,
                              settle::observed_by(killer{&last})};
        bank::transfer const order{"a", "b", 100};
        REQUIRE(engine.submit("initial", order).problem.empty());
        REQUIRE(engine.run("done", order).done());
        REQUIRE(engine.run("canceled", bank::transfer{"a", "b", 100'000}).canceled());
        last = settle::step::apply;
        for (auto const* const id : {"pending-1", "pending-2"})
            CHECK_THROWS_AS(std::ignore = engine.run(id, order), settle::testing::crash);
        last = settle::step::commit;
        CHECK_THROWS_AS(std::ignore = engine.run("applied", order), settle::testing::crash);
    }

    [[nodiscard]] ended call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--store", "sqlite:" + folder.at("bank.db")});
        return testing::run_sample(folder, "transfer", std::move(arguments));
    }
    /// The one document that a command prints.
    [[nodiscard]] json document(std::vector<std::string> arguments) const {
        auto const ran = call(std::move(arguments));
        INFO(ran.out << ran.err);
        return json::parse(ran.out);
    }
    [[nodiscard]] std::string state_of(std::string const& id) const {
        return document({"show", id, "--json"})["state"];
    }
    [[nodiscard]] json states() const {
        json found;
        for (auto const& each : document({"list", "--json"})) found[each["id"]] = each["state"];
        return found;
    }

    testing::scratch_folder const folder;
};

json const left{{"initial", "initial"},   {"done", "done"},         {"canceled", "canceled"},
                {"pending-1", "pending"}, {"pending-2", "pending"}, {"applied", "applied"}};

/// Shape:   code - of the program; part - of its one sentence
void check_refused(ended const& how, int code, std::string const& part) {
    INFO(how.out << how.err);
    CHECK(how.code == code);
    CHECK(how.out.empty());
    CHECK(std::count(how.err.begin(), how.err.end(), '\n') == 1);
    CHECK(contains(how.err, part));
}

} // namespace

TEST_CASE("actions: a dry run says what would happen, and changes nothing") {
    bank_of_leftovers const bank{"actions-dry"};
    auto const canceled = bank.call({"cancel", "--all", "--dry-run"});
    CHECK(canceled.code == 0);
    CHECK(canceled.err.empty());
    CHECK(canceled.out.starts_with("cancel would change 3 of 6 entries\n"));
    CHECK(contains(canceled.out, "        2 pending    Whichever worker runs it stops"));
    CHECK(contains(canceled.out, "        1 done       not allowed: It is done, too late"));

    auto const counted = bank.document({"cancel", "--all", "--dry-run", "--json"});
    CHECK(counted["dry_run"] == true);
    CHECK(counted["matched"] == 6);
    CHECK(counted["allowed"] == 3);
    REQUIRE(counted["would"].size() == 5);
    CHECK(counted["would"][1]["state"] == "pending");
    CHECK(counted["would"][1]["count"] == 2);
    CHECK(counted["would"][2]["allowed"] == false);
    CHECK(bank.document({"recover", "--state", "applied", "--dry-run", "--json"})["allowed"] == 1);
    CHECK(bank.document({"reverse", "--all", "--dry-run", "--json"})["allowed"] == 1);

    CHECK(contains(bank.call({"cancel", "pending-1", "--dry-run"}).out, "ends canceled"));
    CHECK(bank.call({"cancel", "done", "--dry-run"}).out ==
          "done: not allowed: It is done, too late to cancel it.\n");
    CHECK(contains(bank.call({"recover", "applied", "--dry-run"}).out, "its parts are confirmed"));
    CHECK(contains(bank.call({"reverse", "done", "--dry-run"}).out, "'done/reverse'"));
    CHECK(bank.document({"reverse", "applied", "--dry-run", "--json"})["allowed"] == false);
    CHECK(bank.document({"cancel", "new", "--even-if-unknown", "--dry-run", "--json"})["allowed"] ==
          true);
    CHECK(bank.states() == left);

    // The owner of the entries is this live process.
    CHECK(bank.document({"recover", "--dry-run", "--json"})["young"] == 3);
    auto const due = bank.call({"recover", "--older-than", "0s", "--dry-run"});
    CHECK(due.out.starts_with("recover would change 3 of 3 entries\n"));
    CHECK(contains(due.out, "0 are left"));
    CHECK(bank.states() == left);
}

TEST_CASE("actions: many entries are changed after a yes, and only those of the choice") {
    bank_of_leftovers const bank{"actions-many"};
    check_refused(bank.call({"cancel", "--state", "pending"}), 1, "--yes");
    check_refused(bank.call({"recover", "--all"}), 1, "recover would change 4 of 6 entries");
    CHECK(bank.states() == left);
    // Nobody is asked about one entry.
    CHECK(bank.call({"recover", "--state", "applied"}).out == "recover: 1 done\n");
    CHECK(bank.state_of("applied") == "done");
    CHECK(bank.call({"cancel", "--state", "pending", "--older-than", "1h"}).out ==
          "cancel: nothing to change\n");
    auto const canceled = bank.document({"cancel", "--state", "pending", "--yes", "--json"});
    CHECK(canceled["ended"] == json{{"canceled", 2}});
    CHECK(canceled["failures"].empty());
    CHECK(bank.state_of("pending-2") == "canceled");
    CHECK(bank.state_of("initial") == "initial");
    CHECK(bank.call({"balance", "a"}).out == "8.00\n");
    auto const recovered = bank.document({"recover", "--all", "--yes", "--json"});
    CHECK(recovered["ended"] == json{{"done", 1}});
    CHECK(bank.document({"reverse", "--all", "--yes", "--json"})["ended"] == json{{"done", 3}});
    CHECK(bank.call({"balance", "a"}).out == "10.00\n");
    CHECK(bank.call({"check"}).code == 0);
}

TEST_CASE("actions: a filter leaves out all other entries, in a list as in an action") {
    bank_of_leftovers const bank{"actions-filters"};
    auto const listed = [&](std::vector<std::string> filter) {
        filter.insert(filter.begin(), {"list", "--json"});
        std::string ids;
        for (auto const& each : bank.document(filter)) ids += each["id"].get<std::string>() + ' ';
        return ids;
    };
    CHECK(listed({"--id-prefix", "pending-"}) == "pending-1 pending-2 ");
    CHECK(listed({"--reason", "guard failed"}) == "canceled ");
    CHECK(listed({"--participant", "source"}) == "canceled ");
    CHECK(listed({"--type", "transfer", "--state", "applied"}) == "applied ");
    CHECK(listed({"--type", "payment"}).empty());
    CHECK(listed({"--record", "accounts/a", "--state", "initial"}) == "initial ");
    CHECK(listed({"--record", "accounts/c"}).empty());
    CHECK(bank.document({"cancel", "--record", "accounts/c", "--dry-run", "--json"})["matched"] ==
          0);
    CHECK(bank.document({"recover", "--id-prefix", "pending-", "--dry-run", "--json"})["allowed"] ==
          2);
    CHECK(bank.states() == left);
    auto const canceled =
        bank.document({"cancel", "--id-prefix", "pending-2", "--record", "accounts/b", "--json"});
    CHECK(canceled["ended"] == json{{"canceled", 1}});
    CHECK(bank.state_of("pending-1") == "pending");
}

TEST_CASE("actions: an action that has no effect on an entry of many is named") {
    bank_of_leftovers const bank{"actions-failed"};
    // The other account spends what it has received.
    auto const spent = bank.folder.write("spent.csv", "id,source,destination,amount\n"
                                                      "spent,b,a,11.00\n");
    REQUIRE(bank.call({"run", spent}).code == 0);
    auto const reversed = bank.call({"reverse", "--state", "done", "--yes"});
    CHECK(reversed.code == 1);
    CHECK(reversed.out.starts_with("reverse: 1 done, 1 canceled\n  done/reverse: canceled ("));
    CHECK(bank.state_of("spent/reverse") == "done");
}

TEST_CASE("actions: a person at a terminal is asked, and only a yes changes entries") {
    bank_of_leftovers const bank{"actions-asked"};
    auto const answered = [&](std::string const& answer, std::vector<std::string> arguments) {
        int const keyboard = ::posix_openpt(O_RDWR | O_NOCTTY);
        REQUIRE(keyboard >= 0);
        REQUIRE(::grantpt(keyboard) == 0);
        REQUIRE(::unlockpt(keyboard) == 0);
        std::string const terminal{::ptsname(keyboard)};
        auto const typed = answer + "\n";
        REQUIRE(::write(keyboard, typed.data(), typed.size()) == std::ssize(typed));
        arguments.insert(arguments.begin(), {std::string{SETTLE_BIN_DIR} + "/transfer", "--store",
                                             "sqlite:" + bank.folder.at("bank.db")});
        auto how = testing::program{bank.folder, std::move(arguments), terminal}.wait();
        ::close(keyboard);
        return how;
    };
    auto const kept = answered("", {"cancel", "--state", "pending", "check"});
    CHECK(kept.code == 3);
    CHECK(contains(kept.err, "        2 pending    Whichever worker runs it stops"));
    CHECK(contains(kept.err, "nothing was changed, since the answer was not yes"));
    CHECK_MESSAGE(contains(kept.err, "so check was not begun"), "the operator has stopped");
    CHECK(kept.out.empty());
    CHECK(bank.states() == left);
    auto const changed = answered("y", {"cancel", "--state", "pending", "--json"});
    CHECK(changed.code == 0);
    CHECK(contains(changed.err, "Change them? [y/N]"));
    CHECK(json::parse(changed.out)["ended"] == json{{"canceled", 2}});
}

TEST_CASE("actions: each result is one JSON document, also where an action comes too late") {
    bank_of_leftovers const bank{"actions-json"};
    auto const canceled = bank.document({"cancel", "pending-1", "--json"});
    CHECK(canceled["action"] == "cancel");
    CHECK(canceled["id"] == "pending-1");
    CHECK(canceled["verdict"] == "canceled");
    auto const late = bank.call({"cancel", "done", "--json"});
    CHECK(late.code == 1);
    CHECK(json::parse(late.out)["verdict"] == "done");
    CHECK(contains(late.err, "too late to cancel it"));
    auto const unknown = bank.call({"reverse", "none", "--json"});
    CHECK(unknown.code == 1);
    CHECK(json::parse(unknown.out)["verdict"] == "refused");
    CHECK(unknown.err ==
          "transfer: there is no transaction 'none'; 'transfer list' shows those of the log\n");
    CHECK(bank.call({"recover", "pending-2"}).out == "pending-2 is done\n");
    CHECK(bank.document({"reverse", "done", "--json"})["text"] == "done/reverse: done");
    auto const recovered = bank.document({"recover", "--older-than", "0s", "--json"});
    CHECK(recovered["done"] == 1);
    CHECK(recovered["skipped"].empty());
    CHECK(recovered["marks"]["undone"] == 0);
}

TEST_CASE("actions: wrong use is one sentence that says what to do") {
    bank_of_leftovers const bank{"actions-wrong"};
    check_refused(bank.call({"cancel"}), 2, "'cancel' needs an ID, a filter (--state, ");
    check_refused(bank.call({"reverse", "--dry-run"}), 2, "or --all for every entry");
    check_refused(bank.call({"cancel", ""}), 2, "the ID of 'cancel' is empty");
    check_refused(bank.call({"recover", ""}), 2, "the ID of 'recover' is empty");
    check_refused(bank.call({"cancel", "done", "--all"}), 2, "'cancel' takes an ID, or --state");
    check_refused(bank.call({"cancel", "done", "--type", "x"}), 2, "'cancel' takes an ID, or");
    check_refused(bank.call({"list", "--reason", "rain"}), 2, "rain not in {");
    check_refused(bank.call({"cancel", "--all", "--even-if-unknown"}), 2, "requires ID");
    check_refused(bank.call({"list", "--dry-run"}), 2,
                  "no option '--dry-run' here; it is an option of 'recover', 'cancel', 'reverse'");
    check_refused(bank.call({"run", "x.csv", "--yes"}), 2, "it is an option of 'recover'");
    check_refused(bank.call({"check", "--json"}), 2,
                  "it is an option of 'recover', 'list', 'show'");
    check_refused(bank.call({"cancel", "none", "--dry-run"}), 1,
                  "'transfer list' shows those of the log");
    CHECK(bank.states() == left);
}

} // namespace actions_test
