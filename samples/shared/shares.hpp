// SPDX-License-Identifier: BSL-1.0
// Splits work among threads so that pieces with a common record or id stay in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace samples {

/// Pieces that share a name, directly or through other pieces, go to one thread. Pieces of two
/// threads share nothing, so their order does not matter.
class shares {
public:
    /// Adds the next piece of the input.
    void begin_piece() { leaders_.push_back(leaders_.size()); }

    /// Adds a name of the last piece: a record, or an id.
    void touches(std::string name) {
        std::size_t const piece = leaders_.size() - 1;
        auto const first = first_pieces_.emplace(std::move(name), piece).first->second;
        auto const [lower, higher] = std::minmax({leader_of(piece), leader_of(first)});
        leaders_[higher] = lower;
    }

    /// The indexes of each thread's pieces, in input order. Idle threads are left out.
    std::vector<std::vector<std::size_t>> split(std::size_t threads) {
        std::vector<std::vector<std::size_t>> groups(leaders_.size());
        for (std::size_t piece = 0; piece < leaders_.size(); ++piece) {
            groups[leader_of(piece)].push_back(piece);
        }
        // Large groups first: the small groups then balance the threads.
        std::stable_sort(groups.begin(), groups.end(), [](auto const& left, auto const& right) {
            return left.size() > right.size();
        });
        std::vector<std::vector<std::size_t>> shared(threads);
        for (auto const& group : groups) {
            auto const least = std::min_element(
                shared.begin(), shared.end(),
                [](auto const& left, auto const& right) { return left.size() < right.size(); });
            least->insert(least->end(), group.begin(), group.end());
        }
        std::erase_if(shared, [](auto const& share) { return share.empty(); });
        for (auto& share : shared) std::sort(share.begin(), share.end());
        return shared;
    }

private:
    /// The first piece of the group.
    std::size_t leader_of(std::size_t piece) {
        while (leaders_[piece] != piece) {
            // Path halving keeps later searches short.
            leaders_[piece] = leaders_[leaders_[piece]];
            piece = leaders_[piece];
        }
        return piece;
    }

    std::vector<std::size_t> leaders_; // an earlier piece of the same group, or the piece itself
    std::unordered_map<std::string, std::size_t> first_pieces_; // the first piece with the name
};

} // namespace samples
