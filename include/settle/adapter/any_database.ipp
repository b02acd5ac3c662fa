// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that any_database.hpp declares.
#pragma once

#include <settle/adapter/any_database.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// The kind that knows an address.
[[nodiscard]] SETTLE_FUNCTION database_kind const&
kind_of(std::string_view address, std::initializer_list<database_kind> kinds) {
    auto const scheme = address.substr(0, address.find(':'));
    if (scheme.size() < address.size()) {
        for (auto const& kind : kinds) {
            if (std::ranges::find(kind.schemes, scheme) != kind.schemes.end()) return kind;
        }
    }
    std::string forms;
    for (auto const& kind : kinds) forms.append(forms.empty() ? "" : ", ").append(kind.form);
    // The rest of an address may hold a password.
    bool const is_word = !scheme.empty() && scheme.size() < address.size() &&
                         scheme.find_first_of("@/= ") == std::string_view::npos;
    throw failure(
        {make_error_code(errc::bad_option),
         (is_word ? "settle: no kind of database has addresses '" + std::string{scheme} + ":…'"
                  : std::string{"settle: the address of the database does not begin with its "
                                "kind and a ':'"}) +
             ". This program opens " + forms + ". See running#a-database-chosen-at-run-time"});
}

} // namespace detail

SETTLE_FUNCTION any_database::any_database(std::string const& address,
                                           std::initializer_list<database_kind> kinds)
    : database_(detail::kind_of(address, kinds).open(address)) {}

SETTLE_END
