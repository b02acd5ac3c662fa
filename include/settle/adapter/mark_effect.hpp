// SPDX-License-Identifier: BSL-1.0
// The effect of a mark, as every store keeps it: the name of the effect, the members that a confirm
// changes, the members that an undo changes, and perhaps an image.
//
//   effect   confirm              undo                  image
//   add      {balance: 100}       {balance: -100}                  added numbers
//   set      {paid: true}         {paid: false}         {…}        assigned values
//   create   {…}                  {…}                              an undo erases the record
//   erase                         {…}                   {…}        a confirm erases the record
#pragma once

#include <settle/adapter/any_slot.hpp>

SETTLE_BEGIN
namespace detail {

inline constexpr std::string_view effect_names[]{"add", "set", "create", "erase",
                                                 "create and erase"};

[[nodiscard]] std::string_view effect_of(mark_view const& from);

/// Calls a function for each member that a confirm or an undo of a mark changes.
/// Shape:   sum(at, delta) - of a mark that adds; value(at, pointer) - of any other mark;
///          at - the number of the member
template <typename Sum, typename Value>
void for_each_change(record_descriptor const& descriptor, mark_view const& from, bool confirms,
                     Sum&& sum, Value&& value) {
    auto const& held = from.exclusive;
    auto const deltas = confirms ? from.confirm : from.undo;
    auto const fields = confirms ? held.confirm_fields : held.undo_fields;
    void* const record = const_cast<void*>(confirms ? held.confirmed : held.undone);
    for (std::size_t index = 0; index < descriptor.members.size(); ++index) {
        auto const position = descriptor.members[index].integer;
        if (from.is_exclusive) {
            if ((fields >> index & 1U) != 0) value(index, descriptor.member(record, index));
        } else if (position != member_descriptor::no_integer && deltas[position] != 0) {
            sum(index, deltas[position]);
        }
    }
}

/// The members that a confirm or an undo changes, for a codec that reads them.
class effect_side {
public:
    effect_side(record_descriptor const& descriptor, std::vector<std::int64_t>& deltas)
        : of_(&descriptor), deltas_(&deltas) {
        deltas.assign(descriptor.integers, 0);
    }
    effect_side(record_descriptor const& descriptor, void* record, std::uint64_t& fields)
        : of_(&descriptor), record_(record), fields_(&fields) {}

    /// The number of a member; empty if the record has no such member.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
        return of_->find(name);
    }
    [[nodiscard]] member_descriptor const& member(std::size_t index) const {
        return of_->members[index];
    }
    [[nodiscard]] bool adds() const noexcept { return deltas_ != nullptr; }
    /// The delta of a member; null if nothing can be added to the member.
    [[nodiscard]] std::int64_t* delta(std::size_t index) const {
        auto const position = of_->members[index].integer;
        return position == member_descriptor::no_integer ? nullptr : &(*deltas_)[position];
    }
    /// The new value of a member.
    [[nodiscard]] void* value(std::size_t index) const {
        *fields_ |= std::uint64_t{1} << index;
        return of_->member(record_, index);
    }

private:
    record_descriptor const* of_;
    std::vector<std::int64_t>* deltas_ = nullptr;
    void* record_ = nullptr;
    std::uint64_t* fields_ = nullptr;
};

/// Reads the effect of a mark.
/// Shape:   effect - the stored name; record - the record under the mark, or null: an exclusive
///          effect keeps only the members that it changes, and no other transaction changes the
///          rest while the mark is there; read(confirms, effect_side) - reads one side, and
///          returns false where it failed
/// Returns: false for an unknown name, and if a side failed
template <typename Read>
[[nodiscard]] bool read_effect(record_descriptor const& descriptor, std::string_view effect,
                               std::string_view image, void const* record, mark_data& into,
                               Read&& read) {
    auto const* const end = std::end(effect_names);
    auto const* const name = std::find(std::begin(effect_names), end, effect);
    if (name == end) return false;
    if (name == effect_names) {
        return read(true, effect_side{descriptor, into.confirm}) &&
               read(false, effect_side{descriptor, into.undo});
    }
    exclusive_draft draft = draft_exclusive(descriptor, record);
    *draft.created = effect.starts_with("create");
    *draft.erases = effect.ends_with("erase");
    *draft.image = image;
    into.exclusive = std::move(draft.effect);
    return read(true, effect_side{descriptor, draft.confirmed, *draft.confirm_fields}) &&
           read(false, effect_side{descriptor, draft.undone, *draft.undo_fields});
}

/// The name of a member whose range a confirm or an undo of a mark would leave; empty if every sum
/// fits. Escrow permits no such mark: another program changed the mark or its record.
[[nodiscard]] std::string_view member_out_of_range(record_descriptor const& descriptor,
                                                   void* record, mark_data const& added);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/mark_effect.ipp>
#endif
