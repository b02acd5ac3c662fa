// SPDX-License-Identifier: BSL-1.0
// A collection bound to its table: the statements on its records.
#pragma once

#include <settle/adapter/sql/conditional_table.hpp>
#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/statement_cache.hpp>
#include <settle/adapter/sql/table_column.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// Threads may share a bound table. An adapter derives its own, which has the statements on columns
/// that no member names:
///
///   send_restored(connection, record, image)     queues the creation of a record with all columns
///                                                that its row once had; throws errc::damaged or
///                                                errc::unfit_store for an image that the table
///                                                cannot take
///   send_check_of_image(connection, key, others) queues a check that fails if send_restored()
///   could
///                                                not make those columns again, byte by byte
///
/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class bound_table : public table_values<typename Sql::column, typename Sql::array> {
    using base = table_values<typename Sql::column, typename Sql::array>;

public:
    using dialect = typename Sql::dialect;
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using statement = typename Sql::statement;
    using parameters = typename Sql::parameters;
    using array = typename Sql::array;
    using column_type = typename Sql::column;
    using base::of;
    template <typename Value>
    using keyed = std::span<std::pair<part_key, Value> const>;

    /// Queues a read of records, and locks their rows in the order of the array. The columns are
    /// the members, the number of the key from 1 on, and the other columns as a JSON object.
    std::size_t send_locks(connection& to, array const& keys, bool with_others) const {
        return to.send(with_others ? *lock_whole_ : *lock_, keys);
    }
    /// Queues a read of all marks of some records. The columns are as in read_mark(), and the
    /// number of the key from 1 on.
    std::size_t send_all_marks(connection& to, array const& keys) const {
        return to.send(*all_marks_, keys, of().name);
    }
    /// Queues a read of the marks that each transaction has on its record.
    std::size_t send_own_marks(connection& to, array const& keys, array const& ids) const {
        return to.send(*own_marks_, keys, ids, of().name);
    }
    std::size_t send_read(connection& to, part_key const& key) const {
        parameters values;
        if (!this->key_column().give_key(values, key)) values.bind(nullptr);
        return to.send(*read_, values);
    }
    /// Queues a look at records and their marks: one statement, but of a small wave on a server
    /// whose statements take its rows one by one. Its rows are records without a mark, and marks
    /// without a record, with the columns of read_look(); the last column is the number of the key
    /// from 1 on.
    std::size_t send_look(connection& to, std::span<part_key const> keys, bool with_entries) const {
        array sent = this->keys();
        array marked = array::texts();
        for (part_key const& key : keys) {
            if (!this->give_key(sent, key)) sent.add(nullptr);
            marked.add(mark_key{key}.text());
        }
        return to.send(with_entries ? *look_with_log_ : *look_, sent, marked, of().name);
    }
    /// Queues a look at all records and marks of the collection: one statement. Its rows are
    /// records without a mark, and marks without a record; the last column is the key of a mark.
    std::size_t send_look_at_all(connection& to, bool with_entries) const {
        return to.send(with_entries ? *look_at_all_with_log_ : *look_at_all_, of().name);
    }
    /// The last column of a look.
    [[nodiscard]] int look_key() const noexcept {
        return look_members + static_cast<int>(this->columns().size());
    }
    std::size_t send_scan(connection& to, part_key const* after, std::size_t limit) const {
        parameters values;
        // If no row can have the key, no row follows it.
        bool const can_follow = after == nullptr || this->key_column().give_key(values, *after);
        if (!can_follow) values.bind(nullptr);
        values.bind(limit_of(limit));
        return to.send(after != nullptr ? *next_ : *first_, values);
    }

    /// Queues the write of some members of records.
    void send_update(connection& to, std::uint64_t fields, keyed<void const*> records) const;
    /// Queues a conditional update of records that were not read. It fails with a wrong count if a
    /// record does not exist, or a member is out of its range; it locks records that it does not
    /// change.
    void send_sums(connection& to, sum_members const& which,
                   keyed<conditional_sum const*> records) const;
    /// Queues the creation of records that certainly do not exist.
    void send_new(connection& to, std::span<void const* const> records) const {
        send_check_of_types(to);
        auto const arrays = this->arrays_of(records);
        to.send(*new_, parameters{arrays});
    }
    /// Queues the creation of records whose keys have neither a record nor a mark; the result has
    /// the keys that were created.
    std::size_t send_create(connection& to, std::span<void const* const> records) const {
        send_check_of_types(to);
        auto const arrays = this->arrays_of(records);
        array mark_keys = array::texts();
        for (auto const* const record : records) {
            mark_keys.add(mark_key{of().key_of(record)}.text());
        }
        return to.send(*create_, parameters{arrays, mark_keys, of().name});
    }
    void send_erase(connection& to, array const& keys) const {
        to.send(*erase_, keys, static_cast<std::int64_t>(keys.size()));
    }

protected:
    /// Shape:   stands - SQL that is true while the columns have the types that they had when the
    ///          table was bound; others - SQL of the columns that no member names, as a JSON
    ///          object; check_types - fails otherwise, where an insert cannot ask `stands`; or null
    bound_table(pool& from, collection_descriptor const& bound, fit_table<column_type> table,
                std::string stands, std::string const& others,
                statement const* check_types = nullptr)
        : base(bound, std::move(table), dialect::table_name(from, bound.name), Sql::page),
          pool_(&from), stands_(std::move(stands)), check_types_(check_types) {
        prepare_reads(others);
        prepare_writes();
    }
    ~bound_table() = default;

    /// The names of the members' columns.
    [[nodiscard]] std::string names() const {
        std::string list;
        for (auto const& column : this->columns()) {
            list.append(list.empty() ? "" : ", ").append(column.name);
        }
        return list;
    }
    /// The values of an inserted row, from the arrays of the members.
    [[nodiscard]] std::string values() const {
        std::string list;
        for (std::size_t member = 0; member < this->columns().size(); ++member) {
            list.append(member == 0 ? "" : ", ").append(value_of(member, member));
        }
        return list;
    }
    [[nodiscard]] std::vector<parameter_type> member_arrays() const {
        std::vector<parameter_type> types;
        for (auto const& column : this->columns()) types.push_back(column.array());
        return types;
    }
    [[nodiscard]] pool& from() const noexcept { return *pool_; }
    /// Queues a check before an insert.
    void send_check_of_types(connection& to) const {
        if (check_types_ != nullptr) to.send(*check_types_, parameters{});
    }

private:
    void prepare_reads(std::string const& others);
    /// Shape:   members - the columns of the members, as they are read
    void prepare_looks(std::string const& members);
    void prepare_writes();
    /// The value of a member's column, from an array of the wave.
    [[nodiscard]] std::string value_of(std::size_t member, std::size_t number) const {
        return dialect::write_sql(this->column(member), "w.c" + std::to_string(number));
    }
    [[nodiscard]] std::string has_key(std::string const& value) const {
        auto const& key = this->key_column();
        return "t." + key.name + " = " + dialect::write_sql(key, value);
    }
    [[nodiscard]] std::string row_stands(std::string const& value) const {
        return dialect::row_stands(stands_, value);
    }
    [[nodiscard]] statement const& update_of(std::uint64_t fields) const;
    [[nodiscard]] statement const& sums_of(sum_members const& which) const;

    pool* pool_;
    std::string stands_;
    statement const* check_types_;
    statement const* lock_;
    statement const* lock_whole_;
    statement const* all_marks_;
    statement const* own_marks_;
    statement const* read_;
    statement const* look_;
    statement const* look_with_log_;
    statement const* look_at_all_;
    statement const* look_at_all_with_log_;
    statement const* first_;
    statement const* next_;
    statement const* new_;
    statement const* create_;
    statement const* erase_;
    mutable statement_cache<std::uint64_t, statement> updates_; ///< by the members
    mutable statement_cache<sum_members, statement> sums_;
};

