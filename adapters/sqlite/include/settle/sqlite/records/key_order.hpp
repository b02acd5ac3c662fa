// SPDX-License-Identifier: BSL-1.0
// The order in which a table keeps its records and marks: SQLite finds rows in that order without a
// search from the tree's root for each row.
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
    std::size_t index; ///< of the record
    transaction_id const* id = nullptr;
    part_number part{};
};

/// A number in the order of the keys, so that a sort compares few keys themselves. For a text key
/// it holds the first bytes after the common prefix of all keys of a wave.
class key_rank {
public:
    template <typename KeyOf>
    key_rank(std::vector<in_order> const& ranks, KeyOf&& key_of) {
        auto const first = key_of(ranks.front().index);
        if constexpr (std::is_same_v<decltype(first), std::string_view const>) {
            common_ = first.size();
            for (auto const& write : ranks) {
                auto const key = key_of(write.index).substr(0, common_);
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

/// Shape:   one object sorts many waves
/// Cost:    no sort if the keys have the same order as the last time: a wave adds and pulls its
///          marks in one order
class key_sorter {
public:
    /// Shape:   key_of(index) - a std::int64_t or a std::string_view
    template <typename KeyOf>
    void sort(std::vector<in_order>& writes, KeyOf&& key_of) {
        if (writes.size() < 2) return;
        key_rank const rank{writes, key_of};
        auto const rank_of = [&](std::size_t index) { return rank(key_of(writes[index].index)); };
        auto const before = [&](ranked const& one, ranked const& other) {
            if (one.rank != other.rank) return one.rank < other.rank;
            in_order const& left = writes[one.at];
            in_order const& right = writes[other.at];
            if (left.index != right.index) return key_of(left.index) < key_of(right.index);
            if (left.id == nullptr) return false;
            return std::tie(*left.id, left.part) < std::tie(*right.id, right.part);
        };
        if (!is_as_before(writes.size(), rank_of, before)) {
            order_.clear();
            for (std::size_t at = 0; at < writes.size(); ++at) order_.push_back({rank_of(at), at});
            std::sort(order_.begin(), order_.end(), before);
        }
        sorted_.clear();
        for (auto const& one : order_) sorted_.push_back(writes[one.at]);
        std::swap(writes, sorted_);
    }

private:
    struct ranked {
        std::uint64_t rank;
        std::size_t at;
    };

    template <typename RankOf, typename Before>
    [[nodiscard]] bool is_as_before(std::size_t size, RankOf&& rank_of, Before&& before) {
        if (order_.size() != size) return false;
        for (std::size_t i = 0; i < size; ++i) {
            order_[i].rank = rank_of(order_[i].at);
            if (i > 0 && before(order_[i], order_[i - 1])) return false;
        }
        return true;
    }

    std::vector<ranked> order_; ///< of the last sort
    std::vector<in_order> sorted_;
};

} // namespace sqlite::detail
SETTLE_END
