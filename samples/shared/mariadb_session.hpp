// SPDX-License-Identifier: BSL-1.0
// A session of MariaDB's own client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace samples {

/// Errors:  all functions throw std::runtime_error, with a sentence
class mariadb_session {
public:
    using row = std::span<char const* const>;

    /// Shape:   name - of the database for people: "the ledger"
    mariadb_session(std::string name, std::string const& address);

    /// Calls visit(row) for each row of the result, and returns the number of changed rows.
    std::uint64_t ask(std::string const& sql, std::function<void(row)> const& visit = {});
    [[nodiscard]] std::string quoted(std::string const& text);

private:
    struct closing {
        void operator()(void* session) const noexcept;
    };
    std::string name_;
    std::unique_ptr<void, closing> session_; ///< a MYSQL
};

} // namespace samples
