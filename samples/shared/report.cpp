// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "money.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

namespace samples {

namespace {

namespace files = std::filesystem;

nlohmann::ordered_json to_json(report const& shown) {
    auto remarks = nlohmann::ordered_json::array();
    for (auto const& [line, sentence] : shown.remarks) {
        remarks.push_back({{"line", line}, {"sentence", sentence}});
    }
    nlohmann::ordered_json counts{{"done", shown.done},
                                  {"canceled", shown.canceled},
                                  {"undecided", shown.undecided},
                                  {"refused", shown.refused},
                                  {"repeated", shown.repeated},
                                  {"earlier", shown.earlier},
                                  {"stopped", shown.stopped},
                                  {"left_over", shown.left_over},
                                  {"reasons", shown.reasons},
                                  {"seconds", shown.seconds},
                                  {"sum_before", shown.sum_before},
                                  {"sum_after", shown.sum_after},
                                  {"remarks", remarks},
                                  {"more_remarks", shown.unnamed}};
    if (!shown.sum_is_known) counts["sum_after"] = nullptr;
    return counts;
}

input_error cannot_write(files::path const& path) {
    return input_error(fmt::format("{}: the report cannot be written there", path.string()));
}

} // namespace

void report::refuse(refusal const& no) {
    ++refused;
    ++reasons[no.reason];
    note(no.line, no.sentence);
}

void report::note(std::uint64_t line, std::string sentence) {
    constexpr std::size_t most = 1000;
    constexpr std::size_t longest = 1000;
    if (sentence.size() > longest) {
        sentence.replace(longest / 2, sentence.size() - longest, " … ");
    }
    if (remarks.size() >= most) ++unnamed;
    else remarks.push_back({line, std::move(sentence)});
}

exit_code report::ends_with() const {
    if (undecided > 0 || left_over > 0 || stopped) return exit_code::unsettled;
    return refused > 0 ? exit_code::refused : exit_code::settled;
}

std::string remarks_text(report const& shown, std::size_t most) {
    std::string text = !shown.reasons.empty()   ? "why not done\n"
                       : !shown.remarks.empty() ? "remarks\n"
                                                : "";
    for (auto const& [reason, count] : shown.reasons) {
        text += fmt::format("  {}: {}\n", printable(reason), with_commas(count));
    }
    auto const printed = std::min(most, shown.remarks.size());
    for (std::size_t i = 0; i < printed; ++i) {
        auto const& [line, sentence] = shown.remarks[i];
        auto const where = line == 0 ? std::string{} : fmt::format("line {}: ", line);
        text += fmt::format("  {}{}\n", where, printable(sentence));
    }
    auto const more = shown.remarks.size() - printed + shown.unnamed;
    if (more > 0) text += fmt::format("  … and {} more\n", with_commas(more));
    return text;
}

std::string to_text(report const& shown, std::string_view name) {
    constexpr std::size_t most_remarks = 20; // more would push the counts off the screen
    auto const total = with_commas(shown.total());
    auto text =
        fmt::format("{} {}{}\n", total, name, shown.stopped ? ", stopped before the end" : "");
    for (auto const& [title, count] : {std::pair{"done", shown.done},
                                       {"canceled", shown.canceled},
                                       {"undecided", shown.undecided},
                                       {"refused", shown.refused},
                                       {"repeated", shown.repeated}}) {
        if (count == 0 && title == std::string_view{"repeated"}) continue;
        text += fmt::format("  {:<10} {:>{}}\n", title, with_commas(count), total.size());
    }
    text += remarks_text(shown, most_remarks);
    // Other programs may have changed sums meanwhile; only `check` can find errors.
    bool const same = shown.sum_before == shown.sum_after;
    auto const after =
        !shown.sum_is_known
            ? std::string{"not read after: run check"}
            : fmt::format("{} after: {}", format_money(shown.sum_after),
                          same ? "unchanged" : "CHANGED; run check when nothing else is at work");
    text += fmt::format("money  {} before, {}\n", format_money(shown.sum_before), after);
    auto const now = shown.total() - shown.refused - shown.repeated - shown.earlier;
    auto const rate = shown.seconds > 0 ? static_cast<double>(now) / shown.seconds : 0.0;
    text += fmt::format("time   {:.1f} s, {:.0f} a second", shown.seconds, rate);
    if (shown.earlier > 0) {
        text += fmt::format("; {} were settled before", with_commas(shown.earlier));
    }
    return text + '\n';
}

void check_report_path(files::path const& path, std::vector<files::path> const& read) {
    auto const real = [](files::path const& named) {
        std::error_code failed; // a pipe has no such path
        auto const path_of = files::weakly_canonical(files::absolute(named), failed);
        return failed ? named : path_of;
    };
    for (auto const& each : read) {
        if (real(each) != real(path)) continue;
        throw input_error(fmt::format("--report {} would replace {}; name another file",
                                      path.string(), each.string()));
    }
    // Also a link: the name of standard output is one.
    bool const is_taken =
        files::exists(files::symlink_status(path)) && !files::is_regular_file(path);
    if (is_taken || files::is_symlink(path) || !std::ofstream{path, std::ios::app}) {
        throw cannot_write(path);
    }
}

void write_report(report const& shown, files::path const& path) {
    auto const replacing = nlohmann::ordered_json::error_handler_t::replace;
    std::ofstream file{path};
    file << to_json(shown).dump(2, ' ', true, replacing) << '\n';
    file.close();
    if (!file) throw cannot_write(path);
}

} // namespace samples
