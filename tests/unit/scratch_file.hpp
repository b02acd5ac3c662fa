// SPDX-License-Identifier: BSL-1.0
// A table in a file of its own, for the tests of the samples' readers.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace testing {

/// A file that lives as long as the object.
class scratch_file {
public:
    explicit scratch_file(std::string_view content) {
        static int count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("settle-samples-" + std::to_string(::getpid()) + "-" + std::to_string(++count) +
                 ".csv");
        std::ofstream{path_, std::ios::binary} << content;
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() { std::filesystem::remove(path_); }

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace testing