template <typename Sql>
void bound_table<Sql>::prepare_reads(std::string const& others) {
    auto const& key = this->key_column();
    std::string members;
    for (auto const& column : this->columns()) {
        members.append(members.empty() ? "" : ", ").append(dialect::read_sql(column));
    }
    std::vector<parameter_type> const keys{key.array()};
    auto const lock = [&](std::string const& more) {
        return &pool_->prepare(dialect::lock(members + ", w.n" + more, keys, this->name(), "t",
                                             has_key("w.c0") + row_stands("w.n")),
                               keys, "read records");
    };
    lock_ = lock("");
    lock_whole_ = others.empty() ? lock_ : lock(", " + others);
    auto const marks = [&](std::vector<parameter_type> const& types, char const* condition) {
        auto const sql = dialect::look_up(
            "m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m." +
                dialect::name("undo") + ", m.image, w.n",
            types, dialect::table_name(*pool_, "settle_mark"), "m",
            "m." + dialect::name("key") + " = w.c0 AND m.collection = " + condition);
        return &pool_->prepare(sql, types, "read marks");
    };
    all_marks_ = marks({text_array, text_value}, "$2");
    own_marks_ = marks({text_array, text_array, text_value}, "$3 AND m.id = w.c1");
    auto const select = "SELECT " + members + " FROM " + this->name() + " AS t WHERE true" +
                        row_stands(dialect::as_text("t." + key.name));
    auto const sent_key = dialect::write_sql(key, "$1");
    auto const order = " ORDER BY t." + key.name + " LIMIT $";
    read_ = &pool_->prepare(select + " AND t." + key.name + " = " + sent_key, {key.element()},
                            "read a record");
    prepare_looks(members);
    first_ = &pool_->prepare(select + order + "1", {integer_value}, "read records");
    next_ = &pool_->prepare(select + " AND t." + key.name + " > " + sent_key + order + "2",
                            {key.element(), integer_value}, "read records");
}

