// SPDX-License-Identifier: BSL-1.0
// Schemas of the shared server, for the suites that every store passes.
#pragma once

#include "shared_servers.hpp"
#include "sql_fixture.hpp"

#include <settle/postgresql.hpp>

namespace settle_test {

struct postgresql_fixture
    : sql_fixture<settle::postgresql::database, settle::postgresql::database_options, fresh_schema,
                  psql_session> {
    /// How many other sessions of the schema wait for a lock.
    static std::string waiting(fresh_schema const& own) {
        return own.ask_one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                           "AND query LIKE '%" +
                           own.name() + "%' AND pid <> pg_backend_pid()");
    }
};

} // namespace settle_test
