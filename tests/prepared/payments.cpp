// SPDX-License-Identifier: BSL-1.0
#include "payments_of.hpp"

#include <settle/sqlite.hpp>

namespace payments_test {

std::unique_ptr<payments> make_payments(settle::sqlite::database& records,
                                        settle::postgresql::resource& left,
                                        settle::mariadb::resource& right, watcher const& watch) {
    return std::make_unique<payments_of<settle::sqlite::database>>(records, left, right, watch);
}

} // namespace payments_test
