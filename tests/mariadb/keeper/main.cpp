// SPDX-License-Identifier: BSL-1.0
// Keeps the server that short tests share.
#include "../servers.hpp"

#include "keeper.hpp"

int main(int count, char** arguments) {
    return settle_test::keeper_main({"mariadb", SETTLE_SHARED_MARIADB,
                                     settle_test::mariadb_folder(), settle_test::mariadb_prefix,
                                     settle_test::find_mariadb,
                                     [](auto const& serve) {
                                         settle_test::mariadb_server shared;
                                         serve("server=root@" + shared.host() + "\n");
                                         shared.stop();
                                     }},
                                    count, arguments);
}
