// SPDX-License-Identifier: BSL-1.0
// The marks of all collections, in the table settle_mark.
#pragma once

#include <settle/postgresql/bound_table.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// Marks as arrays: their keys, ids, participants and lines.
struct mark_arrays {
    array_value keys{value_type::text};
    array_value ids{value_type::text};
    array_value participants{value_type::int8};
    array_value lines{value_type::int8};

    void add(part_key const& key, transaction_id const& id, part_number part) {
        keys.add(mark_key{key}.text());
        ids.add(std::string_view{id});
        participants.add(std::int64_t{part.participant});
        lines.add(std::int64_t{part.line});
    }
    [[nodiscard]] std::int64_t count() const noexcept {
        return static_cast<std::int64_t>(keys.size());
    }
};

/// Marks that are added, with the columns of their effects.
struct added_marks : mark_arrays {
    array_value epochs{value_type::int8};
    array_value effects{value_type::text};
    array_value confirms{value_type::text};
    array_value undos{value_type::text};
    array_value images{value_type::text};

    void add(part_key const& key, settle::detail::record_descriptor const& of,
             mark_view const& mark);
};

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
    /// Queues a statement that fails with division_by_zero if a record has a mark.
    void send_unmarked(connection& on, std::string_view collection, array_value const& keys) const {
        on.send(*unmarked_, keys, collection);
    }

    /// The marks of some collections behind a mark, in the order of collection and key.
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
#include <settle/postgresql/mark_table.ipp>
#endif
