// SPDX-License-Identifier: BSL-1.0
// Writes a report as text and as a JSON file.
#include "report.hpp"

#include "blocking_call.hpp"
#include "input_error.hpp"
#include "json.hpp"
#include "money.hpp"
#include "printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace samples {

namespace {

std::string counted(std::string_view name, std::uint64_t count, std::size_t width) {
    return fmt::format("  {:<10} {:>{}}", name, with_commas(count), width);
}

std::string system_text(int error) {
    return std::error_code(error, std::generic_category()).message();
}

/// The report as JSON; sums are whole hundredths.
json_value to_json(report const& shown) {
    json_value::members reasons;
    for (auto const& [reason, count] : shown.reasons) reasons.emplace_back(reason, count);
    std::vector<json_value> remarks;
    for (auto const& [line, sentence] : shown.remarks) {
        remarks.push_back(json_value::object({{"line", line}, {"sentence", sentence}}));
    }
    return json_value::object(
        {{"done", shown.done},
         {"canceled", shown.canceled},
         {"undecided", shown.undecided},
         {"refused", shown.refused},
         {"repeated", shown.repeated},
         {"earlier", shown.earlier},
         {"stopped", shown.stopped},
         {"left_over", shown.left_over},
         {"reasons", json_value::object(reasons)},
         {"seconds", shown.seconds},
         {"sum_before", shown.sum_before},
         {"sum_after", shown.sum_is_known ? json_value{shown.sum_after} : json_value{}},
         {"remarks", json_value::list(remarks)},
         {"more_remarks", shown.unnamed}});
}

input_error cannot_write(std::filesystem::path const& path, int error) {
    return input_error(fmt::format("{}: cannot be written: {}", path.string(), system_text(error)));
}

/// Whether the path is a device or the system's name of an open file, such as /dev/stdout: a rename
/// would replace it.
bool is_device(std::filesystem::path const& path) {
    std::error_code ignored;
    auto const status = std::filesystem::status(path, ignored);
    auto const text = path.lexically_normal().string();
    return text.rfind("/dev/", 0) == 0 || text.rfind("/proc/", 0) == 0 ||
           (std::filesystem::exists(status) && !is_regular_file(status));
}

/// The descriptor that such a name denotes.
std::optional<int> descriptor_of(std::filesystem::path const& path) {
    auto const text = path.lexically_normal().string();
    if (text == "/dev/stdout") return STDOUT_FILENO;
    if (text == "/dev/stderr") return STDERR_FILENO;
    for (std::string_view const folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!text.starts_with(folder)) continue;
        int number = -1;
        auto const [end, error] =
            std::from_chars(text.data() + folder.size(), text.data() + text.size(), number);
        if (error == std::errc{} && *end == '\0' && number >= 0) return number;
    }
    return std::nullopt;
}

/// The name of the temporary file.
std::string name_beside(std::filesystem::path const& path) {
    return fmt::format("{}.{}.part", path.string(), getpid());
}

