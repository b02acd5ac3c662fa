// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bound_table.hpp declares.
#pragma once

#include <settle/postgresql/bound_table.hpp>

#include <settle/store/native_value.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION bound_table::bound_table(pool& with, collection_descriptor const& of)
    : pool_(&with), of_(&of), table_(settle_table(with, of)),
      name_(with.schema_prefix() + quoted_name(of.name)) {
    for (std::size_t at = 0; at < of.members().size(); ++at) {
        if (column(at).is_limited(of.members()[at])) limited_ |= std::uint64_t{1} << at;
    }
    using enum value_type;
    auto const& key = key_column();
    auto const marks = with.schema_prefix() + "settle_mark";
    std::string members;
    for (auto const& one : table_.columns) {
        members.append(members.empty() ? "" : ", ").append(one.read_sql());
    }
    std::string others{", jsonb_build_object("};
    for (auto const& one : table_.others) {
        if (!others.ends_with('(')) others += ", ";
        others += quoted_text(one.name) + ", t." + quoted_name(one.name) + "::text";
    }
    others += ")::text";
    auto const key_is = "t." + key.name + " = " + key.write_sql("w.c0");
    auto const lock = [&](std::string const& more) {
        // The server locks the rows in the order of the array.
        return &with.prepare("SELECT " + members + ", w.n" + more + " FROM " +
                                 arrays_as_table(1, true) + " JOIN " + name_ + " AS t ON " +
                                 key_is + " ORDER BY w.n FOR NO KEY UPDATE OF t",
                             {key.array()}, "read records");
    };
    lock_ = lock("");
    lock_whole_ = lock(others);
    auto const read_marks = [&](std::size_t arrays, char const* condition) {
        return "SELECT m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m.undo, "
               "m.image, w.n FROM " +
               arrays_as_table(arrays, true) + " CROSS JOIN LATERAL (SELECT * FROM " + marks +
               " AS m WHERE m.key = w.c0 AND m.collection = " + condition + " OFFSET 0) AS m";
    };
    all_marks_ = &with.prepare(read_marks(1, "$2"), {text_array, text}, "read marks");
    own_marks_ = &with.prepare(read_marks(2, "$3 AND m.id = w.c1"), {text_array, text_array, text},
                               "read marks");
    auto const select = "SELECT " + members + " FROM " + name_ + " AS t";
    auto const given = key.write_sql("$1");
    auto const order = " ORDER BY t." + key.name + " LIMIT $";
    read_ = &with.prepare(select + " WHERE t." + key.name + " = " + given, {key.element()},
                          "read a record");
    first_ = &with.prepare(select + order + "1", {int8}, "read records");
    next_ = &with.prepare(select + " WHERE t." + key.name + " > " + given + order + "2",
                          {key.element(), int8}, "read records");
    auto types = member_arrays();
    auto const insert = "INSERT INTO " + name_ + "(" + names() + ") SELECT " + values() + " FROM ";
    new_ = &with.prepare(insert + arrays_as_table(types.size()), types, "create records");
    auto const mark_keys = types.size();
    types.push_back(text_array);
    types.push_back(text);
    create_ = &with.prepare(
        insert + arrays_as_table(mark_keys + 1) + " WHERE NOT EXISTS (SELECT FROM " + marks +
            " AS m WHERE m.key = w.c" + std::to_string(mark_keys) + " AND m.collection = $" +
            std::to_string(mark_keys + 2) + " OFFSET 0) ON CONFLICT (" + key.name +
            ") DO NOTHING RETURNING " + key.name + "::text",
        types, "create records");
    erase_ = &with.prepare(
        expecting("DELETE FROM " + name_ + " AS t USING " + arrays_as_table(1) + " WHERE " + key_is,
                  1),
        {key.array(), int8}, "erase records");
}

SETTLE_FUNCTION result<void> bound_table::check(void const* record) const {
    for (std::size_t at = 0; at < table_.columns.size(); ++at) {
        auto const& one = of_->members()[at];
        auto* const value = of_->record->member(const_cast<void*>(record), at);
        if (!column(at).holds(*one.access, value)) return value_out_of(one.name);
    }
    return {};
}

SETTLE_FUNCTION error bound_table::value_out_of(std::string_view column) const {
    return {make_error_code(errc::unfit_store),
            "settle: the column '" + std::string{column} + "' of the table " + name_ +
                " has a type that cannot hold the value. Give it a type that can. "
                "See postgresql#limits"};
}

SETTLE_FUNCTION std::string bound_table::names() const {
    std::string all;
    for (auto const& one : table_.columns) all.append(all.empty() ? "" : ", ").append(one.name);
    return all;
}

/// The values of an inserted row, from the arrays of the members.
SETTLE_FUNCTION std::string bound_table::values() const {
    std::string all;
    for (std::size_t at = 0; at < table_.columns.size(); ++at) {
        all.append(at == 0 ? "" : ", ").append(column(at).write_sql("w.c" + std::to_string(at)));
    }
    return all;
}

