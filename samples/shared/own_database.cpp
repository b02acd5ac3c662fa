// SPDX-License-Identifier: BSL-1.0
#include "own_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace samples {

void check_own(std::string_view database, std::string_view noun,
               std::vector<std::string> const& existing, std::span<std::string_view const> tables,
               bool may_create) {
    if (existing.empty()) {
        if (may_create) return;
        throw std::runtime_error(fmt::format(
            "the database '{}' holds nothing that was opened; 'open' does that", database));
    }
    bool const ours = std::any_of(existing.begin(), existing.end(), [&](std::string const& name) {
        return std::find(tables.begin(), tables.end(), name) != tables.end();
    });
    if (ours) return;
    throw std::runtime_error(fmt::format("the database '{}' belongs to another application: it has "
                                         "a {} '{}' and none named '{}'",
                                         database, noun, existing.front(), tables.front()));
}

} // namespace samples
