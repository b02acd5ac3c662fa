// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that address.hpp declares.
#pragma once

#include <settle/mariadb/connection/address.hpp>

#include <charconv>

SETTLE_BEGIN
namespace mariadb::detail {

[[noreturn]] SETTLE_FUNCTION void refuse_address(std::string const& why) {
    raise(errc::bad_option,
          "settle: this MariaDB address is refused: " + why +
              ". Write mariadb://user:password@host:3306/database. See mariadb#address");
}

[[noreturn]] SETTLE_FUNCTION void refuse_signs() {
    refuse_address("it has a '/', '?' or '#' before its last '@', or one of these in the name of "
                   "the database. Write '@' as %40, ':' as %3A, '/' as %2F, '?' as %3F, '#' as %23 "
                   "and '%' as %25");
}

/// The text with its `%XX` decoded.
[[nodiscard]] SETTLE_FUNCTION std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text[index] != '%') {
            plain += text[index];
            continue;
        }
        unsigned char byte = 0;
        auto const digits = text.substr(index + 1, 2);
        auto const* const end = digits.data() + digits.size();
        auto const read = std::from_chars(digits.data(), end, byte, 16);
        if (digits.size() != 2 || read.ec != std::errc{} || read.ptr != end) {
            refuse_address("a '%' has no two hexadecimal digits after it");
        }
        plain += static_cast<char>(byte);
        index += 2;
    }
    if (plain.find('\0') != plain.npos) refuse_address("it has a NUL byte");
    return plain;
}

SETTLE_FUNCTION address::address(std::string_view text) {
    constexpr std::string_view scheme = "mariadb://";
    if (!text.starts_with(scheme)) refuse_address("it does not begin with mariadb://");
    text.remove_prefix(scheme.size());
    std::size_t const slash = text.find('/');
    if (slash == text.npos) refuse_address("it names no database");
    std::string_view authority = text.substr(0, slash);
    std::string_view rest = text.substr(slash + 1);

    if (std::size_t const sign = authority.rfind('@'); sign != authority.npos) {
        std::string_view const login = authority.substr(0, sign);
        if (login.find('@') != login.npos) {
            refuse_address("it has two '@'. In a name or a password, write '@' as %40");
        }
        if (login.find_first_of("?#") != login.npos) refuse_signs();
        std::size_t const colon = login.find(':');
        user = decoded(login.substr(0, colon));
        if (colon != login.npos) password = decoded(login.substr(colon + 1));
        authority.remove_prefix(sign + 1);
    }
    if (std::size_t const query = rest.find('?'); query != rest.npos) {
        std::string_view option = rest.substr(query + 1);
        constexpr std::string_view name = "socket=";
        if (!option.starts_with(name)) refuse_address("its only option is socket=path");
        socket = decoded(option.substr(name.size()));
        rest = rest.substr(0, query);
    }
    // The rest of a password may look like a database. Its text is not shown.
    if (rest.find_first_of("@/#") != rest.npos) refuse_signs();
    database = decoded(rest);
    if (database.empty()) refuse_address("it names no database");
    if (socket.empty() == authority.empty()) {
        refuse_address("it must name a host, or else a socket");
    }
    // "[::1]:3306" has colons in its host.
    std::size_t const bracket = authority.starts_with('[') ? authority.find(']') : 0;
    if (bracket == authority.npos) refuse_address("a ']' is missing");
    if (std::size_t const colon = authority.find(':', bracket); colon != authority.npos) {
        std::string_view const digits = authority.substr(colon + 1);
        auto const* const end = digits.data() + digits.size();
        auto const read = std::from_chars(digits.data(), end, port);
        if (read.ec != std::errc{} || read.ptr != end || port == 0 || port > 65535) {
            refuse_address("the port is no number from 1 to 65535");
        }
        authority = authority.substr(0, colon);
    }
    if (authority.starts_with('[')) authority = authority.substr(1, authority.size() - 2);
    host = decoded(authority);
}

SETTLE_FUNCTION std::string address::server() const {
    return socket.empty() ? "'" + host + ":" + std::to_string(port) + "'" : "'" + socket + "'";
}

} // namespace mariadb::detail
SETTLE_END
