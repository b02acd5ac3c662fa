// SPDX-License-Identifier: BSL-1.0
// An entry write that a native transaction carries to a log, with its result.
#pragma once

#include <settle/store/request.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   a one-phase request has its write only once it was decided
struct sent_write {
    sent_write(entry_write const& entry_write, write_result& gets)
        : id(entry_write.id), write(&entry_write), result(&gets), inserts(entry_write.inserts) {}
    sent_write(one_phase_request* request)
        : id(request->id), write(&request->write), result(&request->result),
          inserts(request->inserts) {}

    transaction_id const* id;
    entry_write const* write;
    write_result* result;
    bool inserts;
};

/// The writes of one call of a log.
[[nodiscard]] inline std::vector<sent_write> sent_writes(std::span<entry_write const> writes,
                                                         std::span<write_result> results) {
    std::vector<sent_write> sent;
    sent.reserve(writes.size());
    for (std::size_t i = 0; i < writes.size(); ++i) sent.emplace_back(writes[i], results[i]);
    return sent;
}

} // namespace detail
SETTLE_END
