// SPDX-License-Identifier: BSL-1.0
// A record that a wave meets, as it was read and as it is to be written.
#pragma once

#include <settle/mongodb/bare_mark.hpp>
#include <settle/mongodb/conditional_update.hpp>
#include <settle/store/wave.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

template <typename Collection>
struct desk_place {
    using record_type = typename Collection::record_type;
    using slot_type = record_slot<record_type>;
    using codec = record_codec<Collection>;
    static constexpr bool has_text_key = std::is_same_v<typename Collection::key_type, std::string>;
    using stored_key = std::conditional_t<has_text_key, std::string, std::int64_t>;

    stored_key key{};
    slot_type slot{};
    std::optional<document> found{};  ///< as it was read
    std::optional<conditional_update> conditional{}; ///< what is written instead of reading it
    error fault{};                    ///< why it cannot be used
    std::uint64_t changed = 0;        ///< members that are to be written
    std::vector<mark_place> added{};  ///< marks that are new
    std::vector<mark_place> pulled{}; ///< marks that are gone
    bool rewritten = false;           ///< a mark has changed where it is
    bool ends = false;                ///< a transaction is to be ended here
    bool held = false;                ///< what was only looked at must stay as it is
    std::string image{};              ///< of which it was made again
    std::vector<std::string> bare{};  ///< marks of other programs that no operation has met
    bool bare_met = false;            ///< one of them has become a mark of settle's

    static void append_key(document& to, std::string_view name, stored_key const& key) {
        if constexpr (has_text_key) to.text(name, key);
        else to.integer(name, key);
    }

    /// As an error calls it.
    [[nodiscard]] std::string name() const {
        std::string shown;
        if constexpr (has_text_key) shown = key;
        else shown = std::to_string(key);
        return "the record '" + shown + "' of '" + std::string{Collection::name} + "'";
    }

    [[nodiscard]] error damaged(std::string const& problem) const {
        return {make_error_code(errc::damaged), "settle: " + name() + " cannot be used: " +
                                                    problem +
                                                    ". Repair the document. README#damaged"};
    }

    [[nodiscard]] bool is_changed() const noexcept {
        return changed != 0 || rewritten || !added.empty() || !pulled.empty();
    }

    /// What finds its document.
    /// Shape:   key_field - the field of the key; alone - nothing can have changed it since it was
    ///          read; otherwise everything that the rule has looked at must be as it was
    [[nodiscard]] document filter(std::string_view key_field, bool alone) const {
        document made;
        append_key(made, key_field, key);
        // A field of the layout's may be an array in another document, which the key matches, too.
        if (auto const id = found->find("_id"); id && key_field != "_id") made.copy("_id", *id);
        if (alone) return made;
        auto const expect_same = [&](std::string_view name) {
            document same;
            auto const value = found->find(name);
            if (value) same.copy("$eq", *value);
            else same.boolean("$exists", false);
            made.object(name, same);
        };
        for_each_member<record_type>([&](auto m) {
            if (m.index != codec::key_index) expect_same(m.name);
        });
        expect_same(marks_field);
        return made;
    }

    /// What makes the document that was read what it is now.
    [[nodiscard]] document change() const {
        document set;
        for_each_member<record_type>([&](auto m) {
            if ((changed >> m.index & 1U) == 0 || m.index == codec::key_index) return;
            constexpr auto member = decltype(m)::pointer;
            append_member<member>(set, m.name, (*slot.record).*member);
        });
        document made;
        bool const moved = !added.empty() || !pulled.empty();
        auto const marks_there = found->find(marks_field);
        bool const no_array = marks_there && marks_there->is_null();
        // To push, or to pull one, is worth the server's while where others stay.
        bool const none_stays = slot.marks.size() + bare.size() == added.size();
        bool const several = !pulled.empty() && added.size() + pulled.size() > 1;
        if (rewritten || no_array || bare_met || (moved && (none_stays || several))) {
            set.array(marks_field, codec::marks_of(slot, bare_marks_of(*found, bare)));
        } else if (!added.empty()) {
            document marks;
            std::size_t number = 0;
            for (mark_place const& one : added) {
                marks.object_at(number++, encode_mark(*slot.marks.find(one.id, one.part)));
            }
            document each;
            each.array("$each", marks);
            made.object("$push", only(marks_field, each));
        } else if (!pulled.empty()) {
            mark_place const& one = pulled.front();
            made.object("$pull", only(marks_field, mark_key(one.id, one.part)));
        }
        if (!set.empty()) made.object("$set", set);
        return made;
    }
};

} // namespace mongodb::detail
SETTLE_END
