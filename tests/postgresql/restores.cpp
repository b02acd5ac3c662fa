// SPDX-License-Identifier: BSL-1.0
// pg_dump of log and records under load, restored into another database, loses nothing that was
// told before it.
#include "../restores_suite.hpp"
#include "shared_servers.hpp"

#include <settle/postgresql.hpp>

#include <program.hpp>

namespace settle_test {
namespace {

TEST_CASE("restores: pg_dump under load, restored into another database") {
    fresh_postgresql const own;
    fresh_postgresql const other;
    std::string reason;
    auto const programs = find_postgresql(reason);
    if (programs.empty()) skip(reason);
    testing::scratch_folder const folder{"postgresql-restores"};
    auto const dump = folder.at("bank.dump");
    auto const run = [&](std::vector<std::string> command) {
        auto const ended = testing::program{folder, std::move(command)}.wait();
        REQUIRE_MESSAGE(ended.code == 0, ended.err);
    };
    restores<settle::postgresql::database>::check_one_moment(own.address(), [&] {
        run({programs + "/pg_dump", "--format=custom", "--file=" + dump, own.address()});
        run({programs + "/pg_restore", "--exit-on-error", "--dbname=" + other.address(), dump});
        return other.address();
    });
}

} // namespace
} // namespace settle_test
