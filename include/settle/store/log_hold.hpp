// SPDX-License-Identifier: BSL-1.0
// A log whose entries nobody changes for a while.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/store/request.hpp>

SETTLE_BEGIN

/// Takes the entries of a look-up.
using found_function =
    detail::function_view<void(std::size_t index, result<std::optional<entry>>&&, bool same)>;

/// Until end(), no write of an entry takes effect at the log, by any program.
class log_hold {
public:
    log_hold() = default;
    log_hold(log_hold const&) = delete;
    log_hold& operator=(log_hold const&) = delete;
    virtual ~log_hold() = default;

    /// As look_up() of the log, at a moment of the hold, also after its end.
    [[nodiscard]] virtual result<void> look_up(std::span<read_request const> requests,
                                               found_function found) = 0;
    /// Lets writes go on, at the latest when the object is destroyed.
    /// Errors:  a write may have taken effect since the begin of the hold
    [[nodiscard]] virtual result<void> end() = 0;
};

SETTLE_END
