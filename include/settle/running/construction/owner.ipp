// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that owner.hpp declares.
#pragma once

#include <settle/running/construction/owner.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#if defined(__linux__)
#include <sys/types.h>
#include <unistd.h>
#endif

SETTLE_BEGIN

namespace detail {

/// The system's data about a process; empty if there is none.
struct process_status {
    std::string state;
    std::string start; ///< when it started, in ticks since the boot
};

SETTLE_FUNCTION std::string first_line(std::string const& path) {
    std::ifstream file{path};
    std::string text;
    std::getline(file, text);
    return text;
}

SETTLE_FUNCTION process_status status_of(std::string const& pid) {
    std::string const text = first_line("/proc/" + pid + "/stat");
    // The name in parentheses may hold any character, so fields are counted after its end.
    std::size_t const after_name = text.rfind(')');
    process_status status;
    if (after_name == std::string::npos) return status;
    std::istringstream fields{text.substr(after_name + 1)};
    fields >> status.state;
    for (int i = 0; i < 19; ++i) fields >> status.start;
    return status;
}

/// True if the process with this id and this start time has ended, even if another process has the
/// id now. False if this cannot be known.
SETTLE_FUNCTION bool has_ended(std::string_view pid, std::string_view start) {
#if defined(__linux__)
    ::pid_t number = 0;
    char const* const end = pid.data() + pid.size();
    auto const [stopped, problem] = std::from_chars(pid.data(), end, number);
    if (problem != std::errc{} || stopped != end || number <= 0) return false;
    process_status const now = status_of(std::to_string(number));
    // A /proc that hides the processes of other users shows nothing; a signal still finds them.
    if (now.start.empty()) return ::kill(number, 0) != 0 && errno == ESRCH;
    // A zombie has ended; only its parent has not looked yet.
    return now.state == "Z" || now.state == "X" || now.start != start;
#else
    static_cast<void>(pid);
    static_cast<void>(start);
    return false;
#endif
}

SETTLE_FUNCTION std::string process_namespace() {
#if defined(__linux__)
    std::array<char, 64> buffer{};
    auto const length = ::readlink("/proc/self/ns/pid", buffer.data(), buffer.size() - 1);
    if (length > 0) return {buffer.data(), static_cast<std::size_t>(length)};
#endif
    return {};
}

SETTLE_FUNCTION std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t index = 0; index <= text.size();) {
        std::size_t const next = std::min(text.find(separator, index), text.size());
        parts.push_back(text.substr(index, next - index));
        index = next + 1;
    }
    return parts;
}

} // namespace detail

SETTLE_FUNCTION std::string this_process() {
#if defined(__linux__)
    std::string const pid = std::to_string(::getpid());
    std::string const boot = detail::first_line("/proc/sys/kernel/random/boot_id");
    return detail::first_line("/proc/sys/kernel/hostname") + '/' + pid + '/' +
           detail::status_of(pid).start + '/' + boot + '/' + detail::process_namespace();
#else
    return {};
#endif
}

namespace detail {

/// The same, looked up once for each thread, and again in a forked child.
SETTLE_FUNCTION std::string const& own_process() {
    struct process_text {
        process_stamp where;
        std::string text = this_process();
    };
    thread_local std::optional<process_text> self;
    if (!self || !self->where.is_here()) self.emplace();
    return self->text;
}

} // namespace detail

SETTLE_FUNCTION bool is_gone(std::string_view owner) {
    std::string const& self = detail::own_process();
    if (owner == self || self.empty()) return false;
    auto const other = detail::split(owner, '/');
    auto const ours = detail::split(self, '/');
    if (other.size() != ours.size() || ours.size() < 5 || ours[3].empty()) return false;
    for (std::size_t i = 3; i < ours.size(); ++i) {
        if (other[i] != ours[i]) return false;
    }
    return !other[2].empty() && detail::has_ended(other[1], other[2]);
}

SETTLE_END
