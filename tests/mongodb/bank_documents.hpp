// SPDX-License-Identifier: BSL-1.0
// The bank on a fresh database, with the documents of its accounts put there by another program.
#pragma once

#include "bank.hpp"
#include "documents.hpp"

#include <string>
#include <utility>

namespace settle_test {

struct bank_documents : documents {
    explicit bank_documents(fresh_database::address_of& server,
                            settle::phases how = settle::phases::one)
        : documents(server), db(own.address()), engine(bank_on(db, how)) {}

    /// Shape:   rest - of the document, after its key
    void put_ledger(std::string const& id, std::string const& rest) {
        put("suite_ledgers", R"({"_id": ")" + id + R"(", )" + rest + "}");
    }

    settle::mongodb::database db;
    decltype(bank_on(std::declval<settle::mongodb::database&>())) engine;
};

} // namespace settle_test
