// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions in two databases of a MongoDB server.
#include "../committed_reads_suite.hpp"
#include "shared_servers.hpp"

#include <settle/mongodb.hpp>

namespace {

using namespace settle_test;
using namespace committed_reads;
using settle::mongodb::database;

struct two_databases {
    explicit two_databases(fresh_database::address_of& address) : first{address}, second{address} {}

    fresh_database first;
    fresh_database second;
    database near{first.address()};
    database far{second.address()};
};

} // namespace

TEST_CASE("committed reads: each step of a transaction, its worker killed after one") {
    for (auto* const address : {&standalone_address, &replica_set_address}) {
        for (auto const killed_after :
             {settle::step::apply, settle::step::commit, settle::step::end}) {
            two_databases data{*address};
            check_steps(data.near, data.far, deposit{"P", "V", 60}, "940open 60 none",
                        settle::two_phases, killed_after);
        }
        two_databases data{*address};
        check_steps(data.near, data.far, closing{"P", "V", "shut"}, "1000shut none 5",
                    settle::two_phases, settle::step::commit);
    }
}

TEST_CASE("committed reads: beside writers") {
    two_databases data{replica_set_address};
    check_beside_writers(data.near, data.far, 50);
}

TEST_CASE("committed reads: records of one set together, and none of two, or of a single server") {
    two_databases set{replica_set_address};
    check_together(set.near, set.far, together::of_one_store, 20);
    two_databases single{standalone_address};
    check_together(single.near, single.far, together::none, 10);
}

TEST_CASE("committed reads: the log and all records in databases of one set") {
    fresh_database first{replica_set_address};
    database near{first.address()};
    database beside{near, first.name() + "_beside"};
    check_together(near, beside, together::all, 20);
}
