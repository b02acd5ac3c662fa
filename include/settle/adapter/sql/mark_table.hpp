// SPDX-License-Identifier: BSL-1.0
// The marks of all collections, in the table settle_mark.
#pragma once

#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/mark_arrays.hpp>
#include <settle/adapter/sql/mark_places.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// Threads may share a table of marks.
/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class mark_table {
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using statement = typename Sql::statement;
    using array = typename Sql::array;
    using dialect = typename Sql::dialect;

public:
    explicit mark_table(pool& from);

    /// Queues the insert of marks, for keep_places().
    std::size_t send_new(connection& to, std::string_view collection,
                         added_marks<array> const& marks) const {
        return to.send(*new_, marks.keys, marks.ids, marks.participants, marks.lines, marks.epochs,
                       marks.effects, marks.confirms, marks.undos, marks.images, collection);
    }
    /// Keeps the places of marks whose insert was committed, where the database has places.
    /// Shape:   number - of the insert; names - of the marks in their order
    void keep_places(connection const& from, std::size_t number,
                     std::span<mark_name const> names) const {
        if constexpr (dialect::has_places) {
            auto const& inserted = from.result(number);
            places_.keep(names, [&](std::size_t index) {
                return inserted.text(static_cast<int>(index), 0);
            });
        }
    }
    /// Queues the change of epochs.
    void send_raised(connection& to, std::string_view collection, mark_arrays<array> const& marks,
                     array const& epochs) const {
        to.send(*raise_, marks.keys, marks.ids, marks.participants, marks.lines, epochs, collection,
                marks.count());
    }
    /// Queues the erasure of marks.
    void send_pulled(connection& to, std::string_view collection,
                     mark_arrays<array> const& marks) const {
        to.send(*pull_, marks.keys, marks.ids, marks.participants, marks.lines, collection,
                marks.count());
    }
    /// Queues the erasure of marks that still have an epoch and a confirm effect.
    void send_finished(connection& to, std::string_view collection, added_marks<array> const& marks,
                       std::span<mark_name const> names) const {
        if constexpr (dialect::has_places) {
            auto const places = places_.take(names);
            array ids = array::texts();
            for (auto const& place : places) ids.add(std::string_view{place});
            if (!places.empty()) {
                to.send(*finish_at_, marks.keys, marks.ids, marks.participants, marks.lines,
                        marks.epochs, marks.confirms, ids, collection, marks.count());
                return;
            }
        }
        to.send(*finish_, marks.keys, marks.ids, marks.participants, marks.lines, marks.epochs,
                marks.confirms, collection, marks.count());
    }
    /// Queues a statement that fails with a wrong count if a record has a mark.
    void send_unmarked(connection& to, std::string_view collection, array const& keys) const {
        to.send(*unmarked_, keys, collection);
    }

    /// The marks of some collections after a mark, in the order of collection and key.
    /// Errors:  throws settle::failure
    [[nodiscard]] std::vector<mark_locator>
    read(pool& from, std::span<collection_descriptor const* const> collections,
         std::optional<mark_locator> const& after, std::size_t limit) const;

private:
    statement const* new_;
    statement const* raise_;
    statement const* pull_;
    statement const* finish_;
    statement const* finish_at_ = nullptr; ///< finds marks by their places
    statement const* unmarked_;
    statement const* page_;
    mutable mark_places places_{};
};

