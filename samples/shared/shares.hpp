// SPDX-License-Identifier: BSL-1.0
// Splits work among threads so that pieces with a common record or id stay in order.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace samples {

/// Pieces that share a name, directly or through other pieces, go to one thread. Pieces of two
/// threads share nothing, so their order does not matter.
class shares {
public:
    /// Adds the next piece of the input.
    void begin_piece();

    /// Adds a name of the last piece: a record, or an id.
    void touches(std::string name);

    /// The indexes of each thread's pieces, in input order. Idle threads are left out.
    std::vector<std::vector<std::size_t>> split(std::size_t threads);

private:
    std::size_t first_of(std::size_t piece);

    std::vector<std::size_t> leaders_; // an earlier piece of the same group, or the piece itself
    std::unordered_map<std::string, std::size_t> first_pieces_; // the first piece with the name
};

} // namespace samples
