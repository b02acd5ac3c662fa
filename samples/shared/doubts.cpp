// SPDX-License-Identifier: BSL-1.0
// Tells for each prepared part without an end what its entry waits for.
#include "doubts.hpp"

#include "entries.hpp"
#include "printable.hpp"
#include "report.hpp"

#include <settle/running/construction/owner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace samples {

namespace {

settle::timestamp now() {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now());
}

/// How long ago a time was, in its two largest units.
std::string age_of(settle::timestamp when) {
    // The clock of a server may be ahead.
    return span_text(std::max(now() - when, std::chrono::milliseconds{0}));
}

/// The machine and the number of an owner.
std::string process_of(std::string const& owner) {
    auto const end = owner.find('/', owner.find('/') + 1);
    return owner.empty() ? "unknown" : owner.substr(0, end);
}

bool is_committed(settle::entry const& found) {
    return found.state == settle::state::applied || found.state == settle::state::done;
}

std::string facts_of(settle::entry const& found) {
    if (!found.fault.empty()) return fmt::format("'{}', damaged", found.id);
    return fmt::format("'{}', {}, {}, {} further {}, last moved {} ago", found.id,
                       found.type.empty() ? "no type" : found.type, name_of(found.state),
                       with_commas(found.attempts), found.attempts == 1 ? "attempt" : "attempts",
                       age_of(found.modified));
}

/// The advice for a transaction whose owner must act.
/// Shape:   due - the step that the owner has not done: "the commit is due"
doubt_advice advice_on_owner(settle::entry const& waits_for, std::string_view due,
                             std::string_view program) {
    bool const gone = settle::is_gone(waits_for.owner);
    return {fmt::format("{}; its owner, process {}, {}", due, process_of(waits_for.owner),
                        gone ? "has ended" : "may still run"),
            gone
                ? fmt::format("'{} recover' settles the transaction", program)
                : fmt::format("wait for that process. If it has ended or stands still: '{} recover "
                              "--older-than 1m'",
                              program)};
}

} // namespace

std::string span_text(std::chrono::milliseconds span) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
    if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{} d {} h", seconds / 86400, seconds / 3600 % 24);
}

doubt_advice advice_on(settle::doubtful_part const& part, std::string_view program) {
    using settle::state;
    auto const rolled_back = fmt::format("'{} recover' rolls it back", program);
    if (part.id.empty()) {
        return {"its name begins like the names of this log, but the library did not make it",
                "find out which program prepared it; only a person ends it, in the database"};
    }
    if (!part.waits_for) return {"it has no entry: its prepare came late", rolled_back};
    auto const& waits_for = *part.waits_for;
    if (!waits_for.fault.empty()) {
        return {fmt::format("its entry is damaged: {}", waits_for.fault),
                fmt::format("repair the entry: '{} show {}'", program, part.id)};
    }
    if (is_committed(waits_for)) {
        return part.epoch_number == waits_for.committed
                   ? advice_on_owner(waits_for, "the commit is due", program)
                   : doubt_advice{"its transaction was committed with a later prepare",
                                  rolled_back};
    }
    if (waits_for.state == state::canceled) {
        return {"its transaction was canceled, and its prepare came late", rolled_back};
    }
    if (waits_for.state == state::initial) {
        return {"its transaction waits for a worker", fmt::format("'{} work' runs it", program)};
    }
    bool const ends = waits_for.state == state::canceling;
    if (ends || part.epoch_number < waits_for.epoch_number) {
        return advice_on_owner(waits_for, "the roll back is due", program);
    }
    return advice_on_owner(waits_for, "the transaction is not decided", program);
}

std::string doubts_text(std::vector<settle::doubtful_part> parts, std::string_view program) {
    std::stable_sort(parts.begin(), parts.end(), [](auto const& one, auto const& other) {
        return one.prepared < other.prepared;
    });
    std::string text;
    for (auto const& part : parts) {
        auto const advice = advice_on(part, program);
        text += printable(part.name) + "\n";
        auto const line = [&](char const* title, std::string_view value) {
            text += fmt::format("  {:<12} {}\n", title, printable(value));
        };
        line("prepared", fmt::format("{} ago, at {}", age_of(part.prepared), utc(part.prepared)));
        if (part.waits_for) line("transaction", facts_of(*part.waits_for));
        line("held by", advice.held_by);
        line("next step", advice.next_step);
    }
    return text + fmt::format("{} in doubt{}\n", with_commas(parts.size()),
                              parts.empty() ? "" : "; a part in doubt holds its locks");
}

} // namespace samples
