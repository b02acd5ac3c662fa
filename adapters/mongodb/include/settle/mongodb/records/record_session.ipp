// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_session.hpp declares.
#pragma once

#include <settle/mongodb/records/record_session.hpp>
#include <settle/mongodb/records/record_waves.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION std::shared_ptr<record_store>
make_record_store(server& server, record_layout const& layout,
                  std::span<collection_descriptor const* const> bound) {
    return std::make_shared<record_waves>(server, layout, bound);
}

} // namespace mongodb::detail

SETTLE_END
