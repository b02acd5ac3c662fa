// SPDX-License-Identifier: BSL-1.0
// Reads figures out of Prometheus text, and starts the programs that check it.
#pragma once

#include <settle/metrics.hpp>

#include <doctest/doctest.h>

#include <iostream>
#include <program.hpp>
#include <sstream>

namespace operating_test {

/// The value of a series as it is written; empty if the text does not have it.
/// Shape:   series - with its labels
inline std::string written(std::string const& text, std::string const& series) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(series + ' ')) return line.substr(series.size() + 1);
    }
    return {};
}
inline std::string written(settle::metrics const& numbers, std::string const& series) {
    return written(numbers.text(), series);
}

/// Waits until a condition holds. ctest ends a test whose condition never does.
template <typename Condition>
void await(Condition holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

/// Ends the test as skipped if there is no such program.
inline std::string installed(std::string const& program, std::string const& package) {
    std::string path = "/usr/bin/" + program;
    if (::access(path.c_str(), X_OK) == 0) return path;
    std::cout << "SKIPPED: there is no " << path << " of Debian's package " << package << std::endl;
    std::exit(SETTLE_SKIP_CODE);
}

/// What a program says of a file or to a text; it ends with success.
inline std::string said_by(std::string const& command) {
    testing::scratch_folder const folder{"operating"};
    auto const ended = testing::program{folder, {"/bin/sh", "-c", command}}.wait();
    CHECK_MESSAGE(ended.code == 0, command << '\n' << ended.out << ended.err);
    return ended.out + ended.err;
}

} // namespace operating_test
