// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that picture.hpp declares.
#pragma once

#include <settle/picture.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

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
    drawn_participant facts{};
};

/// A chart that both languages can write.
struct chart {
    enum class shape { box, end, decision };
    struct node {
        std::string id;
        shape form;
        std::vector<std::string> lines;
        int stage; ///< below 0 outside of the stages
    };
    struct edge {
        std::string from, to, label;
        bool fails;
    };

    std::vector<node> nodes{};
    std::vector<edge> edges{};
    std::vector<std::string> stages{}; ///< their titles; empty without a frame

    void add(std::string id, shape form, std::vector<std::string> lines, int stage = -1) {
        nodes.push_back({std::move(id), form, std::move(lines), stage});
    }
    void connect(std::string from, std::string to, std::string label = {}, bool fails = false) {
        edges.push_back({std::move(from), std::move(to), std::move(label), fails});
    }
};

[[nodiscard]] inline std::string escaped(std::string_view text, bool mermaid) {
    std::string out;
    for (char const c : text) {
        if (mermaid && (c == '"' || c == '<' || c == '>' || c == '#')) {
            out += c == '"' ? "#quot;" : c == '<' ? "#lt;" : c == '>' ? "#gt;" : "#35;";
        } else {
            if (!mermaid && (c == '"' || c == '\\')) out += '\\';
            out += c;
        }
    }
    return out;
}
[[nodiscard]] inline std::string label_of(std::vector<std::string> const& lines, bool mermaid) {
    std::string out;
    for (std::string const& line : lines) {
        if (!out.empty()) out += mermaid ? "<br/>" : "\\n";
        out += escaped(line, mermaid);
    }
    return out;
}

[[nodiscard]] inline std::string mermaid_node(chart::node const& node) {
    constexpr std::string_view opening[]{"[\"", "([\"", "{{\""};
    constexpr std::string_view closing[]{"\"]", "\"])", "\"}}"};
    auto const form = static_cast<std::size_t>(node.form);
    return node.id + std::string{opening[form]} + label_of(node.lines, true) +
           std::string{closing[form]} + '\n';
}
[[nodiscard]] inline std::string dot_node(chart::node const& node) {
    constexpr std::string_view shapes[]{"box", "oval", "hexagon"};
    return node.id + " [shape=" + std::string{shapes[static_cast<std::size_t>(node.form)]} +
           ", label=\"" + label_of(node.lines, false) + "\"]\n";
}

[[nodiscard]] inline std::string written(chart const& drawn, std::string_view name, bool mermaid) {
    std::string out = mermaid ? "flowchart TD\n" : "digraph \"" + escaped(name, false) + "\" {\n";
    auto const node = mermaid ? &mermaid_node : &dot_node;
    for (std::size_t stage = 0; stage < drawn.stages.size(); ++stage) {
        auto const id = std::to_string(stage);
        auto const title = escaped(drawn.stages[stage], mermaid);
        out += mermaid ? "    subgraph stage" + id + "[\"" + title + "\"]\n"
                       : "    subgraph cluster" + id + " {\n        label=\"" + title + "\"\n";
        for (chart::node const& each : drawn.nodes) {
            if (each.stage == static_cast<int>(stage)) out += "        " + node(each);
        }
        out += mermaid ? "    end\n" : "    }\n";
    }
    for (chart::node const& each : drawn.nodes) {
        if (each.stage < 0) out += "    " + node(each);
    }
    for (chart::edge const& edge : drawn.edges) {
        auto const label = escaped(edge.label, mermaid);
        if (mermaid) {
            out += "    " + edge.from + (edge.fails ? " -.->" : " -->");
            out += label.empty() ? " " : "|\"" + label + "\"| ";
            out += edge.to + '\n';
        } else {
            out += "    " + edge.from + " -> " + edge.to + " [label=\"" + label + '"';
            out += edge.fails ? ", style=dashed]\n" : "]\n";
        }
    }
    return mermaid ? out : out + "}\n";
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
        else if (take(line, "participant "))
            type.parts.push_back(part_of(line, participants[type.parts.size()]));
        else if (!take(line, " ")) continue;
        else if (!type.parts.empty()) take_line(type.parts.back(), line);
        else type.guards.push_back(without_brackets(line));
    }
    return type;
}

