// SPDX-License-Identifier: BSL-1.0
// Reads that no newer primary has overtaken, on a replica set of one member. A linearizable read
// waits there for the timer of the journal, a tenth of a second.
#pragma once

#include <settle/mongodb/native.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Reads in a native transaction whose commit waits until the journal has what was read, at once.
/// False when the set may have more members: another one may be the primary then, and know better.
/// Shape:   read(link) - is called anew, from the start, as long as others are in the way
/// Errors:  throws settle::failure
[[nodiscard]] inline bool read_on_sole_primary(server& at, native_transaction::action read) {
    if (!at.was_sole_primary()) return false;
    // Its client is given back before another one is asked for: others may have all the rest.
    auto const ended = native_transaction{at}.perform(read, for_long.longest);
    if (ended.status != commit_status::committed) throw failure(ended.problem);
    // A member that joins is taken in by the primary, so this one still was the only one.
    return at.is_sole_primary();
}

/// Calls `function(document)` for every document that is found.
/// Shape:   sure - the options of a read that no newer primary has overtaken, if it is to be one;
///          options - others of the find
/// Errors:  throws settle::failure, also when no majority answers in time
template <typename Function>
void find_surely(server& at, std::string_view name, document const& filter, document sure,
                 document const& options, std::string_view phase, Function&& function) {
    std::vector<document> found;
    auto const read = [&](link& with) {
        found.clear();
        with.find(name, filter, document{options.native()}, phase,
                  [&](document one) { found.push_back(std::move(one)); });
    };
    if (!sure.empty() && read_on_sole_primary(at, read)) {
        for (auto& one : found) function(std::move(one));
        return;
    }
    bson_concat(sure.native(), options.native());
    at.connect().find(name, filter, std::move(sure), phase, function);
}

} // namespace mongodb::detail
SETTLE_END
