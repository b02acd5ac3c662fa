// SPDX-License-Identifier: BSL-1.0
// Keeps the server that short tests share.
#include "../servers.hpp"

#include "keeper.hpp"

int main(int count, char** arguments) {
    return settle_test::keeper_main({"postgresql", SETTLE_SHARED_POSTGRESQL,
                                     settle_test::postgresql_folder(),
                                     settle_test::postgresql_prefix, settle_test::find_postgresql,
                                     [](auto const& serve) {
                                         settle_test::postgresql_server shared;
                                         serve("server=postgres@" + shared.host() + "/postgres\n");
                                         shared.stop();
                                     }},
                                    count, arguments);
}
