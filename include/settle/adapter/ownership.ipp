// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that ownership.hpp declares.
#pragma once

#include <settle/adapter/ownership.hpp>

#include <settle/base/utf8.hpp>
#include <settle/store/entry_facts.hpp>

#include <algorithm>
#include <random>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string fresh_log_name(std::string_view prefix) {
    std::random_device chance;
    auto const number = std::uint64_t{chance()} << 32U | chance();
    return std::string{prefix} + hex_of(number);
}

SETTLE_FUNCTION std::string_view part_of_home(std::string_view home, std::string_view key) {
    while (!home.empty()) {
        auto const part = home.substr(0, home.find(' '));
        if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=') {
            return part.substr(key.size() + 1);
        }
        home.remove_prefix(std::min(part.size() + 1, home.size()));
    }
    return {};
}

SETTLE_FUNCTION bool share_parts(std::string_view kept, std::string_view present,
                                 std::initializer_list<std::string_view> keys) {
    bool shared = false;
    for (auto const key : keys) {
        auto const before = part_of_home(kept, key);
        auto const now = part_of_home(present, key);
        if (before.empty() || now.empty()) continue;
        if (before != now) return false;
        shared = true;
    }
    return shared;
}

SETTLE_FUNCTION void refuse_other_log(std::string const& belongs_to) {
    throw failure({make_error_code(errc::other_log),
                   "settle: this store belongs to the log '" + belongs_to +
                       "'; a second log would undo its marks. Use that log. "
                       "See upkeep#one-log"});
}

SETTLE_FUNCTION void receiver_storage::check_name(std::string_view name) const {
    auto const fault = fault_of_text(name);
    if (!name.empty() && fault.empty()) return;
    throw failure(
        {make_error_code(errc::bad_text), "settle: the name of the receiver in " + shown + " " +
                                              std::string{name.empty() ? "is empty" : fault} +
                                              ". Give it a name. See " + page + "#receivers"});
}

SETTLE_FUNCTION void receiver_storage::check_owner(std::string_view owner,
                                                   std::string_view name) const {
    if (owner == name) return;
    std::string text{"settle: "};
    text.append(shown).append(" belongs to the receiver '").append(owner);
    text.append("', and this is '").append(name).append("'. Name another ").append(kind);
    throw failure({make_error_code(errc::unfit_store),
                   text.append(". See ").append(page).append("#receivers")});
}

} // namespace detail
SETTLE_END
