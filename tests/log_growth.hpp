// SPDX-License-Identifier: BSL-1.0
// The growth of the log in a file of SQLite: it shows that a program is at work.
#pragma once

#include "sql.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace testing {

/// The number of entries in the log of a file.
inline std::size_t entries_in(std::string const& file) {
    return std::stoul(ask(file, "SELECT count(*) FROM settle_entries").at(0).at(0));
}

/// Waits until the log of a file has more entries than before.
/// Shape:   has_ended() - true once a program on the file has ended
/// Returns: false if a program ended first
template <typename Ended>
bool wait_for_entries(std::string const& file, std::size_t before, Ended const& has_ended) {
    while (entries_in(file) <= before) {
        if (has_ended()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

} // namespace testing
