// SPDX-License-Identifier: BSL-1.0
// A store belongs to one log: the sweeper of another log would treat live marks as stray and undo
// them. The storage of a receiver belongs to that receiver.
#pragma once

#include <settle/base/error.hpp>

#include <initializer_list>
#include <optional>
#include <string>

SETTLE_BEGIN
namespace detail {

/// The name of the metadata that holds the log of a store.
inline constexpr std::string_view owner_metadata = "belongs_to";

/// The name of the metadata that holds the home of a log: parts as `key=value`, a space between
/// them. The value of the last part reaches to the end.
inline constexpr std::string_view home_metadata = "home";

/// The value of a part of a home, up to the next space; empty if the home has no such part.
[[nodiscard]] std::string_view part_of_home(std::string_view home, std::string_view key);

/// True if two homes have one of these parts in common, and none that differs. A part without a
/// value is unknown.
[[nodiscard]] bool share_parts(std::string_view kept, std::string_view present,
                               std::initializer_list<std::string_view> keys);

/// A name that no other log has.
[[nodiscard]] std::string fresh_log_name(std::string_view prefix);

/// Errors:  throws errc::other_log
[[noreturn]] void refuse_other_log(std::string const& belongs_to);

/// Gives a store to a log, unless the store belongs to another log.
/// Shape:   stored() - the stored log, if there is one; prepare() - prepares the collections;
///          get_or_init() - the stored log, else the given log, which is then stored;
///          refuse(belongs_to) - throws errc::other_log
template <typename Stored, typename Prepare, typename GetOrInit, typename Refuse>
void give_to_log(std::string const& log, Stored&& stored, Prepare&& prepare,
                 GetOrInit&& get_or_init, Refuse&& refuse) {
    std::optional<std::string> const before = stored();
    if (before && *before != log) refuse(*before);
    prepare();
    // Written last: a store that refuses a collection must stay free for another log.
    std::string const belongs_to = get_or_init();
    if (belongs_to != log) refuse(belongs_to);
}

/// The storage of one receiver's rows.
struct receiver_storage {
    std::string shown; ///< in sentences
    char const* kind;  ///< `file`, `schema`, …
    char const* page;  ///< of the adapter's documentation

    /// Errors:  throws errc::bad_text for a text that cannot be the name of a receiver
    void check_name(std::string_view name) const;
    /// Errors:  throws errc::unfit_store if the storage belongs to another receiver
    void check_owner(std::string_view owner, std::string_view name) const;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/ownership.ipp>
#endif