SETTLE_FUNCTION std::vector<value_type> bound_table::member_arrays() const {
    std::vector<value_type> types;
    for (auto const& one : table_.columns) types.push_back(one.array());
    return types;
}

SETTLE_FUNCTION std::size_t bound_table::send_read(connection& on, part_key const& key) const {
    parameters values;
    if (!key_column().give_key(values, key)) values.bind(nullptr);
    return on.send(*read_, values);
}

SETTLE_FUNCTION std::size_t bound_table::send_scan(connection& on, part_key const* after,
                                                   std::size_t limit) const {
    parameters values;
    if (after != nullptr) {
        // Without a row that could have the key, there is no place behind it.
        if (!key_column().give_key(values, *after)) values.bind(nullptr);
    }
    values.bind(settle::detail::limit_of(limit));
    return on.send(after != nullptr ? *next_ : *first_, values);
}

SETTLE_FUNCTION void bound_table::read(row const& from, void* record) const {
    for (std::size_t at = 0; at < of_->members().size(); ++at) {
        auto const& one = of_->members()[at];
        auto const number = static_cast<int>(at);
        auto const problem =
            column(at).read(from, number, *one.access, of_->record->member(record, at));
        if (problem.empty()) continue;
        auto const place = static_cast<int>(of_->key);
        auto const key = from.kind(place) == value_kind::integer
                             ? std::to_string(from.integer(place))
                             : std::string{from.text(place)};
        throw failure(settle::detail::damaged_row(*of_, key, one.name, problem));
    }
}

/// Calls a function for each member of a set.
template <typename Function>
void for_each_bit(std::uint64_t fields, Function&& function) {
    for (std::size_t at = 0; fields >> at != 0; ++at) {
        if ((fields >> at & 1U) != 0) function(at);
        if (at == 63) return;
    }
}

SETTLE_FUNCTION statement const& bound_table::update_of(std::uint64_t fields) const {
    return updates_.of(
        fields, [&]() -> auto const& {
            auto const& key = key_column();
            std::vector<value_type> types{key.array()};
            std::string sets;
            for_each_bit(fields, [&](std::size_t at) {
                sets.append(sets.empty() ? "" : ", ").append(column(at).name).append(" = ");
                sets += column(at).write_sql("w.c" + std::to_string(types.size()));
                types.push_back(column(at).array());
            });
            auto const count = types.size();
            types.push_back(value_type::int8);
            auto const sql = "UPDATE " + name_ + " AS t SET " + sets + " FROM " +
                             arrays_as_table(count) + " WHERE t." + key.name + " = " +
                             key.write_sql("w.c0");
            return pool_->prepare(expecting(sql, count), types, "change records");
        });
}

SETTLE_FUNCTION statement const& bound_table::sums_of(std::uint64_t changed,
                                                      std::uint64_t bounded) const {
    return sums_.of(
        {changed, bounded}, [&]() -> auto const& {
            auto const& key = key_column();
            std::vector<value_type> types{key.array()};
            auto const next = [&](std::size_t at) {
                types.push_back(value_type::int8_array);
                return column(at).write_sql("w.c" + std::to_string(types.size() - 1));
            };
            std::string sets;
            for_each_bit(changed, [&](std::size_t at) {
                auto const& name = column(at).name;
                sets.append(sets.empty() ? "" : ", ").append(name).append(" = t.").append(name);
                sets.append(" + ").append(next(at));
            });
            auto condition = " WHERE t." + key.name + " = " + key.write_sql("w.c0");
            for_each_bit(bounded, [&](std::size_t at) {
                condition += " AND t." + column(at).name + " >= " + next(at);
                condition += " AND t." + column(at).name + " <= " + next(at);
            });
            auto const count = types.size();
            types.push_back(value_type::int8);
            auto const wave = arrays_as_table(count);
            auto const sql = changed != 0 ? expecting("UPDATE " + name_ + " AS t SET " + sets +
                                                          " FROM " + wave + condition,
                                                      count)
                                          : counting("SELECT FROM " + name_ + " AS t, " + wave +
                                                         condition + " FOR NO KEY UPDATE OF t",
                                                     count);
            return pool_->prepare(sql, types, "change records");
        });
}

SETTLE_FUNCTION void
bound_table::send_sums(connection& on, std::uint64_t changed, std::uint64_t bounded,
                       std::span<std::pair<part_key, conditional_sum const*> const> all) const {
    auto const& by = sums_of(changed, bounded);
    std::vector<array_value> arrays{keys()};
    for (auto const& one : all) static_cast<void>(give_key(arrays.front(), one.first));
    auto const add = [&](std::size_t member, std::int64_t conditional_sum::*value) {
        auto& made = arrays.emplace_back(value_type::int8);
        auto const position = of_->members()[member].integer;
        for (auto const& one : all) made.add(one.second[position].*value);
    };
    for_each_bit(changed, [&](std::size_t at) { add(at, &conditional_sum::added); });
    for_each_bit(bounded, [&](std::size_t at) {
        add(at, &conditional_sum::least);
        add(at, &conditional_sum::most);
    });
    on.send(by, parameters{arrays, static_cast<std::int64_t>(all.size())});
}

