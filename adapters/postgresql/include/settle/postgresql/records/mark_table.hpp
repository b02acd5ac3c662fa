// SPDX-License-Identifier: BSL-1.0
// The marks of all collections, in the table settle_mark.
#pragma once

#include <settle/postgresql/records/bound_table.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using mark_arrays = settle::detail::sql::mark_arrays<array_value>;
using added_marks = settle::detail::sql::added_marks<array_value>;

/// Threads may share a table of marks.
class mark_table {
public:
    explicit mark_table(pool& with);

    void send_new(connection& on, std::string_view collection, added_marks const& all) const;
    /// Queues the change of epochs.
    void send_raised(connection& on, std::string_view collection, mark_arrays const& all,
                     array_value const& epochs) const;
    /// Queues the erasure of marks.
    void send_pulled(connection& on, std::string_view collection, mark_arrays const& all) const;

    /// Queues the erasure of marks that still have an epoch and a confirm effect.
    void send_finished(connection& on, std::string_view collection, added_marks const& all) const;
    /// Queues a statement that fails with wrong_count if a record has a mark.
    void send_unmarked(connection& on, std::string_view collection, array_value const& keys) const {
        on.send(*unmarked_, keys, collection);
    }

    /// The marks of some collections after a mark, in the order of collection and key.
    /// Errors:  throws settle::failure
    [[nodiscard]] std::vector<mark_locator> read(pool& with,
                                                 std::span<collection_descriptor const* const> of,
                                                 std::optional<mark_locator> const& after,
                                                 std::size_t limit) const;

private:
    statement const* new_;
    statement const* raise_;
    statement const* pull_;
    statement const* finish_;
    statement const* unmarked_;
    statement const* page_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/mark_table.ipp>
#endif
