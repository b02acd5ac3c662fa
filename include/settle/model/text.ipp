// SPDX-License-Identifier: BSL-1.0
// Writes a machine in Promela and in TLA+: the bodies of functions that machine.hpp declares.
#pragma once

#include <settle/model/machine.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

SETTLE_BEGIN
namespace detail::modeling {

/// A comment in one line, which neither language ends early.
[[nodiscard]] inline std::string remark_of(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    for (auto end = text.find("*/"); end != text.npos; end = text.find("*/")) {
        text.insert(end + 1, " ");
    }
    return text;
}

[[nodiscard]] inline std::string_view name_in(std::string_view change) {
    return change.substr(0, change.find(" = "));
}
[[nodiscard]] inline std::string_view value_in(std::string_view change) {
    return change.substr(change.find(" = ") + 3);
}

/// Translates the conditions and expressions of one machine to TLA+.
class tla_translation {
public:
    explicit tla_translation(machine const& model)
        : words_(model.words.begin(), model.words.end()) {
        for (variable const& each : model.locals) locals_.insert(each.name);
    }

    [[nodiscard]] bool is_local(std::string_view name) const {
        return locals_.contains(std::string{name});
    }
    [[nodiscard]] std::string operator()(std::string_view text) const {
        constexpr std::pair<std::string_view, std::string_view> operators[]{
            {"&&", "/\\"}, {"||", "\\/"}, {"==", "="}, {"!=", "#"},
            {"<=", "<="},  {">=", ">="},  {"!", "~"}};
        std::string out;
        while (!text.empty()) {
            auto const is_name = [](char c) {
                return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
            };
            auto const end = std::find_if_not(text.begin(), text.end(), is_name);
            std::size_t length = static_cast<std::size_t>(end - text.begin());
            if (length != 0) {
                out += word(std::string{text.substr(0, length)});
            } else {
                length = 1;
                auto const* const sign =
                    std::find_if(std::begin(operators), std::end(operators),
                                 [&](auto const& pair) { return text.starts_with(pair.first); });
                if (sign == std::end(operators)) out += text.front();
                else out += sign->second, length = sign->first.size();
            }
            text.remove_prefix(length);
        }
        return out;
    }

private:
    [[nodiscard]] std::string word(std::string const& name) const {
        if (name == "true") return "TRUE";
        if (name == "false") return "FALSE";
        if (words_.contains(name)) return '"' + name + '"';
        return locals_.contains(name) ? name + "[self]" : name;
    }