SETTLE_FUNCTION void
bound_table::send_update(connection& on, std::uint64_t fields,
                         std::span<std::pair<part_key, void const*> const> all) const {
    auto const& by = update_of(fields);
    std::vector<array_value> arrays{keys()};
    for (auto const& one : all) static_cast<void>(give_key(arrays.front(), one.first));
    for_each_bit(fields, [&](std::size_t at) {
        auto& made = arrays.emplace_back(column(at).element());
        for (auto const& one : all) {
            column(at).give(made, *of_->members()[at].access,
                            of_->record->member(const_cast<void*>(one.second), at));
        }
    });
    on.send(by, parameters{arrays, static_cast<std::int64_t>(all.size())});
}

/// An array for each member.
SETTLE_FUNCTION std::vector<array_value>
bound_table::arrays_of(std::span<void const* const> all) const {
    std::vector<array_value> arrays;
    for (std::size_t at = 0; at < table_.columns.size(); ++at) {
        auto& made = arrays.emplace_back(column(at).element());
        for (auto const* const one : all) {
            column(at).give(made, *of_->members()[at].access,
                            of_->record->member(const_cast<void*>(one), at));
        }
    }
    return arrays;
}

SETTLE_FUNCTION void bound_table::send_new(connection& on, std::span<void const* const> all) const {
    auto const arrays = arrays_of(all);
    on.send(*new_, parameters{arrays});
}

SETTLE_FUNCTION std::size_t bound_table::send_create(connection& on,
                                                     std::span<void const* const> all) const {
    auto const arrays = arrays_of(all);
    array_value mark_keys{value_type::text};
    for (auto const* const one : all) mark_keys.add(mark_key{of_->key_of(one)}.text());
    return on.send(*create_, parameters{arrays, mark_keys, of_->name});
}

SETTLE_FUNCTION other_values bound_table::read_others(std::string_view image) const {
    other_values columns;
    json_reader reader{image};
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            std::string const here{name};
            native_value value;
            if (!read_native(reader, value)) break;
            if (of_->record->find(here)) continue;
            auto const known = std::find_if(table_.others.begin(), table_.others.end(),
                                            [&](auto const& one) { return one.name == here; });
            if (known == table_.others.end()) {
                raise(errc::unfit_store, "settle: the record's old image has a column '" + here +
                                             "', and the table " + name_ +
                                             " has none. Add it again. "
                                             "See postgresql#existing-tables");
            }
            auto* const text = std::get_if<std::string>(&value);
            columns.emplace_back(&*known,
                                 text == nullptr ? std::nullopt : std::optional{std::move(*text)});
        }
    }
    if (!reader.finish()) throw failure(reader.problem());
    return columns;
}

SETTLE_FUNCTION void bound_table::send_restored(connection& on, void const* record,
                                                std::string_view image) const {
    auto const others = read_others(image);
    if (of_->members().size() + others.size() > parameters::most) {
        raise(errc::unfit_store, "settle: the table " + name_ + " has more than " +
                                     std::to_string(parameters::most) +
                                     " columns, so an erased row cannot be brought back. "
                                     "See postgresql#limits");
    }
    auto columns = names();
    auto given = values();
    auto types = member_arrays();
    auto const members = types.size();
    void const* const only[]{record};
    auto const arrays = arrays_of(only);
    parameters all{arrays};
    for (auto const& [column, value] : others) {
        types.push_back(value_type::text);
        columns += ", " + quoted_name(column->name);
        given += ", $" + std::to_string(types.size()) + "::" + column->type;
        all.bind(value);
    }
    auto const& insert = pool_->prepare("INSERT INTO " + name_ + "(" + columns +
                                            ") OVERRIDING SYSTEM VALUE SELECT " + given + " FROM " +
                                            arrays_as_table(members),
                                        types, "create a record");
    on.send(insert, all);
}

SETTLE_FUNCTION std::string bound_table::image_of(void* record, std::string_view others) const {
    std::string out;
    for (std::size_t at = 0; at < of_->members().size(); ++at) {
        auto const& one = of_->members()[at];
        settle::detail::begin_member(out, one.name);
        std::string value;
        one.access->json->write(value, of_->record->member(record, at), secrets::written);
        // A struct or a list is the text of its JSON, as any value of a native row is a scalar.
        if (one.access->nested) append_json_text(out, value);
        else out += value;
    }
    if (others.size() > 2) out.append(",").append(others.substr(1));
    else out += '}';
    return out;
}

} // namespace postgresql::detail
SETTLE_END
