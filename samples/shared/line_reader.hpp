// SPDX-License-Identifier: BSL-1.0
// Reads a file's physical lines with their numbers, in bounded memory.
#pragma once

#include "blocking_call.hpp"
#include "input_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace samples {

/// One physical line with its terminator; the first is number 1.
struct numbered_line {
    std::uint64_t number = 0;
    std::string text;
    bool too_long = false; // the rest of the line is skipped
};

/// Reads the lines of a file; a newline ends a line.
class line_reader {
public:
    /// Longer lines, and longer rows of several lines, are refused: no table has them.
    static constexpr std::size_t longest = std::size_t{1} << 20U;

    /// Shape:   path - `-` stands for standard input
    explicit line_reader(std::filesystem::path path) : path_(std::move(path)) {
        bool const is_input = path_ == "-";
        {
            blocking_call const opening; // a FIFO without a writer
            file_ = is_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                             : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
        }
        if (file_ < 0 && errno == EINTR) throw stopped();
        if (file_ < 0 && errno == ENOENT) {
            throw input_error(fmt::format("{}: there is no such file", name()));
        }
        struct ::stat found{};
        if (file_ < 0 || ::fstat(file_, &found) != 0) {
            int const error = errno;
            if (file_ >= 0) ::close(file_);
            throw input_error(
                fmt::format("{}: cannot be opened: {}", name(), std::strerror(error)));
        }
        if (S_ISDIR(found.st_mode)) {
            ::close(file_);
            throw input_error(fmt::format("{}: this is a directory, not a file", name()));
        }
        // A pipe's size is unknown; its share of progress stays 0.
        if (!S_ISREG(found.st_mode)) return;
        size_ = static_cast<std::uint64_t>(found.st_size);
        // pread() keeps the position: another command may read the same standard input.
        from_ = is_input ? ::lseek(file_, 0, SEEK_CUR) : 0;
    }

    ~line_reader() { ::close(file_); }
    line_reader(line_reader const&) = delete;
    line_reader& operator=(line_reader const&) = delete;

    /// Reads the next line; false at the end of the file.
    /// Errors:  input_error, when the file becomes unreadable
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
        // After a stop request the line may lack its end.
        if (line.text.empty() || (stopped_ && !line.text.ends_with('\n'))) return false;
        ++lines_;
        return true;
    }

    /// Returns lines to the front of the input, after a reader looked too far ahead.
    void unread(std::vector<numbered_line>&& lines, std::size_t from, std::size_t to) {
        for (std::size_t at = to; at > from; --at) {
            again_.push_front(std::move(lines[at - 1]));
        }
    }

    /// The fraction of the file read so far, 0 to 1.
    double share() const {
        auto const taken = static_cast<double>(read_ - (filled_ - at_));
        return size_ == 0 ? 0.0 : taken / static_cast<double>(size_);
    }

    /// The file's name in sentences.
    std::string name() const { return path_ == "-" ? "standard input" : path_.string(); }

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

    [[nodiscard]] std::runtime_error stopped() const {
        return std::runtime_error(
            fmt::format("{}: the program was stopped before anything was read", name()));
    }

    bool fill() {
        // A read after the end would wait for more input of a terminal.
        if (ended_) return false;
        ssize_t got = 0;
        blocking_call const reading; // a FIFO whose writer writes nothing
        do {
            stopped_ = from_ < 0 && blocking_call::is_stopped();
            if (stopped_) break;
            got = from_ < 0 ? ::read(file_, buffer_.data(), buffer_.size())
                            : ::pread(file_, buffer_.data(), buffer_.size(),
                                      from_ + static_cast<off_t>(read_));
        } while (got < 0 && errno == EINTR);
        if (stopped_ && read_ == 0) throw stopped();
        if (got < 0 && !stopped_) {
            throw input_error(fmt::format("{}: cannot be read after line {}: {}", name(), lines_,
                                          std::strerror(errno)));
        }
        filled_ = stopped_ ? 0 : static_cast<std::size_t>(got);
        at_ = 0;
        read_ += filled_;
        ended_ = filled_ == 0;
        return !ended_;
    }

    std::filesystem::path path_;
    int file_ = -1;
    off_t from_ = -1; // the start in a file with a size; below 0 for a stream
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16U);
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t lines_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t size_ = 0;
    bool ended_ = false;
    bool stopped_ = false; // by a signal
    std::deque<numbered_line> again_;
};

} // namespace samples
