// SPDX-License-Identifier: BSL-1.0
// The values of records in the columns of an existing table, which may have columns that are no
// members, and columns that do not hold every value of their members.
#pragma once

#include <settle/adapter/row_values.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// The values that a column holds.
struct column_limits {
    std::int64_t least = std::numeric_limits<std::int64_t>::min(); ///< of the member's values
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t length = -1;          ///< the most characters of a text; below 0 without a limit
    std::vector<std::string> labels{}; ///< the texts of an enum
    bool is_uuid = false;

    /// True if a value of the member may be no value of the column.
    [[nodiscard]] bool is_limited(member_descriptor const& member) const;
    /// True if the column can hold a value.
    [[nodiscard]] bool holds(member_access const& access, void const* value) const;
    [[nodiscard]] bool holds_text(std::string_view text) const;
};

/// A column that the collection does not name.
struct other_column {
    std::string name;
    std::string type; ///< in SQL with its length, for a cast
    std::string base; ///< the name of the type, or of the type under a domain
};

/// The image of a row: its columns that are no members, and their values as texts.
using other_values = std::vector<std::pair<other_column const*, std::optional<std::string>>>;

/// A table that holds a collection.
template <typename Column>
struct fit_table {
    std::vector<Column> columns;        ///< in the order of the members
    std::vector<other_column> others{}; ///< without generated columns, which make themselves
    std::size_t count = 0;              ///< of all columns
    bool is_readable = true;            ///< every row can be read as a record
    bool is_referenced = false;         ///< a foreign key may refuse that a row is erased
    std::uint64_t indexed_texts = 0;    ///< members in an index, which may refuse a long text
    std::string unwritable{};           ///< a column whose values no program can write; or empty
};

/// Calls a function for each member of a set.
template <typename Function>
void for_each_bit(std::uint64_t fields, Function&& function) {
    for (std::size_t at = 0; fields >> at != 0; ++at) {
        if ((fields >> at & 1U) != 0) function(at);
        if (at == 63) return;
    }
}

/// Reads the columns of an image that are no members of the record, with their values as texts.
/// Shape:   table, page - as in column_is_gone()
/// Errors:  throws errc::damaged or errc::unfit_store for an image that the table cannot take
[[nodiscard]] other_values read_others(record_descriptor const& descriptor,
                                       std::vector<other_column> const& columns,
                                       std::string_view image, std::string_view table,
                                       std::string_view page);

/// The image of a record: its members, and its other columns as a JSON object of texts.
[[nodiscard]] std::string image_of_row(record_descriptor const& descriptor, void* record,
                                       std::string_view others);

/// Shape:   Column - derives from table_column; Array - of the values of one column, made of their
///          kind
template <typename Column, typename Array>
class table_values {
public:
    /// Shape:   name - of the table, in SQL; page - of the adapter's documentation
    table_values(collection_descriptor const& collection, fit_table<Column> table, std::string name,
                 std::string_view page)
        : of_(&collection), table_(std::move(table)), name_(std::move(name)), page_(page) {
        for (std::size_t at = 0; at < collection.members().size(); ++at) {
            if (column(at).is_limited(collection.members()[at])) limited_ |= std::uint64_t{1} << at;
        }
    }
    table_values(table_values const&) = delete;
    table_values& operator=(table_values const&) = delete;

    [[nodiscard]] collection_descriptor const& of() const noexcept { return *of_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] Column const& column(std::size_t member) const { return table_.columns[member]; }
    [[nodiscard]] bool has_others() const noexcept { return !table_.others.empty(); }
    [[nodiscard]] bool is_referenced() const noexcept { return table_.is_referenced; }
    [[nodiscard]] std::uint64_t indexed_texts() const noexcept { return table_.indexed_texts; }
    [[nodiscard]] std::string const& unwritable() const noexcept { return table_.unwritable; }
    [[nodiscard]] bool is_readable() const noexcept { return table_.is_readable; }
    /// The members whose columns do not hold every value of the member.
    [[nodiscard]] std::uint64_t limited() const noexcept { return limited_; }

