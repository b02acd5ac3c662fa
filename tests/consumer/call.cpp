// SPDX-License-Identifier: BSL-1.0
// A user's other program: a call of a service over HTTP, and the service.
#include <settle/http.hpp>
#include <settle/http/receiver_server.hpp>

#include <cstdlib>

int main() {
    settle::http::receiver_server server{"/airline", [](settle::service_call const& call) {
                                             return settle::service_answer::ok(
                                                 std::string{call.request});
                                         }};
    settle::http::client client{server.address()};
    settle::service_call const call{
        "airline", settle::call_operation::apply, "key", "id", "flight", std::nullopt,
        1,         settle::timestamp{},           "[1]", {}};
    settle::service_answer answer;
    client.send({&call, 1}, {&answer, 1});
    return answer == settle::service_answer::ok("[1]") ? EXIT_SUCCESS : EXIT_FAILURE;
}
