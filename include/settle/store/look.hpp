// SPDX-License-Identifier: BSL-1.0
// A look of a store at records: each with all its marks.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/store/any_record.hpp>
#include <settle/store/log_hold.hpp>
#include <settle/store/session_moment.hpp>

#include <map>

SETTLE_BEGIN

/// A record at which a store is to look.
struct looked_record {
    void const* target = nullptr; ///< part_descriptor::target of its collection
    part_key key{};               ///< valid during the call
};

/// What a store is asked for.
struct look_request {
    std::span<looked_record const> records{};
    bool with_entries = false; ///< the look may be at the log, too: it is of the same database
    log_hold* hold = nullptr;  ///< of the same database, if there is one
    /// With the entries: also those of these transactions.
    std::span<transaction_id const> ids{};
    /// The targets of collections of which each record and each mark is looked at.
    std::span<void const* const> collections{};
    /// If there is one, a store that can read as of an earlier moment calls it once, and reads as
    /// of a moment before the call. Another store need not call it.
    detail::function_view<void()> const* at_moment = nullptr;
    /// If there is one, a store whose server answers may call it once, before it waits for the
    /// answer: other servers are asked meanwhile.
    detail::function_view<void()> const* while_asked = nullptr;
};

/// What a look has seen.
struct store_look {
    /// Each record, if there is one, and all its marks: in one atomic read, in the request's order.
    /// Then those of the collections.
    std::vector<record_slot<detail::any_record>> slots{};
    /// For each collection, the number of slots up to its end. Its slots have no order.
    std::vector<std::size_t> ends{};
    bool is_of_one_moment = true; ///< all of them are in one atomic read
    bool has_entries = false;     ///< the same atomic read was at the log, too
    /// Then: the entries of the marks and ids, without those of which there is none.
    std::map<transaction_id, standing> entries{};
    /// For each record of the request a number that differs after each change of its value while
    /// the session with the server lasts; nothing for a record that does not exist. Empty if the
    /// store has none.
    std::vector<std::optional<std::uint64_t>> versions{};
    session_moment session = 0; ///< with versions: when that session began
};

namespace detail {

template <typename Key>
[[nodiscard]] part_key key_of_value(Key const& key) {
    if constexpr (std::is_same_v<Key, std::string>) return std::string_view{key};
    else return to_integer(key);
}

} // namespace detail

/// A record and its marks without their C++ type.
template <Described Record>
[[nodiscard]] record_slot<detail::any_record> without_type(record_slot<Record> const& typed) {
    using detail::any_record;
    auto const& descriptor = detail::descriptor_of_record<Record>;
    record_slot<any_record> slot;
    if (typed.record) slot.record.emplace(descriptor, &*typed.record);
    for (auto const& from : typed.marks) {
        mark<any_record> copy{from.id, from.part, from.epoch_number};
        copy.confirm_delta.assign(from.confirm_delta.begin(), from.confirm_delta.end());
        copy.undo_delta.assign(from.undo_delta.begin(), from.undo_delta.end());
        if (from.is_exclusive()) {
            auto const& effect = *from.exclusive;
            copy.exclusive =
                std::make_shared<exclusive_effect<any_record>>(exclusive_effect<any_record>{
                    any_record{descriptor, &effect.undone},
                    any_record{descriptor, &effect.confirmed}, effect.undo_fields,
                    effect.confirm_fields, effect.created, effect.erases, effect.image});
        }
        slot.marks.insert(std::move(copy));
    }
    return slot;
}

SETTLE_END
