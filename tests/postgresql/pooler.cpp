// SPDX-License-Identifier: BSL-1.0
// PgBouncer before a server: a session for each client is used, and a shared session is refused.
#include "sums.hpp"

#include <fstream>

#include <pwd.h>
#include <unistd.h>

namespace settle_test {
namespace {

/// PgBouncer refuses to run as root.
std::optional<system_user> pooler_user() {
    if (::geteuid() != 0) return std::nullopt;
    auto const* const found = ::getpwnam("postgres");
    if (found == nullptr) skip("there is no user to run PgBouncer as");
    return {{found->pw_uid, found->pw_gid}};
}

/// One PgBouncer before the shared server.
class pooler {
public:
    explicit pooler(std::string const& mode, std::string const& database) : database_{database} {
        std::string const program = "/usr/sbin/pgbouncer";
        if (::access(program.c_str(), X_OK) != 0) {
            skip("there is no " + program + ". Install the package pgbouncer");
        }
        auto const server = shared_postgresql();
        auto const host = server.substr(server.find('@') + 1);
        auto const server_port = host.substr(host.find(':') + 1);
        folder_ = std::filesystem::temp_directory_path() / ("settle-pooler-" + fresh_name());
        std::filesystem::create_directory(folder_);
        auto const file = folder_ / "pgbouncer.ini";
        auto const users = folder_ / "users";
        std::ofstream{users} << '"' << server.substr(0, server.find('@')) << "\" \"\"\n";
        std::ofstream{file} << "[databases]\n* = host=127.0.0.1 port=" << std::stoi(server_port)
                            << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                            << "listen_port = " << port_ << "\nunix_socket_dir =\n"
                            << "auth_type = trust\n"
                            << "auth_file = " << users.string() << "\n"
                            << "pool_mode = " << mode << "\nmax_client_conn = 50\n"
                            << "default_pool_size = 10\n";
        give_to(pooler_user(), folder_);
        give_to(pooler_user(), file);
        give_to(pooler_user(), users);
        process_.begin({program, file.string()}, folder_ / "log", pooler_user());
        bool const listens = wait_until(60s, [&] { return listens_at(port_); });
        REQUIRE_MESSAGE(listens, end_of_file(folder_ / "log"));
    }
    pooler(pooler const&) = delete;
    pooler& operator=(pooler const&) = delete;
    ~pooler() {
        process_.kill();
        std::error_code none;
        std::filesystem::remove_all(folder_, none);
    }
    [[nodiscard]] std::string address() const {
        auto const server = shared_postgresql();
        return "postgresql://" + server.substr(0, server.find('@')) +
               "@127.0.0.1:" + std::to_string(port_) + "/" + database_ +
               "?sslmode=disable&gssencmode=disable";
    }

private:
    std::string database_;
    int port_ = free_port();
    std::filesystem::path folder_;
    server_process process_;
};

TEST_CASE("pooler: a session that several clients share is refused when it is opened") {
    for (std::string const mode : {"transaction", "statement"}) {
        CAPTURE(mode);
        pooler const between{mode, "postgres"};
        auto const problem = refusal(between.address());
        if (mode == "statement") continue;
        CHECK(problem.code == settle::errc::unfit_store);
        CHECK(says(problem, "pool_mode = session"));
        // A later client finds no setting of settle.
        CHECK(ask_one(between.address(), "SHOW enable_seqscan") == "on");
    }
}

TEST_CASE("pooler: a session for each client is used") {
    pooler const between{"session", "postgres"};
    pool pool{between.address(), short_limits()};
    auto const held = pool.take();
    auto const other = pool.take();
    auto const number = held->send_sql("SELECT 1", "ask");
    held->sync();
    CHECK(held->result(number).size() == 1);
}

} // namespace
} // namespace settle_test
