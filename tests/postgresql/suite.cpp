// SPDX-License-Identifier: BSL-1.0
// The databases of the store suite on PostgreSQL.
#include "shared_servers.hpp"

#include "served_suite.hpp"

#include <settle/postgresql/kind.hpp>

std::unique_ptr<settle_test::suite_databases> settle_test::make_suite_databases() {
    return std::make_unique<suite_databases_at<fresh_schema, &settle::postgresql::kind>>();
}