int open_to_write(std::filesystem::path const& path, std::string const& name, bool direct) {
    // Duplicates an open descriptor: a second open would start at its own offset.
    auto const descriptor = direct ? descriptor_of(path) : std::nullopt;
    int const how = direct ? O_APPEND : O_TRUNC;
    // The file that a rename will replace.
    struct ::stat earlier{};
    bool const replaces = !direct && ::stat(path.c_str(), &earlier) == 0;
    if (replaces && ::access(path.c_str(), W_OK) != 0) throw cannot_write(path, errno);
    blocking_call const opening; // a FIFO without a reader
    int const file = descriptor ? ::fcntl(*descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                : ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (file < 0) throw cannot_write(path, errno);
    if (replaces) {
        // Only root may give a file to another user.
        std::ignore = ::fchown(file, earlier.st_uid, earlier.st_gid);
        std::ignore = ::fchmod(file, earlier.st_mode & 07777U);
    }
    return file;
}

/// Writes a file whole or not at all: a temporary file beside it is renamed.
/// Errors:  input_error, when the file cannot be written there
void write_whole(std::filesystem::path const& path, std::string_view text) {
    bool const direct = is_device(path);
    auto const target = direct ? path : real_path(path);
    auto const name = direct ? path.string() : name_beside(target);
    int const file = open_to_write(path, name, direct);
    int error = 0;
    blocking_call const writing; // a pipe whose reader reads nothing
    while (!text.empty() && error == 0) {
        auto const written = ::write(file, text.data(), text.size());
        if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR || writing.is_to_end()) error = errno;
    }
    if (!direct && error == 0 && ::fsync(file) != 0) error = errno;
    if (::close(file) != 0 && error == 0) error = errno;
    if (!direct && error == 0 && ::rename(name.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return;
    if (!direct) ::unlink(name.c_str());
    throw cannot_write(path, error);
}

} // namespace

std::filesystem::path real_path(std::filesystem::path path) {
    std::error_code failed;
    constexpr int most_links = 40;
    for (int links = 0; links < most_links; ++links) {
        auto const next = std::filesystem::read_symlink(path, failed);
        if (failed) break;
        path = path.parent_path() / next;
    }
    return path;
}

std::string shortened(std::string sentence) {
    constexpr std::size_t most = 1000;
    if (sentence.size() <= most) return sentence;
    // Cuts only between characters: continuation bytes begin with the bits 10.
    auto const inside = [&](std::size_t at) {
        return (static_cast<unsigned char>(sentence[at]) & 0xC0U) == 0x80U;
    };
    std::size_t from = most / 2;
    while (from > 0 && inside(from)) --from;
    std::size_t to = sentence.size() - most / 2;
    while (to < sentence.size() && inside(to)) ++to;
    return sentence.replace(from, to - from, " … ");
}

std::string remarks_text(report const& shown, std::size_t most_printed) {
    std::string text;
    if (!shown.reasons.empty()) text += "why not done\n";
    for (auto const& [reason, count] : shown.reasons) {
        text += fmt::format("  {}: {}\n", printable(reason), with_commas(count));
    }
    if (shown.reasons.empty() && !shown.remarks.empty()) text += "remarks\n";
    auto const printed = std::min(most_printed, shown.remarks.size());
    for (std::size_t at = 0; at < printed; ++at) {
        auto const& [line, sentence] = shown.remarks[at];
        text += line == 0 ? fmt::format("  {}\n", printable(sentence))
                          : fmt::format("  line {}: {}\n", line, printable(sentence));
    }
    auto const more = shown.remarks.size() - printed + shown.unnamed;
    if (more > 0) text += fmt::format("  … and {} more\n", with_commas(more));
    return text;
}

std::string to_text(report const& shown, std::string_view name) {
    auto const total = with_commas(shown.total());
    auto const width = total.size();
    auto const* const early = shown.stopped ? ", stopped before the end" : "";
    auto text = fmt::format("{} {}{}\n", total, name, early);
    text += counted("done", shown.done, width) + '\n';
    text += counted("canceled", shown.canceled, width) + '\n';
    text += counted("undecided", shown.undecided, width) + '\n';
    text += counted("refused", shown.refused, width) + '\n';
    if (shown.repeated > 0) text += counted("repeated", shown.repeated, width) + '\n';
    text += remarks_text(shown);
    // Other programs may have changed sums meanwhile; only `check` can find errors.
    bool const same = shown.sum_before == shown.sum_after;
    text += fmt::format("money  {} before, {}\n", format_money(shown.sum_before),
                        !shown.sum_is_known
                            ? "not read after: run check"
                            : fmt::format("{} after: {}", format_money(shown.sum_after),
                                          same ? "unchanged"
                                               : "CHANGED; run check when nothing else is at "
                                                 "work"));
    auto const now = shown.total() - shown.refused - shown.repeated - shown.earlier;
    auto const rate = shown.seconds > 0 ? static_cast<double>(now) / shown.seconds : 0.0;
    text += fmt::format("time   {:.1f} s, {:.0f} a second", shown.seconds, rate);
    if (shown.earlier > 0) {
        text += fmt::format("; {} were settled before", with_commas(shown.earlier));
    }
    return text + '\n';
}

void check_report_path(std::filesystem::path const& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw cannot_write(path, EISDIR);
    if (descriptor_of(path)) ::close(open_to_write(path, path.string(), true));
    if (is_device(path)) return;
    auto const name = name_beside(real_path(path));
    ::close(open_to_write(path, name, false));
    ::unlink(name.c_str());
}

void write_report(report const& shown, std::filesystem::path const& path) {
    write_whole(path, to_json(shown).to_ascii(2) + '\n');
}

} // namespace samples
