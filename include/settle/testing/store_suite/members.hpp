// SPDX-License-Identifier: BSL-1.0
// The store suite: refuses a database that lacks a member of the seam.
#pragma once

#include <settle/store/seam.hpp>
#include <settle/testing/store_suite/types.hpp>

SETTLE_BEGIN
namespace testing {

/// Ends the compilation where bind_log() gives no session of a log.
template <typename Database>
consteval bool check_log() {
    constexpr bool binds = requires(Database& database) { database.bind_log(); };
    static_assert(binds, "settle: the database has no bind_log(). Let it return a session of a "
                         "log. See settle/store/seam.hpp");
    if constexpr (binds) {
        static_assert(Log<Database>,
                      "settle: bind_log() returns no session of a log. Give the session name, "
                      "write, look_up, read, list and purge as the concept LogSession has them. "
                      "See settle/store/seam.hpp");
    }
    return true;
}

/// Ends the compilation where bind() gives no session of a store for the collections.
template <typename Database, typename... Collections>
consteval bool check_store() {
    constexpr bool binds = requires(Database& database, std::string const& log_name) {
        database.template bind<Collections...>(log_name);
    };
    static_assert(binds, "settle: the database has no bind<Collections...>(log_name). Let it "
                         "return a session of a store. See settle/store/seam.hpp");
    if constexpr (binds) {
        using session = decltype(std::declval<Database&>().template bind<Collections...>(
            std::declval<std::string const&>()));
        static_assert(StoreSession<session>,
                      "settle: bind() returns no session of a store. Give the session execute, "
                      "marks and resolve as the concept StoreSession has them. See "
                      "settle/store/seam.hpp");
        if constexpr (StoreSession<session>) {
            static_assert((StoreSessionOf<session, Collections> && ...),
                          "settle: a session of the store lacks read, create or scan, or "
                          "holds<Collection>::value is not true for each collection that it is "
                          "bound for. See the concept StoreSessionOf in settle/store/seam.hpp");
        }
    }
    return true;
}

/// The members that the store suite needs.
template <typename Database>
inline constexpr bool has_members =
    check_log<Database>() && check_store<Database, ledgers_type, cards_type, shelves_type>();

} // namespace testing
SETTLE_END