template <typename Sql>
void bound_table<Sql>::prepare_looks(std::string const& members) {
    auto const& key = this->key_column();
    auto const marks_table = dialect::table_name(*pool_, "settle_mark");
    auto const of_mark = "m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m." +
                         dialect::name("undo") + ", m.image, ";
    std::string no_mark;
    for (int column = 0; column < look_exists; ++column) no_mark += "NULL, ";
    std::string no_record = "NULL, NULL, ";
    for (std::size_t i = 0; i < this->columns().size(); ++i) no_record += "NULL, ";
    auto const record = no_mark + dialect::one() + ", " + dialect::version("t") + ", " + members;
    auto const entry_table = dialect::table_name(*pool_, "settle_entry") + " AS e";
    auto const look = [&](std::string const& of_entry) {
        std::vector<parameter_type> const types{key.array(), text_array, text_value};
        return &pool_->prepare(
            dialect::look_up(record + ", w.n", types, this->name(), "t",
                             has_key("w.c0") + row_stands("w.n")) +
                " UNION ALL " +
                dialect::look_up(of_mark + of_entry + no_record + "w.n", types, marks_table, "m",
                                 "m." + dialect::name("key") + " = w.c1 AND m.collection = $3"),
            types, "read records and their marks");
    };
    auto const look_at_all = [&](std::string const& of_entry, std::string const& join) {
        return &pool_->prepare(
            "SELECT " + record + ", NULL FROM " + this->name() + " AS t WHERE true" +
                row_stands(dialect::as_text("t." + key.name)) + " UNION ALL SELECT " + of_mark +
                of_entry + no_record + "m." + dialect::name("key") + " FROM " + marks_table +
                " AS m" + join + " WHERE m.collection = $1",
            {text_value}, "read all records and their marks");
    };
    std::string const no_entry = "NULL, NULL, NULL, ";
    std::string of_entry;
    for (auto const* const column : {"e.state", "e.epoch", "coalesce(e.committed, 0)"}) {
        of_entry +=
            std::string{"(SELECT "} + column + " FROM " + entry_table + " WHERE e.id = m.id), ";
    }
    look_ = look(no_entry);
    look_with_log_ = look(of_entry);
    look_at_all_ = look_at_all(no_entry, "");
    look_at_all_with_log_ = look_at_all("e.state, e.epoch, coalesce(e.committed, 0), ",
                                        " LEFT JOIN " + entry_table + " ON e.id = m.id");
}

