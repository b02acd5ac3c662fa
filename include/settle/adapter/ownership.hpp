// SPDX-License-Identifier: BSL-1.0
// A store belongs to one log: the sweeper of another log would take its marks for stray marks and
// undo them.
#pragma once

#include <settle/store/error.hpp>

#include <optional>
#include <string>

SETTLE_BEGIN
namespace detail {

/// The name of the metadata that holds the log of a store.
inline constexpr std::string_view owner_metadata = "belongs_to";

/// Errors:  throws errc::other_log
[[noreturn]] inline void refuse_other_log(std::string const& belongs_to) {
    throw failure({make_error_code(errc::other_log),
                   "settle: this store belongs to the log '" + belongs_to +
                       "'; a second log would undo its marks. Use that log. "
                       "See running#one-log"});
}

/// Gives a store to a log, unless the store belongs to another log.
/// Shape:   known() - the stored log, if there is one; prepare() - prepares the collections;
///          get_or_init() - the stored log, else the given log, which is then stored;
///          refuse(belongs_to) - throws errc::other_log
template <typename Known, typename Prepare, typename GetOrInit, typename Refuse>
void give_to_log(std::string const& log, Known&& known, Prepare&& prepare, GetOrInit&& get_or_init,
                 Refuse&& refuse) {
    std::optional<std::string> const before = known();
    if (before && *before != log) refuse(*before);
    prepare();
    // Stored last: a refused collection must not lock the right log out.
    std::string const belongs_to = get_or_init();
    if (belongs_to != log) refuse(belongs_to);
}

} // namespace detail
SETTLE_END
