// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

#include <settle/mariadb/connection/address.hpp>

#include <mysql.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

namespace settle_test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string const& program() {
    static std::string const path = [] {
        std::string reason;
        auto found = find_mariadb(reason);
        if (found.empty()) skip(reason);
        return found;
    }();
    return path;
}

/// The user of the servers, if it is not the user of this process.
std::optional<system_user> server_user() {
    if (::geteuid() != 0) return std::nullopt;
    for (char const* const name : {"mysql", "nobody"}) {
        if (auto const* const found = ::getpwnam(name)) return {{found->pw_uid, found->pw_gid}};
    }
    throw std::runtime_error{"there is no user to run MariaDB as"};
}

void give_to_server(fs::path const& path) { give_to(server_user(), path); }

void run(arguments command, fs::path const& log) {
    server_process::run_to_success(std::move(command), log, server_user());
}

/// A new server's data, made once for all servers: to make it takes longer than a copy.
fs::path const& template_data() {
    static fs::path const path = [] {
        auto const folder = mariadb_folder() / "settle-mariadb-data";
        int const lock =
            ::open((folder.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock < 0 || ::flock(lock, LOCK_EX) != 0) {
            throw std::runtime_error{"cannot lock " + folder.string()};
        }
        if (!fs::exists(folder / "whole")) {
            fs::remove_all(folder);
            fs::create_directory(folder);
            give_to_server(folder);
            run({"/usr/bin/mariadb-install-db", "--no-defaults",
                 "--datadir=" + (folder / "data").string(),
                 "--auth-root-authentication-method=normal", "--skip-name-resolve",
                 "--innodb-log-file-size=8M"},
                folder / "log");
            std::ofstream{folder / "whole"} << "\n";
        }
        ::close(lock);
        return folder / "data";
    }();
    return path;
}

} // namespace

std::string find_mariadb(std::string& reason) {
    auto const* const given = std::getenv("SETTLE_MARIADB");
    std::string const folder = given != nullptr && *given != 0 ? given : "/usr/sbin";
    auto const path = folder + "/mariadbd";
    bool const found =
        ::access(path.c_str(), X_OK) == 0 && ::access("/usr/bin/mariadb-install-db", X_OK) == 0;
    if (found) return path;
    reason = "no MariaDB server: there is no " + path + ". Install the package mariadb-server";
    return "";
}

fs::path const& mariadb_folder() {
    static fs::path const folder = [] {
        fs::path const scratch{SETTLE_SCRATCH_DIR};
        fs::create_directories(scratch);
        return !server_user() || is_open_to_all(scratch) ? scratch : fs::temp_directory_path();
    }();
    return folder;
}

mariadb_server::mariadb_server(arguments settings) : settings_{std::move(settings)} {
    program();
    static int count = 0;
    folder_ = mariadb_folder() /
              (mariadb_prefix + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    give_to_server(folder_);
    port_ = free_port();
    run({"/bin/cp", "-a", template_data().string(), (folder_ / "data").string()}, folder_ / "log");
    start();
}

mariadb_server::~mariadb_server() {
    kill();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

void mariadb_server::start() {
    // A server that starts removes all temporary tables in its tmpdir. In /tmp these are also those
    // of other servers, which may crash then.
    arguments command{program(),
                      "--no-defaults",
                      "--datadir=" + (folder_ / "data").string(),
                      "--port=" + std::to_string(port_),
                      "--socket=" + socket(),
                      "--tmpdir=" + folder_.string(),
                      "--pid-file=" + (folder_ / "pid").string(),
                      "--bind-address=127.0.0.1",
                      "--skip-name-resolve",
                      "--innodb-log-file-size=8M",
                      "--innodb-buffer-pool-size=16M"};
    for (auto const& one : settings_) command.push_back("--" + one);
    process_.begin(std::move(command), folder_ / "log", server_user());
    bool const ready = wait_until(15min, [&] { return process_.ended() || listens_at(port_); });
    if (!process_.running() || !ready) give_up("does not come up");
    mariadb_session{address()}.ask("SELECT 1");
}

void mariadb_server::give_up(std::string const& what) {
    kill();
    throw std::runtime_error{"MariaDB on " + host() + " " + what + ":\n" +
                             end_of_file(folder_ / "log")};
}

void mariadb_server::kill() { process_.kill(); }

void mariadb_server::stop() {
    thaw();
    process_.signal(SIGTERM);
    if (!process_.wait_for_end(60s)) give_up("does not end");
}

struct mariadb_session::native {
    MYSQL* held = mysql_init(nullptr);
};

mariadb_session::mariadb_session(std::string const& address) : native_{std::make_unique<native>()} {
    settle::mariadb::detail::address const to{address};
    MYSQL* const held = native_->held;
    if (mysql_real_connect(held, to.host.c_str(), to.user.c_str(), to.password.c_str(),
                           to.database.c_str(), to.port, nullptr,
                           CLIENT_MULTI_STATEMENTS) == nullptr) {
        std::string const text = mysql_error(held);
        mysql_close(held);
        throw std::runtime_error{text};
    }
}

mariadb_session::~mariadb_session() { mysql_close(native_->held); }

void mariadb_session::reset() {
    if (mysql_reset_connection(native_->held) != 0) {
        throw std::runtime_error{mysql_error(native_->held)};
    }
}

std::vector<std::vector<std::string>> mariadb_session::ask(std::string const& sql) {
    MYSQL* const held = native_->held;
    if (mysql_real_query(held, sql.data(), sql.size()) != 0) {
        throw std::runtime_error{mysql_error(held)};
    }
    std::vector<std::vector<std::string>> answer;
    for (;;) {
        answer.clear();
        MYSQL_RES* const rows = mysql_store_result(held);
        unsigned const columns = rows == nullptr ? 0 : mysql_num_fields(rows);
        while (MYSQL_ROW const values = columns == 0 ? nullptr : mysql_fetch_row(rows)) {
            auto const* const lengths = mysql_fetch_lengths(rows);
            auto& row = answer.emplace_back();
            for (unsigned at = 0; at < columns; ++at) {
                row.emplace_back(values[at] == nullptr ? "NULL"
                                                       : std::string{values[at], lengths[at]});
            }
        }
        mysql_free_result(rows);
        int const next = mysql_next_result(held);
        if (next < 0) return answer;
        if (next > 0) throw std::runtime_error{mysql_error(held)};
    }
}

} // namespace settle_test
