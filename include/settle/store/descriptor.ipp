// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that descriptor.hpp declares.
#pragma once

#include <settle/store/descriptor.hpp>

SETTLE_BEGIN

SETTLE_FUNCTION transaction_descriptor const& undescribed_descriptor() {
    return descriptor_of<undescribed>;
}

SETTLE_END
