// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that address.hpp declares.
#pragma once

#include <settle/postgresql/connection/address.hpp>

#include <algorithm>
#include <array>
#include <memory>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION void refuse_address(std::string const& why) {
    raise(errc::unfit_store,
          "settle: this PostgreSQL address is refused: " + why + ". See postgresql#address");
}

/// True if a second '@' follows the first one before the path. libpq would treat the text after the
/// first '@' as the host and show it, with a part of the password, in its error texts.
[[nodiscard]] SETTLE_FUNCTION bool has_two_signs(std::string const& text) {
    auto const first = text.find('@');
    return first != text.npos && text.find('@', first + 1) < text.find_first_of("/?", first);
}

/// The names of libpq's options.
[[nodiscard]] SETTLE_FUNCTION bool is_option(std::string_view name) {
    std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> const defaults{PQconndefaults(),
                                                                                &PQconninfoFree};
    // A URI may have this one instead of sslmode.
    if (!defaults || name == "ssl") return true;
    for (auto const* one = defaults.get(); one->keyword != nullptr; ++one) {
        if (name == one->keyword) return true;
    }
    return false;
}

/// Refuses a URI whose password may end before its '@': libpq would treat the rest as a port, a
/// database or an option, and show it in its error texts.
SETTLE_FUNCTION void check_uri(std::string_view text) {
    auto const from = text.find("://") + 3;
    auto const end = std::min(text.find_first_of("/?#", from), text.size());
    auto const query = std::min(text.find('?', end), text.size());
    auto const refuse = [] {
        refuse_address("a '/', '?' or '#' is before its last '@'. In a name or a password, write "
                       "'@' as %40, ':' as %3A, '/' as %2F, '?' as %3F, '#' as %23 and '%' as "
                       "%25");
    };
    if (text.substr(end, query - end).find('@') != text.npos) refuse();
    for (std::size_t index = query; index < text.size();) {
        auto const next = std::min(text.find('&', index + 1), text.size());
        auto const option = text.substr(index + 1, next - index - 1);
        auto const name = option.substr(0, option.find('='));
        index = next;
        if (name.empty() || is_option(name)) continue;
        if (text.find('@', query) != text.npos) refuse();
        // A password with an unencoded '&' ends there, so its rest looks like a parameter.
        bool const is_secret = text.substr(0, index).find("pass") != text.npos;
        refuse_address("libpq does not know " +
                       (is_secret ? "a parameter of it. In a password, write '&' as %26"
                                  : "its parameter '" + std::string{name} + "'"));
    }
}

/// The values of a list with commas: at least one, which may be empty.
[[nodiscard]] SETTLE_FUNCTION std::vector<std::string> in_list(std::string_view text) {
    std::vector<std::string> values;
    for (;;) {
        auto const comma = text.find(',');
        values.emplace_back(text.substr(0, comma));
        if (comma == text.npos) return values;
        text.remove_prefix(comma + 1);
    }
}

[[nodiscard]] SETTLE_FUNCTION std::string value_of(address::keywords const& keywords,
                                                   std::string_view name) {
    auto const found = std::find_if(keywords.begin(), keywords.end(),
                                    [&](auto const& one) { return one.first == name; });
    return found == keywords.end() ? "" : found->second;
}

/// The keywords and values of an address.
[[nodiscard]] SETTLE_FUNCTION address::keywords parsed(std::string const& text) {
    bool const is_uri = text.starts_with("postgresql://") || text.starts_with("postgres://");
    if (is_uri && has_two_signs(text)) {
        refuse_address("it has two '@'. In a name or a password, write '@' as %40, ':' as %3A, "
                       "'/' as %2F and '%' as %25");
    }
    if (is_uri) check_uri(text);
    char* problem = nullptr;
    std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> const options{
        PQconninfoParse(text.c_str(), &problem), &PQconninfoFree};
    std::unique_ptr<char, decltype(&PQfreemem)> const held{problem, &PQfreemem};
    if (!options) {
        // libpq's text may hold the password.
        bool const is_cut = problem != nullptr &&
                            std::string_view{problem}.find("missing \"=\"") != std::string::npos;
        bool const secret = is_cut || text.find('@') != text.npos || text.find("pass") != text.npos;
        std::string why = secret || problem == nullptr ? "" : std::string{": "} + problem;
        while (why.ends_with('\n')) why.pop_back();
        refuse_address("it cannot be read" + why +
                       ". Write postgresql://user:password@host:5432/database, or "
                       "host=… dbname=…");
    }
    address::keywords keywords;
    for (auto const* one = options.get(); one->keyword != nullptr; ++one) {
        if (one->val != nullptr) keywords.emplace_back(one->keyword, one->val);
    }
    return keywords;
}

