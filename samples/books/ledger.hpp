// SPDX-License-Identifier: BSL-1.0
// The ledger of the second bank: its statements for a transfer, and its own client for all else.
#pragma once

#include "books.hpp"

#include <shared/mariadb_session.hpp>

#include <settle/mariadb/prepared/resource.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace books {

/// Books a posting, in the native transaction that the database prepares. Refuses an account that
/// does not exist, and a debit that its balance does not cover.
settle::work_result book(settle::mariadb::connection& connection, posting const& request);

/// A session of the bank's own client.
/// Errors:  all functions throw std::runtime_error, with a sentence
class ledger_client {
public:
    explicit ledger_client(std::string const& address);

    void make_tables();

    /// Opens the accounts that do not exist yet, and returns their number.
    std::uint64_t open(std::span<std::string const> ids, std::int64_t balance);

    /// Calls visit(account) in the order of the ids.
    void each_account(std::function<void(account const&)> const& visit);

    std::vector<posting> postings();

    /// The accounts whose balance is not the sum of their postings.
    std::vector<std::string> unbalanced();

private:
    samples::mariadb_session session_;
};

} // namespace books
