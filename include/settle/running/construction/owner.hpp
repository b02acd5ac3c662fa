// SPDX-License-Identifier: BSL-1.0
// The owner of an entry, so that entries of an ended process can be taken over at once.
#pragma once

#include <settle/base/process.hpp>

#include <string>
#include <string_view>
#include <vector>

SETTLE_BEGIN
namespace detail {

std::vector<std::string_view> split(std::string_view text, char separator);

} // namespace detail

/// This process, as `host/pid/start/boot/namespace`. Boot and namespace stop two machines, or two
/// containers that share a file, from testing each other's processes.
[[nodiscard]] std::string this_process();

/// The owner of the claims of an engine with this environment: this process, unless the environment
/// has an `owner()`. The environments of tests have it, so that workers of one process differ.
template <typename Environment>
[[nodiscard]] std::string owner_in(Environment const& environment) {
    if constexpr (requires { environment.owner(); }) {
        return environment.owner();
    } else {
        static_cast<void>(environment);
        return this_process();
    }
}

/// True if the owner was a process of this machine, boot and namespace that has ended. False when
/// in doubt: then only `takeover` applies.
[[nodiscard]] bool is_gone(std::string_view owner);

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/construction/owner.ipp>
#endif
