// SPDX-License-Identifier: BSL-1.0
#include "doubts.hpp"

#include "entries.hpp"
#include "text.hpp"

#include <settle/protocol/fresh.hpp>
#include <settle/running/construction/owner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace samples {

namespace {

/// What holds a prepared part back, and the next step: a sentence each.
struct doubt_advice {
    std::string held_by;
    std::string next_step;
};

/// How long ago a time was, in its two largest units.
std::string age_of(settle::timestamp when) {
    using std::chrono::milliseconds;
    auto const age =
        std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now() - when);
    // The clock of a server may be ahead.
    return span_text(std::max(age, milliseconds{0}));
}

std::string facts_of(settle::entry const& entry) {
    if (!entry.fault.empty()) return fmt::format("'{}', damaged", entry.id);
    return fmt::format("'{}', {}, {}, {} further {}, last moved {} ago", entry.id,
                       entry.type.empty() ? "no type" : entry.type, name_of(entry.state),
                       with_commas(entry.attempts), entry.attempts == 1 ? "attempt" : "attempts",
                       age_of(entry.modified));
}

/// The advice for a transaction whose owner must act.
/// Shape:   due - the step that the owner has not done: "the commit is due"
doubt_advice advice_on_owner(std::string const& owner, std::string_view due,
                             std::string_view program) {
    // The machine and the number of its process.
    auto const process =
        owner.empty() ? "unknown" : owner.substr(0, owner.find('/', owner.find('/') + 1));
    bool const gone = settle::is_gone(owner);
    return {fmt::format("{}; its owner, process {}, {}", due, process,
                        gone ? "has ended" : "may still run"),
            gone ? fmt::format("'{} recover' settles the transaction", program)
                 : fmt::format("wait for that process. If it has ended or stands still: '{} "
                               "recover --older-than 1m'",
                               program)};
}

doubt_advice advice_on(settle::doubtful_part const& part, std::string_view program) {
    using settle::state;
    auto const rolled_back = fmt::format("'{} recover' rolls it back", program);
    if (part.id.empty()) {
        return {"its name begins like the names of this log, but the library did not make it",
                "find out which program prepared it; only a person ends it, in the database"};
    }
    if (!part.waits_for) return {"it has no entry: its prepare came late", rolled_back};
    auto const& entry = *part.waits_for;
    if (!entry.fault.empty()) {
        return {fmt::format("its entry is damaged: {}", entry.fault),
                fmt::format("repair the entry: '{} show {}'", program, part.id)};
    }
    switch (entry.state) {
    case state::initial:
        return {"its transaction waits for a worker", fmt::format("'{} work' runs it", program)};
    case state::applied:
    case state::done:
        if (part.epoch_number != entry.committed) {
            return {"its transaction was committed with a later prepare", rolled_back};
        }
        return advice_on_owner(entry.owner, "the commit is due", program);
    case state::canceled:
        return {"its transaction was canceled, and its prepare came late", rolled_back};
    default: break;
    }
    bool const ends = entry.state == state::canceling || part.epoch_number < entry.epoch_number;
    return advice_on_owner(
        entry.owner, ends ? "the roll back is due" : "the transaction is not decided", program);
}

} // namespace

std::string span_text(std::chrono::milliseconds span) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
    if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{} d {} h", seconds / 86400, seconds / 3600 % 24);
}

std::string doubts_text(std::vector<settle::doubtful_part> parts, std::string_view program) {
    std::stable_sort(parts.begin(), parts.end(), [](auto const& left, auto const& right) {
        return left.prepared < right.prepared;
    });
    std::string text;
    for (auto const& part : parts) {
        auto const [held_by, next_step] = advice_on(part, program);
        text += printable(part.name) + "\n";
        text += fmt::format("  prepared     {} ago, at {}\n", age_of(part.prepared),
                            utc(part.prepared));
        if (part.waits_for) {
            text += fmt::format("  transaction  {}\n", printable(facts_of(*part.waits_for)));
        }
        text += fmt::format("  held by      {}\n  next step    {}\n", printable(held_by),
                            printable(next_step));
    }
    return text + fmt::format("{} in doubt{}\n", with_commas(parts.size()),
                              parts.empty() ? "" : "; a part in doubt holds its locks");
}

std::string early_marks_text(std::vector<settle::mark_locator> marks, std::string_view program) {
    auto const call_of = [](settle::mark_locator const& mark) {
        return std::tie(mark.epoch_number, mark.id);
    };
    std::stable_sort(marks.begin(), marks.end(), [&](auto const& left, auto const& right) {
        return call_of(left) < call_of(right);
    });
    std::string text;
    std::size_t calls = 0;
    for (auto mark = marks.begin(); mark != marks.end(); ++calls) {
        auto const born = settle::time_of_mark(mark->epoch_number);
        text += fmt::format("{}\n  began        {} ago, at {}\n", printable(mark->id), age_of(born),
                            utc(born));
        for (auto const first = mark; mark != marks.end() && call_of(*mark) == call_of(*first);
             ++mark) {
            auto const key =
                std::visit([](auto const& value) { return fmt::format("{}", value); }, mark->key);
            text += fmt::format("  mark         {}\n", printable(mark->collection + "/" + key));
        }
        text += fmt::format("  held by      no entry: its call is under way, or has stopped\n"
                            "  next step    wait; '{} recover' undoes it after half an hour\n",
                            program);
    }
    return text + fmt::format("{} begun without an entry{}\n", with_commas(calls),
                              calls == 0 ? "" : "; their marks may make others wait");
}

} // namespace samples
