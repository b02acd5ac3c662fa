// SPDX-License-Identifier: BSL-1.0
// A record that a wave meets: its state when read, and the changes to write.
#pragma once

#include <settle/mongodb/bare_mark.hpp>
#include <settle/mongodb/conditional_update.hpp>
#include <settle/store/wave.hpp>

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
    bool ends = false;                ///< an operation ends a transaction here
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

    /// Reads a bare mark of the caller's transaction; returns why it cannot.
    using bare_reader = settle::detail::function_view<std::string(mark<record_type>&)>;

    /// Turns a bare mark of the operation's transaction into a mark of settle. True when other bare
    /// marks stay: their effects are unknown, so a new effect is busy.
    /// Errors:  throws errc::damaged where the mark cannot be ended
    bool take_bare_mark(transaction_id const& id, part_number part, bare_reader read_bare) {
        if (has_bare(id)) {
            auto taken = take_bare(id, false, read_bare);
            bare_replaced = true;
            if (slot.marks.find(id, part) == nullptr) slot.marks.insert(std::move(taken));
            // The other program's late write has taken effect a second time.
            else undo(taken);
        }
        return !bare.empty();
    }

    /// Pulls a bare mark that its transaction left behind.
    /// Shape:   stands - an assigned value stays, as the transaction committed it; an added amount
    ///          came too late in any case
    [[nodiscard]] answer pull_bare(transaction_id const& id, bool stands, bare_reader read_bare) {
        if (!fault.empty()) throw failure(fault);
        if (!has_bare(id)) return answer::nothing;
        auto const taken = take_bare(id, stands, read_bare);
        if (!taken.is_exclusive() || !stands) undo(taken);
        rewritten = true;
        return answer::applied;
    }

private:
    [[nodiscard]] bool has_bare(transaction_id const& id) const {
        return std::find(bare.begin(), bare.end(), id) != bare.end();
    }

    mark<record_type> take_bare(transaction_id const& id, bool stands, bare_reader read_bare) {
        mark<record_type> taken;
        auto problem = read_bare(taken);
        bool const alone = std::all_of(bare.begin(), bare.end(),
                                       [&](std::string const& one) { return one == id; });
        if (taken.is_exclusive() && !alone) {
            problem = "other transactions of those programs have left marks there, too, so nobody "
                      "can say which value was there before";
        }
        if (!problem.empty() && !stands) {
            throw failure({make_error_code(errc::damaged),
                           "settle: " + name() + " has a mark of the transaction '" +
                               id + "' of another program: " + problem +
                               ". Finish it by hand. See mongodb#coming-from-the-tutorial"});
        }
        // A repeated assignment has one effect; each repeated addition has its own mark.
        if (taken.is_exclusive()) std::erase(bare, id);
        else bare.erase(std::find(bare.begin(), bare.end(), id));
        return taken;
    }

    /// Undoes the effect of a bare mark that was removed from the list.
    void undo(mark<record_type> const& taken) {
        auto const member = member_out_of_range(*slot.record, taken.undo_delta);
        if (!member.empty()) {
            throw failure(damaged("it would take '" + std::string{member} + "' out of its range "
                                  "to undo a mark of another program"));
        }
        record_answer<record_type> ended;
        settle::detail::end_mark(slot.record, taken, false, ended);
        changed |= ended.fields;
        rewritten = true;
    }
};

} // namespace mongodb::detail
SETTLE_END
