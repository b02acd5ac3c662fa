// SPDX-License-Identifier: BSL-1.0
// Transfers as a native transaction of MongoDB by hand: guarded updates and documents of the log.
#pragma once

#include "mongodb.hpp"

#include <span>

namespace baseline::mongodb {

/// The members of settle's entry, so that both sides write the same.
inline void insert_entries(connection const& connection, session const& inside,
                           std::span<bench::transfer_request const> batch) {
    auto const time = now();
    auto log = insert_into(connection, "log");
    for (auto const& [id, transfer] : batch) {
        log.insert([&, &id = id, &transfer = transfer](members const& entry) {
            entry.text("_id", id).text("type", "transfer");
            entry.text("definition", "0123456789abcdef");
            entry.object("parameters", [&](members const& members) {
                members.text("source", transfer.source).text("destination", transfer.destination);
                members.integer("amount", transfer.amount);
            });
            entry.text("state", "done").integer("epoch", time).text("owner", "host/1/2");
            entry.date("created", time).date("modified", time).integer("attempts", 0);
        });
    }
    log.expect(batch.size(), inside);
}

/// Adds to the balance of an account.
inline void add(members const& change, std::int64_t amount) {
    change.object("$inc", [&](members const& by) { by.integer("balance", amount); });
}

class one_phase {
public:
    explicit one_phase(connection const& connection)
        : on_(connection), session_(connection.begin_session()) {}

    void run(bench::transfer_request const& request) { run_batch({&request, 1}); }

    /// All transfers in one native transaction, repeated after a conflict: one command for the
    /// accounts, one for the log.
    void run_batch(std::span<bench::transfer_request const> batch) {
        in_native_transaction(session_, [&] {
            change_accounts(batch);
            insert_entries(on_, session_, batch);
        });
    }

private:
    void change_accounts(std::span<bench::transfer_request const> batch) {
        auto accounts = update_in(on_, "accounts");
        for (auto const& one : batch) {
            bench::transfer const& transfer = one.second;
            accounts.update(
                [&](members const& filter) {
                    filter.text("_id", transfer.source);
                    filter.object("balance", [&](members const& enough) {
                        enough.integer("$gte", transfer.amount);
                    });
                },
                [&](members const& change) { add(change, -transfer.amount); });
            accounts.update(
                [&](members const& filter) { filter.text("_id", transfer.destination); },
                [&](members const& change) { add(change, transfer.amount); });
        }
        accounts.expect(2 * batch.size(), session_);
    }

    connection const& on_;
    session session_;
};

} // namespace baseline::mongodb
