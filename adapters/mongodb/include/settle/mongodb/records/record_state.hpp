// SPDX-License-Identifier: BSL-1.0
// A record that a wave meets: its state when read, and the changes to write.
#pragma once

#include <settle/mongodb/records/conditional_update.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// The bare marks of a document, in their stored form.
/// Shape:   ids - of their transactions
[[nodiscard]] inline std::vector<value_view> bare_marks_of(document const& stored,
                                                           std::vector<std::string> ids) {
    std::vector<value_view> marks_kept;
    auto const marks = stored.find(marks_field);
    if (!marks || ids.empty()) return marks_kept;
    marks->for_each([&](value_view const& value) {
        auto const id = value.id();
        auto const position = id ? std::find(ids.begin(), ids.end(), *id) : ids.end();
        if (position == ids.end()) return true;
        marks_kept.push_back(value);
        // An id that is stored twice is two marks.
        ids.erase(position);
        return true;
    });
    return marks_kept;
}

struct record_state {
    record_state(record_descriptor const& descriptor, part_key const& of_record)
        : key(settle::detail::owned(of_record)), slot(descriptor) {}

    key_value key;
    any_slot slot;
    std::optional<document> stored{};                ///< the document when read
    std::optional<conditional_update> conditional{}; ///< a write that needs no read
    error fault{};                                   ///< why the record cannot be used
    std::uint64_t changed = 0;                       ///< members to write
    std::vector<mark_locator> added{};               ///< new marks
    std::vector<mark_locator> pulled{};              ///< marks to pull
    bool rewritten = false;                          ///< an existing mark has changed
    bool ends = false;                               ///< a part of a transaction ends here
    bool must_stay = false;          ///< one phase relied on the record: lock it until the commit
    std::string image{};             ///< the image from which the record was recreated
    std::vector<std::string> bare{}; ///< unread bare marks of other programs
    bool bare_replaced = false;      ///< a bare mark has become a mark of settle

    [[nodiscard]] bool is_changed() const noexcept {
        return changed != 0 || rewritten || !added.empty() || !pulled.empty();
    }
    void note_mark(mark_change change, transaction_id const& id, part_number part) {
        if (change == mark_change::raised) rewritten = true;
        if (change == mark_change::none || change == mark_change::raised) return;
        mark_locator const where{{}, {}, id, part, 0};
        if (change == mark_change::added) {
            added.push_back(where);
            return;
        }
        // A mark that was added and pulled in this unit of work was never in the document.
        auto const came = std::find(added.begin(), added.end(), where);
        if (came != added.end()) added.erase(came);
        else pulled.push_back(where);
    }

    /// The filter that matches the document.
    /// Shape:   alone - the document cannot have changed since its read; otherwise the filter
    ///          compares everything that the record rule used
    [[nodiscard]] document filter(record_codec const& codec, bool alone) const {
        document condition;
        auto const& layout = codec.layout();
        if (layout.any_keys) condition.copy(layout.key, *stored->find(layout.key));
        else append_key(condition, layout.key, settle::detail::view_of(key));
        // In another document a field of the layout may be an array, which the key matches, too.
        if (auto const id = stored->find("_id"); id && layout.key != "_id")
            condition.copy("_id", *id);
        if (alone) return condition;
        auto const expect_same = [&](std::string_view name) {
            document same;
            auto const value = stored->find(name);
            if (value) same.copy("$eq", *value);
            else same.boolean("$exists", false);
            condition.object(name, same);
        };
        for (std::size_t at = 0; at < codec.size(); ++at) {
            if (!codec.is_key(at)) expect_same(codec.name_of(at));
        }
        expect_same(marks_field);
        return condition;
    }

    /// The update that turns the document read into the current record.
    [[nodiscard]] document change(record_codec const& codec) const {
        document set;
        for (std::size_t at = 0; at < codec.size(); ++at) {
            if ((changed >> at & 1U) != 0 && !codec.is_key(at))
                codec.append(set, slot.record(), at);
        }
        document update;
        bool const moved = !added.empty() || !pulled.empty();
        auto const marks_there = stored->find(marks_field);
        bool const no_array = marks_there && marks_there->is_null();
        // Pushing or pulling a single mark is cheaper for the server where other marks stay.
        bool const none_stays = slot.count_marks() + bare.size() == added.size();
        bool const several = !pulled.empty() && added.size() + pulled.size() > 1;
        if (rewritten || no_array || bare_replaced || (moved && (none_stays || several))) {
            set.array(marks_field, codec.marks_of(slot, bare_marks_of(*stored, bare)));
        } else if (!added.empty()) {
            document marks;
            std::size_t number = 0;
            for (mark_locator const& one : added) {
                marks.object_at(number++,
                                encode_mark(*codec.of().record, *slot.find(one.id, one.part)));
            }
            document each;
            each.array("$each", marks);
            update.object("$push", only(marks_field, each));
        } else if (!pulled.empty()) {
            mark_locator const& one = pulled.front();
            update.object("$pull", only(marks_field, mark_key(one.id, one.part)));
        }
        if (!set.empty()) update.object("$set", set);
        return update;
    }
};

} // namespace mongodb::detail
SETTLE_END