/// Adds the hosts that libpq would take from its environment variables or a service file.
SETTLE_FUNCTION void add_hosts(address::keywords& keywords) {
    using options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;
    options known{PQconndefaults(), &PQconninfoFree};
    if (auto const service = value_of(keywords, "service"); !service.empty()) {
        // Only a connection reads the file of a service; this one ends before it is made.
        std::array const names{"service", static_cast<char const*>(nullptr)};
        std::array const values{service.c_str(), static_cast<char const*>(nullptr)};
        std::unique_ptr<PGconn, decltype(&PQfinish)> const begun{
            PQconnectStartParams(names.data(), values.data(), 0), &PQfinish};
        if (begun) known = options{PQconninfo(begun.get()), &PQconninfoFree};
    }
    for (auto const* option = known.get(); option != nullptr && option->keyword != nullptr;
         ++option) {
        std::string_view const name{option->keyword};
        bool const is_of_host = name == "host" || name == "hostaddr" || name == "port";
        // A single host stays libpq's, with its defaults.
        bool const is_list =
            option->val != nullptr && std::string_view{option->val}.find(',') != name.npos;
        if (is_of_host && is_list && value_of(keywords, name).empty())
            keywords.emplace_back(name, option->val);
    }
}

SETTLE_FUNCTION address::address(std::string const& text) {
    auto parts = parsed(text);
    if (value_of(parts, "dbname").empty() && value_of(parts, "service").empty()) {
        refuse_address("it names no database. Write one after the host: "
                       "postgresql://host:5432/bank");
    }
    if (value_of(parts, "host").empty() && value_of(parts, "hostaddr").empty()) add_hosts(parts);
    // libpq would wait for each host as long as for all of them.
    auto const names = in_list(value_of(parts, "host"));
    auto const addresses = in_list(value_of(parts, "hostaddr"));
    auto const ports = in_list(value_of(parts, "port"));
    auto const count = std::max({names.size(), addresses.size(), ports.size()});
    auto const fits = [&](std::vector<std::string> const& list) {
        return list.size() == count || (list.size() == 1 && list[0].empty());
    };
    if (!fits(names) || !fits(addresses) || (!fits(ports) && ports.size() != 1)) {
        refuse_address("it has another number of ports than of hosts");
    }
    for (auto const& port : ports) {
        bool const is_number =
            port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
        // The text may be a part of a password.
        if (!is_number) refuse_address("its port is no number");
    }
    for (std::size_t index = 0; index < count; ++index) {
        keywords parsed;
        for (auto const& [name, value] : parts) {
            if (name != "host" && name != "hostaddr" && name != "port")
                parsed.emplace_back(name, value);
        }
        auto const add = [&](char const* name, std::vector<std::string> const& list) {
            auto const& value = list[list.size() == 1 ? 0 : index];
            if (!value.empty()) parsed.emplace_back(name, value);
        };
        add("host", names);
        add("hostaddr", addresses);
        add("port", ports);
        hosts_.push_back(std::move(parsed));
    }
}

SETTLE_FUNCTION std::string name_of(address::keywords const& host) {
    auto name = value_of(host, "host");
    if (name.empty()) name = value_of(host, "hostaddr");
    if (name.empty()) return "the server of this machine";
    auto const port = value_of(host, "port");
    return "'" + name + (port.empty() ? "" : ":" + port) + "'";
}

} // namespace postgresql::detail
SETTLE_END
