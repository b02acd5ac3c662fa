// SPDX-License-Identifier: BSL-1.0
// The address of a database of a MariaDB server.
#pragma once

#include <settle/mariadb/connection/error.hpp>

#include <string>

SETTLE_BEGIN
namespace mariadb::detail {

/// Shape:   text - `mariadb://[user[:password]@]host[:port]/database`, or
///          `mariadb://[user[:password]@]/database?socket=path`. Each part may have `%XX`
struct address {
    /// Errors:  throws settle::failure with one sentence, which never has the password
    explicit address(std::string_view text);

    std::string user{};
    std::string password{};
    std::string host{};
    unsigned port = 3306;
    std::string socket{}; ///< in place of host and port
    std::string database{};

    /// The server in an error: 'host:port'.
    [[nodiscard]] std::string server() const;

    friend bool operator==(address const&, address const&) = default;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/address.ipp>
#endif