template <typename Sql>
mark_table<Sql>::mark_table(pool& from) {
    auto const table = dialect::table_name(from, "settle_mark");
    auto const key = dialect::name("key");
    using types = std::vector<parameter_type>;
    types const added{text_array, text_array, integer_array, integer_array, integer_array,
                      text_array, text_array, text_array,    text_array,    text_value};
    new_ = &from.prepare(
        dialect::insert(table,
                        key + ", id, participant, line, epoch, effect, confirm, " +
                            dialect::name("undo") + ", image, collection",
                        "w.c0, w.c1, w.c2, w.c3, w.c4, w.c5, w.c6, w.c7, w.c8, $10", added, "") +
            std::string{dialect::giving_places},
        added, "add marks");
    auto const of_collection = [](std::string const& name, int number) {
        return name + ".collection = $" + std::to_string(number);
    };
    auto const keys_of = [&](std::string const& name) {
        return assignments{{name + "." + key, "w.c0"}, {name + ".id", "w.c1"}};
    };
    auto const parts_of = [](std::string const& name) {
        return assignments{{name + ".participant", "w.c2"}, {name + ".line", "w.c3"}};
    };
    types const raised{text_array,    text_array,    integer_array,
                       integer_array, integer_array, text_value};
    raise_ = &dialect::prepare_exact(from,
                                     dialect::update_found(table, "m", {{"epoch", "w.c4"}}, raised,
                                                           of_collection("m", 6), keys_of("m"),
                                                           parts_of("m")),
                                     raised, "raise marks");
    auto const erased = dialect::erased_name(table, "m");
    types const pulled{text_array, text_array, integer_array, integer_array, text_value};
    pull_ = &dialect::prepare_exact(from,
                                    dialect::erase_found(table, erased, pulled,
                                                         of_collection(erased, 5), keys_of(erased),
                                                         parts_of(erased)),
                                    pulled, "pull marks");
    types const finished{text_array,    text_array, integer_array, integer_array,
                         integer_array, text_array, text_value};
    auto checked = parts_of(erased);
    checked.emplace_back(erased + ".epoch", "w.c4");
    checked.emplace_back("coalesce(" + erased + ".confirm, '')", "coalesce(w.c5, '')");
    finish_ = &dialect::prepare_exact(
        from,
        dialect::erase_found(table, erased, finished,
                             of_collection(erased, 7) + " AND " + erased + ".effect = 'add'",
                             keys_of(erased), checked),
        finished, "pull marks");
    if constexpr (dialect::has_places) {
        auto at_place = finished;
        at_place.insert(at_place.end() - 1, text_array);
        auto const keys = keys_of(erased);
        checked.insert(checked.end(), keys.begin(), keys.end());
        checked.emplace_back(erased + ".collection", "$8");
        checked.emplace_back(erased + ".effect", "'add'");
        auto condition = dialect::is_at(erased, "w.c6");
        // By an index, the server might read all marks of the collection for each mark.
        for (auto const& [column, value] : checked) {
            condition.append(" AND ").append(column).append(" IS NOT DISTINCT FROM ").append(value);
        }
        finish_at_ = &dialect::prepare_exact(
            from, dialect::erase(table, erased, at_place, condition), at_place, "pull marks");
    }
    types const keys{text_array, text_value};
    unmarked_ =
        &dialect::prepare_absent(from, keys, table, "m", "m." + key, "w.c0", "m.collection = $2");
    page_ = &from.prepare(dialect::page_of_marks(table),
                          {text_array, text_value, text_value, text_value, integer_value,
                           integer_value, integer_value},
                          "read marks");
}

template <typename Sql>
std::vector<mark_locator>
mark_table<Sql>::read(pool& from, std::span<collection_descriptor const* const> collections,
                      std::optional<mark_locator> const& after, std::size_t limit) const {
    array names = array::texts();
    for (auto const* const collection : collections) names.add(collection->name);
    mark_locator const start = after.value_or(mark_locator{{}, std::string{}, {}, {}, 0});
    mark_key const key{view_of(start.key)};
    std::vector<mark_locator> marks;
    auto session = from.take();
    auto const number = session->send(*page_, names, start.collection, key.text(), start.id,
                                      std::int64_t{start.part.participant},
                                      std::int64_t{start.part.line}, limit_of(limit));
    session->sync();
    for_each_row(session->result(number), [&](typename Sql::row const& mark) {
        restore_key(marks.emplace_back(read_locator(mark)), collections);
    });
    return marks;
}

} // namespace detail::sql
SETTLE_END
