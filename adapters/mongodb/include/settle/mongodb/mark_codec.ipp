// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_codec.hpp declares.
#pragma once

#include <settle/mongodb/mark_codec.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION document mark_key(transaction_id const& id, part_number part) {
    document made;
    made.text("id", id).integer("part", part.participant).integer("line", part.line);
    return made;
}

} // namespace mongodb::detail

SETTLE_END
