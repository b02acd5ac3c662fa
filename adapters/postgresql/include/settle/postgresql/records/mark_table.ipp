// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_table.hpp declares.
#pragma once

#include <settle/postgresql/records/mark_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION mark_table::mark_table(pool& with) {
    using enum value_type;
    auto const table = with.schema_prefix() + "settle_mark";
    constexpr std::size_t of_effect = 9;
    new_ = &with.prepare("INSERT INTO " + table +
                             "(key, id, participant, line, epoch, effect, confirm, undo, image, "
                             "collection) SELECT w.*, $10 FROM " +
                             arrays_as_table(of_effect),
                         {text_array, text_array, int8_array, int8_array, int8_array, text_array,
                          text_array, text_array, text_array, text},
                         "add marks");
    // Each mark is found by its key, and then changed by its ctid. In a join of one step, the
    // server may read all marks of the collection for each mark of the wave, since it expects few
    // marks.
    auto const found = [&](std::size_t arrays) {
        return arrays_as_table(arrays) + " CROSS JOIN LATERAL (SELECT k.ctid FROM " + table +
               " AS k WHERE k.collection = $" + std::to_string(arrays + 1) +
               " AND (k.key, k.id, k.participant, k.line) = (w.c0, w.c1, w.c2, w.c3) OFFSET 0) "
               "AS k WHERE m.ctid = k.ctid";
    };
    raise_ = &with.prepare(
        expecting("UPDATE " + table + " AS m SET epoch = w.c4 FROM " + found(5), 6),
        {text_array, text_array, int8_array, int8_array, int8_array, text, int8}, "raise marks");
    pull_ =
        &with.prepare(expecting("DELETE FROM " + table + " AS m USING " + found(4), 5),
                      {text_array, text_array, int8_array, int8_array, text, int8}, "pull marks");
    finish_ = &with.prepare(
        expecting("DELETE FROM " + table + " AS m USING " + found(6) +
                      " AND m.epoch = w.c4 AND "
                      "m.confirm IS NOT DISTINCT FROM w.c5 AND m.effect = 'add'",
                  7),
        {text_array, text_array, int8_array, int8_array, int8_array, text_array, text, int8},
        "pull marks");
    unmarked_ = &with.prepare("SELECT " + raised_sql(wrong_count, "w.c0") + " FROM " +
                                  arrays_as_table(1) + " CROSS JOIN LATERAL (SELECT FROM " + table +
                                  " AS m WHERE m.key = w.c0 AND m.collection = $2 OFFSET 0) AS m",
                              {text_array, text}, "look for marks");
    page_ = &with.prepare(
        "SELECT id, participant, line, collection, key, epoch FROM " + table +
            " WHERE collection = ANY($1) AND (collection, key, id, participant, line) > "
            "($2, $3, $4, $5, $6) ORDER BY collection, key, id, participant, line LIMIT $7",
        {text_array, text, text, text, int8, int8, int8}, "read marks");
}

SETTLE_FUNCTION void mark_table::send_new(connection& on, std::string_view collection,
                                          added_marks const& all) const {
    on.send(*new_, all.keys, all.ids, all.participants, all.lines, all.epochs, all.effects,
            all.confirms, all.undos, all.images, collection);
}
SETTLE_FUNCTION void mark_table::send_raised(connection& on, std::string_view collection,
                                             mark_arrays const& all,
                                             array_value const& epochs) const {
    on.send(*raise_, all.keys, all.ids, all.participants, all.lines, epochs, collection,
            all.count());
}
SETTLE_FUNCTION void mark_table::send_pulled(connection& on, std::string_view collection,
                                             mark_arrays const& all) const {
    on.send(*pull_, all.keys, all.ids, all.participants, all.lines, collection, all.count());
}

SETTLE_FUNCTION void mark_table::send_finished(connection& on, std::string_view collection,
                                               added_marks const& all) const {
    on.send(*finish_, all.keys, all.ids, all.participants, all.lines, all.epochs, all.confirms,
            collection, all.count());
}

SETTLE_FUNCTION std::vector<mark_locator>
mark_table::read(pool& with, std::span<collection_descriptor const* const> of,
                 std::optional<mark_locator> const& after, std::size_t limit) const {
    array_value names{value_type::text};
    for (auto const* const one : of) names.add(one->name);
    mark_locator const start = after.value_or(mark_locator{{}, std::string{}, {}, {}, 0});
    mark_key const key{settle::detail::view_of(start.key)};
    std::vector<mark_locator> found;
    auto on = with.take();
    auto const number = on->send(*page_, names, start.collection, key.text(), start.id,
                                 std::int64_t{start.part.participant},
                                 std::int64_t{start.part.line}, settle::detail::limit_of(limit));
    on->sync();
    for_each_row(on->result(number), [&](row const& one) {
        settle::detail::sql::restore_key(found.emplace_back(settle::detail::read_locator(one)), of);
    });
    return found;
}

} // namespace postgresql::detail
SETTLE_END
