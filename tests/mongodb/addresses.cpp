// SPDX-License-Identifier: BSL-1.0
// Wrong addresses, and servers that differ from their address: each is refused with one sentence,
// within the time limits of the address.
#include "bank.hpp"
#include "proxy.hpp"
#include "shared_servers.hpp"
#include "strange_server.hpp"

#include <program.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace settle_test {
namespace {

using namespace std::chrono_literals;
using settle::mongodb::database;
using settle::mongodb::database_options;

/// For servers that never answer.
char const* const shortest_waits =
    "serverSelectionTimeoutMS=400&connectTimeoutMS=200&socketTimeoutMS=400";

/// For servers that answer, although the driver finds none that fits.
char const* const longer_waits =
    "serverSelectionTimeoutMS=2000&connectTimeoutMS=2000&socketTimeoutMS=2000";

/// Redirects this process's stderr into a file while the object lives.
class stderr_in_file {
public:
    explicit stderr_in_file(std::string const& path) : before_(::dup(STDERR_FILENO)) {
        int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        REQUIRE(file >= 0);
        ::dup2(file, STDERR_FILENO);
        ::close(file);
    }
    stderr_in_file(stderr_in_file const&) = delete;
    stderr_in_file& operator=(stderr_in_file const&) = delete;
    ~stderr_in_file() {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }

private:
    int before_;
};

void check_refused(std::string const& address, std::string const& because) {
    INFO(address);
    auto const text = refusal(address);
    INFO(text);
    CHECK(text.find(because) != std::string::npos);
}

std::string with(std::string const& address, std::string const& more) {
    return address + (address.find('?') == std::string::npos ? "?" : "&") + more;
}

/// Changes the member of a greeting that shows whether its server accepts writes.
void set_boolean(wire_message& message, std::string const& name, bool value) {
    std::vector<std::uint8_t> field{0x08}; // BSON's type of a boolean
    field.insert(field.end(), name.begin(), name.end());
    field.push_back(0);
    auto const at =
        std::search(message.bytes.begin(), message.bytes.end(), field.begin(), field.end());
    if (message.bytes.end() - at > static_cast<std::ptrdiff_t>(field.size())) {
        *(at + static_cast<std::ptrdiff_t>(field.size())) = value ? 1 : 0;
    }
}

/// Puts a text at the beginning of the document that a greeting is answered with.
void add_text(wire_message& message, std::string const& name, std::string const& value) {
    constexpr std::int32_t op_reply = 1;
    std::size_t const document = message.number(12) == op_reply ? 36 : 21;
    std::vector<std::uint8_t> field{0x02}; // BSON's type of a text
    field.insert(field.end(), name.begin(), name.end());
    field.push_back(0);
    auto const append_number = [](std::vector<std::uint8_t>& to, std::int32_t number) {
        for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    };
    append_number(field, static_cast<std::int32_t>(value.size() + 1));
    field.insert(field.end(), value.begin(), value.end());
    field.push_back(0);
    std::vector<std::uint8_t> length;
    append_number(length, message.number(document) + static_cast<std::int32_t>(field.size()));
    auto const begin = message.bytes.begin() + static_cast<std::ptrdiff_t>(document);
    std::copy(length.begin(), length.end(), begin);
    message.bytes.insert(begin + 4, field.begin(), field.end());
}

} // namespace

