// SPDX-License-Identifier: BSL-1.0
// A transaction type as it is drawn and modeled: read from the canonical text of its definition.
#pragma once

#include <settle/definition/canonical.hpp>
#include <settle/protocol/state.hpp>

#include <algorithm>
#include <span>

SETTLE_BEGIN
namespace detail {

/// What the canonical text does not tell of a participant.
struct drawn_participant {
    std::uint32_t stage;
    bool is_pivot;
    bool keeps_rows = false;        ///< its receiver has the grade `barrier`
    std::uint64_t undone_after = 0; ///< see undo_place
};

namespace drawing {

/// A participant as it is drawn.
struct drawn_part {
    enum class kind { record, call, prepared, other };

    kind what = kind::other;
    std::string name{};
    std::string place{}; ///< "record of accounts"
    std::vector<std::string> applied{};
    std::vector<std::string> confirmed{};
    std::vector<std::string> compensated{};
    bool is_guarded = false;
    bool is_exclusive = false;
    bool creates = false;
    bool has_effect = false; ///< its apply has something to undo
    std::size_t number = 0;  ///< of the participant
    drawn_participant facts{};
};

/// True if a part is compensated only after another one.
[[nodiscard]] inline bool is_undone_after(drawn_part const& part, drawn_part const& other,
                                          bool by_stage) {
    if (by_stage) return part.facts.stage < other.facts.stage;
    return (part.facts.undone_after & undo_place::bit(other.number)) != 0;
}

/// Takes `prefix` off a text that begins with it.
inline bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}
[[nodiscard]] inline std::string_view take_word(std::string_view& text) {
    auto const word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}
[[nodiscard]] inline std::string together(std::string_view first, std::string_view second) {
    return std::string{first}.append(second);
}

/// A guard without the brackets around all of it.
[[nodiscard]] inline std::string without_brackets(std::string_view guard) {
    constexpr std::string_view begin = "require (";
    if (!guard.starts_with(begin) || !guard.ends_with(')')) return std::string{guard};
    return together("require ", guard.substr(begin.size(), guard.size() - begin.size() - 1));
}

[[nodiscard]] inline drawn_part part_of(std::string_view line, drawn_participant const& facts) {
    drawn_part part;
    part.facts = facts;
    part.name = take_word(line);
    std::string range;
    if (take(line, "each param.")) range = together(", for each of ", take_word(line));
    auto const place = [&](drawn_part::kind kind, std::string_view words) {
        part.what = kind;
        part.place = together(words, take_word(line)) + range;
    };
    if (take(line, "in ")) place(drawn_part::kind::record, "record of ");
    else if (take(line, "calls ")) place(drawn_part::kind::call, "call of ");
    else if (take(line, "prepared in ")) place(drawn_part::kind::prepared, "prepared in ");
    else if (take(line, "at ")) place(drawn_part::kind::other, "part of ");
    return part;
}

/// Takes a line of a participant in the canonical text.
inline void take_line(drawn_part& part, std::string_view line) {
    auto const text = std::string{line};
    bool const is_call = part.what == drawn_part::kind::call;
    auto const put = [&](std::vector<std::string>& to, std::string_view when) {
        to.push_back(is_call ? std::string{when} : text);
    };
    if (line.starts_with("require ")) {
        part.applied.push_back(without_brackets(line));
        part.is_guarded = true;
    } else if (take(line, "apply")) {
        if (part.what == drawn_part::kind::prepared) part.applied.emplace_back("run, and prepare");
        else put(part.applied, part.facts.is_pivot ? "call, which cannot be undone" : "call");
        part.has_effect = true;
    } else if (line.starts_with("query")) {
        part.applied.emplace_back("call without an effect");
    } else if (line.starts_with("confirm")) {
        put(part.confirmed, "confirm");
    } else if (line.starts_with("compensate")) {
        put(part.compensated, "compensate");
    }
    if (part.what != drawn_part::kind::record || text.starts_with("require ")) return;
    part.creates = part.creates || text == "apply create";
    part.is_exclusive = part.is_exclusive || text.ends_with(" create") ||
                        text.ends_with(" erase") || text.find(" = ") != std::string::npos;
}

/// What ends the apply of a part without success.
[[nodiscard]] inline std::string failure_of(drawn_part const& part) {
    switch (part.what) {
    case drawn_part::kind::record: {
        std::string why = part.is_guarded ? "guard failed, " : "";
        why += part.creates ? "record exists" : "record missing";
        return why + ", busy too often";
    }
    case drawn_part::kind::call:
        return part.facts.is_pivot ? "refused" : "refused, or no answer too often";
    case drawn_part::kind::prepared: return "refused, or busy too often";
    default: return "not applied";
    }
}
[[nodiscard]] inline std::string undo_of(drawn_part const& part) {
    switch (part.what) {
    case drawn_part::kind::record:
        return part.has_effect ? "the apply is undone" : "the mark is removed";
    case drawn_part::kind::prepared: return "rolled back";
    case drawn_part::kind::call:
        return part.compensated.empty() ? "" : "compensate, until it answers";
    default: return "compensate";
    }
}

/// A definition as it is drawn.
struct drawn_type {
    std::string name{};
    std::vector<std::string> guards{};
    std::vector<drawn_part> parts{};
};

[[nodiscard]] inline drawn_type read_definition(std::vector<definition_item> items,
                                                std::span<drawn_participant const> participants) {
    // The types of fields are for the hash.
    for (std::size_t index = 1; index < items.size(); ++index) {
        bool const is_of_field = items[index].kind == item_kind::type &&
                                 items[index - 1].kind == item_kind::text &&
                                 items[index - 1].text == ":";
        if (!is_of_field) continue;
        items[index - 1].text = {};
        items[index].kind = item_kind::text;
    }
    auto const canonical = text_of(items.data());
    std::string_view text = canonical;
    drawn_type type;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (take(line, "transaction ")) type.name = line;
        else if (take(line, "participant ")) {
            auto const number = type.parts.size();
            type.parts.push_back(part_of(line, participants[number]));
            type.parts.back().number = number;
        } else if (!take(line, " ")) continue;
        else if (!type.parts.empty()) take_line(type.parts.back(), line);
        else type.guards.push_back(without_brackets(line));
    }
    return type;
}

} // namespace drawing
} // namespace detail
SETTLE_END
