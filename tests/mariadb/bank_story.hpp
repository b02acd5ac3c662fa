// SPDX-License-Identifier: BSL-1.0
// The bank of bank_story_suite.hpp on MariaDB.
#pragma once

#include "bank_story_suite.hpp"
#include "shared_servers.hpp"

#include <settle/mariadb.hpp>

namespace settle_test {

struct mariadb_bank {
    using database = settle::mariadb::database;
    using server = mariadb_server;

    static settle::mariadb::options bank_limits() {
        settle::mariadb::options limits;
        limits.lock_timeout = 1s;
        limits.statement_timeout = limits.idle_timeout = 5s;
        limits.answer_timeout = 8s;
        limits.connect_timeout = 2s;
        return limits;
    }
    static auto ask(std::string const& address, std::string const& sql) {
        return mariadb_session{address}.ask(sql);
    }
    static void end_sessions(std::string const& address) {
        mariadb_session administrator{address};
        for (auto const& row :
             administrator.ask("SELECT id FROM information_schema.processlist WHERE "
                               "db = DATABASE() AND id <> CONNECTION_ID()")) {
            try {
                administrator.ask("KILL " + row[0]);
            } catch (std::runtime_error const&) {
                // It has ended by itself.
            }
        }
    }
};

using bank_story = basic_bank_story<mariadb_bank>;
using tellers = basic_tellers<mariadb_bank>;

} // namespace settle_test
