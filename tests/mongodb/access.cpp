// SPDX-License-Identifier: BSL-1.0
// Servers that require a name or a certificate: exactly the rights that mongodb#rights lists are
// enough, and an error without one of them names the next step.
#include "bank.hpp"
#include "commands.hpp"
#include "servers.hpp"

#include <certificates.hpp>

namespace settle_test {
namespace {

using settle::mongodb::database;
using settle::testing::card;
using settle::testing::cards;
using settle::testing::colour;
using settle::testing::withdraw;

/// The rights that mongodb#rights lists.
std::vector<std::string> const rights{"find",        "insert",          "update",     "remove",
                                      "createIndex", "listCollections", "listIndexes"};

/// Does everything that settle does in a database. Returns the first error, or an empty text.
std::string use(std::string const& address) {
    settle::options limits = short_limits();
    limits.patience = std::chrono::milliseconds{300};
    try {
        database db{address};
        auto one_phase = bank_on(db, settle::phases::one, limits);
        auto two_phase = bank_on(db, settle::two_phases, limits);
        for (char const* const id : {"A", "B"})
            one_phase.create(ledgers, {id, opening, 0, ""}).value();
        one_phase.create(cards, {"c", "Anna", true, colour::red, {}, 1, "note", 1, 1}).value();
        for (auto* const engine : {&one_phase, &two_phase}) {
            std::string const id = engine == &one_phase ? "one" : "two";
            for (auto const& outcome : {engine->run(id, transfer{"A", "B", 10}),
                                        engine->run(id + "/2", transfer{"A", "B", 1000}),
                                        engine->run(id + "/3", withdraw{"c", true}),
                                        engine->reverse(id + "/3"), engine->cancel("none")}) {
                if (outcome.verdict == settle::verdict::undecided) return outcome.problem.text;
            }
            auto const report = engine->recover(of_any_age());
            if (!report.problem.empty()) return report.problem.text;
            auto const swept = engine->sweep();
            if (!swept.problem.empty()) return swept.problem.text;
        }
        settle::purge_options old;
        old.older_than = limits.horizon() + std::chrono::hours{1};
        auto const purged = one_phase.purge(old);
        if (!purged.problem.empty()) return purged.problem.text;
        CHECK(balance(one_phase, "A") == opening - 20);
        CHECK(one_phase.read(cards, "c").value().has_value());
        CHECK(one_phase.find("one").value()->state == settle::state::done);
        CHECK(one_phase.find("two/2").value()->state == settle::state::canceled);
        CHECK(one_phase.marks().value() == 0);
    } catch (settle::failure const& problem) {
        return problem.what();
    }
    return "";
}

void do_as(connection& admin, std::string const& json) {
    auto const answer = admin.run("admin", json);
    REQUIRE_MESSAGE(answer.ok, answer.error);
}

/// A user with these rights on one database only.
void make_user(connection& admin, std::string const& name, std::vector<std::string> const& given) {
    std::string actions;
    for (auto const& one : given) actions += (actions.empty() ? "\"" : ", \"") + one + "\"";
    do_as(admin, R"({"createRole": "role_)" + name + R"(", "roles": [], "privileges": [
        {"resource": {"db": ")" +
                     name + R"(", "collection": ""}, "actions": [)" + actions + "]}]}");
    do_as(admin,
          R"({"createUser": ")" + name + R"(", "pwd": "word", "roles": ["role_)" + name + "\"]}");
}

} // namespace

