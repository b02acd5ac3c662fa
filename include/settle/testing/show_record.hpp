// SPDX-License-Identifier: BSL-1.0
// The text of a record in the reports of searches and laws.
#pragma once

#include <settle/definition/codec.hpp>

#include <optional>
#include <string>

SETTLE_BEGIN
namespace testing {

template <typename Record>
[[nodiscard]] std::string show_record(std::optional<Record> const& record) {
    return record ? encode_json(*record) : "nothing";
}

} // namespace testing
SETTLE_END
