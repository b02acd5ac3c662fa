// SPDX-License-Identifier: BSL-1.0
// A service in the same process: a function that takes the request as a struct.
#pragma once

#include <settle/definition/codec.hpp>
#include <settle/definition/service.hpp>
#include <settle/kinds/services/service.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

SETTLE_BEGIN

/// The answer of such a function: a result, or a service_answer.
/// Example: `return ticket{"LH 1", 120};`, `return settle::service_answer::refused("sold out");`
template <typename Result = nothing>
struct reply {
    service_answer answer;

    reply(Result const& result) : answer(service_answer::ok(encode_json(result))) {}
    reply(service_answer given) : answer(std::move(given)) {}
};
template <>
struct reply<nothing> {
    service_answer answer;

    reply(nothing) : answer(service_answer::ok()) {}
    reply(service_answer given) : answer(std::move(given)) {}
};

namespace detail {

template <typename T>
inline constexpr bool is_service = false;
template <typename Request, typename Result, fixed_string Name, receiver_grade Grade>
inline constexpr bool is_service<service<Request, Result, Name, Grade>> = true;

/// True if a function takes calls of a service as structs.
template <typename Function, typename Service>
inline constexpr bool takes_calls_of = false;
template <typename Function, typename Service>
    requires is_service<Service>
inline constexpr bool takes_calls_of<Function, Service> = requires(
    Function& function, typename Service::request_type const& request, service_call const& call) {
    { function(request, call) } -> std::convertible_to<reply<typename Service::result_type>>;
};

/// The client of a service in the same process.
/// Shape:   Function - a reference, or a type that the client owns
template <typename Service, typename Function>
class service_function {
public:
    using request_type = typename Service::request_type;

    template <typename Given>
        requires(!std::is_base_of_v<service_function, std::remove_cvref_t<Given>>)
    explicit service_function(Given&& given) : function_(std::forward<Given>(given)) {}

    /// Errors:  an exception of the function makes the outcome of its call unknown
    void send(std::span<service_call const> calls, std::span<service_answer> answers) {
        for (std::size_t index = 0; index < calls.size(); ++index) {
            try {
                answers[index] = answer_to(calls[index]);
            } catch (std::exception const& thrown) {
                answers[index] = service_answer::unknown(thrown.what());
            } catch (...) {
                answers[index] = service_answer::unknown("an exception");
            }
        }
    }

private:
    service_answer answer_to(service_call const& call) {
        auto const request = decode_json<request_type>(call.request);
        if (!request) return service_answer::unavailable(request.problem().text);
        reply<typename Service::result_type> given = function_(*request, call);
        return std::move(given.answer);
    }

    Function function_;
};

} // namespace detail
SETTLE_END
