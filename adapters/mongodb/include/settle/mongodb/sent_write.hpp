// SPDX-License-Identifier: BSL-1.0
// An entry write that a log sends to the server, with its result.
#pragma once

#include <settle/store/request.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Shape:   a one-phase request has its write only once it was decided
struct sent_write {
    sent_write(entry_write const& one, write_result& gets)
        : id(one.id), write(&one), result(&gets), inserts(one.inserts) {}
    sent_write(one_phase_request* of)
        : id(of->id), write(&of->write), result(&of->result), inserts(of->inserts) {}

    transaction_id const* id;
    entry_write const* write;
    write_result* result;
    bool inserts;
};

} // namespace mongodb::detail
SETTLE_END
