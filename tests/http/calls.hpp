// SPDX-License-Identifier: BSL-1.0
// Calls of a service as an engine makes them.
#pragma once

#include <contains.hpp>

#include <settle/http.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace settle_test {

using settle::call_operation;
using settle::call_status;
using settle::service_answer;
using settle::service_call;
using testing::contains;

inline constexpr std::string_view seat_request = R"({"flight":"LH1","people":2})";

/// A call with the texts of a literal.
inline service_call seat_call(call_operation operation = call_operation::apply,
                              std::string_view key = "bank.db/trip-1/2") {
    using namespace std::chrono;
    return {"airline",    operation,
            key,          "trip-1",
            "flight",     std::nullopt,
            4711,         settle::timestamp{milliseconds{1795657711123}},
            seat_request, {}};
}

inline service_answer send_one(settle::http::client& client, service_call const& call) {
    service_answer answer;
    client.send({&call, 1}, {&answer, 1});
    return answer;
}

inline std::vector<service_answer> send_all(settle::http::client& client,
                                            std::vector<service_call> const& calls) {
    std::vector<service_answer> answers(calls.size());
    client.send(calls, answers);
    return answers;
}

} // namespace settle_test

SETTLE_BEGIN
inline std::ostream& operator<<(std::ostream& out, call_status status) {
    return out << name_of(status);
}
inline std::ostream& operator<<(std::ostream& out, service_answer const& answer) {
    return out << answer.status << ": " << answer.text;
}
SETTLE_END
