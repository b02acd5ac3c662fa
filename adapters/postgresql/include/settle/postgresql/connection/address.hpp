// SPDX-License-Identifier: BSL-1.0
// The address of a database: each host in order, with the options that libpq takes.
#pragma once

#include <settle/postgresql/connection/error.hpp>

#include <string>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace postgresql::detail {

/// Shape:   text - `postgresql://[user[:password]@]host[:port][,…]/database[?option=value&…]`, or
///          `host=… port=… dbname=…`. Other values come from libpq's environment variables,
///          service file and password file
class address {
public:
    /// Errors:  throws settle::failure with one sentence, which never has the password
    explicit address(std::string const& text);

    using keywords = std::vector<std::pair<std::string, std::string>>;
    /// The values for each of the hosts, in their order.
    [[nodiscard]] std::vector<keywords> const& hosts() const noexcept { return hosts_; }

private:
    std::vector<keywords> hosts_;
};

/// Errors:  throws errc::unfit_store
[[noreturn]] void refuse_address(std::string const& why);

/// The host and the port of one server, for errors.
[[nodiscard]] std::string name_of(address::keywords const& host);

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/address.ipp>
#endif
