// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

#include <libpq-fe.h>

#include <algorithm>
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

std::string const& programs() {
    static std::string const folder = [] {
        std::string reason;
        auto found = find_postgresql(reason);
        if (found.empty()) skip(reason);
        return found;
    }();
    return folder;
}

/// The user of the servers, if it is not the user of this process.
std::optional<system_user> server_user() {
    if (::geteuid() != 0) return std::nullopt;
    for (char const* const name : {"postgres", "nobody"}) {
        if (auto const* const found = ::getpwnam(name)) return {{found->pw_uid, found->pw_gid}};
    }
    throw std::runtime_error{"there is no user to run PostgreSQL as"};
}

void give_to_server(fs::path const& path) { give_to(server_user(), path); }

void run(arguments command, fs::path const& log) {
    server_process::run_to_success(std::move(command), log, server_user());
}

constexpr char const* access_rules = "hostnossl all +needs_tls 127.0.0.1/32 reject\n"
                                     "host all +needs_password 127.0.0.1/32 scram-sha-256\n"
                                     "host all all 127.0.0.1/32 trust\n"
                                     "host replication all 127.0.0.1/32 trust\n";

/// A new server's data, made once for all servers: initdb takes longer than a copy.
fs::path const& template_data() {
    static fs::path const path = [] {
        // A newer PostgreSQL does not read an older one's data.
        auto const version = fs::path{programs()}.parent_path().filename().string();
        auto const folder = postgresql_folder() / ("settle-postgresql-data-" + version);
        int const lock =
            ::open((folder.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock < 0 || ::flock(lock, LOCK_EX) != 0) {
            throw std::runtime_error{"cannot lock " + folder.string()};
        }
        if (!fs::exists(folder / "whole")) {
            fs::remove_all(folder);
            fs::create_directory(folder);
            give_to_server(folder);
            auto const data = (folder / "data").string();
            run({programs() + "/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                 "--locale=C", "-N"},
                folder / "log");
            std::ofstream{folder / "data" / "pg_hba.conf"} << access_rules;
            std::ofstream{folder / "roles.sql"}
                << "CREATE ROLE needs_password;\nCREATE ROLE needs_tls;\n";
            run({"/bin/sh", "-c",
                 "exec '" + programs() + "/postgres' --single -D '" + data + "' postgres <'" +
                     (folder / "roles.sql").string() + "'"},
                folder / "log");
            std::ofstream{folder / "whole"} << "\n";
        }
        ::close(lock);
        return folder / "data";
    }();
    return path;
}

} // namespace

std::string find_postgresql(std::string& reason) {
    auto const has_programs = [](fs::path const& folder) {
        return ::access((folder / "initdb").c_str(), X_OK) == 0 &&
               ::access((folder / "postgres").c_str(), X_OK) == 0;
    };
    if (char const* const given = std::getenv("SETTLE_POSTGRESQL"); given && *given) {
        if (has_programs(given)) return given;
        reason = "SETTLE_POSTGRESQL names '" + std::string{given} + "', where no initdb is";
        return "";
    }
    fs::path const debian{"/usr/lib/postgresql"};
    std::vector<std::pair<int, fs::path>> pairs;
    std::error_code none;
    for (auto const& entry : fs::directory_iterator{debian, none}) {
        auto const folder = entry.path() / "bin";
        if (has_programs(folder)) {
            pairs.emplace_back(std::atoi(entry.path().filename().c_str()), folder);
        }
    }
    if (!pairs.empty()) return std::max_element(pairs.begin(), pairs.end())->second;
    reason = "no PostgreSQL server: SETTLE_POSTGRESQL is not set, and there is none in " +
             debian.string() + ". Install the package postgresql-15";
    return "";
}

fs::path const& postgresql_folder() {
    static fs::path const folder = [] {
        fs::path const scratch{SETTLE_SCRATCH_DIR};
        fs::create_directories(scratch);
        return !server_user() || is_open_to_all(scratch) ? scratch : fs::temp_directory_path();
    }();
    return folder;
}

postgresql_server::postgresql_server(arguments settings) : settings_{std::move(settings)} {
    choose_folder();
    run({"/bin/cp", "-a", template_data().string(), (folder_ / "data").string()}, folder_ / "log");
    start();
}

postgresql_server::postgresql_server(standby_of other) : settings_{other.primary.settings_} {
    choose_folder();
    run({programs() + "/pg_basebackup", "-D", (folder_ / "data").string(), "-d",
         other.primary.address(), "-R", "-X", "stream", "-N", "-c", "fast"},
        folder_ / "log");
    start();
}

postgresql_server::~postgresql_server() {
    kill();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

void postgresql_server::choose_folder() {
    programs();
    static int count = 0;
    folder_ = postgresql_folder() /
              (postgresql_prefix + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    give_to_server(folder_);
    port_ = free_port();
}

std::string postgresql_server::address(std::string const& database, std::string const& options,
                                       std::string const& user) const {
    return "postgresql://" + user + "@" + host() + "/" + database +
           (options.empty() ? "" : "?" + options);
}

void postgresql_server::begin() {
    arguments command{programs() + "/postgres", "-D", (folder_ / "data").string()};
    auto const add = [&](std::string const& setting) {
        command.emplace_back("-c");
        command.push_back(setting);
    };
    add("port=" + std::to_string(port_));
    for (char const* const character :
         {"listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=32MB",
          "max_connections=150", "max_prepared_transactions=64"}) {
        add(character);
    }
    for (auto const& one : settings_) add(one);
    process_.begin(std::move(command), folder_ / "log", server_user());
}

void postgresql_server::start() {
    begin();
    wait_until_ready();
}

void postgresql_server::wait_until_ready() {
    auto const where = address();
    bool const ready =
        wait_until(15min, [&] { return process_.ended() || PQping(where.c_str()) == PQPING_OK; });
    if (!running() || !ready) give_up("does not come up");
}

void postgresql_server::give_up(std::string const& what) {
    kill();
    throw std::runtime_error{"PostgreSQL on " + host() + " " + what + ":\n" +
                             end_of_file(folder_ / "log")};
}

/// The processes whose parent is the server's first process.
std::vector<pid_t> postgresql_server::children() const {
    std::vector<pid_t> processes;
    for (auto const& entry : fs::directory_iterator{"/proc"}) {
        int const pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        // "12 (postgres) S 11 …"
        std::ifstream file{entry.path() / "stat"};
        std::string text;
        std::getline(file, text);
        auto const behind = text.rfind(") ");
        if (behind == text.npos || behind + 4 > text.size()) continue;
        if (std::atoi(text.c_str() + behind + 4) == process_.pid()) processes.push_back(pid);
    }
    return processes;
}

void postgresql_server::kill() {
    if (!running()) return;
    // Stopped first, so that it makes no process meanwhile.
    if (!process_.frozen()) process_.freeze();
    auto const processes = children();
    for (pid_t const one : processes) ::kill(one, SIGKILL);
    process_.kill();
    frozen_.clear();
    // Their memory and the port are free when all of them are gone.
    bool const gone = wait_until(15min, [&] {
        return std::none_of(processes.begin(), processes.end(),
                            [](pid_t process) { return ::kill(process, 0) == 0; });
    });
    if (!gone) throw std::runtime_error{"a process of PostgreSQL on " + host() + " does not end"};
}

void postgresql_server::stop() {
    thaw();
    process_.signal(SIGINT);
    if (!process_.wait_for_end(60s)) give_up("does not end");
}

void postgresql_server::freeze() {
    process_.freeze();
    frozen_ = children();
    for (pid_t const one : frozen_) ::kill(one, SIGSTOP);
}

void postgresql_server::thaw() {
    for (pid_t const one : frozen_) ::kill(one, SIGCONT);
    frozen_.clear();
    process_.thaw();
}

void postgresql_server::promote() { ask(address(), "SELECT pg_promote()"); }

void postgresql_server::wait_for_standby(bool on) {
    set("synchronous_standby_names", on ? "*" : "");
    if (!on) return;
    bool const waits = wait_until(15min, [&] {
        return ask(address(), "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
                   .size() == 1;
    });
    if (!waits) throw std::runtime_error{"no standby follows " + host()};
}

void postgresql_server::set(std::string const& name, std::string const& value) {
    ask(address(), "ALTER SYSTEM SET " + name + " = '" + value + "'");
    ask(address(), "SELECT pg_reload_conf()");
    bool const is_set =
        wait_until(15min, [&] { return ask_one(address(), "SHOW " + name) == value; });
    if (!is_set) throw std::runtime_error{"the server does not take the setting " + name};
}

std::string postgresql_server::write_file(std::string const& name, std::string const& text) const {
    auto const path = folder_ / name;
    std::ofstream{path} << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    give_to_server(path);
    return path.string();
}

psql_session::psql_session(std::string const& address) : native_{PQconnectdb(address.c_str())} {
    if (PQstatus(native_) != CONNECTION_OK) {
        std::string const text = PQerrorMessage(native_);
        PQfinish(native_);
        throw std::runtime_error{text};
    }
    PQsetNoticeProcessor(native_, [](void*, char const*) {}, nullptr);
}

psql_session::~psql_session() { PQfinish(native_); }

std::vector<std::vector<std::string>> psql_session::ask(std::string const& sql) {
    PGresult* const result = PQexec(native_, sql.c_str());
    auto const status = PQresultStatus(result);
    std::vector<std::vector<std::string>> rows;
    for (int row = 0; row < PQntuples(result); ++row) {
        auto& values = rows.emplace_back();
        for (int column = 0; column < PQnfields(result); ++column) {
            values.emplace_back(PQgetisnull(result, row, column) ? "NULL"
                                                                 : PQgetvalue(result, row, column));
        }
    }
    std::string const problem = PQresultErrorMessage(result);
    PQclear(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error{problem};
    return rows;
}

} // namespace settle_test