template <typename Sql>
void bound_table<Sql>::prepare_writes() {
    auto const& key = this->key_column();
    auto types = member_arrays();
    auto const stands = row_stands(dialect::as_text("w.c" + std::to_string(of().key)));
    new_ = &pool_->prepare(dialect::insert(this->name(), names(), values(), types,
                                           stands.empty() ? "" : "true" + stands),
                           types, "create records");
    auto const mark_keys = types.size();
    types.push_back(text_array);
    types.push_back(text_value);
    auto const unmarked =
        "NOT " +
        dialect::exists(dialect::table_name(*pool_, "settle_mark") + " AS m",
                        "m." + dialect::name("key") + " = w.c" + std::to_string(mark_keys) +
                            " AND m.collection = $" + std::to_string(mark_keys + 2));
    create_ = &pool_->prepare(dialect::insert_absent(this->name(), names(), values(), types,
                                                     unmarked + stands, key.name,
                                                     value_of(of().key, of().key)),
                              types, "create records");
    std::vector<parameter_type> const keys{key.array()};
    erase_ = &dialect::prepare_exact(
        *pool_, dialect::erase(this->name(), "t", keys, has_key("w.c0")), keys, "erase records");
}

template <typename Sql>
typename Sql::statement const& bound_table<Sql>::update_of(std::uint64_t fields) const {
    return updates_.of(fields, [&]() -> auto const& {
        std::vector<parameter_type> types{this->key_column().array()};
        assignments sets;
        for_each_bit(fields, [&](std::size_t member) {
            sets.emplace_back(this->column(member).name, value_of(member, types.size()));
            types.push_back(this->column(member).array());
        });
        auto const sql = dialect::update(this->name(), "t", sets, types, has_key("w.c0"));
        return dialect::prepare_exact(*pool_, sql, types, "change records", stands_);
    });
}

template <typename Sql>
typename Sql::statement const& bound_table<Sql>::sums_of(sum_members const& which) const {
    return sums_.of(which, [&]() -> auto const& {
        auto const& key = this->key_column();
        std::vector<parameter_type> types{key.array()};
        auto const given_key = dialect::write_sql(key, "w.c0");
        auto const next = [&](std::size_t member) {
            types.push_back(integer_array);
            return dialect::by_key("t." + key.name, given_key, value_of(member, types.size() - 1));
        };
        assignments sets;
        auto condition = dialect::among("t." + key.name, given_key);
        for_each_bit(which.changed, [&](std::size_t member) {
            auto const& name = this->column(member).name;
            sets.emplace_back(name, "t." + name + " + " + next(member));
        });
        for_each_bit(which.at_least, [&](std::size_t member) {
            condition += " AND t." + this->column(member).name + " >= " + next(member);
        });
        for_each_bit(which.at_most, [&](std::size_t member) {
            condition += " AND t." + this->column(member).name + " <= " + next(member);
        });
        if (sets.empty()) {
            return dialect::prepare_exact_lock(*pool_, this->name(), "t", key.name, types,
                                               condition, stands_);
        }
        auto const sql = dialect::update(this->name(), "t", sets, types, condition);
        return dialect::prepare_exact(*pool_, sql, types, "change records", stands_);
    });
}

template <typename Sql>
void bound_table<Sql>::send_sums(connection& to, sum_members const& which,
                                 keyed<conditional_sum const*> records) const {
    auto const& prepared = sums_of(which);
    std::vector<array> arrays{this->keys_of(records)};
    auto const add = [&](std::size_t member, std::int64_t conditional_sum::* value) {
        auto& values = arrays.emplace_back(array::integers());
        auto const position = of().members()[member].integer;
        for (auto const& record : records) values.add(record.second[position].*value);
    };
    for_each_bit(which.changed, [&](std::size_t member) { add(member, &conditional_sum::added); });
    for_each_bit(which.at_least, [&](std::size_t member) { add(member, &conditional_sum::least); });
    for_each_bit(which.at_most, [&](std::size_t member) { add(member, &conditional_sum::most); });
    to.send(prepared, parameters{arrays, static_cast<std::int64_t>(records.size())});
}

template <typename Sql>
void bound_table<Sql>::send_update(connection& to, std::uint64_t fields,
                                   keyed<void const*> records) const {
    auto const& prepared = update_of(fields);
    std::vector<array> arrays{this->keys_of(records)};
    for_each_bit(fields, [&](std::size_t member) {
        arrays.push_back(
            this->values_of(member, records, [](auto const& record) { return record.second; }));
    });
    to.send(prepared, parameters{arrays, static_cast<std::int64_t>(records.size())});
}

} // namespace detail::sql
SETTLE_END
