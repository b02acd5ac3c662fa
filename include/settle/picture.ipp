// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that picture.hpp declares.
#pragma once

#include <settle/picture.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace drawing {

/// A chart that both languages can write.
struct chart {
    enum class shape { box, end, decision };
    struct node {
        std::string id;
        shape form;
        std::vector<std::string> lines;
        int stage; ///< below 0 outside of the frames
    };
    struct edge {
        std::string from, to, label;
        bool fails;
    };

    std::vector<node> nodes{};
    std::vector<edge> edges{};
    std::vector<std::string> stages{}; ///< the titles of stages of several parts, each in a frame

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
           std::string{closing[form]};
}
[[nodiscard]] inline std::string dot_node(chart::node const& node) {
    constexpr std::string_view shapes[]{"box", "oval", "hexagon"};
    return node.id + " [shape=" + std::string{shapes[static_cast<std::size_t>(node.form)]} +
           ", label=\"" + label_of(node.lines, false) + "\"]";
}
/// Mermaid takes a node where an edge first names it: so stand the ends of all ways.
[[nodiscard]] inline bool stands_in_edge(chart::node const& node) {
    return node.lines == std::vector{node.id};
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
            if (each.stage == static_cast<int>(stage)) out += "        " + node(each) + '\n';
        }
        out += mermaid ? "    end\n" : "    }\n";
    }
    for (chart::node const& each : drawn.nodes) {
        if (each.stage < 0 && !(mermaid && stands_in_edge(each))) out += "    " + node(each) + '\n';
    }
    std::string_view end; // of the edge before
    for (chart::edge const& edge : drawn.edges) {
        auto const label = escaped(edge.label, mermaid);
        if (mermaid) {
            // A way is one line, as a person writes it.
            if (!edge.fails && edge.from == end) out.pop_back();
            else out += "    " + edge.from;
            out += edge.fails ? " -.->|\"" + label + "\"| " : " --> ";
            auto const to = std::find_if(drawn.nodes.begin(), drawn.nodes.end(),
                                         [&](auto const& each) { return each.id == edge.to; });
            out += (stands_in_edge(*to) ? mermaid_node(*to) : edge.to) + '\n';
            end = edge.to;
        } else {
            out += "    " + edge.from + " -> " + edge.to + " [label=\"" + label + '"';
            out += edge.fails ? ", style=dashed]\n" : "]\n";
        }
    }
    return mermaid ? out : out + "}\n";
}

/// Draws the stages. Returns the node after the last one.
[[nodiscard]] inline std::string draw_stages(chart& drawn, drawn_type const& type) {
    std::string before = "begin_";
    // A call that only follows the commit is in no stage.
    auto const is_applied = [](drawn_part const& part) {
        return part.what != drawn_part::kind::call || !part.applied.empty();
    };
    std::uint32_t last = 0;
    for (drawn_part const& part : type.parts) {
        if (is_applied(part)) last = std::max(last, part.facts.stage);
    }
    for (std::uint32_t stage = 0; stage <= last; ++stage) {
        auto const is_here = [&](drawn_part const& part) {
            return part.facts.stage == stage && is_applied(part);
        };
        auto const first = std::find_if(type.parts.begin(), type.parts.end(), is_here);
        if (first == type.parts.end()) continue;
        bool const is_single =
            std::find_if(std::next(first), type.parts.end(), is_here) == type.parts.end();
        auto const title = "stage " + std::to_string(stage);
        int const frame = is_single ? -1 : static_cast<int>(drawn.stages.size());
        if (!is_single) drawn.stages.push_back(title + ": all at once");
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
            std::vector<std::string> lines;
            if (is_single) lines.push_back(title);
            lines.push_back(part.name + ": " + part.place);
            lines.insert(lines.end(), part.applied.begin(), part.applied.end());
            if (is_single && stage != last && part.what == drawn_part::kind::call)
                lines.emplace_back("result kept");
            if (part.is_exclusive) lines.emplace_back("exclusive: keeps others away");
            if (part.facts.is_pivot) lines.emplace_back("pivot: no answer, asked again for ever");
            drawn.add(id, chart::shape::box, std::move(lines), frame);
            drawn.connect(before, id);
            drawn.connect(id, "cancel", failure_of(part), true);
            if (stage == last) drawn.connect(id, "commit");
            else if (is_single) before = id;
            else drawn.connect(id, after);
        }
        if (is_single || stage == last) continue;
        drawn.add(after, chart::shape::decision,
                  {stage == 0 ? "all applied" : "all answered, results kept"});
        before = after;
    }
    if (std::none_of(type.parts.begin(), type.parts.end(), is_applied))
        drawn.connect(before, "commit");
    return "commit";
}

} // namespace drawing

SETTLE_FUNCTION type_picture draw(std::vector<definition_item> items,
                                  std::span<drawn_participant const> participants,
                                  bool undone_by_stage) {
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
        std::string earlier;
        for (drawn_part const& each : type.parts) {
            if (!undone_by_stage && is_undone_after(*part, each, false))
                earlier.append(earlier.empty() ? "" : ", ").append(each.name);
        }
        if (undone_by_stage && part->facts.stage != 0) earlier = "all later stages";
        if (!earlier.empty() && !undo.empty()) undo.append(", after ").append(earlier);
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
    std::stable_partition(drawn.edges.begin(), drawn.edges.end(),
                          [](chart::edge const& edge) { return !edge.fails; });
    drawn.connect("cancel", "canceled");
    return {written(drawn, type.name, true), written(drawn, type.name, false)};
}

} // namespace detail
SETTLE_END
