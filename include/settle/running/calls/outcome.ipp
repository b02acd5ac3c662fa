// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that outcome.hpp declares.
#pragma once

#include <settle/running/calls/outcome.hpp>

#include <ostream>

SETTLE_BEGIN

SETTLE_FUNCTION std::string outcome::text() const {
    std::string out = id + ": " + std::string{name_of(verdict)};
    if (why != reason::none) {
        out += " (";
        if (!participant.empty()) out += participant;
        if (line) out += " line " + std::to_string(*line + 1);
        if (!participant.empty()) out += ": ";
        out += name_of(why);
        out += ')';
    }
    if (!finished) out += ", not all of it is confirmed yet";
    if (!problem.empty()) out += ": " + problem.message();
    return out;
}

SETTLE_FUNCTION std::ostream& operator<<(std::ostream& out, outcome const& shown) {
    return out << shown.text();
}

SETTLE_END
