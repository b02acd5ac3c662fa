// SPDX-License-Identifier: BSL-1.0
// Addresses, users, databases and servers that cannot be used: each is refused with a sentence that
// names the SQLSTATE, if there is one, and the next step.
#include "sums.hpp"

#include <certificates.hpp>
#include <sockets.hpp>

#include <locale.h>
#include <netinet/in.h>

namespace settle_test {
namespace {

using settle::condition;
using settle::errc;

TEST_CASE("refusals: addresses that cannot be read, and never their passwords") {
    for (std::string const address :
         {"postgresql://user:secret@host:port/bank", "postgresql://user:sec@ret@host/bank",
          "postgresql://user:secret@host/bank?unknown=1", "password=secret port",
          "postgresql://user:secret@host", "host=127.0.0.1 user=u password=secret",
          "postgresql://user:secret@h,h:1,h:2/bank?port=1,2", "postgresql://user:secret@[::1/bank",
          "postgresql://user:%zzsecret@host/bank",
          "postgresql://user:secret@host/bank?sslmode=maybe",
          "postgresql://user:secret@127.0.0.1:1/bank?keepalives=x",
          "host=a,b port=1,2,3 dbname=x password=secret"}) {
        INFO(address);
        auto const problem = refusal(address);
        CHECK(problem.code == errc::unfit_store);
        CHECK(says(problem, "this PostgreSQL address is refused: "));
        CHECK_FALSE(says(problem, "secret"));
        CHECK_FALSE(says(problem, "ret@"));
    }
    CHECK(says(refusal("postgresql://u:p@ss@host/bank"), "'@' as %40"));
    CHECK(says(refusal("postgresql://host"), "it names no database"));
    // A part of a password that libpq takes for a port, a database or an option.
    for (std::string const address :
         {"postgresql://bank:s3cret/x@host/bank", "postgresql://bank:12/s3cret@host/bank",
          "postgresql://bank:12?s3cret@host/bank", "postgresql://bank:12?a=s3cret@host/bank",
          "postgresql://bank:12#s3cret@host/bank", "postgresql://bank:s3cret#@host/bank",
          "postgresql://b:12/34?s3cret=1@host/bank"}) {
        INFO(address);
        auto const problem = refusal(address, short_limits());
        CHECK(problem.code == errc::unfit_store);
        CHECK(says(problem, "'/' as %2F"));
        CHECK_FALSE(says(problem, "s3cret"));
        CHECK_FALSE(says(problem, "12"));
    }
    for (std::string const address :
         {"postgresql://bank:s3cret/bank", "postgresql://h/bank?user=x&password=s3&s3cret=1",
          "host=h dbname=bank port=1 s3cret"}) {
        CHECK_FALSE(says(refusal(address), "s3cret"));
    }
    CHECK(says(refusal("postgresql://u:p@host/bank?pgbouncer=true"), "'pgbouncer'"));
    CHECK_NOTHROW(pg::detail::address{"postgresql://host/bank?application_name=a@b&user=u%40c"});
    CHECK(says(refusal("mongodb://host/bank"), "it cannot be read"));
}

TEST_CASE("refusals: addresses of several hosts, and other spellings of an address") {
    using keywords = pg::detail::address::keywords;
    auto const hosts = [](std::string const& text) { return pg::detail::address{text}.hosts(); };
    auto const two = hosts("postgresql://u:p%40@h:1,[::1]:2/bank?connect_timeout=3");
    REQUIRE(two.size() == 2);
    CHECK(pg::detail::name_of(two[0]) == "'h:1'");
    CHECK(pg::detail::name_of(two[1]) == "'::1:2'");
    CHECK(hosts("host=a,b,c port=7 dbname=bank")[2] ==
          keywords{{"dbname", "bank"}, {"host", "c"}, {"port", "7"}});
    CHECK(hosts("host=/run/sockets dbname='my bank'").size() == 1);
    CHECK(pg::detail::name_of(hosts("dbname=bank")[0]) == "the server of this machine");

    // A host that does not answer, or refuses, leaves time for the next.
    int const silent = new_socket();
    auto const socket_address = bind_to_free_port(silent);
    ::listen(silent, 1);
    fresh_schema const own;
    auto const address = own.address();
    auto const user = address.find('@') + 1;
    auto const list = "127.0.0.1:" + std::to_string(ntohs(socket_address.sin_port)) +
                      ",127.0.0.1:" + std::to_string(unused_port()) + ",";
    pool const pool{std::string{address}.insert(user, list), short_limits()};
    CHECK(pool.server().schema == own.name());
    auto const problem = refusal(
        "postgresql://127.0.0.1:" + std::to_string(ntohs(socket_address.sin_port)) + "/bank",
        short_limits());
    CHECK(problem.code == pg::not_connected);
    CHECK(says(problem, "it does not answer"));
    ::close(silent);
}

TEST_CASE("refusals: each address of a name, and each host of the environment, has its time") {
    fresh_schema const own;
    int const silent = new_socket();
    auto const socket_address = bind_to_free_port(silent);
    ::listen(silent, 1);
    auto const silent_port = std::to_string(ntohs(socket_address.sin_port));
    auto const options = "?options=-csearch_path%3D" + own.name() + "&user=postgres";
    ::setenv("PGHOST", "127.0.0.1,127.0.0.1", 1);
    ::setenv("PGPORT", (silent_port + "," + std::to_string(own.port())).c_str(), 1);
    auto limits = short_limits();
    limits.connect_timeout = 4s;
    {
        pool const pool{"postgresql:///postgres" + options, limits};
        CHECK(pool.server().schema == own.name());
        // The pool remembers which host has answered.
        CHECK(pool.server().host == 1);
        CHECK(pool.connect()->server().host == 1);
    }
    ::unsetenv("PGPORT");
    ::unsetenv("PGHOST");
    ::close(silent);
    // Nothing answers at the first address of this name, if the machine has IPv6.
    int const six = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 there{};
    there.sin6_family = AF_INET6;
    there.sin6_addr = IN6ADDR_LOOPBACK_INIT;
    there.sin6_port = htons(static_cast<std::uint16_t>(own.port()));
    bool const listens = six >= 0 &&
                         ::bind(six, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0 &&
                         ::listen(six, 1) == 0;
    CAPTURE(listens);
    pool const with{"postgresql://localhost:" + std::to_string(own.port()) + "/postgres" + options,
                    limits};
    CHECK(with.server().schema == own.name());
    if (six >= 0) ::close(six);
}

TEST_CASE("refusals: a server, a user and a database that are not there") {
    fresh_schema const own;
    auto const nowhere = refusal(
        "postgresql://127.0.0.1:" + std::to_string(unused_port()) + "/bank", short_limits());
    CHECK(nowhere.code == pg::not_connected);
    CHECK(nowhere.code == condition::retryable);
    CHECK(says(nowhere, "Check the address, and that the server runs"));
    CHECK(refusal("postgresql://nosuch.invalid/bank", short_limits()).code == pg::not_connected);

    auto const endpoint = "127.0.0.1:" + std::to_string(own.port());
    auto const no_role = refusal("postgresql://no_such_role@" + endpoint + "/postgres");
    CHECK(no_role.code == pg::invalid_authorization);
    CHECK(no_role.code == condition::permanent);
    CHECK(says(no_role, "(SQLSTATE 28000)"));
    auto const nothing = refusal("postgresql://postgres@" + endpoint + "/no_such_database");
    CHECK(nothing.code == pg::invalid_catalog_name);
    CHECK(says(nothing, "(SQLSTATE 3D000). Create the database, or correct its name"));
}

TEST_CASE("refusals: a server that is gone in the midst of a TLS handshake is away") {
    // A name is not the cause.
    CHECK(refusal("postgresql://certificate.invalid/bank", short_limits()).code ==
          pg::not_connected);
    int const stops = new_socket();
    auto const socket_address = bind_to_free_port(stops);
    ::listen(stops, 8);
    for (bool const reads : {true, false}) {
        CAPTURE(reads);
        std::thread server{[&] {
            for (;;) {
                int const client = ::accept(stops, nullptr, nullptr);
                if (client < 0) continue;
                char bytes[4096];
                auto const got = ::recv(client, bytes, 8, MSG_WAITALL);
                if (got == 8) {
                    ::send(client, "S", 1, MSG_NOSIGNAL);
                    if (reads) std::ignore = ::recv(client, bytes, sizeof bytes, 0);
                }
                ::close(client);
                if (got < 8) return;
            }
        }};
        auto const problem =
            refusal("postgresql://127.0.0.1:" + std::to_string(ntohs(socket_address.sin_port)) +
                        "/bank?sslmode=require",
                    short_limits());
        INFO(problem);
        CHECK(problem.code == pg::not_connected);
        CHECK(problem.code == condition::retryable);
        // An empty connection ends the thread.
        int const last = new_socket();
        ::connect(last, reinterpret_cast<sockaddr const*>(&socket_address), sizeof socket_address);
        ::close(last);
        server.join();
    }
    ::close(stops);
}

TEST_CASE("refusals: a wrong password, and none") {
    fresh_schema const own;
    auto const user = own.name();
    ask(own.address(), "CREATE ROLE " + user +
                           " LOGIN PASSWORD 'right' IN ROLE needs_password;"
                           "GRANT ALL ON SCHEMA " +
                           own.name() + " TO " + user);
    auto const address_with = [&](std::string const& password) {
        return "postgresql://" + user + password + "@127.0.0.1:" + std::to_string(own.port()) +
               "/postgres?options=-csearch_path%3D" + own.name();
    };
    auto const wrong = refusal(address_with(":wrong"));
    CHECK(wrong.code == pg::invalid_password);
    CHECK(wrong.code == condition::permanent);
    CHECK(says(wrong, "(SQLSTATE 28P01). Check the name and the password of the address"));
    CHECK_FALSE(says(wrong, "wrong"));
    auto const none = refusal(address_with(""));
    CHECK(none.code == pg::invalid_password);
    CHECK(says(none, "no password supplied"));
    pool const with{address_with(":right"), {}};
    CHECK(with.server().schema == own.name());
    ask(own.address(), "DROP OWNED BY " + user + "; DROP ROLE " + user);
}

TEST_CASE("refusals: a missing right, and rows that a policy hides") {
    fresh_schema const own;
    make_sums(own.address());
    auto const user = own.name();
    ask(own.address(),
        "CREATE ROLE " + user + " LOGIN; GRANT USAGE ON SCHEMA " + own.name() + " TO " + user);
    auto const address = "postgresql://" + user + "@127.0.0.1:" + std::to_string(own.port()) +
                         "/postgres?options=-csearch_path%3D" + own.name();
    pool pool{address, {}};
    auto const denied = add(pool, "a", 1);
    CHECK(denied.status == commit_status::undone);
    CHECK(denied.problem.code == pg::insufficient_privilege);
    CHECK(denied.problem.code == condition::permanent);
    CHECK(says(denied.problem, "permission denied for table sums (SQLSTATE 42501). Give the user "
                               "this right. See postgresql#rights"));
    ask(own.address(), "GRANT SELECT, UPDATE ON sums TO " + user);
    CHECK(add(pool, "a", 1).status == commit_status::committed);
    ask(own.address(), "ALTER TABLE sums ENABLE ROW LEVEL SECURITY;"
                       "CREATE POLICY only_b ON sums USING (id = 'b')");
    auto const hidden = add(pool, "a", 1);
    CHECK(hidden.status == commit_status::undone);
    CHECK(hidden.problem.code == pg::insufficient_privilege);
    CHECK(says(hidden.problem, "row-level security"));
    ask(own.address(), "DROP OWNED BY " + user + "; DROP ROLE " + user);
}

TEST_CASE("refusals: a database with another encoding") {
    fresh_schema const own;
    auto const server = "postgresql://postgres@127.0.0.1:" + std::to_string(own.port()) + "/";
    for (std::string const encoding : {"LATIN1", "SQL_ASCII"}) {
        auto const name = own.name() + "_other";
        ask(own.address(),
            "CREATE DATABASE " + name + " ENCODING '" + encoding + "' TEMPLATE template0");
        auto const problem = refusal(server + name);
        CHECK(problem.code == errc::unfit_store);
        CHECK(
            says(problem, "has the encoding " + encoding + ". Create one with the encoding UTF8"));
        ask(own.address(), "DROP DATABASE " + name + " WITH (FORCE)");
    }
}

TEST_CASE("refusals: a user whose native transactions are read-only") {
    fresh_schema const own;
    auto const problem =
        refusal(own.address() + "%20-cdefault_transaction_read_only%3Don", short_limits());
    CHECK(problem.code == pg::read_only_transaction);
    CHECK(says(problem, "read-only (SQLSTATE 25006)"));
}

TEST_CASE("refusals: a row that another program holds, and a statement that takes too long") {
    fresh_schema const own;
    make_sums(own.address());
    pool limited{own.address(), short_limits()};
    pool other{own.address(), {}};
    {
        auto holder = other.take();
        holder->begin();
        holder->send_sql("UPDATE sums SET n = 1 WHERE id = 'a'", "hold a");
        holder->sync();
        auto const ended = add(limited, "a", 1);
        CHECK(ended.status == commit_status::undone);
        CHECK(ended.problem.code == pg::lock_not_available);
        CHECK(ended.problem.code == condition::retryable);
        CHECK(pg::detail::is_held(ended.problem.code));
        CHECK(says(ended.problem, "(SQLSTATE 55P03)"));
        // Another row is not held.
        add_surely(limited, "b", 1);
    }
    add_surely(limited, "a", 1);
    auto const slow = add(limited, "a", 1, [](connection& connection) {
        connection.send_sql("SELECT pg_sleep(20)", "sleep");
    });
    CHECK(slow.status == commit_status::undone);
    CHECK(slow.problem.code == pg::query_canceled);
    CHECK(slow.problem.code == condition::retryable);
    CHECK(says(slow.problem, "(SQLSTATE 57014)"));
    CHECK(sum_of(own.address(), "a") == "1");
}

TEST_CASE("refusals: a server without connections takes one as soon as it can") {
    postgresql_server server{
        {"max_connections=5", "superuser_reserved_connections=0", "max_wal_senders=0"}};
    make_sums(server.address());
    std::vector<std::unique_ptr<pool>> others;
    for (int i = 0; i < 5; ++i) {
        others.push_back(std::make_unique<pool>(server.address(), short_limits()));
    }
    auto const problem = refusal(server.address(), short_limits());
    CHECK(problem.code == pg::too_many_connections);
    CHECK(problem.code == condition::retryable);
    CHECK(says(problem, "(SQLSTATE 53300). Raise max_connections of the server"));
    std::jthread leaves{[&] {
        std::this_thread::sleep_for(500ms);
        others.pop_back();
    }};
    pool patient{server.address(), patient_limits()};
    leaves.join();
    CHECK(add(patient, "a", 1).status == commit_status::committed);
}

TEST_CASE("long: refusals: a server is used only with the right certificate") {
    testing::scratch_folder const folder{"postgresql-tls"};
    make_certificates(folder);
    postgresql_server server;
    auto const put = [&](std::string const& name) {
        return server.write_file(name, testing::read_file(folder.at(name)));
    };
    server.set("ssl_cert_file", put("server.pem"));
    server.set("ssl_key_file", put("server.key"));
    server.set("ssl", "on");
    ask(server.address(), "CREATE ROLE guest LOGIN IN ROLE needs_tls");
    auto const address_at = [&](std::string const& host, std::string const& options) {
        return "postgresql://guest@" + host + ":" + std::to_string(server.port()) + "/postgres?" +
               options;
    };
    auto const strict = [&](std::string const& authority) {
        return "sslmode=verify-full&sslrootcert=" + folder.at(authority + ".pem");
    };
    pool const pool{address_at("127.0.0.1", strict("ca")), {}};
    CHECK(PQsslInUse(pool.connect()->native()) == 1);
    for (auto const& each :
         {std::pair{address_at("127.0.0.1", strict("other")), "certificate verify failed"},
          {address_at("localhost", strict("ca")), "does not match host name"},
          {address_at("127.0.0.1", strict("nowhere")), "nowhere.pem\" does not exist"}}) {
        std::string const because = each.second;
        auto const problem = refusal(each.first);
        CHECK(problem.code == pg::tls_failed);
        CHECK(problem.code == condition::permanent);
        CHECK(says(problem, because));
        CHECK(says(problem, "Check sslmode, sslrootcert"));
    }
    auto const plain = refusal(address_at("127.0.0.1", "sslmode=disable"));
    CHECK(plain.code == pg::invalid_authorization);
    CHECK(says(plain, "no encryption"));
    server.set("ssl", "off");
    auto const none =
        refusal("postgresql://postgres@" + server.host() + "/postgres?sslmode=require");
    CHECK(none.code == pg::tls_failed);
}

TEST_CASE("refusals: a wrong option is refused in every language of libpq") {
    // Unless the locale is "C", LANGUAGE names the translations.
    REQUIRE(::setlocale(LC_ALL, "C.utf8") != nullptr);
    ::setenv("LANGUAGE", "de", 1);
    auto const problem = refusal("postgresql://host/bank?sslmode=maybe", short_limits());
    CHECK(problem.code == errc::unfit_store);
    CHECK(says(problem, "invalid sslmode value: \"maybe\""));
    ::unsetenv("LANGUAGE");
    ::setlocale(LC_ALL, "C");
}

struct state_case {
    char const* state;
    condition expected;
    bool of_one_record;
};

TEST_CASE("refusals: each SQLSTATE is retryable, permanent or unknown") {
    using enum condition;
    for (state_case const& test_case : std::initializer_list<state_case>{
             {"40001", retryable, false}, {"40P01", retryable, false}, {"40003", unknown, false},
             {"55P03", retryable, false}, {"57014", retryable, false}, {"57P01", retryable, false},
             {"57P02", retryable, false}, {"57P03", retryable, false}, {"57P05", retryable, false},
             {"25006", retryable, false}, {"25P03", retryable, false}, {"25P04", retryable, false},
             {"53300", retryable, false}, {"53200", retryable, false}, {"08006", retryable, false},
             {"53100", permanent, false}, {"42501", permanent, false}, {"42P01", permanent, false},
             {"28P01", permanent, false}, {"0A000", permanent, false}, {"XX000", permanent, false},
             {"58030", permanent, false}, {"23505", permanent, true},  {"23514", permanent, true},
             {"22003", permanent, true},  {"22021", permanent, true},  {"54000", permanent, true},
             {"P0001", permanent, true},  {"44000", permanent, true}}) {
        std::error_code const code{pg::number_of(test_case.state), pg::postgresql_category()};
        INFO(test_case.state);
        CHECK(code == test_case.expected);
        CHECK(pg::sqlstate_of(code) == test_case.state);
        CHECK(pg::detail::is_of_one_record(code) == test_case.of_one_record);
        bool const ends = std::string_view{test_case.state}.starts_with("57P") ||
                          std::string_view{test_case.state}.starts_with("25P") ||
                          std::string_view{test_case.state}.starts_with("08");
        CHECK(pg::detail::is_lost(code) == ends);
        // A lock that took too long, or a statement: a server with lock_timeout = 0 has only this.
        auto const state = std::string_view{test_case.state};
        CHECK(pg::detail::is_held(code) == (state == "55P03" || state == "57014"));
        CHECK(code.message() == "SQLSTATE " + std::string{test_case.state});
    }
    CHECK(make_error_code(pg::commit_unknown) == unknown);
    CHECK(make_error_code(pg::connection_lost) == retryable);
    CHECK(make_error_code(pg::tls_failed) == permanent);
    CHECK(pg::sqlstate_of(make_error_code(pg::connection_lost)).empty());
}

} // namespace
} // namespace settle_test
