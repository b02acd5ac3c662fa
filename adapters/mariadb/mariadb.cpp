// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mariadb: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/mariadb/address.ipp>
#include <settle/mariadb/error.ipp>
#include <settle/mariadb/receipts.ipp>
#include <settle/mariadb/resource.ipp>
#include <settle/mariadb/session.ipp>
#include <settle/mariadb/session_pool.ipp>
#include <settle/mariadb/xa.ipp>
