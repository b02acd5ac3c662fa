// SPDX-License-Identifier: BSL-1.0
// The server that all short tests share: its address, and a schema for each test.
//
// ctest starts it before the first test that needs it and stops it after the last. To run the
// program by hand, name a server in SETTLE_POSTGRESQL_SERVER ("USER@HOST:PORT/DATABASE"), whose
// user may create schemas, or start this server with "keep". Several tests use it at once.
#pragma once

#include "servers.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

namespace settle_test {

/// "USER@HOST:PORT/DATABASE" of the shared server; without it the test is skipped.
inline std::string shared_postgresql() {
    if (char const* given = std::getenv("SETTLE_POSTGRESQL_SERVER"); given && *given) return given;
    std::ifstream file{SETTLE_SHARED_POSTGRESQL};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("missing=")) skip(line.substr(8));
        if (line.starts_with("server=")) return line.substr(7);
    }
    skip("no shared server runs: run this through ctest, or call \"" SETTLE_POSTGRESQL_KEEPER
         " keep\" before and \"stop\" after, or set SETTLE_POSTGRESQL_SERVER");
}

/// A schema of this object alone, dropped in the end: a database, as far as settle is concerned.
/// Example: fresh_schema const bank;   bank.address()
class fresh_schema {
public:
    fresh_schema() : fresh_schema(shared_postgresql()) {}
    /// Shape:   server - "USER@HOST:PORT/DATABASE"
    explicit fresh_schema(std::string server) : name_{fresh_name()}, server_{std::move(server)} {
        settle_test::ask(plain_address(), "CREATE SCHEMA " + name_);
    }
    fresh_schema(fresh_schema const&) = delete;
    fresh_schema& operator=(fresh_schema const&) = delete;
    ~fresh_schema() {
        try {
            settle_test::ask(plain_address(), "DROP SCHEMA " + name_ + " CASCADE");
        } catch (std::exception const&) {
            // A test that took its server away need not put it back for this.
        }
    }

    [[nodiscard]] std::string const& name() const { return name_; }
    /// Its search path is the schema alone, for settle and for ask().
    /// Shape:   more - further options: "application_name=x"
    [[nodiscard]] std::string address(std::string const& more = "") const {
        return plain_address() + "?options=-csearch_path%3D" + name_ +
               (more.empty() ? "" : "&" + more);
    }
    /// Runs SQL in a session of its own, and returns the rows.
    std::vector<std::vector<std::string>> ask(std::string const& sql) const {
        return settle_test::ask(address(), sql);
    }
    std::string ask_one(std::string const& sql) const { return ask(sql).at(0).at(0); }
    /// The shared server's own, for a proxy before it.
    [[nodiscard]] int port() const {
        return std::stoi(server_.substr(server_.find(':', server_.find('@')) + 1));
    }
    /// The same schema through another port.
    [[nodiscard]] std::string address_at(int other, std::string const& more = "") const {
        auto all = address(more);
        auto const from = all.find(':', all.find('@')) + 1;
        return all.replace(from, all.find('/', from) - from, std::to_string(other));
    }

private:
    [[nodiscard]] std::string plain_address() const { return "postgresql://" + server_; }

    std::string name_;
    std::string server_;
};

/// A database of the shared server of this object alone, dropped in the end: prepared transactions
/// are listed for a whole database.
class fresh_postgresql {
public:
    /// Shape:   how - " TEMPLATE name", or nothing
    explicit fresh_postgresql(std::string const& how = "")
        : server_{shared_postgresql()}, name_{fresh_name()} {
        ask("postgresql://" + server_, "CREATE DATABASE " + name_ + how);
    }
    fresh_postgresql(fresh_postgresql const&) = delete;
    fresh_postgresql& operator=(fresh_postgresql const&) = delete;
    ~fresh_postgresql() {
        try {
            ask("postgresql://" + server_, "DROP DATABASE " + name_ + " WITH (FORCE)");
        } catch (std::exception const&) {
            // A test that failed may leave a native transaction there.
        }
    }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string address() const { return address_at(port()); }
    [[nodiscard]] std::string address_of(std::string const& user) const {
        auto all = address();
        auto const from = all.find("//") + 2;
        return all.replace(from, all.find('@') - from, user);
    }
    [[nodiscard]] int port() const {
        return std::stoi(server_.substr(server_.find(':', server_.find('@')) + 1));
    }
    [[nodiscard]] std::string address_at(int port) const {
        return "postgresql://" + server_.substr(0, server_.rfind(':') + 1) + std::to_string(port) +
               "/" + name_ + "?sslmode=disable&gssencmode=disable";
    }

private:
    std::string server_;
    std::string name_;
};

} // namespace settle_test
