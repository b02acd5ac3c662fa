// SPDX-License-Identifier: BSL-1.0
// A service: the request and the result of its calls, and the grade of its receiver.
#pragma once

#include <settle/definition/evaluate.hpp>
#include <settle/definition/grade.hpp>

#include <string_view>

SETTLE_BEGIN
namespace detail {

/// Why a service is refused. Only the first fault is reported; `reported` means that an earlier
/// message reported it.
enum class service_fault { none, reported, request, result, name, request_value, result_value };

template <typename Request, typename Result, fixed_string Name>
consteval service_fault fault_of_service() {
    if constexpr (refused_description<Request> || refused_description<Result>)
        return service_fault::reported;
    else if constexpr (!Described<Request>) return service_fault::request;
    else if constexpr (!Described<Result> && !std::is_same_v<Result, nothing>)
        return service_fault::result;
    else if constexpr (!is_plain_name(Name.view())) return service_fault::name;
    else if constexpr (fault_of_value<Request>() != type_fault::none)
        return service_fault::request_value;
    else if constexpr (std::is_same_v<Result, nothing>) return service_fault::none;
    else if constexpr (fault_of_value<Result>() != type_fault::none)
        return service_fault::result_value;
    else return service_fault::none;
}

/// Shape:   Service - its name, which the compiler shows
template <service_fault Fault, fixed_string Service>
consteval void explain_service() {
    static_assert(Fault != service_fault::request,
                  "settle: the request struct of this service is no aggregate. List its members "
                  "with SETTLE_STRUCT(type, members...) after it. See definition#services");
    static_assert(Fault != service_fault::result,
                  "settle: the result struct of this service is no aggregate. List its members "
                  "with SETTLE_STRUCT(type, members...) after it, or write settle::nothing for "
                  "a service without a result. See definition#services");
    static_assert(Fault != service_fault::name,
                  "settle: a service's name is 1 to 48 letters, digits and '_', and begins "
                  "with a letter. See definition#names");
}

} // namespace detail

/// A service that transactions call.
/// Shape:   Request - an aggregate, or a struct that SETTLE_STRUCT describes
///          Result - another, or settle::nothing
///          Name - letters, digits and `_`; a client gets it with each call
///          Grade - the grade that the receiver of the calls has at least
template <typename Request, typename Result, fixed_string Name, receiver_grade Grade = plain>
struct service {
    using request_type = Request;
    using result_type = Result;
    static constexpr receiver_grade grade = Grade;
    static constexpr std::string_view name = Name.view();
    static constexpr bool gives_result = !std::is_same_v<Result, nothing>;

    constexpr service() {
        using detail::service_fault;
        detail::explain_service<fault, Name>();
        if constexpr (fault == service_fault::request_value) {
            explain_type_fault<detail::fault_of_value<Request>()>();
        } else if constexpr (fault == service_fault::result_value) {
            explain_type_fault<detail::fault_of_value<Result>()>();
        }
    }

private:
    static constexpr auto fault = detail::fault_of_service<Request, Result, Name>();

public:
    /// False when the compiler has refused this service. Code that uses it reports no more.
    static constexpr bool sound = fault == detail::service_fault::none;
};

SETTLE_END
