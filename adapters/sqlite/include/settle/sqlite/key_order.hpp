// SPDX-License-Identifier: BSL-1.0
// The order in which a table has its records and their marks: a tree that is walked in its order
// need not be searched from its root each time.
#pragma once

#include <settle/protocol/entry.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

SETTLE_BEGIN
namespace sqlite::detail {

/// A record, or a mark of it.
struct in_order {
    std::size_t place; ///< of the record
    transaction_id const* id = nullptr;
    part_number part{};
    std::uint64_t rank = 0; ///< grows with the keys, so that few of them are compared themselves
};

/// What follows a beginning that all keys of a wave have in common tells them apart.
class key_rank {
public:
    template <typename KeyOf>
    key_rank(std::vector<in_order> const& all, KeyOf&& key_of) {
        auto const first = key_of(all.front().place);
        if constexpr (std::is_same_v<decltype(first), std::string_view const>) {
            common_ = first.size();
            for (auto const& one : all) {
                auto const key = key_of(one.place).substr(0, common_);
                auto const apart = std::mismatch(key.begin(), key.end(), first.begin());
                common_ = static_cast<std::size_t>(apart.first - key.begin());
            }
        }
    }

    [[nodiscard]] std::uint64_t operator()(std::int64_t key) const noexcept {
        return static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63U;
    }
    [[nodiscard]] std::uint64_t operator()(std::string_view key) const noexcept {
        std::uint64_t rank = 0;
        for (std::size_t at = common_; at < common_ + sizeof rank; ++at) {
            rank = rank << 8U | (at < key.size() ? static_cast<unsigned char>(key[at]) : 0U);
        }
        return rank;
    }

private:
    std::size_t common_ = 0; ///< bytes
};

/// Shape:   key_of(place) - a std::int64_t or a std::string_view
template <typename KeyOf>
void sort_by_key(std::vector<in_order>& all, KeyOf&& key_of) {
    if (all.size() < 2) return;
    key_rank const rank{all, key_of};
    for (auto& one : all) one.rank = rank(key_of(one.place));
    std::sort(all.begin(), all.end(), [&](in_order const& left, in_order const& right) {
        if (left.rank != right.rank) return left.rank < right.rank;
        if (left.place != right.place) return key_of(left.place) < key_of(right.place);
        if (left.id == nullptr) return false;
        return std::tie(*left.id, left.part) < std::tie(*right.id, right.part);
    });
}

} // namespace sqlite::detail
SETTLE_END
