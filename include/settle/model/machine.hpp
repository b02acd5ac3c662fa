// SPDX-License-Identifier: BSL-1.0
// The protocol of one transaction type as a table: places, choices and changes. The texts for
// independent checkers are written from it alone, so that they cannot differ.
#pragma once

#include <settle/version.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace detail::modeling {

/// One atomic step. Conditions and expressions are Promela's, of the operators that have a
/// counterpart in TLA+: && || ! == != < <= > >= + -
struct choice {
    std::string remark;
    std::string guard;
    std::vector<std::string> changes; ///< "name = expression"; none reads what an earlier one wrote
    std::string next;                 ///< a place, or `over`
};

/// Where a process stands between two steps.
struct place {
    std::string name;
    std::string remark;
    bool begins = true; ///< false inside of a wave, where the caller does not crash
    std::vector<choice> choices{};
};

struct variable {
    std::string name;
    std::string type; ///< "byte", "bool" or "mtype"
    std::string initial;
};
struct variable_group {
    std::string name;
    std::string remark;
    std::vector<variable> members{};
};
/// A rule that the model has a switch for: the name as in protocol/rules.hpp.
struct switched_rule {
    std::string name;
    std::string sentence;
};
/// A condition on every end.
struct verdict {
    std::string remark;
    std::string condition;
};

struct machine {
    std::string name;
    std::vector<std::string> participants{}; ///< one line for each
    std::vector<switched_rule> rules{};
    std::vector<std::string> words{}; ///< the values of variables of type mtype
    std::vector<variable_group> groups{};
    std::vector<variable> locals{}; ///< of each worker
    std::vector<place> worker{};    ///< begins at `insert`, `take_over` or `ask_cancel`
    std::vector<place> network{};
    std::vector<place> sweeper{}; ///< ends at `judge`
    std::vector<verdict> verdicts{};
};

/// A condition that may stand beside &&.
[[nodiscard]] inline std::string bracketed(std::string const& text) {
    return text.find("||") == std::string::npos ? text : '(' + text + ')';
}

[[nodiscard]] std::string promela_of(machine const& model);
[[nodiscard]] std::string tla_of(machine const& model);

} // namespace detail::modeling
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/model/text.ipp>
#endif