TEST_CASE("addresses: an incomplete or wrong address is refused without a server") {
    check_refused("mongodb://127.0.0.1:1", "names no database");
    check_refused("mongodb://127.0.0.1:1/", "names no database");
    check_refused("mongo://127.0.0.1/bank", "cannot be read");
    check_refused("", "cannot be read");
    check_refused("mongodb:///bank", "cannot be read");
    for (char const* const address :
         {"mongodb://bank:se:cret@127.0.0.1/bank", "mongodb://bank:se@cret@127.0.0.1/bank",
          "mongodb://bank:se/cret@127.0.0.1/bank", "mongodb://bank:27/cret@127.0.0.1/bank",
          "mongodb://bank:se?cret@127.0.0.1/bank", "mongodb://bank:se#cret@127.0.0.1/bank",
          "mongodb://bank:12/3?cret=4@127.0.0.1:1/bank"}) {
        check_refused(address, "write '@' as %40");
        CHECK(refusal(address).find("cret") == std::string::npos);
    }
    check_refused("mongodb://127.0.0.1:1/bank?directConnection=true&replicaSet=", "");
    check_refused("mongodb://a,b/bank?directConnection=true", "cannot be read");
    check_refused("mongodb://127.0.0.1:1/bank?readPreference=secondary", "not primary");
    check_refused("mongodb://127.0.0.1:1/bank?readPreference=nearest", "not primary");
    check_refused("mongodb://127.0.0.1:1/bank?pgbouncer=true",
                  "the driver does not know its option \"pgbouncer\"");
    check_refused("mongodb://127.0.0.1:1/bank?w=0", "the outcome of every write");
    check_refused("mongodb://127.0.0.1:1/bank?waitQueueTimeoutMS=50", "wait for others");
    for (std::string const name : {"admin", "local", "config"}) {
        check_refused("mongodb://127.0.0.1:1/" + name, "'" + name + "' is the server's own");
    }
    for (std::string const name : {"tlsCAFile", "tlsCertificateKeyFile"}) {
        check_refused("mongodb://127.0.0.1:1/bank?tls=true&" + name + "=/nowhere",
                      "its " + name + " names the file '/nowhere', which cannot be read");
    }
    check_refused("mongodb://127.0.0.1:1/bank?authMechanism=MONGODB-X509", "needs a certificate");
}

TEST_CASE("addresses: an address with invalid limits is refused without a server") {
    for (std::string const name :
         {"serverSelectionTimeoutMS", "socketTimeoutMS", "connectTimeoutMS", "maxPoolSize"}) {
        for (std::string const value : {"0", "-1", "-2147483648"}) {
            check_refused("mongodb://127.0.0.1:1/bank?" + name + "=" + value,
                          " is " + value + ". Give it 1 to 2147483647");
        }
        check_refused("mongodb://127.0.0.1:1/bank?" + name + "=99999999999", "refused");
    }
    check_refused("mongodb://127.0.0.1:1/bank?wTimeoutMS=-1", "refused");
    check_refused("mongodb://127.0.0.1:1/bank?wTimeoutMS=99999999999", "Give it 0 to 2147483647");
    auto const longest = "2147483647";
    fresh_database const own{standalone_address};
    for (std::string const name : {"serverSelectionTimeoutMS", "socketTimeoutMS",
                                   "connectTimeoutMS", "maxPoolSize", "wTimeoutMS"}) {
        INFO(name);
        CHECK(refusal(with(own.address(), name + "=" + longest)) == "");
    }
}

TEST_CASE("addresses: an address without an answer is refused within its time limits") {
    std::string const limits = std::string{"?"} + shortest_waits;
    check_refused("mongodb://no-such-host.invalid/bank" + limits, "could not be reached");
    check_refused("mongodb://127.0.0.1:" + std::to_string(free_port()) + "/bank" + limits,
                  "whether the server asks for tls=true, and that it runs");
    auto const member = replica_set_address("bank");
    auto const at_member = member.substr(0, member.find('?'));
    check_refused(with(at_member, longer_waits) + "&replicaSet=another",
                  "asks for the replica set 'another', and its host " +
                      at_member.substr(10, at_member.rfind('/') - 10) +
                      " belongs to the replica set 'settle'");
    check_refused(with(standalone_address("bank"), longer_waits) + "&replicaSet=another",
                  " belongs to none");
    auto const port = at_member.substr(at_member.find(':', 10), 6);
    proxy renaming{std::stoi(port.substr(1))};
    renaming.on_reply(
        [&](wire_message& message) { message.replace("127.0.0.1" + port, "x.invalid" + port); });
    check_refused("mongodb://127.0.0.1:" + std::to_string(renaming.port()) +
                      "/bank?replicaSet=settle&" + longer_waits,
                  "names its members x.invalid" + port + ", which cannot be reached from here");
    check_refused("mongodb+srv://db.no-such-name.invalid/bank", "cannot be found: ");
    proxy between{fresh_database{standalone_address}.port()};
    between.black_hole(true);
    check_refused(between.address("bank", shortest_waits), "could not be reached");
}

