// SPDX-License-Identifier: BSL-1.0
// A prepared target: statements of the user that a database runs and prepares.
#pragma once

#include <settle/definition/service.hpp>

SETTLE_BEGIN
namespace detail {

template <service_fault Fault>
consteval void explain_prepared() {
    static_assert(Fault != service_fault::request,
                  "settle: the request struct of this settle::prepared is no aggregate. List its "
                  "members with SETTLE_STRUCT(type, members...) after it. "
                  "See definition#prepared");
    static_assert(Fault != service_fault::name,
                  "settle: the name of a settle::prepared is 1 to 48 letters, digits and '_', and "
                  "begins with a letter. See definition#names");
}

} // namespace detail

/// Statements that a database runs for a transaction and prepares; settle::bind gives the database
/// and the statements.
/// Shape:   Request - an aggregate, or a struct that SETTLE_STRUCT describes; the statements get it
///          Name - letters, digits and `_`
template <typename Request, fixed_string Name>
struct prepared {
    using request_type = Request;
    static constexpr std::string_view name = Name.view();

    constexpr prepared() {
        detail::explain_prepared<fault>();
        if constexpr (fault == detail::service_fault::request_value) {
            explain_type_fault<detail::fault_of_value<Request>()>();
        }
    }

private:
    static constexpr auto fault = detail::fault_of_service<Request, nothing, Name>();

public:
    /// False when the compiler has refused this target. Code that uses it reports no more.
    static constexpr bool sound = fault == detail::service_fault::none;
};

SETTLE_END
