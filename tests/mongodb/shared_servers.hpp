// SPDX-License-Identifier: BSL-1.0
// The servers that all short tests share: their addresses, and a database for each test.
//
// ctest starts them before the first test that needs them and stops them after the last. To run the
// program by hand, name servers in SETTLE_MONGODB_STANDALONE ("HOST:PORT") and
// SETTLE_MONGODB_REPLICA_SET ("HOST:PORT/?replicaSet=NAME"), or start these with "keep".
// Several tests use them at once: a fail point must name its test's own appName.
#pragma once

#include "commands.hpp"
#include "servers.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

namespace settle_test {

/// "HOST:PORT" or "HOST:PORT/?OPTIONS" of a shared server; without it the test is skipped.
inline std::string shared_server(std::string const& name, char const* variable) {
    if (char const* given = std::getenv(variable); given && *given) return given;
    std::ifstream file{SETTLE_SHARED_SERVERS};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("missing=")) skip(line.substr(8));
        if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    }
    skip("no shared server runs: run this through ctest, or call \"" SETTLE_MONGODB_KEEPER
         " keep\" before and \"stop\" after, or set " +
         std::string{variable});
}

inline std::string address_at(std::string const& server, std::string const& database) {
    auto const slash = server.find('/');
    std::string const options = slash == std::string::npos ? "" : server.substr(slash + 1);
    return "mongodb://" + server.substr(0, slash) + "/" + database + options;
}

inline std::string standalone_address(std::string const& database) {
    return address_at(shared_server("standalone", "SETTLE_MONGODB_STANDALONE"), database);
}

/// With replicaSet=NAME, so that more options are added with "&".
inline std::string replica_set_address(std::string const& database) {
    return address_at(shared_server("replica_set", "SETTLE_MONGODB_REPLICA_SET"), database);
}

/// A database of this object alone, dropped in the end.
/// Example: fresh_database const bank{replica_set_address};   bank.address()
class fresh_database {
public:
    using address_of = std::string(std::string const& database);

    explicit fresh_database(address_of& address) : name_{fresh_name()}, address_{address(name_)} {}
    fresh_database(fresh_database const&) = delete;
    fresh_database& operator=(fresh_database const&) = delete;
    ~fresh_database() {
        try {
            run_command(address_, R"({"dropDatabase": 1})");
        } catch (...) {
            // A test that took its server away need not put it back for this.
        }
    }

    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string const& address() const { return address_; }
    /// The shared server's own, for a proxy before it.
    [[nodiscard]] int port() const {
        auto const begin = address_.find(':', address_.find("//")) + 1;
        return std::stoi(address_.substr(begin));
    }

private:
    std::string name_;
    std::string address_;
};

} // namespace settle_test
