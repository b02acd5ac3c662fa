// SPDX-License-Identifier: BSL-1.0
// A deposit between two databases: accounts beside the log, and vaults elsewhere.
#pragma once

#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

namespace late_entries {

using namespace settle_test;
using settle::field;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
struct vault {
    BOOST_HANA_DEFINE_STRUCT(vault, (std::string, id), (std::int64_t, gold));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::collection<vault, "vaults", &vault::id> vaults;

struct deposit {
    BOOST_HANA_DEFINE_STRUCT(deposit, (std::string, from), (std::string, to),
                             (std::int64_t, amount));
};
inline constexpr auto deposit_type = settle::transaction<deposit, "deposit">(
    participant<"from">(accounts, param<&deposit::from>)
        .require(field<&account::balance> >= param<&deposit::amount>)
        .apply(field<&account::balance> -= param<&deposit::amount>)
        .compensate(settle::inverse),
    participant<"to">(vaults, param<&deposit::to>)
        .confirm(field<&vault::gold> += param<&deposit::amount>));

inline constexpr auto accounts_sql = "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, "
                                     "balance bigint NOT NULL); "
                                     "INSERT INTO accounts VALUES('A', 1000)";
inline constexpr auto vaults_sql = "CREATE TABLE vaults (id text COLLATE \"C\" PRIMARY KEY, "
                                   "gold bigint NOT NULL); INSERT INTO vaults VALUES('V', 0)";

} // namespace late_entries
