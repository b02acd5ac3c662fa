// SPDX-License-Identifier: BSL-1.0
// A file's physical lines with their numbers, one at a time and never more than a bounded part.
#pragma once

#include "input_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace samples {

/// One physical line with its terminator; the first is number 1.
struct numbered_line {
    std::uint64_t number = 0;
    std::string text;
    bool too_long = false;  // the rest of such a line is passed over
};

/// Reads the lines of a file; a newline ends one.
class line_reader {
public:
    /// Longer lines, and longer rows of several lines, are no table that a person wrote.
    static constexpr std::size_t longest = std::size_t{1} << 20U;

    explicit line_reader(std::filesystem::path path) : path_(std::move(path)) {
        std::error_code error;
        auto const status = std::filesystem::status(path_, error);
        if (!std::filesystem::exists(status)) {
            throw input_error(fmt::format("{}: there is no such file", path_.string()));
        }
        if (std::filesystem::is_directory(status)) {
            throw input_error(fmt::format("{}: this is a directory, not a file", path_.string()));
        }
        size_ = std::filesystem::file_size(path_, error);
        // A pipe has no size that could be known; its share of progress then stays 0.
        if (error) size_ = 0;
        errno = 0;
        file_.open(path_, std::ios::binary);
        if (!file_) {
            throw input_error(fmt::format("{}: cannot be opened: {}", path_.string(),
                                          std::strerror(errno)));
        }
    }

    /// Gives the next line; false at the end of the file.
    /// Errors:  input_error, when the file cannot be read on
    bool next(numbered_line& line) {
        if (!again_.empty()) {
            line = std::move(again_.front());
            again_.pop_front();
            return true;
        }
        line.text.clear();
        line.too_long = false;
        line.number = lines_ + 1;
        while (at_ < filled_ || fill()) {
            if (take_up_to_end(line)) break;
        }
        if (line.text.empty()) return false;
        ++lines_;
        return true;
    }

    /// Gives these lines again, before all others: for a reader that looked too far ahead.
    void unread(std::vector<numbered_line>&& lines, std::size_t from) {
        for (std::size_t at = lines.size(); at > from; --at) {
            again_.push_front(std::move(lines[at - 1]));
        }
    }

    /// The part of the file that has been read, 0 to 1.
    double share() const {
        auto const taken = static_cast<double>(read_ - (filled_ - at_));
        return size_ == 0 ? 0.0 : taken / static_cast<double>(size_);
    }

    std::filesystem::path const& path() const { return path_; }

private:
    /// Moves bytes into the line; true when the line is complete.
    bool take_up_to_end(numbered_line& line) {
        auto const rest = std::string_view{buffer_.data(), filled_}.substr(at_);
        auto const newline = rest.find('\n');
        bool const complete = newline != std::string_view::npos;
        auto const bytes = complete ? rest.substr(0, newline + 1) : rest;
        auto const room = longest - line.text.size();
        if (bytes.size() > room) line.too_long = true;
        line.text.append(bytes.substr(0, room));
        at_ += bytes.size();
        return complete;
    }

    bool fill() {
        if (file_.eof()) return false;
        errno = 0;
        file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        filled_ = static_cast<std::size_t>(file_.gcount());
        at_ = 0;
        read_ += filled_;
        if (file_.bad() || (file_.fail() && !file_.eof())) {
            throw input_error(fmt::format("{}: cannot be read after line {}: {}", path_.string(),
                                          lines_, std::strerror(errno)));
        }
        return filled_ > 0;
    }

    std::filesystem::path path_;
    std::ifstream file_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16U);
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t lines_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t size_ = 0;
    std::deque<numbered_line> again_;
};

}  // namespace samples