/// Draws the stages. Returns the node after the last one.
[[nodiscard]] inline std::string draw_stages(chart& drawn, drawn_type const& type) {
    std::string before = "begin_";
    std::uint32_t last = 0;
    for (drawn_part const& part : type.parts) last = std::max(last, part.facts.stage);
    for (std::uint32_t stage = 0; stage <= last; ++stage) {
        auto const is_here = [&](drawn_part const& part) { return part.facts.stage == stage; };
        auto const first = std::find_if(type.parts.begin(), type.parts.end(), is_here);
        if (first == type.parts.end()) continue;
        int const frame = static_cast<int>(drawn.stages.size());
        bool const is_single =
            std::find_if(std::next(first), type.parts.end(), is_here) == type.parts.end();
        drawn.stages.push_back("stage " + std::to_string(stage) +
                               (is_single ? "" : ": all at once"));
        if (first->facts.is_pivot) {
            drawn.add("deciding", chart::shape::decision,
                      {"deciding", "from here on, only the answer decides"});
            drawn.connect(std::exchange(before, "deciding"), "deciding");
        }
        auto const after = "applied" + std::to_string(stage);
        for (std::size_t number = 0; number < type.parts.size(); ++number) {
            drawn_part const& part = type.parts[number];
            if (!is_here(part)) continue;
            auto const id = "part" + std::to_string(number);
            std::vector<std::string> lines{part.name + ": " + part.place};
            lines.insert(lines.end(), part.applied.begin(), part.applied.end());
            if (part.is_exclusive) lines.emplace_back("exclusive: keeps others away");
            if (part.facts.is_pivot) lines.emplace_back("pivot: no answer, asked again for ever");
            drawn.add(id, chart::shape::box, std::move(lines), frame);
            drawn.connect(before, id);
            drawn.connect(id, stage == last ? "commit" : after);
            drawn.connect(id, "cancel", failure_of(part), true);
        }
        if (stage == last) break;
        drawn.add(after, chart::shape::decision,
                  {stage == 0 ? "all applied" : "all answered, results kept"});
        before = after;
    }
    return "commit";
}

} // namespace drawing

SETTLE_FUNCTION type_picture draw(std::vector<definition_item> items,
                                  std::span<drawn_participant const> participants,
                                  std::uint64_t undone_after_later) {
    using namespace drawing;
    auto const type = read_definition(std::move(items), participants);

    chart drawn;
    std::vector<std::string> beginning{type.name};
    beginning.insert(beginning.end(), type.guards.begin(), type.guards.end());
    drawn.add("begin_", chart::shape::end, std::move(beginning));
    if (!type.guards.empty()) {
        drawn.add("refused", chart::shape::end, {"refused", "nothing was written"});
        drawn.connect("begin_", "refused", "guard failed", true);
    }
    auto const last = draw_stages(drawn, type);
    drawn.add(last, chart::shape::decision, {"commit", "no cancel is possible any more"});

    std::vector<std::string> confirms{"applied"};
    std::vector<std::string> undoes{"canceling", "what was applied or sent:"};
    for (auto part = type.parts.rbegin(); part != type.parts.rend(); ++part) {
        auto undo = undo_of(*part);
        bool const waits = part->facts.stage < 64 && (undone_after_later >> part->facts.stage & 1U);
        if (waits && part->facts.stage != 0 && !undo.empty()) undo += ", after all later stages";
        if (!part->facts.is_pivot && !undo.empty()) undoes.push_back(part->name + ": " + undo);
    }
    for (drawn_part const& part : type.parts) {
        for (std::string const& confirm : part.confirmed) {
            auto const again = part.what == drawn_part::kind::call ? ", until it answers" : "";
            confirms.push_back(part.name + ": " + confirm + again);
        }
        if (part.what == drawn_part::kind::prepared) confirms.push_back(part.name + ": commit");
    }
    drawn.add("done", chart::shape::end, {"done"});
    if (confirms.size() == 1) {
        drawn.connect(last, "done");
    } else {
        drawn.add("confirm", chart::shape::box, std::move(confirms));
        drawn.connect(last, "confirm");
        drawn.connect("confirm", "done");
    }
    drawn.add("cancel", chart::shape::box, std::move(undoes));
    drawn.add("canceled", chart::shape::end, {"canceled"});
    drawn.connect("cancel", "canceled");
    return {written(drawn, type.name, true), written(drawn, type.name, false)};
}

} // namespace detail
SETTLE_END
