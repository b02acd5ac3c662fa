// SPDX-License-Identifier: BSL-1.0
// The records of one collection in their table: meets operations, reads, creates, scans.
#pragma once

#include <settle/sqlite/mark_table.hpp>
#include <settle/sqlite/record_sql.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Statements of the writer's connection. The caller holds its mutex and a native transaction.
template <typename Collection>
class record_table {
public:
    using record_type = typename Collection::record_type;
    using key_type = key_view<Collection>;
    using slot_type = record_slot<record_type>;

    /// Shape:   need - the table is there and has been checked
    record_table(connection const& on, table_need need)
        : on_(&on), sql_(std::move(need)), select_(on, sql_.select(), "read a record"),
          whole_(on, sql_.select_whole(), "read a whole row"),
          insert_(on, sql_.insert(), "create a record"),
          erase_(on, sql_.erase(), "erase a record"), marks_(on) {}

    /// Lets an operation meet its record, and writes what that changed.
    /// Errors:  throws settle::failure; the caller undoes what was written
    template <typename Operation>
    met<record_type> meet(Operation const& one) {
        auto const key = one.key();
        slot_type slot;
        if constexpr (Operation::what == step::apply) {
            load(key, slot);
            marks_.load_all(key, slot);
        } else {
            // To finish or undo a part, its own mark is enough, however many others there are.
            load_own(key, one.id(), one.part(), slot);
        }
        auto const result = one.meet(slot, [&] { return image_of(key); });
        if constexpr (Operation::what == step::apply) {
            using intent = std::remove_cvref_t<decltype(one.intent())>;
            if constexpr (intent::creates) {
                if (result.on_record == record_change::created) {
                    // A reversal brings a record back with all its columns.
                    create_from(one.intent().native_image(), *slot.record);
                    write_mark(result, slot, key, one.id(), one.part());
                    return result;
                }
            }
        }
        write(result, slot, key, one.id(), one.part());
        return result;
    }

    /// Ends one mark, when it still has this epoch.
    answer resolve(mark_place const& place, bool confirmed) {
        using stored_key = std::conditional_t<std::is_same_v<key_type, std::string_view>,
                                              std::string, std::int64_t>;
        auto const* const stored = std::get_if<stored_key>(&place.key);
        if (stored == nullptr) return answer::nothing;
        key_type const key{*stored};
        slot_type slot;
        load_own(key, place.id, place.part, slot);
        auto* const found = slot.marks.find(place.id, place.part);
        if (found == nullptr || found->epoch_number != place.epoch_number) return answer::nothing;
        auto const result = settle::detail::resolve(slot, found, confirmed);
        write(result, slot, key, place.id, place.part);
        return result.what;
    }

    /// False when the key is taken, by a record or by a mark.
    bool create(record_type const& record) {
        slot_type slot;
        key_type const key{record.*Collection::key_member};
        load(key, slot);
        if (slot.record || marks_.any(key)) return false;
        insert(record);
        return true;
    }

private:
    void load(key_type const& key, slot_type& slot) const {
        run row{select_, key};
        if (row.next()) read_record<Collection>(row, 0, slot.record.emplace());
    }

    void load_own(key_type const& key, transaction_id const& id, part_number part,
                  slot_type& slot) const {
        marks_.load_one(key, id, part, slot, [&](slot_type& into) { load(key, into); });
    }

    /// The whole row as JSON, as any program may have written it.
    [[nodiscard]] std::string image_of(key_type const& key) const {
        run row{whole_, key};
        std::string out;
        if (!row.next()) return out;
        for (int column = 0; column < row.columns(); ++column) {
            out += column == 0 ? '{' : ',';
            append_json_text(out, row.name(column));
            out += ':';
            append_native(out, read_native_column(row, column));
        }
        return out += '}';
    }

    void write(met<record_type> const& result, slot_type& slot, key_type const& key,
               transaction_id const& id, part_number part) {
        switch (result.on_record) {
        case record_change::none: break;
        case record_change::fields: update(*slot.record, key, result.fields); break;
        case record_change::created: insert(*slot.record); break;
        case record_change::erased: changed_one(run{erase_, key}.change()); break;
        }
        write_mark(result, slot, key, id, part);
    }

