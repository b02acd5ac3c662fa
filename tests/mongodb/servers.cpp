// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

#include "commands.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace settle_test {

using namespace std::chrono_literals;

std::string find_mongod(std::string& reason) {
    std::unique_ptr<FILE, int (*)(FILE*)> const script{
        ::popen("sh '" SETTLE_MONGOD_SCRIPT "' --find 2>&1", "r"), ::pclose};
    std::string output;
    std::array<char, 512> line;
    while (script && std::fgets(line.data(), static_cast<int>(line.size()), script.get())) {
        output += line.data();
    }
    if (output.ends_with('\n')) output.pop_back();
    if (output.starts_with('/')) return output;
    // A script that failed to fetch the server knows the reason better.
    char const* const skipped_because = std::getenv("SETTLE_NO_MONGOD");
    reason = skipped_because && *skipped_because ? skipped_because : output;
    return "";
}

std::string const& mongod_program() {
    static std::string const path = [] {
        std::string reason;
        auto found = find_mongod(reason);
        if (found.empty()) skip(reason);
        return found;
    }();
    return path;
}

server::server(arguments more) : more_{std::move(more)} {
    mongod_program();
    static int count = 0;
    folder_ = std::filesystem::path{SETTLE_SCRATCH_DIR} /
              ("mongod-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "data");
    // Between the choice of a port and its use, another process may take it.
    for (int tries = 1; running() == false; ++tries) {
        port_ = free_port();
        try {
            start();
        } catch (std::runtime_error const&) {
            bool const taken = end_of_log().find("Address already in use") != std::string::npos;
            if (taken && tries < 5) continue;
            // The reason is in the folder, so it is left for a reader.
            kill();
            throw;
        }
    }
}

server::~server() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string server::address(std::string const& database, std::string const& options) const {
    return "mongodb://" + host() + "/" + database + "?directConnection=true" +
           (options.empty() ? "" : "&") + options;
}

void server::begin() {
    arguments command{mongod_program(), "--dbpath", (folder_ / "data").string(), "--logpath",
                      (folder_ / "log").string(), "--logappend", "--port", std::to_string(port_),
                      "--bind_ip", "127.0.0.1", "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25",
                      // Fail points, and an end that does not wait 15 s for another primary.
                      "--setParameter", "enableTestCommands=1", "--setParameter",
                      "shutdownTimeoutMillisForSignaledShutdown=100", "--setParameter",
                      "diagnosticDataCollectionEnabled=false",
                      // The files of dropped databases are removed soon: thousands of files would
                      // keep a processor busy.
                      "--setParameter", "minSnapshotHistoryWindowInSeconds=5"};
    command.insert(command.end(), more_.begin(), more_.end());
    std::error_code absent;
    auto const written = std::filesystem::file_size(folder_ / "log", absent);
    earlier_log_ = absent ? 0 : written;
    process_.begin(std::move(command));
}

void server::start() {
    begin();
    wait_until_listening();
}

void server::wait_until_listening() {
    bool const listens =
        wait_until(15min, [this] { return process_.ended() || reports_that_it_listens(); });
    if (running() && listens) return;
    kill();
    throw std::runtime_error{"mongod on " + host() + " does not come up:\n" + end_of_log()};
}

bool server::reports_that_it_listens() const {
    std::ifstream log{folder_ / "log", std::ios::binary};
    log.seekg(static_cast<std::streamoff>(earlier_log_));
    std::string const text{std::istreambuf_iterator<char>{log}, {}};
    return text.find("\"msg\":\"Waiting for connections\"") != std::string::npos;
}

void server::ask_to_end() {
    thaw();
    process_.signal(SIGTERM);
}

void server::stop() {
    ask_to_end();
    if (process_.wait_for_end(60s)) return;
    auto const log = end_of_log();
    kill();
    throw std::runtime_error{"mongod on " + host() + " does not end:\n" + log};
}

replica_set::replica_set(std::size_t members, arguments more, std::string options)
    : options_{std::move(options)} {
    more.insert(more.begin(), {"--replSet", "settle", "--oplogSize", "256"});
    for (std::size_t i = 0; i < members; ++i) members_.push_back(std::make_unique<server>(more));
    initiate();
    wait_until_whole();
}

std::string replica_set::address(std::string const& database) const {
    std::string hosts;
    for (auto const& one : members_) {
        if (!hosts.empty()) hosts += ',';
        hosts += one->host();
    }
    return "mongodb://" + hosts + "/" + database + "?replicaSet=settle";
}

std::string replica_set::direct(server const& server, int timeout_ms) const {
    auto const limit = std::to_string(timeout_ms);
    return "mongodb://" + user_ + (user_.empty() ? "" : "@") + server.host() +
           "/admin?directConnection=true&connectTimeoutMS=" + limit + "&socketTimeoutMS=" + limit +
           "&serverSelectionTimeoutMS=" + limit + (options_.empty() ? "" : "&") + options_;
}

void replica_set::initiate() {
    std::string list;
    for (std::size_t i = 0; i < size(); ++i) {
        list += (i == 0 ? "" : ", ") + std::string{"{\"_id\": "} + std::to_string(i) +
                ", \"host\": \"" + members_[i]->host() + "\"}";
    }
    // By default a new primary waits, before it takes writes, for writes that a frozen member may
    // still have. It waits longer than the other members wait for a primary, so elections repeat
    // for half a minute. Writes acknowledged by a majority are kept without that wait as well.
    auto const answer = run_command(
        direct(*members_[0], 20'000),
        "{\"replSetInitiate\": {\"_id\": \"settle\", \"members\": [" + list +
            "],"
            " \"settings\": {\"electionTimeoutMillis\": 1000, \"heartbeatTimeoutSecs\": 2,"
            " \"catchUpTimeoutMillis\": 0}}}");
    if (!answer.ok) throw std::runtime_error{"replSetInitiate: " + answer.error};
}

std::optional<std::size_t> replica_set::primary() {
    std::optional<std::size_t> primary_index;
    std::string latest;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!member(i).running() || member(i).frozen()) continue;
        auto const hello = run_command(direct(member(i), 1'000), R"({"hello": 1})");
        if (!hello.truth("isWritablePrimary")) continue;
        // A member that was frozen calls itself primary for a while after the thaw. An election id
        // begins with the number of the election.
        auto const elected = hello.object_id("electionId");
        if (primary_index && elected < latest) continue;
        primary_index = i;
        latest = elected;
    }
    return primary_index;
}

std::size_t replica_set::wait_for_primary(milliseconds limit) {
    std::optional<std::size_t> primary_index;
    if (!wait_until(limit, [&] { return (primary_index = primary()).has_value(); })) {
        throw std::runtime_error{"the replica set elects no primary: " + address()};
    }
    return *primary_index;
}

std::size_t replica_set::wait_until_whole(milliseconds limit) {
    std::optional<std::size_t> primary_index;
    auto const whole = [&] {
        primary_index = primary();
        if (!primary_index) return false;
        for (std::size_t i = 0; i < size(); ++i) {
            if (!member(i).running() || member(i).frozen() || i == *primary_index) continue;
            auto const hello = run_command(direct(member(i), 1'000), R"({"hello": 1})");
            bool const follows =
                hello.truth("secondary") && hello.text("primary") == member(*primary_index).host();
            if (!follows) return false;
        }
        return true;
    };
    if (!wait_until(limit, whole)) {
        throw std::runtime_error{"not every member follows a primary: " + address()};
    }
    return *primary_index;
}

std::size_t replica_set::kill_primary() {
    auto const number = wait_for_primary();
    member(number).kill();
    return number;
}

std::size_t replica_set::freeze_primary() {
    auto const number = wait_for_primary();
    member(number).freeze();
    return number;
}

std::size_t replica_set::step_down() {
    auto const number = wait_for_primary();
    // The member refuses while no other member has all its writes.
    std::string refused;
    bool const goes = wait_until(patience, [&] {
        auto const answer =
            run_command(direct(member(number), 20'000),
                        R"({"replSetStepDown": 30, "secondaryCatchUpPeriodSecs": 10})");
        refused = answer.error;
        auto const now = primary();
        return answer.ok || (now && *now != number);
    });
    if (!goes) throw std::runtime_error{"replSetStepDown: " + refused};
    wait_until(patience, [&] {
        auto const now = primary();
        return now && *now != number;
    });
    if (wait_for_primary() == number) {
        throw std::runtime_error{"no other member has become the primary: " + address()};
    }
    return number;
}

void replica_set::stop_all() {
    // One after another, each member would first hand over to the next.
    for (auto& one : members_) one->ask_to_end();
    for (auto& one : members_) one->stop();
}

void replica_set::start_all() {
    std::vector<server*> begun;
    for (auto& member : members_) {
        if (member->running()) continue;
        member->begin();
        begun.push_back(member.get());
    }
    for (auto* one : begun) one->wait_until_listening();
    wait_for_primary();
}

} // namespace settle_test
