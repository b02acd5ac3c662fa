// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mariadb: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/mariadb/connection/address.ipp>
#include <settle/mariadb/connection/connection.ipp>
#include <settle/mariadb/connection/connection_results.ipp>
#include <settle/mariadb/connection/error.ipp>
#include <settle/mariadb/connection/pool.ipp>
#include <settle/mariadb/connection/session.ipp>
#include <settle/mariadb/connection/statement.ipp>
#include <settle/mariadb/connection/values.ipp>
#include <settle/mariadb/prepared/receipts.ipp>
#include <settle/mariadb/prepared/resource.ipp>
#include <settle/mariadb/prepared/xa.ipp>
