// SPDX-License-Identifier: BSL-1.0
// The text of the requests and answers in the story of a run.
#pragma once

#include <settle/testing/explore/world.hpp>

SETTLE_BEGIN
namespace testing {

[[nodiscard]] constexpr bool asks_parts(step at) {
    return at == step::apply || at == step::confirm || at == step::compensate ||
           at == step::back_off;
}

[[nodiscard]] inline std::string words_of(log_answer given) {
    if (given == log_answer::held_back) return ": a part is busy";
    return given == log_answer::taken ? ": ok" : ": refused, it has changed";
}

template <typename Records>
[[nodiscard]] std::string words_of(flight const& sent, model_transaction<Records> const& of) {
    std::string out = std::string{name_of(sent.at)} + " " + of.id();
    if (!asks_parts(sent.at)) {
        bool const inserts = sent.at == step::insert || sent.at == step::one_phase;
        return out + " e" + std::to_string(inserts ? sent.under : sent.change.to_epoch);
    }
    part_name const where = of.name_part(sent.part);
    out.append(" ").append(where.participant);
    if (where.line) out += " line " + std::to_string(*where.line + 1);
    return out + " under e" + std::to_string(sent.under);
}

} // namespace testing
SETTLE_END
