// SPDX-License-Identifier: BSL-1.0
// The rules for an existing table that is to hold a collection: a table that could refuse or change
// a write of settle is refused when the collection is bound.
#pragma once

#include <settle/adapter/row_values.hpp>

SETTLE_BEGIN
namespace detail {

/// Something that could refuse a change of a row.
struct obstacle {
    std::string_view kind; ///< `trigger`, `check`, `foreign key`, `unique index`, …
    std::string_view name;
    std::string_view column; ///< empty: of all columns
};

/// Every function throws errc::unfit_store with one sentence, which names the change to make.
class table_rules {
public:
    /// Shape:   table - as sentences show it; page - of the adapter's documentation
    table_rules(table_need need, std::string table, std::string_view page)
        : need_(std::move(need)), table_(std::move(table)), page_(page) {}

    [[nodiscard]] table_need const& need() const noexcept { return need_; }
    [[nodiscard]] static std::string shown_column(std::string_view name) {
        return "the column '" + std::string{name} + "'";
    }

    [[noreturn]] void refuse(std::string const& problem, std::string const& remedy) const;
    [[noreturn]] void refuse_gone() const {
        refuse("it does not exist any more", "Create it again");
    }
    [[noreturn]] void refuse_missing(std::string_view column) const;
    /// Refuses a key that two rows could have.
    [[noreturn]] void refuse_key() const;

    /// Checks that a member can be written to its column, apart from its type.
    void check_column(column_need const& needed, bool generated, bool not_null) const;
    /// Refuses the table if the obstacle could refuse a change of a member. An obstacle to the key
    /// alone is permitted, since the key of a row never changes.
    void check_obstacle(obstacle const& obstacle) const;

protected:
    ~table_rules() = default;

private:
    table_need need_;
    std::string table_;
    std::string_view page_;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/table_rules.ipp>
#endif