TEST_CASE("addresses: the driver prints nothing about an address") {
    testing::scratch_folder const folder{"mongodb-driver-log"};
    auto const member = replica_set_address("bank");
    auto const set = member.substr(0, member.find('?'));
    std::string const long_name(200, 'x');
    std::string reply;
    {
        stderr_in_file const caught{folder.at("stderr")};
        reply = refusal(with(member, "appName=bank")); // a name of the user's
        for (std::string const wrong : {"maxPoolSize=abc", "wtimeoutMS=abc"}) {
            CHECK(refusal(with(member, wrong)).find("abc") != std::string::npos);
        }
        CHECK(refusal(with(member, "appName=" + long_name)).find("appname") != std::string::npos);
        CHECK(refusal("mongodb://host:99999/bank").find("cannot be read") != std::string::npos);
        CHECK(refusal(with(member, "strange=abc")).find("strange") != std::string::npos);
        CHECK(refusal(with(set, shortest_waits) + "&replicaSet=another") != "");
    }
    CHECK(reply == "");
    CHECK(testing::read_file(folder.at("stderr")) == "");
}

TEST_CASE("addresses: a server of another protocol is refused within the address's time limits") {
    struct example {
        std::string reply;
        bool closes;
    };
    for (example const& one : {example{"", false},
                               {"", true},
                               {"HTTP/1.1 400 Bad Request\r\n\r\n", true},
                               {"SSH-2.0-OpenSSH_9.2p1\r\n", false},
                               {std::string(64, '\0'), true}}) {
        INFO("it replies ", one.reply.substr(0, 20), one.closes ? " and closes" : "");
        strange_server const strange{one.reply, one.closes};
        check_refused("mongodb://127.0.0.1:" + std::to_string(strange.port()) + "/bank?" +
                          shortest_waits,
                      "could not be reached");
    }
}

TEST_CASE("addresses: a server of another kind or age is refused") {
    proxy between{fresh_database{standalone_address}.port()};
    auto const address = between.address("bank", short_waits);
    between.on_reply([](wire_message& message) { message.set_int32("maxWireVersion", 7); });
    check_refused(address, "older than MongoDB 4.2");
    between.on_reply([](wire_message& message) { message.set_int32("maxWireVersion", 2); });
    check_refused(address, "could not be reached");
    between.on_reply([](wire_message& message) {
        if (is_greeting(message.command)) add_text(message, "msg", "isdbgrid");
    });
    check_refused(address, "sharded cluster");
    between.on_reply(nullptr);
    proxy member{fresh_database{replica_set_address}.port()};
    member.on_reply([](wire_message& message) {
        set_boolean(message, "ismaster", false);
        set_boolean(message, "isWritablePrimary", false);
    });
    check_refused(member.address("bank", short_waits), "takes no writes");
}

TEST_CASE("addresses: a replica set refuses write concerns that could lose a done transaction") {
    fresh_database const of_set{replica_set_address};
    fresh_database const alone{standalone_address};
    // Two of three servers are a majority, two of five are not.
    for (char const* const other : {"w=1", "w=2", "w=tagged"}) {
        INFO(other);
        check_refused(with(of_set.address(), other),
                      "its " + std::string{other} + " need not be a majority");
    }
    check_refused(with(of_set.address(), "journal=false"), "without its journal");
    database_options by_name;
    by_name.weak_writes = true;
    for (char const* const weak : {"w=1", "w=2", "w=tagged", "journal=false"}) {
        INFO(weak);
        auto const reply = refusal(with(of_set.address(), weak));
        CHECK(reply.find("or set database_options::weak_writes. See mongodb#") !=
              std::string::npos);
        CHECK(refusal(with(of_set.address(), weak), by_name) == "");
    }
    CHECK(refusal(with(of_set.address(), "w=0"), by_name).find("the outcome of every write") !=
          std::string::npos);
    for (char const* const strong : {"journal=true", "w=majority&wtimeoutMS=5000"}) {
        CHECK(refusal(with(of_set.address(), strong)) == "");
    }
    // A single server has only one journal.
    database database{with(alone.address(), "w=1")};
    auto engine = bank_on(database);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    engine.create(ledgers, {"B", opening, 0, ""}).value();
    CHECK(engine.run("t", transfer{"A", "B", 30}).done());
    check_refused(with(alone.address(), "w=0"), "the outcome of every write");
}

