// SPDX-License-Identifier: BSL-1.0
// The records of one collection in their table: meets operations, reads, creates, scans.
#pragma once

#include <settle/sqlite/mark_table.hpp>
#include <settle/sqlite/record_sql.hpp>
#include <settle/store/hash_index.hpp>

#include <array>
#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Statements of the writer's connection, and the records that operations have met: in a native
/// transaction each is read at most once and written at most once, however many operations meet it,
/// and it need not be read again in the next one when nobody else has written meanwhile. The caller
/// holds the writer's mutex and a native transaction.
template <typename Collection>
class record_table {
public:
    using record_type = typename Collection::record_type;
    using key_type = key_view<Collection>;
    using slot_type = record_slot<record_type>;
    using stored_key = std::conditional_t<std::is_same_v<key_type, std::string_view>, std::string,
                                          std::int64_t>;

    /// Shape:   need - the table is there and has been checked
    record_table(connection const& on, table_need need)
        : on_(&on), sql_(std::move(need)), select_(on, sql_.select(), "read a record"),
          whole_(on, sql_.select_whole(), "read a whole row"),
          insert_(on, sql_.insert(), "create a record"),
          erase_(on, sql_.erase(), "erase a record"), marks_(on) {}

    /// Begins a native transaction, or a part of it after another part was undone.
    /// Shape:   unchanged - what was met before still stands as it was met
    void begin(bool unchanged) {
        marked_.reset();
        dirty_.clear();
        if (unchanged && desk_.size() < most_on_desk) return;
        desk_.clear();
        index_.clear();
    }

    /// Lets an operation meet its record. Its mark is written now, its record by write_back().
    /// Errors:  throws settle::failure; the caller undoes what was written
    template <typename Operation>
    met<record_type> meet(Operation const& one) {
        place& at = place_of(one.key());
        bool constexpr applies = Operation::what == step::apply || Operation::what == step::at_once;
        if constexpr (applies) load_all(at);
        // To finish or undo a part, its own mark is enough, however many others there are.
        else load_own(at, one.id(), one.part());
        auto const result = one.meet(at.slot, [&] {
            write_back(at);
            return image_of(at.key);
        });
        note<Operation>(one, result, at);
        if constexpr (Operation::what != step::at_once) {
            write_mark(result, at.slot, at.key, one.id(), one.part());
        }
        return result;
    }

    /// Ends an operation that was met in this native transaction, at once.
    template <typename Operation>
    void end_at_once(Operation const& one, bool confirmed) {
        place& at = place_of(one.key());
        note<Operation>(one, one.end_at_once(at.slot, confirmed), at);
    }

    /// Writes the records that operations have changed.
    void write_back() {
        for (auto const number : dirty_) write_back(desk_[number]);
        dirty_.clear();
    }

    /// Ends one mark, when it still has this epoch.
    answer resolve(mark_place const& where, bool confirmed) {
        auto const* const stored = std::get_if<stored_key>(&where.key);
        if (stored == nullptr) return answer::nothing;
        key_type const key{*stored};
        slot_type slot;
        marks_.load_one(key, where.id, where.part, slot, [&](auto& into) { load(key, into); });
        auto* const found = slot.marks.find(where.id, where.part);
        if (found == nullptr || found->epoch_number != where.epoch_number) return answer::nothing;
        auto const result = settle::detail::resolve(slot, found, confirmed);
        if (result.on_record == record_change::fields) update(*slot.record, key, result.fields);
        if (result.on_record == record_change::erased) erase(key);
        write_mark(result, slot, key, where.id, where.part);
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
    /// A record as it stands inside the native transaction.
    struct place {
        stored_key key{};
        slot_type slot{};
        bool loaded = false;       ///< the record is what its row says
        bool knows_marks = false;  ///< all of its marks are in the slot
        std::uint64_t changed = 0; ///< members that are yet to be written
    };

    place& place_of(key_type const& key) {
        // A transaction that settles at once comes twice to each of its few records.
        for (auto const number : recent_) {
            if (number < desk_.size() && same_key(desk_[number], key)) return desk_[number];
        }
        return desk_[find_place(key)];
    }

    std::size_t find_place(key_type const& key) {
        auto const hash = settle::hash_mix(0, std::hash<key_type>{}(key));
        auto const* const known =
            index_.find(hash, [&](std::size_t number) { return same_key(desk_[number], key); });
        std::size_t const found = known == nullptr ? desk_.size() : *known;
        if (known == nullptr) {
            index_.insert(hash, found);
            desk_.emplace_back().key = stored_key(key);
        }
        recent_[next_recent_++ % recent_.size()] = found;
        return found;
    }
    static bool same_key(place const& at, key_type const& key) { return key_type(at.key) == key; }

    void load(place& at) const {
        if (!std::exchange(at.loaded, true)) load(at.key, at.slot);
    }
    void load(key_type const& key, slot_type& slot) const {
        run row{select_, key};
        if (row.next()) read_record<Collection>(row, 0, slot.record.emplace());
    }

    void load_all(place& at) {
        load(at);
        if (std::exchange(at.knows_marks, true)) return;
        at.slot.marks = {};
        if (!marked_) marked_ = marks_.any_at_all();
        if (*marked_) marks_.load_all(at.key, at.slot);
    }
    void load_own(place& at, transaction_id const& id, part_number part) {
        if (at.knows_marks || at.slot.marks.find(id, part) != nullptr) return;
        marks_.load_one(at.key, id, part, at.slot, [&](auto&) { load(at); });
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

    /// Changes of members wait for each other; a record that comes or goes does so at once.
    template <typename Operation>
    void note(Operation const& one, met<record_type> const& result, place& at) {
        switch (result.on_record) {
        case record_change::none: break;
        case record_change::fields:
            if (at.changed == 0) dirty_.push_back(static_cast<std::size_t>(&at - desk_.data()));
            at.changed |= result.fields;
            break;
        case record_change::created:
            at.changed = 0;
            // A reversal brings a record back with all its columns.
            create_from(one.intent().native_image(), *at.slot.record);
            break;
        case record_change::erased:
            at.changed = 0;
            erase(at.key);
            break;
        }
    }

    void write_back(place& at) {
        if (auto const fields = std::exchange(at.changed, 0); fields != 0) {
            update(*at.slot.record, at.key, fields);
        }
    }

    void erase(key_type const& key) const { changed_one(run{erase_, key}.change()); }

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
    static constexpr std::size_t most_on_desk = 32768; ///< records, so that memory stays bounded

    std::vector<place> desk_;
    std::vector<std::size_t> dirty_; ///< places of the desk that are yet to be written
    settle::detail::hash_index index_;
    std::array<std::size_t, 2> recent_{}; ///< the places that were found last
    std::size_t next_recent_ = 0;
    std::optional<bool> marked_; ///< whether the file held any mark when this one began
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
