// SPDX-License-Identifier: BSL-1.0
// The server that all short tests share: its address, and a database for each test.
//
// ctest starts it before the first test that needs it and stops it after the last. To run the
// program by hand, name a server in SETTLE_MARIADB_SERVER ("USER@HOST:PORT"), whose user may create
// databases, or start this server with "keep".
// Several tests use it at once.
#pragma once

#include "servers.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

namespace settle_test {

/// "USER@HOST:PORT" of the shared server; without it the test is skipped.
inline std::string shared_mariadb() {
    if (char const* given = std::getenv("SETTLE_MARIADB_SERVER"); given && *given) return given;
    std::ifstream file{SETTLE_SHARED_MARIADB};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("missing=")) skip(line.substr(8));
        if (line.starts_with("server=")) return line.substr(7);
    }
    skip("no shared server runs: run this through ctest, or call \"" SETTLE_MARIADB_KEEPER
         " keep\" before and \"stop\" after, or set SETTLE_MARIADB_SERVER");
}

/// A database of this object alone, dropped in the end.
class fresh_mariadb {
public:
    fresh_mariadb() : server_{shared_mariadb()}, name_{fresh_name()} {
        mariadb_session{"mariadb://" + server_ + "/mysql"}.ask("CREATE DATABASE " + name_);
    }
    fresh_mariadb(fresh_mariadb const&) = delete;
    fresh_mariadb& operator=(fresh_mariadb const&) = delete;
    ~fresh_mariadb() {
        try {
            mariadb_session{address()}.ask("DROP DATABASE " + name_);
        } catch (std::exception const&) {
            // A test that failed may leave a native transaction there.
        }
    }

    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string address() const { return "mariadb://" + server_ + "/" + name_; }
    [[nodiscard]] int port() const {
        return std::stoi(server_.substr(server_.find(':', server_.find('@')) + 1));
    }
    /// Runs statements in a session of their own, and returns the rows of the last.
    std::vector<std::vector<std::string>> ask(std::string const& sql) const {
        return mariadb_session{address()}.ask(sql);
    }
    std::string ask_one(std::string const& sql) const { return ask(sql).at(0).at(0); }
    /// The same database through another port.
    [[nodiscard]] std::string address_at(int other) const {
        return "mariadb://" + server_.substr(0, server_.rfind(':') + 1) + std::to_string(other) +
               "/" + name_;
    }

private:
    std::string server_;
    std::string name_;
};

} // namespace settle_test
