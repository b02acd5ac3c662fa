// SPDX-License-Identifier: BSL-1.0
// Keeps the two servers that short tests share: a single server, and a replica set of one member.
#include "../servers.hpp"

#include "keeper.hpp"

int main(int count, char** arguments) {
    return settle_test::keeper_main(
        {"mongodb", SETTLE_SHARED_SERVERS, SETTLE_SCRATCH_DIR, "mongod-", settle_test::find_mongod,
         [](auto const& serve) {
             settle_test::server alone;
             settle_test::replica_set set{1};
             serve("standalone=" + alone.host() + "\nreplica_set=" + set.member(0).host() +
                   "/?replicaSet=settle\n");
             set.stop_all();
             alone.stop();
         }},
        count, arguments);
}