    void write_mark(met<record_type> const& result, slot_type& slot, key_type const& key,
                    transaction_id const& id, part_number part) const {
        switch (result.on_mark) {
        case mark_change::none: break;
        case mark_change::added: marks_.insert(key, *slot.marks.find(id, part)); break;
        case mark_change::raised: marks_.raise(key, *slot.marks.find(id, part)); break;
        case mark_change::pulled: marks_.erase(key, id, part); break;
        }
    }

    void insert(record_type const& record) const {
        run row{insert_};
        for_each_member<record_type>(
            [&](auto m) { bind_field(row, record.*decltype(m)::pointer); });
        changed_one(row.change());
    }

    void update(record_type const& record, key_type const& key, std::uint64_t fields) {
        fields &= sql_.changeable();
        if (fields == 0) return;
        run row{update_of(fields)};
        for_each_member<record_type>([&](auto m) {
            if ((fields >> m.index & 1U) != 0) bind_field(row, record.*decltype(m)::pointer);
        });
        changed_one(row.bind(key).change());
    }

    /// A type's effects name a few sets of columns, each met again and again.
    statement const& update_of(std::uint64_t fields) {
        for (auto const& [known, kept] : updates_) {
            if (known == fields) return kept;
        }
        statement made{*on_, sql_.update(fields), "change a record"};
        return updates_.emplace_back(fields, std::move(made)).second;
    }

    void create_from(std::string_view image, record_type const& record) const {
        if (image.empty()) return insert(record);
        auto columns = read_image(*on_, sql_.need(), image);
        for_each_member<record_type>([&](auto m) {
            std::erase_if(columns, [&](auto const& one) { return one.first == m.name; });
        });
        statement const insert_whole{*on_, sql_.insert_with(columns), "create a record"};
        run row{insert_whole};
        for_each_member<record_type>(
            [&](auto m) { bind_field(row, record.*decltype(m)::pointer); });
        for (auto const& [name, value] : columns) bind_native(row, value);
        changed_one(row.change());
    }

    void changed_one(std::int64_t count) const {
        if (count == 1) return;
        raise(errc::unfit_store,
              "settle: a write to the table '" + std::string{Collection::name} +
                  "' changed " + std::to_string(count) +
                  " rows instead of one; has a trigger been added to it since this program began? "
                  "Remove it. README#existing-tables");
    }

    connection const* on_;
    record_sql sql_;
    statement select_;
    statement whole_;
    statement insert_;
    statement erase_;
    mark_table<Collection> marks_;
    std::vector<std::pair<std::uint64_t, statement>> updates_;
};

/// Reads the records of one collection, on the reader's connection.
template <typename Collection>
class record_reader {
public:
    using record_type = typename Collection::record_type;
    using key_type = typename Collection::key_type;

    record_reader(connection const& on, table_need need) : sql_(std::move(need)) {
        select_ = {on, sql_.select(), "read a record"};
        first_ = {on, sql_.scan(false), "read records"};
        next_ = {on, sql_.scan(true), "read records"};
    }

    [[nodiscard]] std::optional<record_type> read(key_type const& key) const {
        run row{select_, key_view<Collection>{key}};
        std::optional<record_type> found;
        if (row.next()) read_record<Collection>(row, 0, found.emplace());
        return found;
    }

    [[nodiscard]] std::vector<record_type> scan(std::optional<key_type> const& after,
                                                std::size_t limit) const {
        run rows{after ? next_ : first_};
        rows.bind(limit_of(limit));
        if (after) rows.bind(key_view<Collection>{*after});
        std::vector<record_type> found;
        while (rows.next()) read_record<Collection>(rows, 0, found.emplace_back());
        return found;
    }

private:
    record_sql sql_;
    statement select_;
    statement first_;
    statement next_;
};

} // namespace sqlite::detail
SETTLE_END
