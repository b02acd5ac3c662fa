// SPDX-License-Identifier: BSL-1.0
// MongoDB's tutorial "Perform Two Phase Commits" in its own steps: eight writes of single
// documents, or each of its phases for many transfers in unordered bulks.
#pragma once

#include "mongodb.hpp"

#include <span>

namespace baseline::mongodb {

/// How a batch moves the states of its transactions.
enum class state_changes : std::uint8_t {
    one_by_one, ///< a statement for each transaction, in one bulk
    together    ///< one statement for all of their ids
};

/// What a phase of a batch is.
enum class phase : std::uint8_t {
    one_command,
    native_transaction ///< the same command, in a native transaction of its own
};

class tutorial {
public:
    explicit tutorial(connection const& connection, state_changes how = state_changes::one_by_one,
                      phase each = phase::one_command)
        : on_(connection), how_(how) {
        if (each == phase::native_transaction) session_ = connection.begin_session();
    }

    /// One transfer; every write is durable before the next.
    void run(bench::transfer_request const& request) {
        std::span<bench::transfer_request const> const alone{&request, 1};
        insert(alone);
        change(alone, "initial", "pending");
        auto source = update_in(on_, "accounts");
        apply_source(source, request);
        source.expect(1);
        auto destination = update_in(on_, "accounts");
        apply_destination(destination, request);
        destination.expect(1);
        change(alone, "pending", "applied");
        for (auto const* account : {&request.second.source, &request.second.destination}) {
            auto accounts = update_in(on_, "accounts");
            pull(accounts, request.first, *account);
            accounts.expect(1);
        }
        change(alone, "applied", "done");
    }

    /// Many transfers, phase by phase; each phase is one command.
    void run_batch(std::span<bench::transfer_request const> batch) {
        in_phase([&] { insert(batch); });
        in_phase([&] { change(batch, "initial", "pending"); });
        in_phase([&] {
            auto applied = update_in(on_, "accounts");
            for (auto const& one : batch) {
                apply_source(applied, one);
                apply_destination(applied, one);
            }
            applied.expect(2 * batch.size(), session_);
        });
        in_phase([&] { change(batch, "pending", "applied"); });
        in_phase([&] {
            auto pulled = update_in(on_, "accounts");
            for (auto const& one : batch) {
                pull(pulled, one.first, one.second.source);
                pull(pulled, one.first, one.second.destination);
            }
            pulled.expect(2 * batch.size(), session_);
        });
        in_phase([&] { change(batch, "applied", "done"); });
    }

private:
    static constexpr char const* marks = "pendingTransactions";

    template <typename Write>
    void in_phase(Write const& write) {
        if (session_) in_native_transaction(session_, write);
        else write();
    }

    void insert(std::span<bench::transfer_request const> batch) {
        auto const time = now();
        auto log = insert_into(on_, "transactions");
        for (auto const& [id, transfer] : batch) {
            log.insert([&, &id = id, &transfer = transfer](members const& entry) {
                entry.text("_id", id).text("source", transfer.source);
                entry.text("destination", transfer.destination).integer("value", transfer.amount);
                entry.text("state", "initial").date("lastModified", time);
            });
        }
        log.expect(batch.size(), session_);
    }

    void change(std::span<bench::transfer_request const> batch, char const* from, char const* to) {
        auto const time = now();
        auto const set_state = [&](members const& change) {
            change.object("$set", [&](members const& set) {
                set.text("state", to).date("lastModified", time);
            });
        };
        auto log = update_in(on_, "transactions");
        if (how_ == state_changes::together) {
            log.update([&](members const& filter) { among(filter, batch).text("state", from); },
                       set_state, true);
        } else {
            for (auto const& request : batch) {
                log.update(
                    [&](members const& filter) {
                        filter.text("_id", request.first).text("state", from);
                    },
                    set_state);
            }
        }
        log.expect(batch.size(), session_);
    }

    static members const& among(members const& filter,
                                std::span<bench::transfer_request const> batch) {
        return filter.object("_id", [&](members const& any) {
            bson_t ids;
            bson_append_array_begin(any.native(), "$in", -1, &ids);
            std::uint32_t count = 0;
            for (auto const& request : batch) {
                char const* key = nullptr;
                char room[16];
                std::size_t const length = bson_uint32_to_string(count++, &key, room, sizeof room);
                members{&ids}.text({key, length}, request.first);
            }
            bson_append_array_end(any.native(), &ids);
        });
    }

    /// Has no effect if the account has the mark, as the tutorial's recovery requires.
    static void unmarked(members const& filter, bench::transfer_request const& request) {
        filter.object(marks, [&](members const& mark) { mark.text("$ne", request.first); });
    }
    static void add(members const& change, bench::transfer_request const& request,
                    std::int64_t amount) {
        change.object("$inc", [&](members const& by) { by.integer("balance", amount); });
        change.object("$push", [&](members const& mark) { mark.text(marks, request.first); });
    }

    static void apply_source(write& accounts, bench::transfer_request const& request) {
        accounts.update(
            [&](members const& filter) {
                filter.text("_id", request.second.source);
                unmarked(filter, request);
                filter.object("balance", [&](members const& enough) {
                    enough.integer("$gte", request.second.amount);
                });
            },
            [&](members const& change) { add(change, request, -request.second.amount); });
    }
    static void apply_destination(write& accounts, bench::transfer_request const& request) {
        accounts.update(
            [&](members const& filter) {
                filter.text("_id", request.second.destination);
                unmarked(filter, request);
            },
            [&](members const& change) { add(change, request, request.second.amount); });
    }
    static void pull(write& accounts, std::string const& id, std::string const& account) {
        accounts.update([&](members const& filter) { filter.text("_id", account).text(marks, id); },
                        [&](members const& change) {
                            change.object("$pull",
                                          [&](members const& mark) { mark.text(marks, id); });
                        });
    }

    connection const& on_;
    state_changes how_;
    session session_; ///< null where a phase is no native transaction
};

} // namespace baseline::mongodb
