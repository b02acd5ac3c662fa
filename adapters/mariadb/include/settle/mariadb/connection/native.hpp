// SPDX-License-Identifier: BSL-1.0
// Native transactions of a MariaDB database.
#pragma once

#include <settle/adapter/sql/native.hpp>
#include <settle/mariadb/connection/pool.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::commit_result;
using settle::detail::commit_status;
using native_transaction = settle::detail::sql::native_transaction<pool, connection, &is_conflict>;

} // namespace mariadb::detail
SETTLE_END
