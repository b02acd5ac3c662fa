// SPDX-License-Identifier: BSL-1.0
// A record that a wave meets: its state when read, and the changes to write.
#pragma once

#include <settle/mongodb/bare_mark.hpp>
#include <settle/mongodb/conditional_update.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

template <typename Collection>
struct record_state {
    using record_type = typename Collection::record_type;
    using slot_type = record_slot<record_type>;
    using codec = record_codec<Collection>;
    static constexpr bool has_text_key = std::is_same_v<typename Collection::key_type, std::string>;
    using stored_key = std::conditional_t<has_text_key, std::string, std::int64_t>;

    stored_key key{};
    slot_type slot{};
    std::optional<document> found{};  ///< the document when read
    std::optional<conditional_update> conditional{}; ///< a write that needs no read
    error fault{};                    ///< why the record cannot be used
    std::uint64_t changed = 0;        ///< members to write
    std::vector<mark_locator> added{};  ///< new marks
    std::vector<mark_locator> pulled{}; ///< marks to pull
    bool rewritten = false;           ///< an existing mark has changed
    bool ends = false;                ///< a part of a transaction ends here
    bool held = false;                ///< the record was only checked, and must stay unchanged
    std::string image{};              ///< the image from which the record was recreated
    std::vector<std::string> bare{};  ///< unread bare marks of other programs
    bool bare_replaced = false;            ///< a bare mark has become a mark of settle

    static void append_key(document& to, std::string_view name, stored_key const& key) {
        if constexpr (has_text_key) to.text(name, key);
        else to.integer(name, key);
    }

    /// The record's name in an error.
    [[nodiscard]] std::string name() const {
        std::string shown;
        if constexpr (has_text_key) shown = key;
        else shown = std::to_string(key);
        return "the record '" + shown + "' of '" + std::string{Collection::name} + "'";
    }

    [[nodiscard]] error damaged(std::string const& problem) const {
        return {make_error_code(errc::damaged), "settle: " + name() + " cannot be used: " +
                                                    problem +
                                                    ". Repair the document. See errors#damaged"};
    }

    [[nodiscard]] bool is_changed() const noexcept {
        return changed != 0 || rewritten || !added.empty() || !pulled.empty();
    }

    /// The filter that matches the document.
    /// Shape:   alone - the document cannot have changed since its read; otherwise the filter
    ///          compares everything that the record rule used
    [[nodiscard]] document filter(record_layout const& layout, bool alone) const {
        document made;
        if (layout.any_keys) made.copy(layout.key, *found->find(layout.key));
        else append_key(made, layout.key, key);
        // In another document a field of the layout may be an array, which the key matches, too.
        if (auto const id = found->find("_id"); id && layout.key != "_id") made.copy("_id", *id);
        if (alone) return made;
        auto const expect_same = [&](std::string_view name) {
            document same;
            auto const value = found->find(name);
            if (value) same.copy("$eq", *value);
            else same.boolean("$exists", false);
            made.object(name, same);
        };
        for_each_member<record_type>([&](auto m) {
            if (m.index != codec::key_index) expect_same(layout.field_of(m.name));
        });
        expect_same(marks_field);
        return made;
    }

    /// The update that turns the document read into the current record.
    [[nodiscard]] document change(record_layout const& layout) const {
        document set;
        for_each_member<record_type>([&](auto m) {
            if ((changed >> m.index & 1U) == 0 || m.index == codec::key_index) return;
            constexpr auto member = decltype(m)::pointer;
            auto const field = layout.field_of(m.name);
            append_member<member>(set, field, (*slot.record).*member);
        });
        document made;
        bool const moved = !added.empty() || !pulled.empty();
        auto const marks_there = found->find(marks_field);
        bool const no_array = marks_there && marks_there->is_null();
        // Pushing or pulling a single mark is cheaper for the server where other marks stay.
        bool const none_stays = slot.marks.size() + bare.size() == added.size();
        bool const several = !pulled.empty() && added.size() + pulled.size() > 1;
        if (rewritten || no_array || bare_replaced || (moved && (none_stays || several))) {
            set.array(marks_field, codec::marks_of(slot, bare_marks_of(*found, bare)));
        } else if (!added.empty()) {
            document marks;
            std::size_t number = 0;
            for (mark_locator const& one : added) {
                marks.object_at(number++, encode_mark(*slot.marks.find(one.id, one.part)));
            }
            document each;
            each.array("$each", marks);
            made.object("$push", only(marks_field, each));
        } else if (!pulled.empty()) {
            mark_locator const& one = pulled.front();
            made.object("$pull", only(marks_field, mark_key(one.id, one.part)));
        }
        if (!set.empty()) made.object("$set", set);
        return made;
    }
};

} // namespace mongodb::detail
SETTLE_END