TEST_CASE("addresses: every write and commit asks for a majority's journal") {
    fresh_database const own{replica_set_address};
    std::atomic<int> weak = 0;
    std::atomic<int> looked_at = 0;
    proxy between{own.port()};
    between.on_request([&](wire_message& message) {
        bool const writes = message.command == "insert" || message.command == "update" ||
                            message.command == "delete" || message.command == "findAndModify" ||
                            message.command == "commitTransaction";
        std::string const text{message.bytes.begin(), message.bytes.end()};
        // Statements of a native transaction carry no write concern: their commit does.
        bool const inside =
            text.find("autocommit") != std::string::npos && message.command != "commitTransaction";
        if (!writes || inside) return;
        ++looked_at;
        bool const strong = text.find("writeConcern") != std::string::npos &&
                            text.find("majority") != std::string::npos &&
                            text.find(std::string{"j\0\1", 3}) != std::string::npos;
        if (!strong) ++weak;
    });
    database database{between.address(own.name())};
    auto engine = bank_on(database);
    auto two = bank_on(database, settle::two_phases);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    engine.create(ledgers, {"B", opening, 0, ""}).value();
    CHECK(engine.run("one", transfer{"A", "B", 30}).done());
    CHECK(two.run("two", transfer{"A", "B", 30}).done());
    CHECK(looked_at > 10);
    CHECK(weak == 0);
}

TEST_CASE("addresses: a call to a silent server ends with its caller, whatever the driver waits") {
    bool asks_to_stop = false;
    SUBCASE("at the caller's deadline") {}
    SUBCASE("at a stop request") { asks_to_stop = true; }
    for (auto* const server : {&standalone_address, &replica_set_address}) {
        fresh_database const own{*server};
        proxy between{own.port()};
        database straight{own.address()};
        auto others = bank_on(straight);
        others.create(ledgers, {"A", opening, 0, ""}).value();
        others.create(ledgers, {"B", opening, 0, ""}).value();
        // The driver gives no call up before 15 s.
        database here{between.address(own.name())};
        auto engine = bank_on(here);
        CHECK(engine.run("first", transfer{"A", "B", 1}).done());
        between.black_hole(true);
        std::stop_source stop;
        settle::call_options call;
        if (asks_to_stop) call.stop = stop.get_token();
        else call.deadline = 300ms;
        std::jthread const person{[&](std::stop_token const& is_joined) {
            for (int left = 300; left > 0 && !is_joined.stop_requested(); --left)
                std::this_thread::sleep_for(1ms);
            stop.request_stop();
        }};
        auto const began = std::chrono::steady_clock::now();
        auto const outcome = engine.run("t", transfer{"A", "B", 30}, call);
        CHECK(std::chrono::steady_clock::now() - began < 10s);
        INFO(outcome.text());
        CHECK(outcome.verdict == settle::verdict::undecided);
        CHECK(outcome.problem.text.find(asks_to_stop ? "a stop request" : "deadline") !=
              std::string::npos);
        // A native transaction that arrives now would keep its records for a minute.
        between.cut_connections();
        between.black_hole(false);
        settle_all(others);
        check_outcome(others, outcome);
        CHECK(balance(others, "A") + balance(others, "B") == 2 * opening);
        CHECK(others.marks().value() == 0);
        CHECK(engine.run("last", transfer{"A", "B", 1}, {.deadline = 5min}).done());
    }
}

} // namespace settle_test
