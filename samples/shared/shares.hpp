// SPDX-License-Identifier: BSL-1.0
// Shares pieces of work out among threads so that whatever touches one thing stays in order.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace samples {

/// Two pieces that name one thing, straight or by a chain of others, go to one thread; pieces of
/// two threads have nothing in common, so it does not matter which of them comes first.
class shares {
public:
    /// Counts one more piece, the next in the order of the input.
    void begin_piece();

    /// Says that the piece that was begun last touches this: a record, or an id.
    void touches(std::string name);

    /// The pieces of each thread by their numbers from 0, in the order of the input. Threads that
    /// would have nothing to do are left out.
    std::vector<std::vector<std::size_t>> split(std::size_t threads);

private:
    std::size_t first_of(std::size_t piece);

    std::vector<std::size_t> leaders_; // an earlier piece of the same kin, or the piece itself
    std::unordered_map<std::string, std::size_t> known_; // who named it first
};

} // namespace samples