TEST_CASE("long: access: a user with the listed rights can do everything, else an error says why") {
    testing::scratch_folder const folder{"mongodb-rights"};
    auto const key = folder.write("key", "bm90aGluZyB0aGF0IGlzIHNlY3JldA");
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
    replica_set set{1, {"--auth", "--keyFile", key}};
    auto const host = set.member(0).host();
    auto const made = run_command(set.address("admin"), R"({"createUser": "root", "pwd": "word",
        "roles": ["root"]})");
    REQUIRE_MESSAGE(made.ok, made.error);
    connection admin{"mongodb://root:word@" + host + "/admin"};
    auto const as = [&](std::string const& user, std::string const& name) {
        return "mongodb://" + user + host + "/" + name + "?authSource=admin&" + short_waits;
    };

    make_user(admin, "bank", rights);
    CHECK(use(as("bank:word@", "bank")) == "");
    do_as(admin, R"({"createUser": "ready", "pwd": "word",
                     "roles": [{"role": "readWrite", "db": "ready"}]})");
    CHECK(use(as("ready:word@", "ready")) == "");

    for (auto const& missing : rights) {
        INFO("without " << missing);
        auto others = rights;
        std::erase(others, missing);
        auto const name = "no_" + missing;
        make_user(admin, name, others);
        auto const reply = use(as(name + ":word@", name));
        INFO(reply);
        auto const where =
            reply.find(" on the database '" + name + "' is missing, so MongoDB could not ");
        REQUIRE(where != std::string::npos);
        CHECK(reply.starts_with("settle: the right '"));
        CHECK(reply.substr(0, where).find("'" + missing + "'") != std::string::npos);
        CHECK(reply.find("Give the address's user the rights") != std::string::npos);
        CHECK(reply.size() < 350);
    }

    for (auto const& each :
         {std::pair{"bank:wr0ng@", "Check the name, the password and authSource"},
          {"nobody:word@", "Check the name, the password and authSource"},
          {"", "Give the address's user the rights"}}) {
        // clang 14 takes no structured binding in a message.
        std::string const user = each.first;
        std::string const because = each.second;
        INFO(user);
        auto const reply = refusal(as(user, "bank"));
        INFO(reply);
        CHECK(reply.starts_with("settle: MongoDB could not "));
        CHECK(reply.find(because) != std::string::npos);
        CHECK(reply.find("wr0ng") == std::string::npos);
    }
    CHECK(refusal(as("bank:word@", "another")).find("on the database 'another' is missing") !=
          std::string::npos);

    // A program that only reads needs no right to write.
    do_as(admin, R"({"createUser": "reader", "pwd": "word",
                     "roles": [{"role": "read", "db": "bank"}]})");
    {
        database db{as("reader:word@", "bank")};
        settle::options limits;
        limits.patience = std::chrono::milliseconds{300};
        auto engine = bank_on(db, settle::phases::one, limits);
        CHECK(balance(engine, "A") == opening - 20);
        CHECK(engine.marks().value() == 0);
        CHECK(engine.find("one").value()->state == settle::state::done);
        CHECK(!engine.page({}, {}, 10).value().empty());
        CHECK(engine.scan_page<std::remove_cvref_t<decltype(ledgers)>>({}, 10).value().size() == 2);
        auto const outcome = engine.run("more", transfer{"A", "B", 1});
        CHECK(outcome.problem.text.starts_with("settle: the right '"));
        CHECK(outcome.problem.text.find(" on the database 'bank' is missing") != std::string::npos);
    }

    // Ending the sessions of a tutorial's programs needs one more right.
    do_as(admin, R"({"createRole": "ends_sessions", "roles": [], "privileges": [
        {"resource": {"cluster": true}, "actions": ["killAnySession"]}]})");
    do_as(admin, R"({"createUser": "guard", "pwd": "word", "roles": ["ends_sessions"]})");
    auto const end_sessions = [&](std::string const& user) {
        return run_command(as(user + ":word@", "admin"),
                           R"({"killAllSessions": [{"user": "bank", "db": "admin"}]})");
    };
    CHECK_FALSE(end_sessions("bank").ok);
    auto const ended = end_sessions("guard");
    CHECK_MESSAGE(ended.ok, ended.error);
}

TEST_CASE("long: access: a server is used only with the right certificate") {
    testing::scratch_folder const folder{"mongodb-tls"};
    make_certificates(folder);
    auto const options = [&](std::string const& authority) {
        return "tls=true&tlsCAFile=" + folder.at(authority + ".pem");
    };
    replica_set set{1,
                    {"--tlsMode", "requireTLS", "--tlsCertificateKeyFile", folder.at("both.pem"),
                     "--tlsCAFile", folder.at("ca.pem"),
                     "--tlsAllowConnectionsWithoutCertificates"},
                    options("ca")};
    auto const address_of = [&](std::string const& host, std::string const& how) {
        return "mongodb://" + host + ":" + std::to_string(set.member(0).port()) +
               "/bank?directConnection=true&" + short_waits + how;
    };
    CHECK(use(address_of("127.0.0.1", "&" + options("ca"))) == "");
    for (auto const& each :
         {std::pair{address_of("127.0.0.1", "&" + options("other")), "certificate verify failed"},
          {address_of("localhost", "&" + options("ca")), "TLS handshake failed"},
          {address_of("127.0.0.1", "&" + options("nowhere")), "its tlsCAFile names the file"},
          {address_of("127.0.0.1", ""), "whether the server asks for tls=true"}}) {
        std::string const address = each.first;
        std::string const because = each.second;
        INFO(address);
        auto const reply = refusal(address);
        INFO(reply);
        CHECK(reply.starts_with("settle: "));
        CHECK(reply.find(because) != std::string::npos);
        CHECK(reply.find('\n') == std::string::npos);
    }
}

} // namespace settle_test
