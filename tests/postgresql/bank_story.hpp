// SPDX-License-Identifier: BSL-1.0
// The bank of bank_story_suite.hpp on PostgreSQL.
#pragma once

#include "bank_story_suite.hpp"
#include "sums.hpp"

#include <settle/postgresql.hpp>

namespace settle_test {

inline pg::database_options bank_limits() {
    auto limits = short_limits();
    limits.statement_timeout = limits.idle_timeout = 5s;
    limits.answer_timeout = 8s;
    return limits;
}

struct postgresql_bank {
    using database = pg::database;
    using server = postgresql_server;

    static pg::database_options bank_limits() { return settle_test::bank_limits(); }
    static auto ask(std::string const& address, std::string const& sql) {
        return settle_test::ask(address, sql);
    }
    static void end_sessions(std::string const& address) {
        ask(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                     "WHERE application_name = 'settle'");
    }
};

using bank_story = basic_bank_story<postgresql_bank>;
using tellers = basic_tellers<postgresql_bank>;

} // namespace settle_test
