// SPDX-License-Identifier: BSL-1.0
// Databases of the shared server, for the suites that every store passes.
#pragma once

#include "shared_servers.hpp"
#include "sql_fixture.hpp"

#include <settle/mariadb.hpp>

namespace settle_test {

struct mariadb_fixture : sql_fixture<settle::mariadb::database, settle::mariadb::options,
                                     fresh_mariadb, mariadb_session> {
    /// How many other sessions of the database run a statement.
    static std::string waiting(fresh_mariadb const& own) {
        return own.ask_one("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                           "db = DATABASE() AND info IS NOT NULL AND id <> CONNECTION_ID()");
    }
};

} // namespace settle_test
