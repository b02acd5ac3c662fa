// SPDX-License-Identifier: BSL-1.0
// Payments across three databases: records beside the log, rows of PostgreSQL, rows of MariaDB.
// Their engine is compiled once.
#pragma once

#include <settle/mariadb.hpp>
#include <settle/postgresql/prepared/resource.hpp>
#include <settle/running/calls/doubts.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/observer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace sqlite {
class database;
}
SETTLE_END

namespace payments_test {

struct account {
    std::string id;
    std::int64_t balance = 0;
};
/// `amount` goes from a record; a third of it to a row of PostgreSQL, two thirds to a row of
/// MariaDB. So the sums of both databases show which payments took effect.
struct payment {
    std::string from, third, rest;
    std::int64_t amount = 3, share = 1, two_shares = 2;
};

/// A payment between the accounts and rows of a load.
/// Shape:   number - any number
inline payment payment_of(unsigned number) {
    auto const part = [&](char const* name, unsigned shift) {
        return name + std::to_string((number >> shift) % 8);
    };
    return {part("p", 0), part("r", 3), part("r", 6)};
}

using watcher = std::function<void(settle::event const&)>;

/// An engine of payments.
class payments {
public:
    virtual ~payments() = default;

    virtual settle::outcome run(payment const& request) = 0;
    virtual settle::outcome run(std::string const& id, payment const& request) = 0;
    virtual settle::batch_outcomes run_all(std::vector<payment> const& request) = 0;
    virtual settle::outcome cancel(std::string const& id, settle::cancel_options const& how) = 0;
    virtual settle::outcome cancel(std::string const& id) { return cancel(id, {}); }
    /// Entries of any age.
    virtual settle::recovery_report recover() = 0;
    virtual settle::sweep_report sweep() = 0;
    virtual std::uint64_t marks() = 0;
    virtual std::vector<settle::doubtful_part> thirds_in_doubt() = 0;
    virtual std::vector<settle::doubtful_part> rests_in_doubt() = 0;
    virtual settle::entry find(std::string const& id) = 0;
    /// All entries, or all unfinished entries.
    virtual std::vector<settle::entry> list(bool unfinished) = 0;
    virtual void create(account const& account) = 0;
    /// The sum of all records.
    virtual std::int64_t balances() = 0;
    /// The name of the log.
    virtual std::string log() = 0;
};

/// Shape:   watch - sees the events, if it is not empty; the databases and it outlive the engine
std::unique_ptr<payments> make_payments(settle::sqlite::database& records,
                                        settle::postgresql::resource& left,
                                        settle::mariadb::resource& right, watcher const& watch);

} // namespace payments_test
