// SPDX-License-Identifier: BSL-1.0
// Calls of the tests' airline.
#pragma once

#include <settle/kinds/services/service.hpp>

#include <string_view>

namespace airline {

using settle::call_operation;
using settle::service_call;
using settle::timestamp;

/// A call with a last moment in the far future.
/// Shape:   key and request - outlive the call
inline service_call made_call(call_operation operation, std::string_view key,
                              std::string_view request = "1") {
    service_call call{};
    call.service = "airline";
    call.operation = operation;
    call.key = key;
    call.transaction = "trip";
    call.participant = "flight";
    call.last_moment = timestamp::max();
    call.request = request;
    return call;
}
inline service_call apply_call(std::string_view key, std::string_view request = "1") {
    return made_call(call_operation::apply, key, request);
}
inline service_call confirm_call(std::string_view key) {
    return made_call(call_operation::confirm, key);
}
inline service_call query_call(std::string_view key) {
    return made_call(call_operation::query, key);
}
inline service_call compensate_call(std::string_view key) {
    return made_call(call_operation::compensate, key);
}

} // namespace airline
