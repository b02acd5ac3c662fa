// SPDX-License-Identifier: BSL-1.0
// Groups pieces by union-find, and gives each thread about the same number.
#include "shares.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace samples {

void shares::begin_piece() { leaders_.push_back(leaders_.size()); }

void shares::touches(std::string name) {
    std::size_t const piece = leaders_.size() - 1;
    auto const [first, fresh] = first_pieces_.emplace(std::move(name), piece);
    if (fresh) return;
    auto const one = first_of(piece);
    auto const other = first_of(first->second);
    leaders_[std::max(one, other)] = std::min(one, other);
}

std::size_t shares::first_of(std::size_t piece) {
    while (leaders_[piece] != piece) {
        // Path halving keeps later searches short.
        leaders_[piece] = leaders_[leaders_[piece]];
        piece = leaders_[piece];
    }
    return piece;
}

std::vector<std::vector<std::size_t>> shares::split(std::size_t threads) {
    std::vector<std::size_t> sizes(leaders_.size());
    for (std::size_t piece = 0; piece < leaders_.size(); ++piece) ++sizes[first_of(piece)];
    std::vector<std::size_t> kins(leaders_.size());
    std::iota(kins.begin(), kins.end(), std::size_t{0});
    std::erase_if(kins, [&](std::size_t piece) { return sizes[piece] == 0; });
    // Large groups first: the small groups then balance the threads.
    std::stable_sort(kins.begin(), kins.end(),
                     [&](std::size_t one, std::size_t other) { return sizes[one] > sizes[other]; });
    std::vector<std::size_t> loads(std::max<std::size_t>(1, threads));
    std::vector<std::size_t> thread_of(leaders_.size());
    for (std::size_t const kin : kins) {
        auto const least = std::min_element(loads.begin(), loads.end());
        *least += sizes[kin];
        thread_of[kin] = static_cast<std::size_t>(least - loads.begin());
    }
    std::vector<std::vector<std::size_t>> found(loads.size());
    for (std::size_t piece = 0; piece < leaders_.size(); ++piece) {
        found[thread_of[first_of(piece)]].push_back(piece);
    }
    std::erase_if(found, [](auto const& one) { return one.empty(); });
    return found;
}

} // namespace samples