    /// Checks that the columns can hold the members of a record.
    /// Errors:  errc::unfit_store, naming the column
    [[nodiscard]] result<void> check(void const* record) const {
        for (std::size_t index = 0; index < table_.columns.size(); ++index) {
            auto const& one = of_->members()[index];
            if (!column(index).holds(*one.access, member_of(record, index)))
                return value_out_of(one.name);
        }
        return {};
    }
    /// The error of a value that a column cannot hold.
    [[nodiscard]] error value_out_of(std::string_view column) const {
        std::string text{"settle: the column '"};
        text.append(column).append("' of the table ").append(name_);
        text += " has a type that cannot hold the value. Give it a type that can. See ";
        return {make_error_code(errc::unfit_store), text.append(page_).append("#limits")};
    }

    /// Gives a key to an array. False if no row can have it.
    [[nodiscard]] bool give_key(Array& to, part_key const& key) const {
        return key_column().give_key(to, key);
    }
    [[nodiscard]] Array keys() const { return Array{key_column().kind()}; }

    /// Reads the members of a record.
    /// Shape:   Row - where the server answers with an altered column, it has raise_altered();
    ///          first - the column of the first member
    /// Errors:  throws errc::damaged, naming row and column, and what raise_altered() throws
    template <typename Row>
    void read(Row const& from, void* record, int first = 0) const {
        read_record(*of_, from, first, record, [&](int number, std::size_t member, void* value) {
            auto const& bound = column(member);
            auto const problem = bound.read(from, number, *of_->members()[member].access, value);
            if constexpr (requires { Row::raise_altered(); }) {
                // Every row of such a column would be damaged, and none is.
                if (!problem.empty() && bound.was_altered(from.kind(number), problem)) {
                    Row::raise_altered();
                }
            }
            return problem;
        });
    }
    /// The record's image: its members, and its other columns as texts.
    [[nodiscard]] std::string image_of(void* record, std::string_view others) const {
        return image_of_row(*of_->record, record, others);
    }

protected:
    ~table_values() = default;

    [[nodiscard]] Column const& key_column() const { return table_.columns[of_->key]; }
    [[nodiscard]] std::vector<Column> const& columns() const noexcept { return table_.columns; }
    [[nodiscard]] std::vector<other_column> const& others() const noexcept { return table_.others; }
    [[nodiscard]] std::size_t count_of_columns() const noexcept { return table_.count; }
    [[nodiscard]] std::string_view page() const noexcept { return page_; }

    [[nodiscard]] other_values read_others(std::string_view image) const {
        return sql::read_others(*of_->record, table_.others, image, name_, page_);
    }

    /// The keys of pairs of a key and something else.
    template <typename Pairs>
    [[nodiscard]] Array keys_of(Pairs const& all) const {
        Array made = keys();
        for (auto const& one : all) static_cast<void>(give_key(made, one.first));
        return made;
    }
    /// The values of a member of records.
    /// Shape:   record_of(element) - gives its record
    template <typename Range, typename RecordOf>
    [[nodiscard]] Array values_of(std::size_t member, Range const& elements,
                                  RecordOf&& record_of) const {
        Array array{column(member).kind()};
        for (auto const& one : elements) {
            column(member).give(array, *of_->members()[member].access,
                                member_of(record_of(one), member));
        }
        return array;
    }
    /// An array for each member.
    [[nodiscard]] std::vector<Array> arrays_of(std::span<void const* const> records) const {
        std::vector<Array> arrays;
        arrays.reserve(table_.columns.size());
        for (std::size_t at = 0; at < table_.columns.size(); ++at) {
            arrays.push_back(values_of(at, records, [](void const* value) { return value; }));
        }
        return arrays;
    }

private:
    [[nodiscard]] void* member_of(void const* record, std::size_t member) const {
        return of_->record->member(const_cast<void*>(record), member);
    }

    collection_descriptor const* of_;
    fit_table<Column> table_;
    std::string name_;
    std::string_view page_;
    std::uint64_t limited_ = 0;
};

} // namespace detail::sql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/sql/table_values.ipp>
#endif
