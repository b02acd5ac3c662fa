// SPDX-License-Identifier: BSL-1.0
// The address of a database: which options settle adds and which it refuses.
#pragma once

#include <settle/mongodb/connection/error.hpp>

#include <memory>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace mongodb {

struct database_options {
    /// Accepts an address whose writes need no majority of the replica set (`w=1`, `w=2`, a tag,
    /// `journal=false`). An election may then roll back acknowledged writes, even if the same
    /// server wins it: records, entries and claims, whose epochs are then given a second time.
    /// Reported outcomes may be lost then. Without an election nothing is lost.
    bool weak_writes = false;
};

namespace detail {

/// The concerns with which a database reads. They follow from its write concern: a majority's reads
/// show every write that a majority has acknowledged. A weaker write is certain only in the newest
/// state of the primary; an older state may lack the reader's own mark or entry.
struct read_levels {
    char const* plain;
    char const* native; ///< in a native transaction
    /// Whether reads that decide something are linearizable. With weak writes a newer primary may
    /// lack the entry anyway, so such a read would only cost the wait for a majority.
    bool linearizable;
};
inline constexpr read_levels reads_of_majority{MONGOC_READ_CONCERN_LEVEL_MAJORITY,
                                               MONGOC_READ_CONCERN_LEVEL_SNAPSHOT, true};
inline constexpr read_levels reads_of_fewer{MONGOC_READ_CONCERN_LEVEL_LOCAL,
                                            MONGOC_READ_CONCERN_LEVEL_LOCAL, false};

/// Shape:   text - `mongodb://host[:port][,…]/database[?options]`
class address {
public:
    /// Errors:  throws settle::failure with one sentence
    address(std::string const& text, database_options const& options);
    /// The address of another database of the same set.
    /// Errors:  throws settle::failure when the name is refused
    address(address const& other, std::string const& database);

    [[nodiscard]] mongoc_uri_t* native() const noexcept { return uri_.get(); }
    [[nodiscard]] std::string const& database() const noexcept { return database_; }
    [[nodiscard]] read_levels const& reads() const noexcept {
        return other_writes_.empty() ? reads_of_majority : reads_of_fewer;
    }
    /// Whether the address names a replica set, whose primary the driver finds, not one member.
    [[nodiscard]] bool names_set() const;
    /// A replica set may roll back a write that a majority's journal lacks. If that write was a
    /// claim, its epoch is given a second time.
    /// Errors:  throws settle::failure when the address asks for such writes without weak_writes
    void check_for_replica_set() const {
        if (!other_writes_.empty() && !weak_) refuse(other_writes_);
    }

private:
    /// Keeps the driver's warnings on this thread out of its log.
    class driver_warnings {
    public:
        driver_warnings() { kept() = &texts_; }
        driver_warnings(driver_warnings const&) = delete;
        driver_warnings& operator=(driver_warnings const&) = delete;
        ~driver_warnings() { kept() = nullptr; }

        /// Refuses an option that the driver does not know.
        void refuse_options() const;
        void write() const;
        static std::vector<std::string>*& kept();

    private:
        std::vector<std::string> texts_;
    };

    /// The driver's globals live as long as the process: it cannot be initialised twice.
    static void begin_driver();

    /// The driver's log handler, for the whole process: it replaces a handler of the user. Drops
    /// messages below a warning, and three kinds of warnings: native transactions that the server
    /// aborted first, which is usual under contention; sessions that expire; and texts that the
    /// driver's errors repeat.
    static void write_log(mongoc_log_level_t level, char const* domain, char const* text, void*);

    [[noreturn]] static void refuse(std::string const& why);

    void check_database() const;

    /// The driver reports missing files only in its log, or not at all.
    void check_files() const;

    void check_reads() const;

    void check_writes();

    /// Refuses limits below 1. The driver would silently replace such a value by its default, by
    /// no time or by an endless time, and would make a pool of 0 clients a pool of 1.
    void check_limits() const;

    /// Overrides the driver's own defaults.
    void add_limits() const;

    static constexpr std::int32_t patience_ms = 15'000;

    struct concern_destroyer {
        void operator()(mongoc_write_concern_t* held) const noexcept {
            mongoc_write_concern_destroy(held);
        }
    };
    struct read_concern_destroyer {
        void operator()(mongoc_read_concern_t* held) const noexcept {
            mongoc_read_concern_destroy(held);
        }
    };

    std::shared_ptr<mongoc_uri_t> uri_;
    std::string database_;
    bool weak_;
    bool is_looked_up_;        ///< the name service resolves its hosts
    std::string other_writes_; ///< why its write concern is no majority; else empty
};

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/address.ipp>
#endif
