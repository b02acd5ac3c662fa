// SPDX-License-Identifier: BSL-1.0
// The program with a store postgresql://….
#include "bank_program.hpp"

#include <shared/sql_store.hpp>

#include <settle/postgresql.hpp>

int main(int argc, char** argv) {
    using samples::store_kind, samples::sql_store;
    return bank::main_of(sql_store<bank::store, store_kind::postgresql,
                                   settle::postgresql::database, samples::postgresql_tables>,
                         argc, argv);
}
