// SPDX-License-Identifier: BSL-1.0
// The parts of this adapter, as adapter/sql/ takes them.
#pragma once

#include <settle/mariadb/connection/dialect.hpp>

SETTLE_BEGIN
namespace detail::sql {
template <typename Sql>
class mark_table;
}
namespace mariadb {

class log_session;

namespace detail {

class bound_table;
class entry_table;

struct parts {
    using pool = detail::pool;
    using connection = detail::connection;
    using statement = detail::statement;
    using parameters = detail::parameters;
    using rows = detail::rows;
    using row = detail::row;
    using native_transaction = detail::native_transaction;
    using array = array_value;
    using column_values = detail::column_values;
    using column = table_column;
    using dialect = detail::dialect;
    using bound_table = detail::bound_table;
    using mark_table = settle::detail::sql::mark_table<parts>;
    using entry_table = detail::entry_table;
    using log_session = mariadb::log_session;

    static constexpr auto longest_repetition = detail::longest_repetition;
    static constexpr std::string_view page = "mariadb";
    /// One group of all callers is quicker than several beside each other.
    static constexpr std::size_t leaders = 1;

    static constexpr auto is_held = &detail::is_held;
    static constexpr auto is_of_one_record = &detail::is_of_one_record;
    static constexpr auto is_of_one_table = &detail::is_of_one_table;
    static bool is_overtaken(std::error_code const& code) { return code == duplicate_key; }
    static bool is_of_count(std::error_code const& code) { return code == wrong_count; }
};

} // namespace detail
} // namespace mariadb
SETTLE_END