    std::set<std::string> words_;
    std::set<std::string> locals_;
};

// ---------------------------------------------------------------------------- Promela

/// Shape:   who, arguments - of the printf of each step, for a replay
inline void put_promela(std::string& out, std::vector<place> const& places, std::string_view who,
                        std::string_view arguments) {
    for (place const& each : places) {
        if (!each.remark.empty()) out += "\n    /* " + remark_of(each.remark) + " */\n";
        out += each.name + ":\n    if\n";
        for (choice const& step : each.choices) {
            out += "    :: atomic { " + step.guard + " ->\n           printf(\"";
            out.append(who).append(", ").append(each.name);
            if (!step.remark.empty()) out += ": " + step.remark;
            out.append("\\n\"").append(arguments).append(");\n           ");
            for (std::string const& change : step.changes) out += change + "; ";
            out += "goto " + step.next + " }\n";
        }
        out += "    fi;\n";
    }
}

SETTLE_FUNCTION std::string promela_of(machine const& model) {
    std::string out =
        "/* The protocol of the transaction type '" + model.name + "', for the checker spin.\n";
    for (std::string const& line : model.participants) out += " *   " + remark_of(line) + '\n';
    out +=
        " *\n"
        " * spin -a FILE && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000\n"
        " *\n"
        " * Each rule of the protocol is a switch: spin -DRULE_name=0 -a FILE. */\n\n"
        "#ifndef LOSSES\n"
        "#define LOSSES 1 /* so many answers are lost; a lost apply may arrive late, or never */\n"
        "#endif\n";
    for (switched_rule const& rule : model.rules) {
        out += "\n/* " + rule.sentence + " */\n#ifndef " + rule.name + "\n#define " + rule.name +
               " 1\n#endif\n";
    }
    out += "\nmtype = {";
    for (std::string const& word : model.words) {
        out += (word == model.words.front() ? " " : ", ") + word;
    }
    out += " };\n";
    for (variable_group const& group : model.groups) {
        out += "\n/* " + remark_of(group.remark) + " */\n";
        for (variable const& each : group.members) {
            out += each.type + ' ' + each.name + " = " + each.initial + ";\n";
        }
    }
    out += "\n/* A worker: the caller, which may crash before any wave and any change of the "
           "entry; the\n"
           " * recoverer, which takes over once; the canceler, a person or another program. */\n"
           "proctype worker(mtype self)\n{\n";
    for (variable const& each : model.locals) {
        out += "    " + each.type + ' ' + each.name + " = " + each.initial + ";\n";
    }
    out += "    if\n"
           "    :: self == caller -> goto insert\n"
           "    :: self == recoverer -> goto take_over\n"
           "    :: self == canceler -> goto ask_cancel\n"
           "    fi;\n";
    put_promela(out, model.worker, "%e", ", self");
    out += "over:\n    skip\n}\n\n/* The network holds applies whose worker waits no longer. */\n"
           "proctype network()\n{\n";
    put_promela(out, model.network, "network", "");
    out += "}\n\n/* The sweeper comes last. It undoes stray marks, and looks at the end. */\n"
           "proctype sweeper()\n{\n";
    put_promela(out, model.sweeper, "sweeper", "");
    out += "\njudge:\n";
    for (verdict const& each : model.verdicts) {
        out += "    /* " + remark_of(each.remark) + " */\n    assert(" + each.condition + ");\n";
    }
    return out + "    skip\n}\n\n"
                 "init\n{\n"
                 "    atomic {\n"
                 "        run worker(caller); run worker(recoverer); run worker(canceler);\n"
                 "        run network(); run sweeper()\n"
                 "    }\n}\n";
}

// ------------------------------------------------------------------------------- TLA+

/// The variables that a step leaves as they are: whole groups by their names.
[[nodiscard]] inline std::string unchanged(machine const& model,
                                           std::set<std::string> const& written) {
    std::string out;
    auto const put = [&](std::string const& name) { out += (out.empty() ? "" : ", ") + name; };
    auto const put_group = [&](std::string const& name, std::vector<variable> const& members) {
        auto const is_written = [&](variable const& each) { return written.contains(each.name); };
        if (std::none_of(members.begin(), members.end(), is_written)) return put(name);
        for (variable const& each : members) {
            if (!is_written(each)) put(each.name);
        }
    };
    for (variable_group const& group : model.groups) put_group(group.name, group.members);
    put_group("locals", model.locals);
    return out;
}

inline void put_tla(std::string& out, machine const& model, tla_translation const& tla,
                    place const& from, choice const& step) {
    std::string const indent = from.choices.size() > 1 ? "          " : "    ";
    std::set<std::string> written;
    auto const line = [&](std::string const& text) { out += "/\\ " + text + '\n' + indent; };
    if (!step.remark.empty()) out += "\\* " + remark_of(step.remark) + '\n' + indent;
    if (step.guard != "true") line(tla(bracketed(step.guard)));
    for (std::string const& change : step.changes) {
        std::string const name{name_in(change)};
        auto const value = tla(value_in(change));
        written.insert(name);
        line(tla.is_local(name) ? name + "' = [" + name + " EXCEPT ![self] = " + value + ']'
                                : name + "' = " + value);
    }
    line("pc' = [pc EXCEPT ![self] = \"" + step.next + "\"]");
    out += "/\\ UNCHANGED <<" + unchanged(model, written) + ">>\n";
}

inline void put_tla(std::string& out, machine const& model, tla_translation const& tla,
                    std::vector<place> const& places) {
    for (place const& each : places) {
        out += '\n';
        if (!each.remark.empty()) out += "\\* " + remark_of(each.remark) + '\n';
        out += each.name + "(self) ==\n    /\\ pc[self] = \"" + each.name + "\"\n";
        for (choice const& step : each.choices) {
            out += each.choices.size() > 1
                       ? std::string{&step == each.choices.data() ? "    /\\ \\/ " : "       \\/ "}
                       : std::string{"    "};
            put_tla(out, model, tla, each, step);
        }
    }
}

/// The disjunction of the steps of a process.
[[nodiscard]] inline std::string any_of(std::vector<place> const& places, std::string const& self) {
    std::string out;
    for (place const& each : places) {
        out += (out.empty() ? "" : " \\/ ") + each.name + '(' + self + ')';
    }
    return out;
}

SETTLE_FUNCTION std::string tla_of(machine const& model) {
    tla_translation const tla{model};
    std::string out = "---- MODULE " + model.name + " ----\n" +
                      "\\* The protocol of the transaction type '" + model.name +
                      "', for the checker TLC. This file is " + model.name + ".tla.\n";
    for (std::string const& line : model.participants) out += "\\*   " + remark_of(line) + '\n';
    out += "\\*\n"
           "\\* " +
           model.name +
           ".cfg has the two lines SPECIFICATION Spec and INVARIANT Right.\n"
           "\\* Each rule of the protocol is a switch.\n"
           "EXTENDS Naturals\n\n"
           "LOSSES == 1 \\* so many answers are lost; a lost apply may arrive late, or never\n";
    for (switched_rule const& rule : model.rules) {
        out += "\n\\* " + rule.sentence + '\n' + rule.name + " == TRUE\n";
    }
    std::string names;
    std::string tuples;
    std::string beginning;
    std::string whole = "vars == <<pc";
    auto const put_group = [&](variable_group const& group, bool is_local) {
        std::string members;
        for (variable const& each : group.members) {
            members += (members.empty() ? "" : ", ") + each.name;
            auto const value = tla(each.initial);
            beginning += "    /\\ " + each.name + " = " +
                         (is_local ? "[self \\in Workers |-> " + value + ']' : value) + '\n';
        }
        names += ", " + members;
        tuples +=
            "\n\\* " + remark_of(group.remark) + '\n' + group.name + " == <<" + members + ">>\n";
        whole += ", " + group.name;
    };
    for (variable_group const& group : model.groups) put_group(group, false);
    put_group({"locals", "Of each worker.", model.locals}, true);
    out += "\nVARIABLES pc" + names + '\n' + tuples + '\n' + whole + ">>\n\n" +
           "\\* The caller may crash before any wave and any change of the entry; the recoverer "
           "takes\n"
           "\\* over once; the canceler is a person or another program.\n"
           "Workers == {\"caller\", \"recoverer\", \"canceler\"}\n\n"
           "Init ==\n    /\\ pc = [self \\in Workers \\union {\"network\", \"sweeper\"} |->\n"
           "           CASE self = \"caller\" -> \"insert\"\n"
           "             [] self = \"recoverer\" -> \"take_over\"\n"
           "             [] self = \"canceler\" -> \"ask_cancel\"\n"
           "             [] self = \"network\" -> \"" +
           model.network.front().name +
           "\"\n"
           "             [] self = \"sweeper\" -> \"" +
           model.sweeper.front().name + "\"]\n" + beginning;
    put_tla(out, model, tla, model.worker);
    put_tla(out, model, tla, model.network);
    put_tla(out, model, tla, model.sweeper);
    out += "\n\\* The end, where only the network may have nothing to do.\n"
           "Ended == pc[\"sweeper\"] = \"judge\" /\\ UNCHANGED vars\n\n"
           "Next ==\n    \\/ \\E self \\in Workers : " +
           any_of(model.worker, "self") + "\n    \\/ " + any_of(model.network, "\"network\"") +
           "\n    \\/ " + any_of(model.sweeper, "\"sweeper\"") +
           "\n    \\/ Ended\n\nSpec == Init /\\ [][Next]_vars\n\nRight ==\n"
           "    pc[\"sweeper\"] = \"judge\" =>\n";
    for (verdict const& each : model.verdicts) {
        out += "        \\* " + remark_of(each.remark) + "\n        /\\ (" + tla(each.condition) +
               ")\n";
    }
    return out + "====\n";
}

} // namespace detail::modeling
SETTLE_END
