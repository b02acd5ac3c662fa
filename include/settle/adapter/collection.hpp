// SPDX-License-Identifier: BSL-1.0
// A collection without its C++ types. The code of an adapter that reads and writes records is
// compiled once.
#pragma once

#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace detail {

struct collection_descriptor {
    void const* target; ///< as in part_descriptor
    std::string_view name;
    std::size_t key; ///< the member that is the key
    bool text_key;
    record_descriptor const* record;

    [[nodiscard]] std::span<member_descriptor const> members() const noexcept {
        return record->members;
    }
    /// The key that a record holds.
    [[nodiscard]] part_key key_of(void const* of) const {
        void const* const value = record->member(const_cast<void*>(of), key);
        member_access const& access = *members()[key].access;
        if (text_key) return access.text(value);
        return access.integer(value);
    }
};

template <typename Collection>
consteval collection_descriptor describe_collection() {
    static_assert(places_of<Collection::key_member>() < 0,
                  "settle: a key is no decimal. See mongodb#decimals");
    return {&target_tag<Collection>, Collection::name,
            member_index<typename Collection::record_type, Collection::key_member>,
            std::is_same_v<typename Collection::key_type, std::string>,
            &descriptor_of_record<typename Collection::record_type>};
}
template <typename Collection>
inline constexpr collection_descriptor descriptor_of_collection = describe_collection<Collection>();

/// The key as an owned value.
[[nodiscard]] inline key_value owned(part_key const& key) {
    if (auto const* const text = std::get_if<std::string_view>(&key)) return std::string{*text};
    return std::get<std::int64_t>(key);
}
[[nodiscard]] inline part_key view_of(key_value const& key) {
    if (auto const* const text = std::get_if<std::string>(&key)) return std::string_view{*text};
    return std::get<std::int64_t>(key);
}
[[nodiscard]] inline std::uint64_t hash_of(part_key const& key) {
    return std::visit(
        []<typename Key>(Key const& value) { return hash_mix(0, std::hash<Key>{}(value)); }, key);
}

/// The name of a member whose range a delta would leave; empty if every sum fits.
/// Shape:   deltas - one for each integer member
[[nodiscard]] std::string_view member_out_of_range(record_descriptor const& descriptor,
                                                   void* record,
                                                   std::span<std::int64_t const> deltas);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/collection.ipp>
#endif
