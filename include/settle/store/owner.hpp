// SPDX-License-Identifier: BSL-1.0
// Who owns an entry, so that the entries of a process that is gone can be taken over at once.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#if defined(__linux__)
#include <unistd.h>
#endif

SETTLE_BEGIN
namespace detail {

inline std::string first_line(std::string const& path) {
    std::ifstream file{path};
    std::string text;
    std::getline(file, text);
    return text;
}

/// The time at which a process started, in ticks since the boot; empty when there is none.
inline std::string process_start(std::string const& pid) {
    std::string const text = first_line("/proc/" + pid + "/stat");
    // The name in parentheses may hold anything, so the fields are counted after its end.
    std::size_t const after_name = text.rfind(')');
    if (after_name == std::string::npos) return {};
    std::istringstream fields{text.substr(after_name + 1)};
    std::string state;
    std::string field;
    fields >> state;
    // A zombie has ended; only its parent has not looked yet.
    if (state == "Z" || state == "X") return {};
    for (int i = 0; i < 19; ++i) fields >> field;
    return field;
}

inline std::string process_namespace() {
#if defined(__linux__)
    std::array<char, 64> buffer{};
    auto const length = ::readlink("/proc/self/ns/pid", buffer.data(), buffer.size() - 1);
    if (length > 0) return {buffer.data(), static_cast<std::size_t>(length)};
#endif
    return {};
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t const next = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, next - at));
        at = next + 1;
    }
    return parts;
}

} // namespace detail

/// This process, as `host/pid/start/boot/namespace`. Boot and namespace keep two machines, or two
/// containers on one file, from judging each other's processes.
[[nodiscard]] inline std::string this_process() {
#if defined(__linux__)
    std::string const pid = std::to_string(::getpid());
    std::string const boot = detail::first_line("/proc/sys/kernel/random/boot_id");
    return detail::first_line("/proc/sys/kernel/hostname") + '/' + pid + '/' +
           detail::process_start(pid) + '/' + boot + '/' + detail::process_namespace();
#else
    return {};
#endif
}

/// True when the owner was a process of this machine, this boot and this namespace that has ended.
/// When in doubt it is false: then only time tells.
[[nodiscard]] inline bool is_gone(std::string_view owner) {
    static std::string const self = this_process();
    if (owner == self || self.empty()) return false;
    auto const theirs = detail::split(owner, '/');
    auto const ours = detail::split(self, '/');
    if (theirs.size() != ours.size() || ours.size() < 5 || ours[3].empty()) return false;
    for (std::size_t i = 3; i < ours.size(); ++i) {
        if (theirs[i] != ours[i]) return false;
    }
    for (char const c : theirs[1]) {
        if (c < '0' || c > '9') return false;
    }
    return !theirs[1].empty() && detail::process_start(std::string{theirs[1]}) != theirs[2];
}

SETTLE_END
